import CSimdJSON
import Foundation

/// The file that rejected records are written to: NDJSON, one object a reject, mode 0600.
///
/// Each line holds the place, the reason and the foreign record as it came, so that the record can
/// be imported again after the map was mended.
final class RejectsFile {
  private let path: String
  private let handle: FileHandle
  private var buffer: [UInt8] = []

  /// Creates the file, or empties the one that is there.
  ///
  /// A symbolic link is not followed.
  ///
  /// - Throws: `.output` when it cannot be created.
  init(path: String) throws(ImportError) {
    self.path = path
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ImportError(
        .output,
        "The rejects file \(path) cannot be created: \(String(cString: strerror(errno)))."
      )
    }
    fchmod(descriptor, 0o600)
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Writes the line of one reject.
  ///
  /// - Throws: `.output` when the file cannot be written.
  func write(
    _ issue: ImportIssue,
    _ record: RecordBatch.Record,
    in batch: RecordBatch
  ) throws(ImportError) {
    try write(issue, text: recordText(record, in: batch), in: batch)
  }

  /// Writes the line of a reject whose record is text already.
  ///
  /// - Throws: `.output` when the file cannot be written.
  func write(
    _ issue: ImportIssue,
    text: [UInt8],
    in batch: RecordBatch
  ) throws(ImportError) {
    buffer.append(contentsOf: "{\"file\":".utf8)
    string(issue.origin.file, in: batch)
    number("line", issue.origin.line)
    number("byte", issue.origin.byte)
    number("index", (issue.origin.record ?? 1) - 1)
    member("entity", issue.entity, in: batch)
    member("key", issue.key, in: batch)
    member("code", issue.code.rawValue, in: batch)
    member("attribute", issue.attribute, in: batch)
    member("path", issue.path, in: batch)
    member("value", issue.value, in: batch)
    member("message", issue.message, in: batch)
    buffer.append(contentsOf: ",\"record\":".utf8)
    buffer.append(contentsOf: text)
    buffer.append(contentsOf: "}\n".utf8)
    if buffer.count > 64 << 10 { try flush() }
  }

  /// Writes what is still in memory.
  func flush() throws(ImportError) {
    do {
      try handle.write(contentsOf: buffer)
    } catch {
      throw ImportError(.output, "The rejects file \(path) cannot be written: \(error).")
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// A record as a value: JSON on one line, everything else as a string of its source text.
  func recordText(_ record: RecordBatch.Record, in batch: RecordBatch) -> [UInt8] {
    var text: [UInt8] = []
    let isJSON =
      record.node != RecordBatch.malformedNode
      && Int(batch.nodes[Int(record.node)].kind) != TAPE_ELEMENT
    if isJSON {
      batch.appendJSON(of: record.node, to: &text)
    } else {
      var source = String(decoding: batch.sourceText(of: record), as: UTF8.self)
      source.withUTF8 { batch.appendJSONString(UnsafeRawBufferPointer($0), to: &text) }
    }
    return text
  }

  private func number(_ name: String, _ value: Int) {
    buffer.append(contentsOf: ",\"\(name)\":\(value)".utf8)
  }

  private func member(_ name: String, _ value: String?, in batch: RecordBatch) {
    buffer.append(contentsOf: ",\"\(name)\":".utf8)
    if let value {
      string(value, in: batch)
    } else {
      buffer.append(contentsOf: "null".utf8)
    }
  }

  private func string(_ text: String, in batch: RecordBatch) {
    var text = text
    text.withUTF8 { batch.appendJSONString(UnsafeRawBufferPointer($0), to: &buffer) }
  }
}
