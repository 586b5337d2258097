import Dragoman
import DragomanGraph

/// What a database holds, for people.
struct ContentsText {
  private let contents: StoreContents
  private let file: String
  private let distribution: ServerDistribution?

  init(_ contents: StoreContents, file: String, _ distribution: ServerDistribution?) {
    self.contents = contents
    self.file = file
    self.distribution = distribution
  }

  /// The text, with a line break at its end.
  var text: String {
    let head =
      "\(file): \(Figures.bytes(contents.byteCount)), format \(contents.formatVersion)"
      + ", \(Figures.count(contents.importCount, "import"))\n" + nodes
    guard !contents.entities.isEmpty else { return head + "It holds nothing yet.\n" }
    return head + section("entities", entities) + section("relationships", relationships)
      + stubs + pending + lastImport
  }

  private var nodes: String {
    guard let distribution else { return "" }
    let place =
      distribution.nodeCount == 0
      ? "the coordinator alone" : Figures.count(distribution.nodeCount, "node")
    let whole = distribution.referenceTables.map(VisibleText.of).joined(separator: ", ")
    return "Citus \(distribution.version), \(place)"
      + (whole.isEmpty ? "\n" : "; on all of them: \(whole)\n")
  }

  private var entities: [[String]] {
    contents.entities.map { entity in
      var notes = entity.uniqueKeys.map { "unique \(names($0))" }
      notes += entity.indexes.map { "index \(names($0))" }
      if entity.stubCount > 0 { notes.append(Figures.count(entity.stubCount, "stub")) }
      let name = String(repeating: "  ", count: entity.depth) + VisibleText.of(entity.name)
      return [name, Figures.grouped(entity.objectCount), notes.joined(separator: "; ")]
    }
  }

  private var relationships: [[String]] {
    contents.relationships.map { relationship in
      let kind = relationship.kind == .toOne ? "to one" : "to many"
      let pending =
        relationship.pendingCount == 0
        ? "" : "; \(Figures.grouped(relationship.pendingCount)) pending"
      return [
        VisibleText.of(relationship.name), Figures.grouped(relationship.linkCount),
        "\(kind) \(VisibleText.of(relationship.destination))\(pending)",
      ]
    }
  }

  /// Names, numbers to the right, notes: a line each below a title.
  private func section(_ title: String, _ rows: [[String]]) -> String {
    guard !rows.isEmpty else { return "" }
    let width = rows.map { DisplayWidth.of($0[0]) }.max() ?? 0
    let digits = rows.map { $0[1].count }.max() ?? 0
    return title + "\n"
      + rows.map { row in
        let gap = String(repeating: " ", count: width - DisplayWidth.of(row[0]))
        let note = row[2].isEmpty ? "" : "  " + row[2]
        return "  \(row[0])\(gap)  \(Figures.padded(row[1], digits))\(note)\n"
      }.joined()
  }

  private var stubs: String {
    let count = contents.entities.reduce(0) { $0 + $1.stubCount }
    guard count > 0 else { return "" }
    return "stubs\n"
      + contents.stubs.map { stub in
        "  \(VisibleText.of(stub.entity))  \(KeyText.line(stub.key, of: stub.objectID))\n"
      }.joined() + rest(count - contents.stubs.count)
  }

  private var pending: String {
    guard contents.pendingCount > 0 else { return "" }
    return "pending references\n"
      + contents.pendingReferences.map { reference in
        let owner = KeyText.line(reference.ownerKey, of: reference.owner)
        return "  \(VisibleText.of(reference.relationship))  \(owner)"
          + " -> \(VisibleText.of(reference.target))  \(KeyText.line(reference.key))\n"
      }.joined() + rest(contents.pendingCount - contents.pendingReferences.count)
  }

  private func rest(_ count: Int) -> String {
    count > 0 ? "  and \(Figures.grouped(count)) more (--all lists them)\n" : ""
  }

  private var lastImport: String {
    guard let entry = contents.lastImport else { return "" }
    let counts = [
      ("read", entry.counts.read), ("inserted", entry.counts.inserted),
      ("updated", entry.counts.updated), ("unchanged", entry.counts.unchanged),
      ("deleted", entry.counts.deleted), ("skipped", entry.counts.skipped),
      ("rejected", entry.counts.rejected),
    ]
    let shown = counts.filter { $0.0 == "read" || $0.1 > 0 }.map {
      "\($0.0) \(Figures.grouped($0.1))"
    }
    return "last import\n  \(Figures.second(entry.started)) UTC, \(entry.status.rawValue):"
      + " \(VisibleText.of(entry.source))"
      + (entry.map.isEmpty ? "\n" : " by \(VisibleText.of(entry.map))\n")
      + "  \(shown.joined(separator: ", "))\n"
  }

  private func names(_ names: [String]) -> String {
    names.map(VisibleText.of).joined(separator: ", ")
  }
}
