import CSimdJSON
import DragomanGraph
import Foundation

/// One line of a rejects file, read: which record was rejected, why, and the record itself.
///
/// `RejectLines` reads them; `replacingRecord(with:)` mends one.
///
/// Large because each property is a member of a line of the file.
public struct RejectLine: Sendable {
  /// The number of the line, from 1.
  public let number: Int
  /// The line as it is, with its line feed where it has one.
  public let bytes: [UInt8]
  /// The feed that the record was in.
  public private(set) var file = ""
  /// The line of what was wrong, from 1, and its byte, from 0.
  public private(set) var line = 0
  private(set) var byte = 0
  private var recordLine: Int?
  private var recordByte: Int?
  /// The record's number in its feed, from 0.
  public private(set) var index = 0
  /// The entity of what was wrong; a nested record's, where it is in one.
  public private(set) var entity = ""
  /// The attribute, where one was concerned.
  public private(set) var attribute: String?
  /// The kind of issue.
  public private(set) var code = ""
  /// A sentence for people.
  public private(set) var message = ""
  /// The path that the map has for the value, where one was concerned.
  public private(set) var path: String?
  /// The value as it came, shortened; masked where the attribute is sensitive.
  public private(set) var value: String?
  /// The record's unique key, as far as it was known.
  public private(set) var key: String?
  /// The entity of the record itself, in which that of what was wrong may be nested.
  public var recordEntity: String { sourceEntity ?? entity }
  private var sourceEntity: String?
  /// Whether the record is source text, of XML or of what could not be read, rather than JSON.
  public var isSourceText: Bool { recordBytes != nil || text != nil && !isReadJSON }
  /// Whether it is JSON that could be read: a string is one of JSON then.
  private var isReadJSON: Bool { (format == .json || format == .ndjson) && !isUnread }
  /// Whether the record could not be read.
  var isUnread: Bool { code == ImportIssue.Code.recordSyntax.rawValue }
  /// Whether an older version wrote the record, which was no UTF-8, as text: what has become U+FFFD is lost.
  var hasLostBytes: Bool {
    recordBytes == nil && isUnread && message == "The text is not valid UTF-8."
      && text?.unicodeScalars.contains("\u{FFFD}") == true
  }
  /// Whether the record is an element of XML.
  package var isXML: Bool { isSourceText && format == .xml }
  /// How many bytes behind the record's first one that is which was wrong; 0 where it is the record itself.
  package var byteOffset: Int { max(0, byte - (recordByte ?? byte)) }
  /// Whether it is a row of CSV whose cells could not be told apart: an object of its columns may take its place.
  package var isRowText: Bool { isSourceText && format == .csv }
  /// What helps with such a row.
  package static let rowHelp =
    "a row alone does not tell its columns: put an object of them, {\"column\":\"text\"}, in its place"
  /// What helps with a record that is no UTF-8.
  package static let bytesHelp =
    "its bytes that are no UTF-8 stand here as \\xE9: put the letters in their place, or name the encoding in the source of"
    + " the map, and try it as it is"
  /// The source of the map that the record was one of; nil in files of older versions.
  public private(set) var source: String?
  /// The format that it was read as; nil as `source` is.
  private(set) var format: ForeignFormat?
  /// The text of a record that is a string: one of XML, one that could not be read, or one that is a string of JSON.
  private(set) var text: String?
  /// The bytes of a record that is no UTF-8; nil: it is text, or JSON.
  public private(set) var recordBytes: [UInt8]?
  /// What `$root` paths ask for, as JSON; of a record of XML as XML.
  private(set) var root: [UInt8]?
  /// The namespaces around a record of XML.
  private(set) var namespaces: [(prefix: String, uri: String)] = []

  /// What the document of a record of XML declares of attributes and entities.
  private(set) var doctype: String?
  /// Whether that was too long for the line.
  private(set) var lacksDoctype = false

  /// Where the record stood, and what of its line stays where it is rejected again.
  ///
  /// - Parameters:
  ///   - parser: What parses lines.
  ///   - record: The record as JSON, where its text could not be read and can be now; nil: it stays as it is.
  /// - Returns: Where it stands.
  /// - Throws: `ReadError` where there is no memory for it.
  func place(_ parser: JSONText, record: [UInt8]? = nil) throws(ReadError) -> RejectPlace {
    var members: [UInt8] = []
    try forEachMember(parser) { name, json in
      if Self.reasonNames.contains(name) || name == "recordBytes" && recordBytes == nil { return }
      Self.append(name, to: &members)
      members += name == "record" ? record ?? json : json
    }
    return RejectPlace(
      number: number,
      line: line,
      byte: byte,
      recordLine: recordLine ?? line,
      recordByte: recordByte ?? byte,
      reason: [code, entity, attribute, path],
      members: members
    )
  }

