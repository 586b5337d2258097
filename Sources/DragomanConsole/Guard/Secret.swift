/// A secret of letters and digits, and comparisons that tell nothing by their duration.
enum Secret {
  /// 32 random letters and digits, about 190 bits.
  static func random() -> String {
    var source = SystemRandomNumberGenerator()
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    return String((0..<32).map { _ in letters[Int.random(in: letters.indices, using: &source)] })
  }

  /// Whether two texts are the same, in a time that depends on the first one's length only.
  static func isEqual(_ given: String, _ known: String) -> Bool {
    let (given, known) = (Array(given.utf8), Array(known.utf8))
    var difference: UInt8 = given.count == known.count && !known.isEmpty ? 0 : 1
    for (place, byte) in given.enumerated() {
      difference |= byte ^ (known.isEmpty ? 0 : known[place % known.count])
    }
    return difference == 0
  }
}
