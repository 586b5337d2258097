/// A position in the scalars of a path.
struct PathCursor {
  private let scalars: [Unicode.Scalar]
  private(set) var offset = 0

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  var peek: Unicode.Scalar? { offset < scalars.count ? scalars[offset] : nil }

  mutating func next() -> Unicode.Scalar? {
    guard let scalar = peek else { return nil }
    offset += 1
    return scalar
  }

  mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
    var taken = String.UnicodeScalarView()
    while let scalar = peek, condition(scalar) {
      taken.append(scalar)
      offset += 1
    }
    return String(taken)
  }

  mutating func rest() -> String { take { _ in true } }

  /// Moves over a word if it stands here.
  mutating func take(_ word: String) -> Bool {
    let scalars = word.unicodeScalars
    guard self.scalars[offset...].starts(with: scalars) else { return false }
    offset += scalars.count
    return true
  }
}
