import Dragoman
import DragomanGraph
import Foundation

/// What a database holds as one JSON document, `"v":1`.
///
/// Keys are JSON objects whose values have the types of `dragoman fetch`, so they are written as
/// text and not by `Encodable`, which would round decimals.
struct ContentsJSON {
  private let contents: StoreContents
  private let file: String
  private let distribution: ServerDistribution?

  init(_ contents: StoreContents, file: String, _ distribution: ServerDistribution?) {
    self.contents = contents
    self.file = file
    self.distribution = distribution
  }

  /// The document on one line, with a line break at its end.
  func text() throws -> String {
    let string = JSONRowWriter.string
    let entities = contents.entities.map { entity in
      JSONString.object([
        ("name", string(entity.name)), ("parent", entity.parent.map(string) ?? "null"),
        ("table", string(entity.table)), ("objects", "\(entity.objectCount)"),
        ("stubs", "\(entity.stubCount)"), ("uniqueKeys", names(entity.uniqueKeys)),
        ("indexes", names(entity.indexes)),
      ])
    }
    let relationships = contents.relationships.map { relationship in
      JSONString.object([
        ("name", string(relationship.name)), ("destination", string(relationship.destination)),
        ("kind", string(relationship.kind.rawValue)), ("links", "\(relationship.linkCount)"),
        ("pending", "\(relationship.pendingCount)"),
      ])
    }
    let stubs = contents.stubs.map { stub in
      JSONString.object([
        ("entity", string(stub.entity)), ("id", string(stub.objectID.uri)),
        ("key", KeyText.json(stub.key)),
      ])
    }
    let pending = contents.pendingReferences.map { reference in
      JSONString.object([
        ("relationship", string(reference.relationship)),
        ("owner", string(reference.owner.uri)), ("ownerKey", KeyText.json(reference.ownerKey)),
        ("target", string(reference.target)), ("key", KeyText.json(reference.key)),
      ])
    }
    let last = try contents.lastImport.map { try JSONDocument.text(LedgerEntryJSON($0)) }
    return JSONString.object(
      [
        ("v", "1"), ("file", string(file)), ("bytes", "\(contents.byteCount)"),
        ("format", "\(contents.formatVersion)"), ("entities", list(entities)),
        ("relationships", list(relationships)),
        ("stubCount", "\(contents.entities.reduce(0) { $0 + $1.stubCount })"),
        ("stubs", list(stubs)), ("pendingCount", "\(contents.pendingCount)"),
        ("pending", list(pending)), ("imports", "\(contents.importCount)"),
        ("lastImport", last ?? "null"),
      ] + nodes
    ) + "\n"
  }

  /// How the tables lie on several machines, where they do.
  private var nodes: [(String, String)] {
    guard let distribution else { return [] }
    let described = JSONString.object([
      ("engine", JSONRowWriter.string("Citus")),
      ("version", JSONRowWriter.string(distribution.version)),
      ("nodes", "\(distribution.nodeCount)"),
      ("references", list(distribution.referenceTables.map(JSONRowWriter.string))),
    ])
    return [("distribution", described)]
  }

  private func list(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }

  private func names(_ lists: [[String]]) -> String {
    list(lists.map { list($0.map(JSONRowWriter.string)) })
  }
}
