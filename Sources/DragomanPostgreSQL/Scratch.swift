import DragomanGraph
import Foundation

/// The types whose texts are not what docs/file.md writes, by their numbers in `pg_type.dat`.
enum PostgreSQLType: UInt32 {
  case boolean = 16
  case bytes = 17
  case bigint = 20
  case smallint = 21
  case integer = 23
  case oid = 26
  case single = 700
  case double = 701
  case date = 1082
  case timestamp = 1184
}

/// Values of one row that are not in libpq's memory.
struct Scratch: ~Copyable {
  private var buffers: [UnsafeMutableRawBufferPointer] = []

  init() {}

  deinit { for buffer in buffers { buffer.deallocate() } }

  mutating func clear() {
    for buffer in buffers { buffer.deallocate() }
    buffers.removeAll(keepingCapacity: true)
  }

  /// A value by its text, which ends with a zero.
  mutating func value(_ text: UnsafeRawBufferPointer, _ type: PostgreSQLType?) -> ColumnValue {
    let characters = text.baseAddress?.assumingMemoryBound(to: CChar.self)
    guard let type, let characters else { return .text(text) }
    switch type {
    case .boolean: return .integer(text.first == UInt8(ascii: "t") ? 1 : 0)
    case .bigint, .smallint, .integer, .oid: return .integer(Int64(strtoll(characters, nil, 10)))
    case .single, .double:
      let number = strtod(characters, nil)
      // Others may store these there; to SQLite the one is null, and the other has no sign.
      return number.isNaN ? .null : .real(number.withoutNegativeZero)
    case .bytes: return .blob(bytes(text))
    case .date, .timestamp: return .text(civil(text))
    }
  }

  private mutating func bytes(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(1, text.count / 2),
      alignment: 1
    )
    buffers.append(buffer)
    func digit(_ byte: UInt8) -> UInt8 {
      byte <= UInt8(ascii: "9") ? byte - UInt8(ascii: "0") : byte - UInt8(ascii: "a") + 10
    }
    // `\x` comes first.
    var count = 0
    var index = 2
    while index + 1 < text.count {
      buffer[count] = digit(text[index]) << 4 | digit(text[index + 1])
      count += 1
      index += 2
    }
    return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
  }

  /// A date or a timestamp without its zone; the year 1 before Christ is ISO 8601's year 0, and earlier ones stay
  /// as they are, which is no date of ours.
  private mutating func civil(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let isBefore = text.count > 3 && text.suffix(3).elementsEqual(" BC".utf8)
    var end = isBefore ? text.count - 3 : text.count
    if end > 3, text[..<end].suffix(3).elementsEqual("+00".utf8) { end -= 3 }
    let kept = UnsafeRawBufferPointer(rebasing: text[..<end])
    guard isBefore else { return kept }
    guard kept.starts(with: "0001-".utf8) else { return text }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: kept.count, alignment: 1)
    buffers.append(buffer)
    buffer.copyMemory(from: kept)
    buffer[3] = UInt8(ascii: "0")
    return UnsafeRawBufferPointer(buffer)
  }
}