  /// Reads a line.
  ///
  /// - Parameters:
  ///   - bytes: The line.
  ///   - number: Its number.
  ///   - path: The file.
  ///   - parser: What parses JSON.
  /// - Throws: `.json` for what is no JSON, `.rejects` for what is no line of such a file, both with the place.
  init(_ bytes: [UInt8], number: Int, of path: String, _ parser: JSONText) throws(ReadError) {
    self.bytes = bytes
    self.number = number
    let batch = RecordBatch()
    batch.file = path
    batch.line = number
    let root = try Self.parse(bytes, into: batch, parser)
    var names: Set<String> = []
    if Int(batch.nodes[Int(root)].kind) == TAPE_OBJECT {
      batch.forEachChild(of: root) { child, node in
        let name = batch.text(node.key, node.keyLength)
        names.insert(name)
        read(name, child, node, in: batch)
      }
      // A record that somebody has put there counts, not what it was.
      if names.contains("record") { recordBytes = nil }
    }
    guard names.contains("record") || recordBytes != nil, !file.isEmpty else {
      throw ReadError(
        .rejects,
        "This is no line of a rejects file: it has no `file`, or neither a `record` nor a `recordBytes` that is base64.",
        at: Origin(file: path, line: number, column: 1, byte: 0),
        help: "an import writes one where it is told to"
      )
    }
  }

  /// The members that tell what was wrong, and where: they are written anew.
  private static let reasonNames: Set<String> = [
    "file", "line", "byte", "index", "entity", "key", "code", "attribute", "path", "value",
    "message",
    "recordEntity", "recordLine", "recordByte",
  ]

  /// Parses a line: its record may nest as deep as one of a feed.
  private static func parse(
    _ bytes: [UInt8],
    into batch: RecordBatch,
    _ parser: JSONText
  ) throws(ReadError) -> UInt32 {
    let count = bytes.last == UInt8(ascii: "\n") ? bytes.count - 1 : bytes.count
    do throws(ReadError) {
      return try parser.parse(batch, start: batch.appendSource(bytes), length: count)
    } catch {
      guard error.code == .encoding else { throw error }
      var error = error
      error.help = "a rejects file is UTF-8: save it as that"
      throw error
    }
  }

  private static func append(_ name: String, to members: inout [UInt8]) {
    members.append(UInt8(ascii: ","))
    appendString(name, to: &members)
    members.append(UInt8(ascii: ":"))
  }

  private static func appendString(_ text: String, to json: inout [UInt8]) {
    var text = text
    text.withUTF8 { JSONString.append(UnsafeRawBufferPointer($0), to: &json) }
  }

  private mutating func read(
    _ name: String,
    _ child: UInt32,
    _ node: TapeNode,
    in batch: RecordBatch
  ) {
    let string =
      Int(node.kind) == TAPE_STRING ? batch.text(node.text, node.length) : nil
    let number =
      Int(node.kind) == TAPE_NUMBER ? Int(batch.text(node.text, node.length)) : nil
    switch name {
    case "file": file = string ?? ""
    case "line": line = max(0, number ?? 0)
    case "byte": byte = max(0, number ?? 0)
    case "recordLine": recordLine = number.map { max(0, $0) }
    case "recordByte": recordByte = number.map { max(0, $0) }
    case "recordEntity": sourceEntity = string
    case "recordBytes": recordBytes = string.flatMap { Data(base64Encoded: $0) }.map { Array($0) }
    // As far as a number of records can go.
    case "index": index = min(max(0, number ?? 0), Int.max - 1)
    case "entity": entity = string ?? ""
    case "attribute": attribute = string
    case "code": code = string ?? ""
    case "message": message = string ?? ""
    case "path": path = string
    case "value": value = string
    case "key": key = string
    case "source": source = string
    case "format": format = string.flatMap { ForeignFormat(rawValue: $0) }
    case "record": text = string
    case "doctype": (doctype, lacksDoctype) = (string, Int(node.kind) == TAPE_NULL)
    case "root":
      if let string {
        root = Array(string.utf8)
      } else {
        var json: [UInt8] = []
        batch.appendJSON(of: child, to: &json)
        root = json
      }
    case "namespaces":
      batch.forEachChild(of: child) { _, node in
        namespaces.append(
          (batch.text(node.key, node.keyLength), batch.text(node.text, node.length))
        )
      }
    default: break
    }
  }
}

/// The record of a line, and the line with another one.
extension RejectLine {
  /// The record as people edit it: its source text, or JSON on one line, every number spelled as it came.
  ///
  /// Bytes that are no text stand in it by their numbers, `\xE9`: that is no JSON, and is not taken for it.
  ///
  /// - Returns: The text.
  /// - Throws: `ReadError` where there is no memory for it.
  public func record() throws(ReadError) -> String {
    if let text, isSourceText { return text }
    if let recordBytes { return Self.spelled(recordBytes) }
    var record: [UInt8] = []
    try forEachMember(JSONText(around: 1)) { name, json in if name == "record" { record = json } }
    return String(decoding: record, as: UTF8.self)
  }

