/// Where a foreign value stands: file, line, column, byte and record.
public struct Origin: Sendable, Hashable, Codable {
  /// The file as the user named it; `-` is standard input.
  public var file: String
  /// The line, from 1; 0 for values that came from memory and not from text.
  public var line: Int
  /// The column in Unicode scalars, from 1; 0 for values from memory.
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
    return "\(file):\(line):\(column) (\(record)byte \(byte))"
  }
}
