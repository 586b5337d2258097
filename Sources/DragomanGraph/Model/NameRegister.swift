import Foundation

/// Names already taken, as SQLite and readers compare them.
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

  /// What names have in common that are not to stand beside each other: SQLite ignores the case of ASCII letters, and
  /// whether letters are composed (NFC) or not (NFD) is seen by nobody.
  private func key(_ name: String) -> [UInt8] {
    let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
    return (isASCII ? name : name.decomposedStringWithCanonicalMapping).utf8.map {
      (65...90).contains($0) ? $0 + 32 : $0
    }
  }

  /// What is said of a name that is taken.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - other: By whom: `entity "Person"`.
  /// - Returns: A sentence.
  static func clash(_ name: String, with other: String) -> String {
    let quoted = "\"\(name)\""
    if other.utf8.contains(quoted.utf8) { return "The name \(quoted) is taken by \(other)." }
    return "The name \(quoted) clashes with \(other): "
      + (other.contains(quoted)
        ? "they differ in the Unicode form of their letters only (NFC and NFD), and look the same."
        : "SQLite ignores case in names.")
  }
}
