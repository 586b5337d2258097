import CSimdJSON
import DragomanGraph
import Foundation

/// Puts records of a rejects file on the tape as their feeds had them.
///
/// A batch has records of one feed, source and `$root`; of XML one record, which is read for itself.
///
/// What a record may take does not hold here: it was read once, and its line is in memory.
final class RejectedRecordReader {
  private let limit = RecordLimit(byteCount: RecordLimit.range.upperBound)
  private let text: JSONText
  /// Parses lines, in which a record may nest as deep as in a feed.
  private let lines: JSONText
  private var first: RejectLine?
  private var source = 0
  /// The encoding that the source names; nil: UTF-8.
  private var encoding: String?

  /// - Throws: `.limit` when there is no memory for a parser.
  init() throws(ReadError) {
    text = try JSONText()
    lines = try JSONText(around: 1)
  }

  /// Begins a batch with a record.
  ///
  /// - Parameters:
  ///   - batch: An empty batch.
  ///   - line: The record.
  ///   - plan: The plan of its format.
  ///   - source: Its source there.
  /// - Throws: `.limit` for a record that no tape can hold.
  func begin(
    _ batch: RecordBatch,
    with line: RejectLine,
    of plan: ImportPlan,
    source: Int
  ) throws(ReadError) {
    first = line
    self.source = source
    encoding = plan.sources[source].map.encoding
    if plan.format == .xml {
      readElement(line, of: plan, into: batch)
      batch.file = line.file
      batch.retried = [line.index + 1: try line.place(lines)]
    } else {
      batch.file = line.file
      // Where it cannot be read, its records are rejected.
      if let root = line.root { batch.document = try? lines.parse(batch, detached: root) }
      try add(line, to: batch)
    }
  }

  /// Whether a record may follow in the same batch.
  func takes(_ line: RejectLine, into batch: RecordBatch) -> Bool {
    guard let first, !batch.isXML else { return false }
    return line.file.utf8.elementsEqual(first.file.utf8) && line.format == first.format
      && line.source == first.source
      && line.recordEntity.utf8.elementsEqual(first.recordEntity.utf8)
      && line.root == first.root && batch.retried[line.index + 1] == nil
      && batch.sourceCount < SourceWindow.targetByteCount
  }

  /// Adds a record that is JSON, or a row as JSON.
  ///
  /// - Throws: `.limit` for a record that no tape can hold.
  func add(_ line: RejectLine, to batch: RecordBatch) throws(ReadError) {
    let start = batch.appendSource(line.bytes)
    let length = line.bytes.last == UInt8(ascii: "\n") ? line.bytes.count - 1 : line.bytes.count
    try limit.check(batch, start: start, length: length)
    var record = RecordBatch.Record(
      node: RecordBatch.malformedNode,
      start: UInt32(start),
      length: UInt32(length),
      number: line.index + 1,
      source: source
    )
    var mended: [UInt8]?
    do throws(ReadError) {
      if line.root != nil, batch.document == nil {
        throw ReadError(.json, "The `root` of the line cannot be read.")
      }
      let root = try lines.parse(batch, start: start, length: length)
      batch.forEachChild(of: root) { child, node in
        switch batch.text(node.key, node.keyLength) {
        case "record": record.node = child
        case "name" where Int(node.kind) == TAPE_STRING:
          (record.key, record.keyLength) = (node.text, node.length)
        default: break
        }
      }
      if let bytes = line.recordBytes {
        record.node = RecordBatch.malformedNode
        try readText(try decoded(bytes, line.file), of: line, into: &record, batch)
      } else if line.isUnread, let source = line.text {
        try readText(Array(source.utf8), of: line, into: &record, batch)
        // Whatever is wrong with it by now, it is no text that could not be read.
        var json: [UInt8] = []
        batch.appendJSON(of: record.node, to: &json)
        mended = json
      }
    } catch {
      var error = error
      error.origin = Origin(file: line.file, line: line.line, column: 0, byte: line.byte)
      batch.failures[batch.records.count] = error
    }
    batch.records.append(record)
    batch.retried[record.number] = try line.place(lines, record: mended)
  }

