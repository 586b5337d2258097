/// Reads JSON text (RFC 8259, strictly) into a `MapNode`.
///
/// A parser of its own because a map needs what the feed's parser does not give: the place of
/// every key, and duplicate keys kept for the decoder to report.
struct JSONMapParser {
  private let bytes: [UInt8]
  private let file: String?
  private var offset = 0
  private var line = 1
  /// A column already counted and its offset: columns are counted once, from there on.
  private var column = 1
  private var columnOffset = 0
  private var count = 0

  init(_ text: String, file: String?) {
    bytes = Array(text.utf8)
    self.file = file
    // A byte order mark may be ignored (RFC 8259, 8.1).
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      offset = 3
      columnOffset = 3
    }
  }

  mutating func parse() throws(MapFaults) -> MapNode {
    skipSpace()
    let node = try value(depth: 0)
    skipSpace()
    guard offset == bytes.count else { throw fault("nothing can follow the value") }
    return node
  }

  private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func place() -> MapPosition {
    for byte in bytes[columnOffset..<offset] where byte & 0xC0 != 0x80 { column += 1 }
    columnOffset = offset
    return MapPosition(line: line, column: column)
  }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      offset += 1
      if byte == 0x0A {
        line += 1
        column = 1
        columnOffset = offset
      }
    }
  }

  private mutating func fault(_ problem: String) -> MapFaults {
    MapFaults([
      MapFault(.syntax, "This is not JSON: \(problem).", file: file, position: place())
    ])
  }

  private mutating func value(depth: Int) throws(MapFaults) -> MapNode {
    let position = place()
    count += 1
    guard depth <= MapNode.maximumDepth, count <= MapNode.maximumNodeCount else {
      throw MapFaults([
        MapFault(
          .limit,
          "A map has at most \(MapNode.maximumNodeCount) values, \(MapNode.maximumDepth) deep.",
          file: file,
          position: position
        )
      ])
    }
    switch peek {
    case UInt8(ascii: "{"): return try object(at: position, depth: depth)
    case UInt8(ascii: "["): return try array(at: position, depth: depth)
    case UInt8(ascii: "\""):
      return MapNode(content: .scalar(try string(), isPlain: false), position: position)
    case nil: throw fault("the text ends too early")
    default: return MapNode(content: .scalar(try bareWord(), isPlain: true), position: position)
    }
  }

  private mutating func object(
    at position: MapPosition,
    depth: Int
  ) throws(MapFaults) -> MapNode {
    var members: [MapNode.Member] = []
    offset += 1
    skipSpace()
    while peek != UInt8(ascii: "}") {
      let keyPosition = place()
      guard peek == UInt8(ascii: "\"") else { throw fault("a key in double quotes belongs here") }
      let key = try string()
      skipSpace()
      guard peek == UInt8(ascii: ":") else { throw fault("a \":\" belongs after the key") }
      offset += 1
      skipSpace()
      let value = try value(depth: depth + 1)
      members.append(.init(key: key, keyPosition: keyPosition, value: value))
      try separator(before: UInt8(ascii: "}"))
    }
    offset += 1
    return MapNode(content: .mapping(members), position: position)
  }

  private mutating func array(
    at position: MapPosition,
    depth: Int
  ) throws(MapFaults) -> MapNode {
    var elements: [MapNode] = []
    offset += 1
    skipSpace()
    while peek != UInt8(ascii: "]") {
      elements.append(try value(depth: depth + 1))
      try separator(before: UInt8(ascii: "]"))
    }
    offset += 1
    return MapNode(content: .sequence(elements), position: position)
  }

  /// Reads the comma between two elements, or stops in front of the closing bracket.
  private mutating func separator(before end: UInt8) throws(MapFaults) {
    skipSpace()
    if peek == end { return }
    guard peek == UInt8(ascii: ",") else {
      throw fault("a \",\" or \"\(Character(Unicode.Scalar(end)))\" belongs here")
    }
    offset += 1
    skipSpace()
    if peek == end { throw fault("nothing stands between \",\" and the end") }
  }

  /// `true`, `false`, `null` or a number, kept as text.
  private mutating func bareWord() throws(MapFaults) -> String {
    let start = offset
    var end = offset
    while end < bytes.count, isWordByte(bytes[end]) { end += 1 }
    let word = String(decoding: bytes[start..<end], as: UTF8.self)
    guard ["true", "false", "null"].contains(word) || word.isPlainNumber else {
      throw fault(word.isEmpty ? "a value belongs here" : "\"\(word)\" is no value")
    }
    offset = end
    return word
  }

  private func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "."), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  private mutating func string() throws(MapFaults) -> String {
    var text: [UInt8] = []
    offset += 1
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        offset += 1
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        text += try escape().utf8
      case ..<0x20:
        throw fault("a control character in a string must be escaped")
      default:
        text.append(byte)
        offset += 1
      }
    }
    throw fault("the string is never closed")
  }

  private mutating func escape() throws(MapFaults) -> String {
    offset += 1
    let byte = peek
    offset += 1
    switch byte {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape()
    default:
      offset -= 1
      throw fault("this escape does not exist")
    }
  }

  private mutating func unicodeEscape() throws(MapFaults) -> String {
    var units = [try codeUnit()]
    if UTF16.isLeadSurrogate(units[0]), bytes[offset...].starts(with: Array("\\u".utf8)) {
      offset += 2
      units.append(try codeUnit())
    }
    guard let text = String(validating: units, as: UTF16.self) else {
      throw fault("half a surrogate pair is no character")
    }
    return text
  }

  private mutating func codeUnit() throws(MapFaults) -> UInt16 {
    let digits = bytes[offset...].prefix(4)
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw fault("\\u wants four hexadecimal digits") }
    offset += 4
    return unit
  }
}
