/// Where the names of a batch's elements and attributes stand in its buffer.
///
/// libxml2 keeps every name once, so a name is known by its address: the table answers with one
/// probe, and a name's bytes are copied once a batch however often the name occurs.
struct XMLNameTable {
  /// A name and its place in the buffer of the batch that is being filled.
  struct Entry {
    /// libxml2's interned name; nil marks a free slot.
    var name: UnsafePointer<UInt8>?
    /// The batch that `offset` belongs to.
    var generation = 0
    var offset: UInt32 = 0
    var length: UInt32 = 0
  }

  /// Slots; their count is a power of two, and at least half of them are free.
  private var slots: UnsafeMutableBufferPointer<Entry>
  private var count = 0
  private var generation = 1

  init() {
    slots = .allocate(capacity: 256)
    slots.initialize(repeating: Entry())
  }

  func deallocate() {
    slots.deallocate()
  }

  /// Forgets all places: the buffer was emptied or rearranged.
  mutating func forgetPlaces() {
    generation += 1
  }

  /// The slot of a name; its entry is added where it is new.
  @inline(__always)
  mutating func slot(of name: UnsafePointer<UInt8>) -> Int {
    var index = Self.home(of: name, in: slots.count)
    while slots[index].name != name {
      if slots[index].name == nil { return insert(name) }
      index = (index + 1) & (slots.count - 1)
    }
    return index
  }

  /// The place of the name in a slot, or nil when it has none in this batch yet.
  @inline(__always)
  func place(at slot: Int) -> (offset: UInt32, length: UInt32)? {
    let entry = slots[slot]
    return entry.generation == generation ? (entry.offset, entry.length) : nil
  }

  /// Remembers where the name in a slot was put.
  mutating func setPlace(at slot: Int, offset: UInt32, length: UInt32) {
    slots[slot].offset = offset
    slots[slot].length = length
    slots[slot].generation = generation
  }

  private mutating func insert(_ name: UnsafePointer<UInt8>) -> Int {
    count += 1
    if 2 * count > slots.count {
      let old = slots
      slots = .allocate(capacity: old.count * 2)
      slots.initialize(repeating: Entry())
      for entry in old {
        guard let name = entry.name else { continue }
        slots[freeSlot(for: name)] = entry
      }
      old.deallocate()
    }
    let slot = freeSlot(for: name)
    slots[slot].name = name
    return slot
  }

  private func freeSlot(for name: UnsafePointer<UInt8>) -> Int {
    var index = Self.home(of: name, in: slots.count)
    while slots[index].name != nil { index = (index + 1) & (slots.count - 1) }
    return index
  }

  @inline(__always)
  private static func home(of name: UnsafePointer<UInt8>, in count: Int) -> Int {
    let mixed = UInt(bitPattern: name) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> 32) & (count - 1)
  }
}
