import Dragoman
import DragomanGraph

/// What `dragoman undo` says of what it did.
enum UndoText {
  /// For people: the import, and a line an entity.
  static func text(_ report: UndoReport, isDryRun: Bool) -> String {
    let run = report.run
    var text =
      isDryRun
      ? "Would take back import \(run.id ?? 0)" : "Took back import \(run.id ?? 0)"
    text += " (\(VisibleText.of(run.source)))\n"
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
}

extension ToolError {
  /// What is in the way of taking an import back.
  init(_ report: UndoReport) {
    let lines = report.conflicts.map(UndoConflictText.line)
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
