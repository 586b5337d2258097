/// Names already taken, as SQLite compares them: bytes, without the case of ASCII letters.
struct NameRegister {
  private var taken: [[UInt8]: [String]] = [:]

  /// Takes the name; returns the earlier spelling when it was taken before.
  mutating func insert(_ name: String) -> String? {
    let earlier = taken[key(name)]?.first
    taken[key(name), default: []].append(name)
    return earlier
  }

  /// Whether the name was taken once only.
  func contains(only name: String) -> Bool { taken[key(name)]?.count == 1 }

  /// Whether the name was taken.
  func contains(_ name: String) -> Bool { taken[key(name)] != nil }

  private func key(_ name: String) -> [UInt8] {
    name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }
  }
}
