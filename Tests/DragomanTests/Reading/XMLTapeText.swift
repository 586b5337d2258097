import CSimdJSON

@testable import Dragoman

/// What a document gave: its records as text, in the order of the feed.
struct XMLReading: Equatable {
  var records: [String] = []
  var sources: [Int] = []
  var numbers: [Int] = []
  var texts: [String] = []
  var batchCount = 0
}

/// Reads a whole document.
func readXML(
  _ source: any ByteSource,
  _ paths: [String],
  namespaces: [String: String] = [:],
  limit: Int = 1000
) throws -> XMLReading {
  let reader = try XMLReader(source: source, paths: paths.map { recordPath($0, namespaces) })
  let batch = RecordBatch()
  var reading = XMLReading()
  var hasMore = true
  while hasMore {
    hasMore = try reader.read(into: batch, limit: limit)
    for record in batch.records {
      reading.records.append(tapeText(batch, Int(record.node)))
      reading.sources.append(record.source)
      reading.numbers.append(record.number)
      reading.texts.append(String(decoding: batch.sourceText(of: record), as: UTF8.self))
    }
    reading.batchCount += 1
  }
  return reading
}

/// A path written as `/a/p:b/*`.
func recordPath(_ text: String, _ namespaces: [String: String] = [:]) -> XMLRecordPath {
  XMLRecordPath(
    text.split(separator: "/").map { step in
      if step == "*" { return .any }
      let parts = step.split(separator: ":")
      guard parts.count == 2 else { return .element(String(step), namespace: nil) }
      return .element(String(parts[1]), namespace: namespaces[String(parts[0])])
    }
  )
}

/// A node as text: `p "direct text" [@id "1", n "x", {uri}m null]`.
func tapeText(_ batch: RecordBatch, _ index: Int) -> String {
  let node = batch.nodes[index]
  let space = node.space == 0 ? "" : "{\(batch.namespaces[Int(node.space)])}"
  let mark = node.flags & UInt8(TAPE_ATTRIBUTE) != 0 ? "@" : ""
  var text = mark + space + batch.text(node.key, node.keyLength)
  if Int(node.kind) == TAPE_NULL { return text + " null" }
  if node.length > 0 || Int(node.kind) == TAPE_STRING {
    text += " " + batch.text(node.text, node.length).debugDescription
  }
  var children: [String] = []
  var child = index + 1
  while child < Int(node.next) {
    children.append(tapeText(batch, child))
    child = Int(batch.nodes[child].next)
  }
  return children.isEmpty ? text : text + " [" + children.joined(separator: ", ") + "]"
}
