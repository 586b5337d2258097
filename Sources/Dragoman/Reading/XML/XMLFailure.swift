import CLibXML2

/// Makes our error of one of libxml2's.
///
/// - Parameters:
///   - error: What libxml2 says.
///   - origin: The place that it has come to.
///   - isWhole: Whether the root element has ended.
///   - isAtReference: Whether an `&` stands at that place.
/// - Returns: The error, with a full sentence.
func xmlFailure(
  _ error: xmlError,
  at origin: Origin,
  isWhole: Bool,
  isAtReference: Bool
) -> ReadError {
  let text = sentence(error.message)
  switch xmlParserErrors(rawValue: UInt32(bitPattern: error.code)) {
  // libxml2 calls both an "extra content": text behind the root, and a missing end.
  case XML_ERR_DOCUMENT_END where !isWhole:
    return ReadError(.truncated, "The text ends before its root element does.", at: origin)
  case XML_ERR_INVALID_CHAR where text.hasPrefix("Input is not proper UTF-8"),
    XML_ERR_INVALID_ENCODING:
    if let character = firstCharacter(of: text) {
      let reason = "the character U+\(character) cannot stand there."
      return ReadError(.xml, "The text is not well-formed XML: \(reason)", at: origin)
    }
    return ReadError(
      .encoding,
      "The text is not valid UTF-8.",
      at: origin,
      help: "name the encoding that the file really has, in its XML declaration or in the map"
    )
  case XML_ERR_NO_MEMORY:
    return ReadError(
      .limit,
      "The different names in the document take more than 10 MB, or there is no memory left.",
      at: origin
    )
  case XML_ERR_NAME_TOO_LONG, XML_ERR_ENTITY_LOOP, resourceLimit:
    return ReadError(.limit, "The document is beyond a limit of the parser: \(text)", at: origin)
  case XML_ERR_ATTRIBUTE_NOT_FINISHED where text.contains("too long"),
    XML_ERR_COMMENT_NOT_FINISHED where text.contains("too big"):
    return ReadError(.limit, "The document is beyond a limit of the parser: \(text)", at: origin)
  case XML_ERR_INTERNAL_ERROR where text.contains("uge input lookup") && isAtReference:
    return ReadError(
      .xml,
      "The text is not well-formed XML: an \"&\" has no \";\" in the 10000000 bytes behind it.",
      at: origin,
      help: "an \"&\" that stands for itself is written &amp;"
    )
  case XML_ERR_INTERNAL_ERROR where text.contains("uge input lookup"):
    return ReadError(
      .limit,
      "A tag, comment or declaration of the document is longer than 10000000 bytes.",
      at: origin
    )
  default:
    return ReadError(.xml, "The text is not well-formed XML: \(text)", at: origin)
  }
}

/// `XML_ERR_RESOURCE_LIMIT`, which headers before 2.11 do not name; a library that is loaded may be newer than they are.
private let resourceLimit = xmlParserErrors(rawValue: 114)

/// The character that the bytes begin with which libxml2 shows with a fault of the encoding, as hexadecimal digits; nil:
/// they are none.
///
/// In CDATA sections the push parser calls a character that XML does not take a fault of the encoding.
private func firstCharacter(of text: String) -> String? {
  let words = text.split(separator: " ").filter { $0.hasPrefix("0x") }
  var bytes = words.compactMap { UInt8($0.dropFirst(2).prefix(2), radix: 16) }.makeIterator()
  var decoder = UTF8()
  guard case .scalarValue(let scalar) = decoder.decode(&bytes) else { return nil }
  let digits = String(scalar.value, radix: 16, uppercase: true)
  return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}

/// libxml2's message on one line, ended by a full stop.
private func sentence(_ message: UnsafeMutablePointer<CChar>?) -> String {
  guard let message else { return "no reason was given." }
  var words = String(cString: message).split(whereSeparator: \.isWhitespace)
  // Some messages start with the name of the function that they come from.
  if let first = words.first, first.hasPrefix("xml"), first.hasSuffix(":") { words.removeFirst() }
  return ErrorText.ended(words.joined(separator: " "))
}
