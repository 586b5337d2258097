import Dragoman
import DragomanGraph

/// The first page: what there is, and how it came.
struct OverviewPage {
  private struct EntityRow {
    let name: String
    let indent: String
    let address: String
    let count: String
    /// The entity, where it is counted in the background.
    let counted: String?
    let attributes: String
    let links: String
  }

  private struct View {
    let entities: [EntityRow]
    let isEmpty: Bool
    let size: String
    let stubs: String?
    let waiting: String?
    /// The first of them.
    let references: [WaitingRow]
    /// How many these are, where there are more.
    let listed: String?
    let chart: ImportChart
    let last: RunRow?
    let runs: [RunRow]
    let hasRuns: Bool
  }

  /// A reference that waits for its target.
  private struct WaitingRow {
    let owner: String
    let address: String
    let relationship: String
    let target: String

    /// - Parameters:
    ///   - reference: The reference.
    ///   - entity: The owner's own entity, which a sub-entity of the id's may be.
    init(_ reference: PendingReference, of entity: String) {
      let key = ObjectLabel.text(of: reference.ownerKey)
      owner = "\(entity) \(key.isEmpty ? "#\(reference.owner.primaryKey)" : key)"
      address = ObjectLabel.address(of: reference.owner, in: entity)
      relationship = reference.relationship
      target = "\(reference.target) \(ObjectLabel.text(of: reference.key))"
    }
  }

  /// So many references that wait are told.
  private static let waitingCount = 20

  /// - Throws: `StoreError` where the database cannot be read.
  static func answer(_ sources: PageSources) throws -> PageAnswer {
    let store = try sources.database.open()
    let model = store.model
    let runs = try store.history(limit: 40)
    let counts = sources.counts.counts(
      of: model.entities.map(\.name) + [CountBoard.waiting, CountBoard.stubs]
    )
    let waiting = counts[CountBoard.waiting]?.number
    let stubs = counts[CountBoard.stubs]?.number
    var rows: [EntityRow] = []
    var json: [JSONValue] = []
    for entity in model.entities {
      let shape = EntityShape(entity, in: model)
      let count = counts[entity.name] ?? ObjectCount(nil)
      let address = WebText.address(["entities", entity.name])
      rows.append(
        EntityRow(
          name: entity.name,
          indent: String(repeating: "↳ ", count: model.ancestors(of: entity).count),
          address: address,
          count: count.text,
          counted: count.isCurrent ? nil : entity.name,
          attributes: Figures.grouped(shape.attributes.count),
          links: shape.relationships.map(\.name).joined(separator: ", ")
        )
      )
      json.append([
        "name": .string(entity.name), "parent": JSONValue(entity.parent),
        "count": JSONValue(count.number),
        "isCountComplete": .bool(count.isComplete), "attributes": JSONValue(shape.attributes.count),
        "relationships": .array(shape.relationships.map { .string($0.name) }),
        "address": .string(address),
      ])
    }
    let size = sources.database.byteCount
    let shown = runs.reversed().map { RunRow($0) }
    let view = View(
      entities: rows,
      isEmpty: rows.isEmpty,
      size: Figures.bytes(size),
      stubs: stubs.flatMap { $0 == 0 ? nil : Figures.count($0, "stub") },
      waiting: waiting.flatMap { $0 == 0 ? nil : Figures.count($0, "reference") },
      references: try (waiting ?? 0) == 0
        ? []
        : store.pendingReferences(limit: waitingCount).map {
          WaitingRow($0, of: try ObjectPage.entity(of: $0.owner, store) ?? $0.owner.entity)
        },
      listed: (waiting ?? 0) > waitingCount ? Figures.grouped(waitingCount) : nil,
      chart: ImportChart(runs),
      last: shown.first,
      runs: Array(shown.prefix(6)),
      hasRuns: !shown.isEmpty
    )
    return PageAnswer(
      title: sources.database.name,
      template: "overview",
      view: view,
      json: [
        "v": 1, "database": .string(sources.database.path), "bytes": JSONValue(size),
        "waiting": JSONValue(waiting), "stubs": JSONValue(stubs), "entities": .array(json),
        "imports": .array(try runs.map(RunRow.json)),
      ],
      refresh: counts.values.allSatisfy(\.isCurrent) ? nil : 3
    )
  }
}
