import CSwiftRuntime
import Synchronization

/// The registered objects of one table by `_pk`; it does not keep them alive.
///
/// An object may be let go on any thread. It takes itself out then, under the lock, before its memory is
/// given back: so whoever finds it here under the lock may ask whether it still lives.
///
/// An open-addressing table instead of a `Dictionary`: every fetched object is looked up and
/// entered here, and Swift's hasher alone costs more than SQLite's step to the next row. Keys are
/// the store's own, so nobody can choose them to collide.
final class IdentityMap {
  private struct Slot {
    var key: Int64
    var object: Unmanaged<ManagedObject>?
  }

  private let lock = Mutex<Void>(())
  // No access runs code of others, and all are under the lock, so that exclusive access needs no check at run time.
  @exclusivity(unchecked) private var slots: UnsafeMutableBufferPointer<Slot>
  @exclusivity(unchecked) private var shift: Int
  /// The number of registered objects.
  @exclusivity(unchecked) private(set) var count = 0

  init() {
    slots = Self.makeSlots(16)
    shift = 64 - 1
  }

  deinit { slots.deallocate() }

  /// The object at a key.
  ///
  /// Setting nil takes the object out.
  subscript(key: Int64) -> ManagedObject? {
    get {
      let address = lock.withLock { _ in Self.retained(slots[place(of: key)].object) }
      return Self.object(address)
    }
    set { lock.withLock { _ in set(newValue, at: key) } }
  }

  private func set(_ object: ManagedObject?, at key: Int64) {
    guard let object else { return remove(at: place(of: key)) }
    if count * 2 >= slots.count { grow(to: slots.count * 2) }
    let place = place(of: key)
    if slots[place].object == nil { count += 1 }
    slots[place] = Slot(key: key, object: .passUnretained(object))
  }

  /// Retains an object, unless its last reference is gone already; its address, or 0.
  private static func retained(_ object: Unmanaged<ManagedObject>?) -> UInt {
    object.map { UInt(bitPattern: dragoman_retain_if_alive($0.toOpaque())) } ?? 0
  }

  /// The object that was retained.
  private static func object(_ address: UInt) -> ManagedObject? {
    guard let pointer = UnsafeRawPointer(bitPattern: address) else { return nil }
    return Unmanaged<ManagedObject>.fromOpaque(pointer).takeRetainedValue()
  }

  /// An object is let go: if it is the one at its key, the key is free.
  func forget(_ key: Int64, _ object: ManagedObject) {
    // Only its address is looked at: it is going already.
    let address = Unmanaged.passUnretained(object).toOpaque()
    lock.withLock { _ in
      let place = place(of: key)
      if slots[place].object?.toOpaque() == address { remove(at: place) }
    }
  }

  /// The registered objects, in no order.
  var objects: [ManagedObject] {
    lock.withLock { _ in slots.map { Self.retained($0.object) } }.compactMap(Self.object)
  }

  /// Makes room for more objects.
  func reserve(_ more: Int) {
    lock.withLock { _ in
      var wanted = slots.count
      while wanted < (count + more) * 2 { wanted *= 2 }
      if wanted > slots.count { grow(to: wanted) }
    }
  }

  // MARK: - Slots

  /// Where the key is, or where it would be put.
  private func place(of key: Int64) -> Int {
    var place = home(of: key)
    while slots[place].object != nil, slots[place].key != key {
      place = (place + 1) & (slots.count - 1)
    }
    return place
  }

  /// Eight neighbouring keys share two lines of the cache, since rows are fetched one after the
  /// other; each eight of them is put anywhere (Fibonacci hashing).
  private func home(of key: Int64) -> Int {
    let key = UInt64(bitPattern: key)
    let group = ((key >> 3) &* 0x9E37_79B9_7F4A_7C15) >> UInt64(shift)
    return Int(truncatingIfNeeded: group << 3 | key & 7)
  }

  /// Empties a slot, and moves up what was pushed on by it.
  private func remove(at hole: Int) {
    guard slots[hole].object != nil else { return }
    count -= 1
    var hole = hole
    var next = hole
    while true {
      next = (next + 1) & (slots.count - 1)
      guard slots[next].object != nil else { break }
      // A slot may fill the hole unless its home lies behind it.
      let distance = (next - home(of: slots[next].key)) & (slots.count - 1)
      if distance >= (next - hole) & (slots.count - 1) {
        slots[hole] = slots[next]
        hole = next
      }
    }
    slots[hole].object = nil
  }

  private func grow(to size: Int) {
    let old = slots
    slots = Self.makeSlots(size)
    shift = 64 - size.trailingZeroBitCount + 3
    for slot in old where slot.object != nil { slots[place(of: slot.key)] = slot }
    old.deallocate()
  }

  private static func makeSlots(_ count: Int) -> UnsafeMutableBufferPointer<Slot> {
    let made = UnsafeMutableBufferPointer<Slot>.allocate(capacity: count)
    made.initialize(repeating: Slot(key: 0, object: nil))
    return made
  }
}
