import DragomanGraph

/// What taking an import back did, or what is in its way, as a document for programs has it.
package struct UndoReportJSON: Encodable {
  private struct Counts: Encodable {
    let restored: Int
    let deleted: Int
    let changed: Int
  }

  private struct Part: Encodable {
    let path: String
    let value: String?
  }

  private struct Conflict: Encodable {
    let entity: String
    let id: Int64?
    let key: [Part]?
    let links: String?
    let reason: String
  }

  private let v = 1
  private let status: String
  private let run: LedgerEntryJSON
  private let entities: [String: Counts]
  private let conflictCount: Int
  private let conflicts: [Conflict]

  package init(_ report: UndoReport) {
    status = report.isPossible ? "done" : "failed"
    run = LedgerEntryJSON(report.run)
    entities = report.entities.mapValues {
      Counts(restored: $0.restored, deleted: $0.deleted, changed: $0.changed)
    }
    conflictCount = report.conflictCount
    conflicts = report.conflicts.map { conflict in
      Conflict(
        entity: conflict.entity,
        id: conflict.object?.primaryKey,
        key: conflict.key?.parts.map { part in
          Part(path: part.path, value: ShownValue.text(part.value, part.attribute))
        },
        links: conflict.links,
        reason: conflict.reason.rawValue
      )
    }
  }
}
