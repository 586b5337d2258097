import Dragoman
import DragomanGraph
import Foundation

/// What `dragoman undo` says of what it did.
enum UndoText {
  /// For people: the import, and a line an entity.
  static func text(_ report: UndoReport, isDryRun: Bool) -> String {
    let run = report.run
    var text =
      isDryRun
      ? "Would take back import \(run.id ?? 0)" : "Took back import \(run.id ?? 0)"
    text += " (\(CellText.visible(run.source)))\n"
    if report.entities.isEmpty { text += "  nothing: it had changed no object\n" }
    let width = report.entities.keys.map(DisplayWidth.of).max() ?? 0
    for (name, counts) in report.entities.sorted(by: { $0.key < $1.key }) {
      let parts = [
        (counts.deleted, "deleted"), (counts.restored, "restored"),
        (counts.changed, "changed back"),
      ].filter { $0.0 > 0 }.map { "\(Figures.grouped($0.0)) \($0.1)" }
      let padding = String(repeating: " ", count: width - DisplayWidth.of(name))
      text += "  \(name)\(padding)  \(parts.joined(separator: ", "))\n"
    }
    if !report.isRecorded {
      text += "note: so much is not recorded: this cannot be taken back itself\n"
    }
    return text
  }

  /// What is in the way, a line an object.
  static func conflicts(_ report: UndoReport) -> [String] {
    report.conflicts.map { conflict in
      var name = conflict.entity
      if let object = conflict.object {
        let key = conflict.key.map { KeyText.line($0, of: object) }
        name += " " + (key ?? "_pk \(object.primaryKey)")
      }
      if let links = conflict.links { name += " (\(links))" }
      switch conflict.reason {
      case .changed: return "\(name) was changed since"
      case .deleted: return "\(name) was deleted since"
      case .taken: return "\(name) is there again, or has the key of one that would come back"
      case .referenced: return "\(name) refers to an object that the import made"
      }
    }
  }

  /// For programs: one JSON document.
  static func json(_ report: UndoReport) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let document = Document(
      status: report.isPossible ? "done" : "failed",
      run: LedgerEntryJSON(report.run),
      entities: report.entities.mapValues {
        .init(restored: $0.restored, deleted: $0.deleted, changed: $0.changed)
      },
      conflictCount: report.conflictCount,
      conflicts: report.conflicts.map { conflict in
        let key = conflict.key.map {
          $0.parts.map { part in
            let isMasked = part.attribute.isSensitive && part.value != .null
            let value = isMasked ? ImportChange.mask : CellText.text(part.value, part.attribute)
            return Document.Part(path: part.path, value: value)
          }
        }
        return .init(
          entity: conflict.entity,
          id: conflict.object?.primaryKey,
          key: key,
          links: conflict.links,
          reason: conflict.reason.rawValue
        )
      }
    )
    return String(decoding: try encoder.encode(document), as: UTF8.self)
  }

  private struct Document: Encodable {
    struct Counts: Encodable {
      let restored: Int
      let deleted: Int
      let changed: Int
    }

    struct Part: Encodable {
      let path: String
      let value: String?
    }

    struct Conflict: Encodable {
      let entity: String
      let id: Int64?
      let key: [Part]?
      let links: String?
      let reason: String
    }

    let v = 1
    let status: String
    let run: LedgerEntryJSON
    let entities: [String: Counts]
    let conflictCount: Int
    let conflicts: [Conflict]
  }
}

extension ToolError {
  /// What is in the way of taking an import back.
  init(_ report: UndoReport) {
    let lines = UndoText.conflicts(report)
    let more = report.conflictCount - lines.count
    self.init(
      .badData,
      Self.text(
        StoreError.Code.undo.rawValue,
        nil,
        (["Import \(report.run.id ?? 0) cannot be taken back; nothing was done:"] + lines
          + (more > 0 ? ["and \(Figures.grouped(more)) more"] : [])).joined(separator: "\n    "),
        help: "take back later imports first, or mend these objects by hand"
      )
    )
  }
}
