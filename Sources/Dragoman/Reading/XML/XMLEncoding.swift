/// Finds out in which encoding an XML document is, and decodes it.
///
/// The order is that of XML 1.0, appendix F: byte order mark, the look of the first four bytes,
/// the XML declaration, then what the map says, then UTF-8. A declaration that contradicts the
/// bytes is refused: one of the two is wrong, and nothing is guessed.
struct XMLEncoding {
  /// How many bytes are looked at: an XML declaration has to end within them.
  static let headByteCount = 1024

  /// The encoding that the bytes or the declaration name.
  let name: String
  /// How many bytes of a byte order mark stand before the text.
  let markByteCount: Int

  /// Whether the text is UTF-8 as it stands.
  var isUTF8: Bool { Self.normalized(name) == "UTF8" }

  /// The document's text as UTF-8, without a byte order mark.
  ///
  /// - Parameters:
  ///   - source: The document.
  ///   - fallback: The encoding of a document that does not say; nil is UTF-8.
  ///   - doubt: Is told what is decoded.
  /// - Returns: The text, and how many bytes of it (a UTF-8 byte order mark) were left out.
  /// - Throws: `ReadError` when the encoding is not known or contradicts the bytes.
  static func decodedText(
    of source: any ByteSource,
    fallback: String?,
    doubt: EncodingDoubt? = nil
  ) throws(ReadError) -> (source: PeekableSource, skippedByteCount: Int) {
    let peekable = PeekableSource(source)
    let head = Array(try peekable.peek(headByteCount))
    let encoding = try XMLEncoding(head: head, fallback: fallback, name: source.name)
    peekable.skip(encoding.markByteCount)
    if encoding.isUTF8 { return (peekable, encoding.markByteCount) }
    let decoder = try TextDecoder(peekable, encoding: encoding.name, doubt: doubt)
    return (PeekableSource(decoder), 0)
  }

  private init(head: [UInt8], fallback: String?, name file: String) throws(ReadError) {
    let mark = ByteOrderMark(head)
    markByteCount = mark?.byteCount ?? 0
    let text = head[markByteCount...]
    let look = mark?.encoding ?? Self.wideEncoding(Array(text.prefix(4)))
    let declaration = Self.asciiText(text, look)
    let isWhole = head.count < Self.headByteCount
    guard let declared = try Self.declaredEncoding(declaration, isWhole: isWhole, name: file) else {
      name = look ?? fallback ?? "UTF-8"
      return
    }
    guard let look else {
      // The declaration was read byte by byte, so the encoding cannot be one of wide characters.
      guard Self.family(declared) == nil || Self.normalized(declared) == "UTF8" else {
        throw Self.contradiction(declared, "in single bytes", name: file)
      }
      name = declared
      return
    }
    if look == Self.ebcdic {
      name = declared
    } else if Self.family(declared) == Self.family(look) {
      name = look
    } else {
      throw Self.contradiction(declared, "in \(look)", name: file)
    }
  }

  private static let ebcdic = "IBM037"

  /// The encoding that `<?xm` or `<` in wide characters gives away, without a mark.
  private static func wideEncoding(_ first: [UInt8]) -> String? {
    switch first {
    case [0x3C, 0, 0, 0]: "UTF-32LE"
    case [0, 0, 0, 0x3C]: "UTF-32BE"
    case [0x4C, 0x6F, 0xA7, 0x94]: ebcdic
    case _ where first.count == 4 && first[0] == 0x3C && first[1] == 0: "UTF-16LE"
    case _ where first.count == 4 && first[0] == 0 && first[1] == 0x3C: "UTF-16BE"
    default: nil
    }
  }

  /// The declaration's text in ASCII, near enough to read the encoding's name from it.
  private static func asciiText(_ text: ArraySlice<UInt8>, _ look: String?) -> [UInt8] {
    switch look {
    case ebcdic: decodedEBCDIC(text)
    case nil, "UTF-8": Array(text)
    default: text.filter { $0 != 0 }
    }
  }

  private static func decodedEBCDIC(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var decoded: [UInt8] = []
    do throws(ReadError) {
      try TextDecoder.append(Array(text), as: ebcdic, to: &decoded)
    } catch {
      // Without its declaration the document is read as plain EBCDIC, and fails there with a place.
    }
    return decoded
  }

  /// The encoding that the XML declaration names; nil where there is none.
  private static func declaredEncoding(
    _ text: [UInt8],
    isWhole: Bool,
    name file: String
  ) throws(ReadError) -> String? {
    guard text.starts(with: "<?xml".utf8), text.count > 5, isSpace(text[5]) else { return nil }
    guard let end = text[5...].firstIndex(of: UInt8(ascii: "?")) else {
      // A document cut inside its declaration is left to the parser, which tells the place.
      if isWhole { return nil }
      throw ReadError(
        .limit,
        "The XML declaration of \(file) does not end within its first \(headByteCount) bytes."
      )
    }
    let declaration = text[5..<end]
    guard let key = declaration.firstRange(of: "encoding".utf8) else { return nil }
    var rest = declaration[key.upperBound...].drop(while: isSpace)
    guard rest.first == UInt8(ascii: "=") else { return nil }
    rest = rest.dropFirst().drop(while: isSpace)
    guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      return nil
    }
    let value = rest.dropFirst().prefix { $0 != quote }
    return String(decoding: value, as: UTF8.self)
  }

  private static func contradiction(
    _ declared: String,
    _ actual: String,
    name file: String
  ) -> ReadError {
    ReadError(
      .encoding,
      "The XML declaration of \(file) names the encoding \"\(declared)\", but the text is written"
        + " \(actual).",
      help: "correct the declaration, or convert the file to the encoding it names"
    )
  }

  /// What a Unicode encoding is made of, whatever its byte order; nil for all others.
  private static func family(_ encoding: String) -> String? {
    switch normalized(encoding) {
    case "UTF8": "UTF8"
    case "UTF16", "UTF16LE", "UTF16BE", "UCS2", "ISO10646UCS2": "UTF16"
    case "UTF32", "UTF32LE", "UTF32BE", "UCS4", "ISO10646UCS4": "UTF32"
    default: nil
    }
  }

  /// The name in upper case, without hyphens and underscores.
  private static func normalized(_ encoding: String) -> String {
    encoding.uppercased().filter { $0 != "-" && $0 != "_" }
  }
}

private func isSpace(_ byte: UInt8) -> Bool {
  byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
}
