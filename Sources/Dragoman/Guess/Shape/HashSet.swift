/// A set of 64-bit hashes, by open addressing.
struct HashSet {
  private var slots: [UInt64] = []
  private(set) var count = 0
  /// What was loaded for nothing but its place in the cache; the compiler leaves out what nobody keeps.
  private var touched: UInt64 = 0

  /// How many places there are.
  var capacity: Int { slots.count }
  /// Whether the next hash may need more places.
  var isFull: Bool { 4 * (count + 1) > 3 * slots.count }

  /// Spreads the bits of a number.
  @inline(__always)
  static func mixed(_ value: UInt64) -> UInt64 {
    var hash = (value ^ (value >> 32)) &* 0xD6E8_FEB8_6659_FD93
    hash = (hash ^ (hash >> 32)) &* 0xD6E8_FEB8_6659_FD93
    return hash ^ (hash >> 32)
  }

  /// The hash of bytes; never 0.
  static func hash(of bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
    var index = 0
    while index + 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      hash = (hash ^ word) &* 0xD6E8_FEB8_6659_FD93
      hash ^= hash >> 29
      index += 8
    }
    var rest: UInt64 = 0
    while index < bytes.count {
      rest = rest << 8 | UInt64(bytes[index])
      index += 1
    }
    return max(mixed(hash ^ rest), 1)
  }

  /// Adds a hash other than 0.
  ///
  /// - Returns: Whether it was not there.
  @discardableResult
  mutating func insert(_ hash: UInt64) -> Bool {
    if isFull { grow() }
    let hash = max(hash, 1)
    let mask = slots.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while slots[place] != 0 {
      if slots[place] == hash { return false }
      place = (place + 1) & mask
    }
    slots[place] = hash
    count += 1
    return true
  }

  /// Brings the places of hashes into the processor's cache.
  mutating func touch(_ hashes: [UInt64]) {
    guard !slots.isEmpty else { return }
    let mask = slots.count - 1
    var met: UInt64 = 0
    for hash in hashes { met |= slots[Int(truncatingIfNeeded: hash) & mask] }
    touched = met
  }

  /// Whether a hash is there.
  func contains(_ hash: UInt64) -> Bool {
    guard !slots.isEmpty else { return false }
    let mask = slots.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while slots[place] != 0 {
      if slots[place] == hash { return true }
      place = (place + 1) & mask
    }
    return false
  }

  /// Whether another set has all that this one has.
  func isSubset(of other: HashSet) -> Bool {
    count <= other.count && slots.allSatisfy { $0 == 0 || other.contains($0) }
  }

  /// Whether all hashes satisfy a condition.
  func allSatisfy(_ condition: (UInt64) -> Bool) -> Bool {
    slots.allSatisfy { $0 == 0 || condition($0) }
  }

  /// Adds all hashes of another set.
  mutating func formUnion(_ other: HashSet) {
    for hash in other.slots where hash != 0 { insert(hash) }
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt64](repeating: 0, count: max(16, old.count * 2))
    let mask = slots.count - 1
    for hash in old where hash != 0 {
      var place = Int(truncatingIfNeeded: hash) & mask
      while slots[place] != 0 { place = (place + 1) & mask }
      slots[place] = hash
    }
  }
}
