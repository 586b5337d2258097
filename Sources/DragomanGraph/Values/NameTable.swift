import Foundation

/// What names stand for: a table made once and looked into at every access by name.
///
/// Names are compared by their bytes. An open-addressing table instead of a `Dictionary`: its hash
/// looks at the length and three bytes only, where Swift's hasher takes longer than reading the
/// value does. The names are a model's, so nobody can choose them to collide.
struct NameTable<Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    /// Where the name lies in `names`.
    let start: Int
    let count: Int
    var value: Value
  }

  private var entries: [Entry] = []
  private var names: [UInt8] = []
  /// Index into the entries plus one, by hash; 0 is empty.
  private var slots: [Int32]

  /// Makes a table; of two entries with the same name the later one holds.
  init(_ pairs: [(name: String, value: Value)]) {
    var size = 2
    while size < pairs.count * 2 { size *= 2 }
    slots = Array(repeating: 0, count: size)
    for (name, value) in pairs {
      let slot = slot(of: name)
      if slots[slot] == 0 {
        entries.append(Entry(start: names.count, count: name.utf8.count, value: value))
        names.append(contentsOf: name.utf8)
        slots[slot] = Int32(entries.count)
      } else {
        entries[Int(slots[slot]) - 1].value = value
      }
    }
  }

  /// What a name stands for.
  subscript(name: String) -> Value? {
    let index = slots[slot(of: name)]
    return index == 0 ? nil : entries[Int(index) - 1].value
  }

  /// Where the name is, or where it would be put.
  private func slot(of name: String) -> Int {
    var name = name
    return name.withUTF8 { name in
      var slot = Self.hash(name) & (slots.count - 1)
      while slots[slot] != 0 {
        if isName(of: entries[Int(slots[slot]) - 1], name) { return slot }
        slot = (slot + 1) & (slots.count - 1)
      }
      return slot
    }
  }

  private func isName(of entry: Entry, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard entry.count == name.count else { return false }
    guard let base = name.baseAddress else { return true }
    return names.withUnsafeBufferPointer { names in
      names.baseAddress.map { memcmp($0 + entry.start, base, name.count) == 0 } ?? true
    }
  }

  private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    guard let first = name.first else { return 0 }
    var hash = UInt32(truncatingIfNeeded: name.count)
    for byte in [first, name[name.count / 2], name[name.count - 1]] {
      hash = (hash ^ UInt32(byte)) &* 0x0100_0193
    }
    return Int(hash ^ (hash >> 15))
  }
}
