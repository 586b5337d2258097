@testable import Dragoman
@testable import DragomanGraph

/// What is read from texts: maps, predicates, dates, numbers.
enum TextTargets {
  static let map: Target = { bytes in
    guard let map = try? ImportMap(yaml: String(decoding: bytes, as: UTF8.self)) else { return }
    // What is taken can be written, and read again as the same.
    let text = map.json()
    do {
      let again = try ImportMap(yaml: text)
      precondition(again.json() == text, text)
    } catch {
      fatalError("\(error) in \(text)")
    }
    _ = map.model().validate()
  }

  static let predicate: Target = { bytes in
    _ = try? Filter(parsing: String(decoding: bytes, as: UTF8.self))
  }

  /// A pattern, a line feed, and a text.
  static let dates: Target = { bytes in
    let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
    guard parts.count == 2 else { return }
    let pattern = String(decoding: parts[0], as: UTF8.self)
    let text = Array(parts[1])
    for type in [AttributeType.timestamp, .date, .time] {
      for zone in [nil, "Europe/Berlin"] {
        for formats in [[], [pattern], ["rfc2822", "iso8601", "unix-ms"]] {
          guard let reader = try? DateReader(formats: formats, type: type, timeZone: zone) else {
            continue
          }
          let read = written(capacity: DateReader.capacity) { output in
            text.withUnsafeBytes { reader.read(text: $0, into: output) }
          }
          let number = written(capacity: DateReader.capacity) { output in
            text.withUnsafeBytes { reader.read(number: $0, into: output) }
          }
          precondition((read + number).allSatisfy { $0 < 0x80 })
        }
      }
    }
    text.withUnsafeBytes { _ = CalendarDuration($0) }
  }

  /// Two separators and a text.
  static let numbers: Target = { bytes in
    guard bytes.count > 2 else { return }
    let text = Array(bytes.dropFirst(2))
    let (decimal, group) = (
      String(decoding: bytes[0..<1], as: UTF8.self), String(decoding: bytes[1..<2], as: UTF8.self)
    )
    for style in [nil] + NumberFormat.Style.allCases {
      for format in [
        NumberFormat(decimal: decimal, group: group, style: style),
        NumberFormat(decimal: decimal, style: style),
        NumberFormat(locale: "de_DE", style: style), NumberFormat(locale: "hi_IN", style: style),
        NumberFormat(locale: "ar_EG", style: style),
      ] {
        guard let reader = try? NumberReader(format: format) else { continue }
        let plain = written(capacity: NumberReader.capacity(byteCount: text.count)) { output in
          text.withUnsafeBytes { reader.plain($0, into: output) }
        }
        guard !plain.isEmpty else { continue }
        // The exponent is looked at by who reads the plain number.
        plain.withUnsafeBytes { _ = PlainNumber($0) }
      }
    }
    if let canonical = DecimalText.canonical(String(decoding: text, as: UTF8.self)) {
      precondition(DecimalText.canonical(canonical) == canonical, canonical)
    }
    text.withUnsafeBytes { bytes in
      let uuid = written(capacity: UUIDText.byteCount) { UUIDText.read(bytes, into: $0) }
      precondition(uuid.allSatisfy { $0 < 0x80 })
    }
  }

  private static func written(capacity: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int)
    -> [UInt8]
  {
    // No byte more than is promised: the sanitizer sees what goes beyond.
    let output = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
    defer { output.deallocate() }
    let count = body(output)
    precondition((0...capacity).contains(count))
    return Array(output[..<count])
  }
}
