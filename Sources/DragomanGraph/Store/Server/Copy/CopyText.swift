/// Rows as the lines of `COPY … FROM STDIN`
/// (https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.2).
struct CopyText {
  private let types: [ServerType]
  private var bytes: ContiguousArray<UInt8> = []

  /// So much is sent at once.
  private static let byteCount = 1 << 18

  init(_ types: [ServerType]) {
    self.types = types
    bytes.reserveCapacity(Self.byteCount + Self.byteCount / 8)
  }

  /// Whether it is time to send.
  var isFull: Bool { bytes.count >= Self.byteCount }

  /// Adds a row.
  ///
  /// - Throws: `StoreError`, `.badRequest`, for a text with U+0000.
  mutating func append(_ row: StoredRow) throws {
    for (index, type) in types.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: "\t")) }
      switch row[Int32(truncatingIfNeeded: index)] {
      case .null:
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(UInt8(ascii: "N"))
      case .integer(let integer): append(integer)
      case .real(let real): bytes.append(contentsOf: real.description.utf8)
      case .text(let text) where type == .timestamp || type == .date:
        let civil = try type.bytes(.text(String(decoding: text, as: UTF8.self)))
        bytes.append(contentsOf: civil)
      case .text(let text): try append(text)
      case .blob(let blob):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(contentsOf: try type.bytes(.blob(Array(blob))))
      }
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Sends the rows, and forgets them.
  mutating func send(_ send: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard !bytes.isEmpty else { return }
    try bytes.withUnsafeBytes { try send($0) }
    bytes.removeAll(keepingCapacity: true)
  }

  private mutating func append(_ integer: Int64) {
    guard integer >= 0 else { return bytes.append(contentsOf: String(integer).utf8) }
    let start = bytes.count
    var rest = integer
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  private mutating func append(_ text: UnsafeRawBufferPointer) throws {
    var begun = 0
    for (place, byte) in text.enumerated() where byte < 0x20 || byte == UInt8(ascii: "\\") {
      let letter: UInt8
      switch byte {
      case 0: throw ServerArray.nul
      case 9: letter = UInt8(ascii: "t")
      case 10: letter = UInt8(ascii: "n")
      case 13: letter = UInt8(ascii: "r")
      case UInt8(ascii: "\\"): letter = byte
      default: continue
      }
      bytes.append(contentsOf: text[begun..<place])
      bytes.append(UInt8(ascii: "\\"))
      bytes.append(letter)
      begun = place + 1
    }
    bytes.append(contentsOf: text[begun...])
  }
}
