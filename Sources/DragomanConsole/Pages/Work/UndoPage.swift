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
        deleted: Figures.grouped(counts.deleted),
        restored: Figures.grouped(counts.restored),
        changed: Figures.grouped(counts.changed)
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
        conflicts: lines(report),
        conflictCount: Figures.count(report.conflictCount, "object")
      ),
      json: .raw(try JSONDocument.text(UndoReportJSON(report)))
    )
  }

  /// Does it.
  ///
  /// - Throws: `ConsoleError`, 409, where something is in the way by now.
  static func done(_ number: String, _ sources: PageSources) throws -> String {
    let report = try undo(number, sources, isDryRun: false)
    guard report.isPossible else {
      throw ConsoleError(
        409,
        (["Something was changed since: nothing was taken back."] + lines(report))
          .joined(separator: "\n")
      )
    }
    return "/history"
  }

  private static func undo(
    _ number: String,
    _ sources: PageSources,
    isDryRun: Bool
  ) throws -> UndoReport {
    guard let id = Int64(number) else { throw ConsoleError(404, "There is no import \(number).") }
    let store = try sources.database.openToWrite()
    do {
      let report = try store.undoImport(id, isDryRun: isDryRun)
      try store.close()
      return report
    } catch {
      // Why it failed matters more than a file that cannot be closed.
      try? store.close()
      throw error
    }
  }

  /// What is in the way, as far as a page has room for it.
  private static func lines(_ report: UndoReport) -> [String] {
    let shown = report.conflicts.prefix(50).map(UndoConflictText.line)
    let more = report.conflictCount - shown.count
    return more > 0 ? shown + ["and \(Figures.grouped(more)) more"] : shown
  }
}