  /// Reads a record whose text could not be read.
  private func readText(
    _ source: [UInt8],
    of line: RejectLine,
    into record: inout RecordBatch.Record,
    _ batch: RecordBatch
  ) throws(ReadError) {
    record.node = RecordBatch.malformedNode
    record.start = UInt32(batch.appendSource(source))
    record.length = UInt32(source.count)
    guard line.format != .csv else {
      throw ReadError(
        .csv,
        line.message.isEmpty ? "The row is not well-formed." : line.message,
        help: RejectLine.rowHelp
      )
    }
    record.node = try text.parse(batch, start: Int(record.start), length: Int(record.length))
  }

  /// The text of bytes in the encoding of their source; where it names none, the bytes.
  private func decoded(_ bytes: [UInt8], _ file: String) throws(ReadError) -> [UInt8] {
    guard let encoding else { return bytes }
    var text: [UInt8] = []
    try TextDecoder.append(bytes, as: encoding, name: file, to: &text)
    return text
  }

  // MARK: - XML

  /// Reads an element in a document of its own, with what stood around it.
  private func readElement(_ line: RejectLine, of plan: ImportPlan, into batch: RecordBatch) {
    let element = line.text ?? ""
    do throws(ReadError) {
      let reader = try XMLReader(
        source: MemorySource(Self.document(of: element, line), name: line.file),
        paths: [
          XMLRecordPath([
            .any, .element("records", namespace: RejectedRecord.wrapperNamespace), .any,
          ])
        ],
        keeping: plan.documentMembers,
        limit: limit,
        around: 2
      )
      _ = try reader.read(into: batch, limit: .max)
      guard batch.records.count == 1 else {
        throw ReadError(.xml, "The text of the record is not one element.")
      }
      batch.records[0].source = source
      batch.records[0].number = line.index + 1
    } catch {
      let isXML = line.text != nil
      batch.removeAll()
      batch.isXML = true
      let start = batch.appendSource(element.utf8)
      batch.failures[0] = ReadError(
        error.code,
        isXML ? Self.told(error, line) : "A record of XML is a string of its text.",
        at: Origin(file: line.file, line: line.line, column: 0, byte: line.byte),
        help: isXML ? error.help : "put the element as a string in its place"
      )
      batch.records = [
        RecordBatch.Record(
          node: RecordBatch.malformedNode,
          start: UInt32(start),
          length: UInt32(element.utf8.count),
          number: line.index + 1,
          source: source
        )
      ]
    }
  }

  /// What an error says of an element, which knows nothing of what is put around it.
  private static func told(_ error: ReadError, _ line: RejectLine) -> String {
    guard error.message.contains("\(prefix(line)):records") else { return error.message }
    return
      "The text of the record is not one element: a tag of it is not closed, or closes nothing."
  }

  /// A prefix that the feed does not declare itself.
  private static func prefix(_ line: RejectLine) -> String {
    var own = "d"
    while line.namespaces.contains(where: { $0.prefix == own }) { own += "d" }
    return own
  }

  private static func document(of element: String, _ line: RejectLine) -> String {
    let spaces = line.namespaces.map { prefix, uri in
      " xmlns\(prefix.isEmpty ? "" : ":" + prefix)=\"\(XMLText.escaped(uri))\""
    }.joined()
    let own = prefix(line)
    let tag = "\(own):records"
    let records =
      "<\(tag) xmlns:\(own)=\"\(RejectedRecord.wrapperNamespace)\"\(spaces)>\(element)</\(tag)>"
    let root =
      (line.doctype ?? "")
      + (line.root.map { String(decoding: $0, as: UTF8.self) } ?? "<root></root>")
    // In front of its end tag.
    guard let end = root.range(of: "</", options: .backwards) else { return root + records }
    return root[..<end.lowerBound] + records + root[end.lowerBound...]
  }
}
