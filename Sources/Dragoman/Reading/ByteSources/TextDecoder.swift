import CLibXML2

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The text of a source as UTF-8, from another encoding.
///
/// Conversion is strict: bytes that mean nothing in the encoding are an error, never a
/// replacement character.
///
/// Large because two buffers have their ends here, and the place in the text is counted.
final class TextDecoder: ByteSource {
  private let source: any ByteSource
  private let encoding: String
  private let converter: iconv_t
  private let doubt: EncodingDoubt?
  private let bytes: UnsafeMutableRawBufferPointer
  /// Decoded text that waits to be taken: `text[textStart..<textEnd]`.
  ///
  /// A character may be longer than the room that a caller has.
  private let text: UnsafeMutableRawBufferPointer
  private var textStart = 0
  private var textEnd = 0
  /// The bytes that were read and not yet converted: `bytes[start..<end]`.
  private var start = 0
  private var end = 0
  /// How many bytes of the source were converted.
  private var convertedByteCount = 0
  private var inputEnded = false
  /// Whether nothing more comes of the bytes that were read: they are none, or part of a character.
  private var needsInput = true
  private var hasFlushed = false
  /// Where the decoded text stands, for messages.
  private var line = 1
  private var column = 1
  private var byte = 0

  var name: String { source.name }
  var consumedByteCount: Int { source.consumedByteCount }

  /// Makes a source that decodes another one.
  ///
  /// - Parameters:
  ///   - source: The bytes, without a byte order mark.
  ///   - encoding: The name as IANA registers it, in any case.
  ///   - doubt: Is told what is decoded.
  /// - Throws: `ReadError.encoding` when the encoding is not known.
  init(
    _ source: any ByteSource,
    encoding: String,
    doubt: EncodingDoubt? = nil
  ) throws(ReadError) {
    guard let converter = Self.makeConverter(encoding) else {
      throw ReadError(
        .encoding,
        "The encoding \"\(encoding)\" of \(source.name) is not known.",
        help: "convert the file to UTF-8, or correct the name of its encoding"
      )
    }
    self.source = source
    self.encoding = encoding
    self.converter = converter
    self.doubt = doubt
    bytes = .allocate(byteCount: 1 << 16, alignment: 16)
    text = .allocate(byteCount: 1 << 16, alignment: 16)
    doubt?.begin(encoding)
  }

  deinit {
    iconv_close(converter)
    bytes.deallocate()
    text.deallocate()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
    while textStart == textEnd, !hasFlushed {
      (textStart, textEnd) = (0, 0)
      if needsInput, !inputEnded { try fill() }
      textEnd = try convert()
    }
    let count = min(buffer.count, textEnd - textStart)
    let piece = UnsafeRawBufferPointer(rebasing: text[textStart..<textStart + count])
    buffer.copyMemory(from: piece)
    textStart += count
    advance(over: piece)
    return count
  }

  /// Appends the text of bytes in memory, as UTF-8; where it is faulty, what stands before that.
  ///
  /// - Parameters:
  ///   - bytes: The bytes, without a mark.
  ///   - encoding: Their encoding.
  ///   - name: The name of the input for messages.
  ///   - text: Gets the text.
  /// - Throws: `.encoding` for an encoding that is not known, and for bytes that are no text.
  static func append(
    _ bytes: [UInt8],
    as encoding: String,
    name: String = "memory",
    to text: inout [UInt8]
  ) throws(ReadError) {
    let decoder = try TextDecoder(MemorySource(bytes, name: name), encoding: encoding)
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
    defer { room.deallocate() }
    while true {
      let count = try decoder.read(into: room)
      if count == 0 { return }
      text += room[..<count]
    }
  }

  private func fill() throws(ReadError) {
    let rest = end - start
    bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    start = 0
    end = rest
    let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[end...]))
    doubt?.see(UnsafeRawBufferPointer(rebasing: bytes[end..<end + count]))
    end += count
    inputEnded = count == 0
  }

  /// Converts what was read as far as it goes, and returns how many bytes came out.
  private func convert() throws(ReadError) -> Int {
    guard
      let inputBase = bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
      let outputBase = text.baseAddress?.assumingMemoryBound(to: CChar.self)
    else { return 0 }
    var input: UnsafeMutablePointer<CChar>? = inputBase + start
    var inputLeft = end - start
    var output: UnsafeMutablePointer<CChar>? = outputBase
    var outputLeft = text.count
    var status = 0
    var number: CInt = 0
    if inputLeft > 0 {
      status = iconv(converter, &input, &inputLeft, &output, &outputLeft)
      number = errno
      convertedByteCount += end - start - inputLeft
      start = end - inputLeft
    } else if inputEnded {
      status = iconv(converter, nil, nil, &output, &outputLeft)
      number = errno
      hasFlushed = status != -1
    }
    let produced = text.count - outputLeft
    needsInput = status != -1 || number == EINVAL
    guard status == -1, produced == 0 else { return produced }
    switch number {
    case EINVAL where !inputEnded:
      return 0
    case EINVAL:
      throw failure("ends in the middle of a character")
    default:
      throw failure("holds bytes that are not valid")
    }
  }

  private func failure(_ what: String) -> ReadError {
    ReadError(
      .encoding,
      "The text \(what) in \(encoding), at byte \(convertedByteCount) of its encoded form.",
      at: Origin(file: name, line: line, column: column, byte: byte),
      help: "name the encoding that the file really has"
        + (doubt?.notice == nil ? "" : ": as far as it was read it is UTF-8")
    )
  }

  private func advance(over text: UnsafeRawBufferPointer) {
    byte += text.count
    for byte in text {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
  }

  /// Whether an encoding is known by a name, as IANA registers it, in any case.
  static func knows(_ encoding: String) -> Bool {
    guard let converter = makeConverter(encoding) else { return false }
    iconv_close(converter)
    return true
  }

  /// Names that XML's grammar has no place for never reach the converter: a slash would start
  /// its options (`//IGNORE`).
  private static func makeConverter(_ encoding: String) -> iconv_t? {
    let isName = encoding.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "."), UInt8(ascii: ":"):
        true
      default: false
      }
    }
    guard isName, !encoding.isEmpty else { return nil }
    // By JIS X 0201 alone a backslash is a yen sign, and no JSON has an escape: WHATWG's Shift_JIS is Windows'.
    let isShiftJIS = ["shift_jis", "shift-jis", "sjis", "ms_kanji", "csshiftjis"]
      .contains(encoding.lowercased())
    guard let converter = iconv_open("UTF-8", isShiftJIS ? "CP932" : encoding),
      Int(bitPattern: converter) != -1
    else {
      return nil
    }
    return converter
  }
}
