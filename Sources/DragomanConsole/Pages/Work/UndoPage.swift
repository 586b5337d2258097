import Dragoman
import DragomanGraph

/// An import is taken back: first what that would do, then it is done.
struct UndoPage {
  private struct Row {
    let entity: String
    let deleted: String
    let restored: String
    let changed: String
  }

  private struct View {
    let number: String
    let source: String
    let address: String
    let csrf: String
    let isPossible: Bool
    let rows: [Row]
    let conflicts: [String]
    let conflictCount: String
  }

  /// What it would do, and the button.
  ///
  /// - Throws: `StoreError` where nothing is kept of the import.
  static func preview(_ number: String, _ sources: PageSources) throws -> PageAnswer {
    let report = try undo(number, sources, isDryRun: true)
    let rows = report.entities.sorted { $0.key < $1.key }.map { name, counts in
      Row(
        entity: name,
        deleted: Figure.grouped(counts.deleted),
        restored: Figure.grouped(counts.restored),
        changed: Figure.grouped(counts.changed)
      )
    }
    return PageAnswer(
      title: "Take back import \(number)",
      template: "undo",
      view: View(
        number: number,
        source: report.run.source,
        address: WebText.address(["history", number, "undo"]),
        csrf: sources.formToken,
        isPossible: report.isPossible,
        rows: rows,
        conflicts: report.conflicts.prefix(50).map(text),
        conflictCount: Figure.count(report.conflictCount, "object")
      ),
      json: ["v": 1, "possible": .bool(report.isPossible)]
    )
  }

  /// Does it.
  ///
  /// - Throws: `ConsoleError`, 409, where something is in the way by now.
  static func done(_ number: String, _ sources: PageSources) throws -> String {
    let report = try undo(number, sources, isDryRun: false)
    guard report.isPossible else {
      throw ConsoleError(409, "Something was changed since: nothing was taken back.")
    }
    return "/history"
  }

  private static func undo(
    _ number: String,
    _ sources: PageSources,
    isDryRun: Bool
  ) throws -> UndoReport {
    guard let id = Int64(number) else { throw ConsoleError(404, "There is no import \(number).") }
    let store = try SQLiteStore(
      at: .file(sources.database.path),
      options: SQLiteStore.Options(createsFile: false, readsConcurrently: false)
    )
    let report = try store.undoImport(id, isDryRun: isDryRun)
    try store.close()
    return report
  }

  private static func text(_ conflict: UndoReport.Conflict) -> String {
    let key =
      conflict.key.map(ObjectLabel.text)
      ?? conflict.object.map { "#\($0.primaryKey)" } ?? ""
    let name = "\(conflict.entity) \(key)"
    switch conflict.reason {
    case .changed: return "\(name) was changed since"
    case .deleted: return "\(name) was deleted since"
    case .taken: return "\(name) is there again, or has the key of one that would come back"
    case .referenced: return "\(name) refers to an object that the import made"
    }
  }
}
