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
  private var byte = 0
  private var recordLine: Int?
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
  /// Whether the record is source text, of XML or of what could not be read, rather than JSON.
  public var isSourceText: Bool { text != nil }
  /// Whether it is a row of CSV whose cells could not be told apart: an object of its columns may take its place.
  package var isRowText: Bool { text != nil && format == .csv }
  /// What helps with such a row.
  package static let rowHelp =
    "a row alone does not tell its columns: put an object of them, {\"column\":\"text\"}, in its place"
  /// The source of the map that the record was one of; nil in files of older versions.
  public private(set) var source: String?
  /// The format that it was read as; nil as `source` is.
  private(set) var format: ForeignFormat?
  /// The text of a record that is a string: one of XML, or one that could not be read.
  private(set) var text: String?
  /// What `$root` paths ask for, as JSON; of a record of XML as XML.
  private(set) var root: [UInt8]?
  /// The namespaces around a record of XML.
  private(set) var namespaces: [(prefix: String, uri: String)] = []

  /// The members that tell what was around the record, as they are.
  private var context: [UInt8] = []

  /// Where the record stood.
  var place: RejectPlace {
    RejectPlace(
      number: number,
      line: line,
      byte: byte,
      recordLine: recordLine ?? line,
      context: context
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
    let count = bytes.last == UInt8(ascii: "\n") ? bytes.count - 1 : bytes.count
    let root = try parser.parse(batch, start: batch.appendSource(bytes), length: count)
    var isWhole = false
    if Int(batch.nodes[Int(root)].kind) == TAPE_OBJECT {
      batch.forEachChild(of: root) { child, node in
        if batch.text(node.key, node.keyLength) == "record" { isWhole = true }
        read(child, node, in: batch)
      }
    }
    guard isWhole, !file.isEmpty else {
      throw ReadError(
        .rejects,
        "This is no line of a rejects file: it has no `file` or no `record`.",
        at: Origin(file: path, line: number, column: 1, byte: 0),
        help: "an import writes one where it is told to"
      )
    }
  }

  private mutating func read(_ child: UInt32, _ node: TapeNode, in batch: RecordBatch) {
    let string =
      Int(node.kind) == TAPE_STRING ? batch.text(node.text, node.length) : nil
    let number =
      Int(node.kind) == TAPE_NUMBER ? Int(batch.text(node.text, node.length)) : nil
    let name = batch.text(node.key, node.keyLength)
    if ["name", "root", "namespaces"].contains(name) {
      context += ",\"\(name)\":".utf8
      batch.appendJSON(of: child, to: &context)
    }
    switch name {
    case "file": file = string ?? ""
    case "line": line = max(0, number ?? 0)
    case "byte": byte = max(0, number ?? 0)
    case "recordLine": recordLine = number
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
  /// - Returns: The text.
  /// - Throws: `ReadError` where there is no memory for it.
  public func record() throws(ReadError) -> String {
    if let text { return text }
    var record: [UInt8] = []
    try forEachMember { name, json in if name == "record" { record = json } }
    return String(decoding: record, as: UTF8.self)
  }

  /// The line with another record in place of its own, to be imported again.
  ///
  /// - Parameter text: The record: JSON, or source text where the line has that (`isSourceText`); in place of a row of CSV
  ///   that could not be read, a JSON object of its columns.
  /// - Returns: The bytes of the line, with a line feed.
  /// - Throws: `ReadError`, `.json` with the place for what is no JSON.
  public func replacingRecord(with text: String) throws(ReadError) -> [UInt8] {
    var record: [UInt8] = []
    if isSourceText, !isRowText || text.drop(while: \.isWhitespace).first != "{" {
      var text = text
      text.withUTF8 {
        JSONString.append(UnsafeRawBufferPointer($0), to: &record)
      }
    } else {
      let batch = RecordBatch()
      batch.file = "record"
      let bytes = Array(text.utf8)
      let root = try JSONText()
        .parse(batch, start: batch.appendSource(bytes), length: bytes.count)
      batch.appendJSON(of: root, to: &record)
    }
    var line: [UInt8] = []
    try forEachMember { name, json in
      line += line.isEmpty ? "{\"".utf8 : ",\"".utf8
      line += name.utf8
      line += "\":".utf8
      line += name == "record" ? record : json
    }
    return line + Array("}\n".utf8)
  }

  /// Lends each member of the line, its value as JSON.
  private func forEachMember(_ body: (String, [UInt8]) -> Void) throws(ReadError) {
    let batch = RecordBatch()
    let count = bytes.last == UInt8(ascii: "\n") ? bytes.count - 1 : bytes.count
    let root = try JSONText().parse(batch, start: batch.appendSource(bytes), length: count)
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
    parser = try JSONText()
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
      if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }) { continue }
      return try RejectLine(bytes, number: number, of: path, parser)
    }
    if lines.hasFailed {
      throw ReadError(.inputOutput, "\(path) cannot be read to its end.")
    }
    return nil
  }
}
