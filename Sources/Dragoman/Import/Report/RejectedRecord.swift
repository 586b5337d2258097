import CSimdJSON
import DragomanGraph
import Foundation

/// Who writes down rejected records.
protocol RejectsOutput: AnyObject {
  /// Writes the line of one reject.
  ///
  /// - Throws: `.inputOutput` when it cannot be written.
  func write(_ issue: ImportIssue, _ record: RejectedRecord) throws(ImportError)
}

/// A rejected record as a rejects file has it: as it came, with all that its map can ask for besides.
///
/// JSON and rows of CSV are values, everything else is a string of its source text, or its bytes where they are
/// no text. Behind the record stand what it needs to be read again for itself: the source and its format, and
/// where they are not plain `$key`, what `$root` paths ask for, the namespaces around it, what its document
/// declares, and its place. One that is rejected again has what stood in its line.
struct RejectedRecord {
  /// The members of the line from that of the record on.
  let bytes: [UInt8]
  /// Those behind them that the records of a batch have in common.
  let surroundings: [UInt8]
  /// The entity of its source; nil: nobody knows.
  let entity: String?
  /// The line that it begins on, from 1, and its first byte, from 0.
  let line: Int
  let byte: Int
  /// Where it stood in a rejects file that is read again; nil: it comes from a feed.
  let again: RejectPlace?

  /// What records of XML stand in when they are read again.
  static let wrapperNamespace = "urn:dragoman:records"

  init(_ record: RecordBatch.Record, in batch: DraftBatch) {
    let records = batch.records
    entity = batch.plan?.sources[record.source].entity.name
    again = records.retried[record.number]
    if let again {
      (bytes, line, byte) = (again.members, again.recordLine, again.recordByte)
      surroundings = []
      return
    }
    let origin = records.origin(at: record.start, record: nil)
    (line, byte) = (origin.line, origin.byte)
    var bytes: [UInt8] = []
    if record.node != RecordBatch.malformedNode, !records.isXML {
      bytes += ",\"record\":".utf8
      records.appendJSON(of: record.node, to: &bytes)
    } else {
      Self.append(text: records.sourceText(of: record), to: &bytes)
    }
    if let plan = batch.plan {
      Self.append("source", plan.sources[record.source].name, to: &bytes)
      Self.append("format", plan.format.rawValue, to: &bytes)
    }
    // A name may be empty; nothing has place 0.
    if record.key > 0, !records.isXML {
      Self.append("name", records.text(record.key, record.keyLength), to: &bytes)
    }
    self.bytes = bytes
    surroundings = Self.surroundings(of: record, in: batch)
  }

  /// What stands around a record: made once for those of a batch that have the same.
  private static func surroundings(of record: RecordBatch.Record, in batch: DraftBatch) -> [UInt8] {
    let records = batch.records
    let place = records.scopes.lastIndex { $0.start <= record.start }
    if let known = batch.surroundings, known.scope == place { return known.bytes }
    var bytes: [UInt8] = []
    if let root = records.document {
      let parts = batch.plan?.documentParts ?? .all
      bytes += ",\"root\":".utf8
      if records.isXML {
        append(XMLText(of: root, in: records, parts).text, to: &bytes)
      } else {
        parts.appendJSON(of: root, in: records, to: &bytes)
      }
    }
    if let place { append(records.scopes[place], to: &bytes) }
    if let doctype = records.doctype {
      append(
        "doctype",
        doctype.isEmpty ? nil : String(decoding: doctype, as: UTF8.self),
        to: &bytes
      )
    }
    batch.surroundings = (place, bytes)
    return bytes
  }

  /// Appends the whole line of a reject, with its line feed.
  func appendLine(of issue: ImportIssue, to line: inout [UInt8]) {
    var place = (line: issue.origin.line, byte: issue.origin.byte)
    // Of what was wrong once, the place is known; of what is wrong now, that of the record.
    if let again, !again.isOf(issue) { place = (self.line, byte) }
    line += "{\"file\":".utf8
    Self.append(issue.origin.file, to: &line)
    line += ",\"line\":\(place.line),\"byte\":\(place.byte)".utf8
    line += ",\"index\":\((issue.origin.record ?? 1) - 1)".utf8
    let members = [
      ("entity", issue.entity), ("key", issue.key), ("code", issue.code.rawValue),
      ("attribute", issue.attribute), ("path", issue.path), ("value", issue.value),
      ("message", issue.message),
    ]
    for (name, value) in members { Self.append(name, value, to: &line) }
    line += bytes
    line += surroundings
    if let entity, !hasSameBytes(entity, issue.entity) {
      Self.append("recordEntity", entity, to: &line)
    }
    if self.line != place.line { line += ",\"recordLine\":\(self.line)".utf8 }
    if byte != place.byte { line += ",\"recordByte\":\(byte)".utf8 }
    line += "}\n".utf8
  }

  // MARK: - JSON

  /// Appends the record where it is source text.
  private static func append(text: [UInt8], to json: inout [UInt8]) {
    let isText = text.withUnsafeBufferPointer { bytes in
      bytes.baseAddress.map { isUTF8($0, bytes.count) } ?? true
    }
    if isText {
      append("record", String(decoding: text, as: UTF8.self), to: &json)
    } else {
      append("recordBytes", Data(text).base64EncodedString(), to: &json)
    }
  }

  private static func append(_ scope: XMLScope, to json: inout [UInt8]) {
    var uris: [(prefix: String, uri: String)] = []
    for declaration in scope.declarations where declaration.uri != wrapperNamespace {
      uris.removeAll { $0.prefix.utf8.elementsEqual(declaration.prefix.utf8) }
      uris.append((declaration.prefix, declaration.uri))
    }
    guard !uris.isEmpty else { return }
    json += ",\"namespaces\":{".utf8
    for (index, (prefix, uri)) in uris.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      append(prefix, to: &json)
      json.append(UInt8(ascii: ":"))
      append(uri, to: &json)
    }
    json.append(UInt8(ascii: "}"))
  }

  private static func append(_ name: String, _ value: String?, to json: inout [UInt8]) {
    json += ",\"\(name)\":".utf8
    if let value {
      append(value, to: &json)
    } else {
      json += "null".utf8
    }
  }

  private static func append(_ text: String, to json: inout [UInt8]) {
    var text = text
    text.withUTF8 {
      JSONString.append(UnsafeRawBufferPointer($0), to: &json)
    }
  }
}
