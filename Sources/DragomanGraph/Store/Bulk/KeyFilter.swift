/// Which keys a table that is loaded may have: a Bloom filter that grows.
///
/// A key that is not there is known not to be; of one that may be there about one in ten thousand is not. A key
/// sets eight bits of one block of 32 bytes, so that it costs one miss of the processor's cache a level: the split
/// block filter of Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters" (2007). Levels are
/// added as keys come, since nobody knows how many will: a filter of 16 million keys has 45 MB.
final class KeyFilter {
  /// One level: blocks of eight words.
  private struct Level {
    let count: UInt64
    let blocks: UnsafeMutablePointer<SIMD8<UInt32>>

    @inline(__always)
    func block(of hash: UInt64) -> UnsafeMutablePointer<SIMD8<UInt32>> {
      blocks + Int(((hash >> 32) &* count) >> 32)
    }
  }

  /// How many keys the levels take, and with how many bits each.
  ///
  /// The first is small: a map of many entities has a filter for each.
  private static let sizes = [(1 << 12, 24), (1 << 18, 24), (1 << 22, 24), (1 << 24, 16)]
  /// Odd numbers, as Apache Parquet has them (https://parquet.apache.org/docs/file-format/bloomfilter/).
  private static let salt = SIMD8<UInt32>(
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31
  )

  @exclusivity(unchecked) private var levels: ContiguousArray<Level> = []
  @exclusivity(unchecked) private var room = 0

  deinit { removeAll() }

  /// Forgets all keys, and gives the memory back.
  func removeAll() {
    for level in levels { level.blocks.deallocate() }
    levels = []
    room = 0
  }

  /// Whether there is no room for further keys.
  var isFull: Bool { room == 0 && levels.count == Self.sizes.count }

  /// Adds a key by its hash.
  ///
  /// - Returns: Whether it may have been there. Without room nothing is added, and any key may be there.
  func insert(_ hash: UInt64) -> Bool {
    let mask = Self.mask(hash)
    for level in levels where (level.block(of: hash).pointee & mask) == mask { return true }
    if room == 0 {
      guard !isFull else { return true }
      grow()
    }
    levels[levels.count - 1].block(of: hash).pointee |= mask
    room -= 1
    return false
  }

  /// Whether a key may be there; nothing is added.
  func contains(_ hash: UInt64) -> Bool {
    let mask = Self.mask(hash)
    return levels.contains { ($0.block(of: hash).pointee & mask) == mask }
  }

  @inline(__always)
  private static func mask(_ hash: UInt64) -> SIMD8<UInt32> {
    let product = SIMD8<UInt32>(repeating: UInt32(truncatingIfNeeded: hash)) &* salt
    return SIMD8<UInt32>(repeating: 1) &<< (product &>> 27)
  }

  private func grow() {
    let (capacity, bitsPerKey) = Self.sizes[levels.count]
    let count = capacity * bitsPerKey / 256
    let blocks = UnsafeMutablePointer<SIMD8<UInt32>>.allocate(capacity: count)
    blocks.initialize(repeating: .zero, count: count)
    levels.append(Level(count: UInt64(count), blocks: blocks))
    room = capacity
  }
}

/// The hash of the values of a key: values that SQLite takes for equal have the same.
///
/// It protects nothing: who finds keys with the same hash makes an import as slow as one without a filter.
struct KeyHash {
  private(set) var value: UInt64

  init(seed: Int) { value = 0x9e37_79b9_7f4a_7c15 &+ UInt64(seed) }

  /// Adds an integer.
  @inline(__always)
  mutating func add(_ integer: Int64) { add(UInt64(bitPattern: integer)) }

  /// Adds a real number: as an integer, where it is equal to one.
  @inline(__always)
  mutating func add(_ real: Double) {
    if let integer = Int64(exactly: real) { add(integer) } else { add(real.bitPattern) }
  }

  /// Adds bytes.
  @inline(__always)
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    add(UInt64(bytes.count))
    var place = 0
    while place + 8 <= bytes.count {
      add(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place += 8
    }
    var rest: UInt64 = 0
    while place < bytes.count {
      rest = rest << 8 | UInt64(bytes[place])
      place += 1
    }
    add(rest)
  }

  @inline(__always)
  private mutating func add(_ word: UInt64) {
    let (high, low) = (value ^ word).multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
    value = high ^ low ^ 0xe703_7ed1_a0b4_28db
  }
}
