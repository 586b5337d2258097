/// Bytes on their way out, in memory of our own.
///
/// The hot path of an export: appending is a bounds check and a copy. It may be cut back to an
/// earlier length, which is how objects without members are taken back.
final class ExportBuffer {
  // One thread writes an export and nobody else sees the buffer: exclusivity needs no check at run time.
  @exclusivity(unchecked) private var base: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var capacity: Int
  /// How many bytes there are.
  @exclusivity(unchecked) private(set) var count = 0

  init(capacity: Int = 256 << 10) {
    self.capacity = capacity
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  /// The bytes; valid until more are appended.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// The last byte, 0 where there is none.
  @inline(__always)
  var last: UInt8 { count > 0 ? base.load(fromByteOffset: count - 1, as: UInt8.self) : 0 }

  /// Forgets what stands behind the first `count` bytes.
  @inline(__always)
  func truncate(to count: Int) { self.count = count }

  /// Makes room for that many more bytes.
  @inline(__always)
  func reserve(_ free: Int) {
    if capacity - count < free { grow(free) }
  }

  @inline(never)
  private func grow(_ free: Int) {
    let larger = max(capacity * 2, count + free)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    memory.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = memory
    capacity = larger
  }

  /// Appends one byte.
  @inline(__always)
  func append(_ byte: UInt8) {
    reserve(1)
    base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Appends bytes that are not the buffer's own.
  @inline(__always)
  func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    (base + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  /// Appends bytes of an array.
  @inline(__always)
  func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
  }

  /// Appends a text of the program.
  @inline(__always)
  func append(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends text as UTF-8; not for every record.
  func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Lends room for that many bytes at the end; `body` says how many it wrote.
  @inline(__always)
  func append(upTo room: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) {
    reserve(room)
    count += body(UnsafeMutableRawBufferPointer(start: base + count, count: room))
  }

  /// Lends the room that there is; `body` says how many bytes it wrote, nil: it needs more room.
  ///
  /// - Returns: False: there was too little; there is twice as much from now on.
  @inline(__always)
  func appendIfRoom(_ body: (UnsafeMutableRawBufferPointer) -> Int?) -> Bool {
    let room = UnsafeMutableRawBufferPointer(start: base + count, count: capacity - count)
    guard let written = body(room) else {
      grow(capacity)
      return false
    }
    count += written
    return true
  }
}

extension ExportBuffer {
  /// Makes spaces of the line breaks behind the first `start` bytes.
  func replaceLineBreaks(from start: Int) {
    let added = UnsafeMutableRawBufferPointer(mutating: bytes)
    for index in start..<count where added[index] == 0x0A || added[index] == 0x0D {
      added[index] = 0x20
    }
  }
}