  private static func spelled(_ bytes: [UInt8]) -> String {
    var text = ""
    var parser = Unicode.UTF8.ForwardParser()
    var rest = bytes.makeIterator()
    var place = 0
    while true {
      switch parser.parseScalar(from: &rest) {
      case .valid(let scalar):
        text.unicodeScalars.append(Unicode.UTF8.decode(scalar))
        place += scalar.count
      case .error(let length):
        for byte in bytes[place..<place + length] {
          text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        place += length
      case .emptyInput: return text
      }
    }
  }

  /// The line with another record in place of its own, to be imported again.
  ///
  /// What `record()` says of bytes that are no text leaves them as they are.
  ///
  /// - Parameter text: The record: JSON, or source text where the line has that (`isSourceText`); in place of a row of CSV
  ///   that could not be read, a JSON object of its columns.
  /// - Returns: The bytes of the line, with a line feed.
  /// - Throws: `ReadError`, `.json` with the place for what is no JSON.
  public func replacingRecord(with text: String) throws(ReadError) -> [UInt8] {
    if let recordBytes, Self.isSame(text, Self.spelled(recordBytes)) { return bytes }
    if hasLostBytes, Self.isSame(text, self.text ?? "") { return bytes }
    var record: [UInt8] = []
    if isSourceText, !isReadJSON, !isRowText || text.drop(while: \.isWhitespace).first != "{" {
      Self.appendString(text, to: &record)
    } else {
      let batch = RecordBatch()
      batch.file = "record"
      let bytes = Array(text.utf8)
      let root = try JSONText()
        .parse(batch, start: batch.appendSource(bytes), length: bytes.count)
      batch.appendJSON(of: root, to: &record)
    }
    var line: [UInt8] = []
    try forEachMember(JSONText(around: 1)) { name, json in
      // Where both stand there, the record counts.
      if name == "recordBytes", recordBytes == nil { return }
      // It told of the record that was there.
      if name == "message", hasLostBytes { return }
      let isRecord = name == "record" || name == "recordBytes"
      Self.append(isRecord ? "record" : name, to: &line)
      line += isRecord ? record : json
    }
    line[0] = UInt8(ascii: "{")
    return line + Array("}\n".utf8)
  }

  /// Whether two texts are the same but for the white space at their ends.
  private static func isSame(_ text: String, _ other: String) -> Bool {
    func end(_ text: String) -> String.SubSequence {
      text[..<(text.lastIndex { !$0.isWhitespace }.map(text.index(after:)) ?? text.startIndex)]
    }
    return end(text).utf8.elementsEqual(end(other).utf8)
  }

  /// Lends each member of the line, its value as JSON.
  private func forEachMember(
    _ parser: JSONText,
    _ body: (String, [UInt8]) -> Void
  ) throws(ReadError) {
    let batch = RecordBatch()
    let root = try Self.parse(bytes, into: batch, parser)
    batch.forEachChild(of: root) { child, node in
      var json: [UInt8] = []
      batch.appendJSON(of: child, to: &json)
      body(batch.text(node.key, node.keyLength), json)
    }
  }
}

/// Reads a rejects file line by line.
///
/// Not to be used by two threads at once.
public final class RejectLines {
  private let lines: LineReader
  private let parser: JSONText
  private let path: String
  private var number = 0

  /// Opens a rejects file.
  ///
  /// - Parameter path: The file.
  /// - Throws: `.missing`, `.permission` or `.inputOutput` where the file cannot be opened, `.format` of a database,
  ///   which this process may have open.
  public init(_ path: String) throws(ReadError) {
    self.path = path
    if FilePath.isCut(path) {
      throw ReadError(.missing, "There is no file \(printable(path)): its path holds U+0000.")
    }
    if FileHead.isDatabase(path) {
      throw ReadError(.format, "\(path) is a SQLite database, not a rejects file.")
    }
    guard let lines = LineReader(path) else {
      let code = errno
      throw ReadError(
        code == ENOENT ? .missing : code == EACCES ? .permission : .inputOutput,
        code == ENOENT
          ? "There is no file \(path)."
          : "\(path) cannot be opened: \(String(cString: strerror(code)))."
      )
    }
    self.lines = lines
    parser = try JSONText(around: 1)
  }

  /// The next line that is not blank.
  ///
  /// - Returns: The line; nil at the end.
  /// - Throws: `ReadError` with the place for a line that is none of such a file.
  public func next() throws(ReadError) -> RejectLine? {
    while var bytes = lines.next() {
      number += 1
      // An editor may have written it.
      if number == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
      if number == 1,
        bytes.starts(with: [0x1F, 0x8B]) || bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
      {
        let (name, tool) = bytes[0] == 0x1F ? ("gzip", "gunzip") : ("zstd", "unzstd")
        throw ReadError(
          .format,
          "\(path) is \(name) data, and a rejects file is plain text.",
          at: Origin(file: path, line: 1, column: 1, byte: 0),
          help: "unpack it first: \(tool)"
        )
      }
      if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }) { continue }
      return try RejectLine(bytes, number: number, of: path, parser)
    }
    if lines.hasFailed {
      throw ReadError(.inputOutput, "\(path) cannot be read to its end.")
    }
    return nil
  }
}
