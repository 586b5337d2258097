/// Where a foreign value stands: file, line, column, byte and record.
public struct Origin: Sendable, Hashable, Codable {
  /// The file as the user named it; `-` is standard input.
  public var file: String
  /// The line, from 1; 0 for values that came from memory and not from text.
  public var line: Int
  /// The column in Unicode scalars, from 1; 0 for values from memory, and for records of a rejects file.
  public var column: Int
  /// Bytes from the start of the decoded text (after gzip or a change of encoding), from 0.
  public var byte: Int
  /// The record's number in its file and source, from 1; nil outside of records.
  public var record: Int?

  /// Makes a place.
  public init(file: String, line: Int, column: Int, byte: Int, record: Int? = nil) {
    self.file = file
    self.line = line
    self.column = column
    self.byte = byte
    self.record = record
  }
}

extension Origin: CustomStringConvertible {
  /// The place for people, as in `people.json:28:15 (record 2, byte 1204)`, or `records (record 2)`
  /// for values from memory.
  public var description: String {
    if line == 0 { return file + (record.map { " (record \($0))" } ?? "") }
    let record = record.map { "record \($0), " } ?? ""
    if column == 0 { return "\(file):\(line) (\(record)byte \(byte))" }
    return "\(file):\(line):\(column) (\(record)byte \(byte))"
  }
}

/// Where a record of a rejects file stood in its feed.
struct RejectPlace: Sendable, Hashable {
  /// The line of the rejects file, from 1.
  let number: Int
  /// The line of what was wrong, from 1, and its byte, from 0.
  let line: Int
  let byte: Int
  /// The line that the record began on, from 1, and its first byte, from 0.
  let recordLine: Int
  let recordByte: Int
  /// What was wrong: the code, the entity, the attribute and its path, each from where it is known.
  let reason: [String?]
  /// The members of the line that do not tell what was wrong, the record among them, as JSON, each behind a comma.
  let members: [UInt8]

  /// Whether an issue is what was wrong.
  func isOf(_ issue: ImportIssue) -> Bool {
    [issue.code.rawValue, issue.entity, issue.attribute, issue.path].elementsEqual(reason) {
      ($0.map { Array($0.utf8) }) == ($1.map { Array($0.utf8) })
    }
  }
}

/// The declarations of namespaces around the records of a document, from some place of the source on.
struct XMLScope {
  /// One `xmlns:prefix="uri"`; the prefix of `xmlns="uri"` is empty.
  struct Declaration: Hashable {
    let prefix: String
    let uri: String
    /// The depth of the element that has it.
    let depth: Int
  }

  /// The first byte of the batch's source that it holds for.
  let start: UInt32
  /// What elements around declare, the outermost first: a later one of the same prefix counts.
  let declarations: [Declaration]
}
