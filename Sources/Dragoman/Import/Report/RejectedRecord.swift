import CSimdJSON
import DragomanGraph

/// Who writes down rejected records.
protocol RejectsOutput: AnyObject {
  /// Writes the line of one reject.
  ///
  /// - Throws: `.inputOutput` when it cannot be written.
  func write(_ issue: ImportIssue, _ record: RejectedRecord) throws(ImportError)
}

/// A rejected record as a rejects file has it: as it came, with all that its map can ask for besides.
///
/// JSON and rows of CSV are values, everything else is a string of its source text. Behind the record stand what
/// it needs to be read again for itself: the source and its format, and where they are not plain `$key`, what
/// `$root` paths ask for, the namespaces around it, and its line.
struct RejectedRecord {
  /// The line from the value of `record` on.
  let bytes: [UInt8]
  /// The line of the rejects file that it comes from, from 1; nil where it comes from a feed.
  let number: Int?

  /// What records of XML stand in when they are read again.
  static let wrapperNamespace = "urn:dragoman:records"

  init(_ record: RecordBatch.Record, in batch: DraftBatch) {
    let records = batch.records
    var bytes: [UInt8] = []
    if record.node != RecordBatch.malformedNode, !records.isXML {
      records.appendJSON(of: record.node, to: &bytes)
    } else {
      Self.append(String(decoding: records.sourceText(of: record), as: UTF8.self), to: &bytes)
    }
    if let plan = batch.plan {
      Self.append("source", plan.sources[record.source].name, to: &bytes)
      Self.append("format", plan.format.rawValue, to: &bytes)
      if plan.asksForLines, records.isText {
        bytes += ",\"recordLine\":\(records.line(of: record))".utf8
      }
    }
    if let place = records.retried[record.number] {
      // As it was, also of what could not be read.
      self.bytes = bytes + place.context
      number = place.number
      return
    }
    if record.keyLength > 0, !records.isXML {
      Self.append("name", records.text(record.key, record.keyLength), to: &bytes)
    }
    if let root = records.document {
      if records.isXML {
        Self.append("root", XMLText(of: root, in: records).text, to: &bytes)
      } else {
        bytes += ",\"root\":".utf8
        records.appendJSON(of: root, to: &bytes)
      }
    }
    if let scope = records.scopes.last(where: { $0.start <= record.start }) {
      Self.append(scope, to: &bytes)
    }
    self.bytes = bytes
    number = records.retried[record.number]?.number
  }

  /// Appends the whole line of a reject, with its line feed.
  func appendLine(of issue: ImportIssue, to line: inout [UInt8]) {
    line += "{\"file\":".utf8
    Self.append(issue.origin.file, to: &line)
    line += ",\"line\":\(issue.origin.line),\"byte\":\(issue.origin.byte)".utf8
    line += ",\"index\":\((issue.origin.record ?? 1) - 1)".utf8
    let members = [
      ("entity", issue.entity), ("key", issue.key), ("code", issue.code.rawValue),
      ("attribute", issue.attribute), ("path", issue.path), ("value", issue.value),
      ("message", issue.message),
    ]
    for (name, value) in members { Self.append(name, value, to: &line) }
    line += ",\"record\":".utf8
    line += bytes
    line += "}\n".utf8
  }

  // MARK: - JSON

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
