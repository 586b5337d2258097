import Dragoman
import DragomanGraph
import Foundation

extension UnmatchedPath {
  /// Whether it is worth a line: of columns that a CSV file does not have a notice tells, and a map may say
  /// that something may be missing.
  var isTold: Bool { format != .csv && (!mayBeMissing || hasRemedy) }

  /// Whether a sample that does not have the path speaks against the map.
  var isFault: Bool { !mayBeMissing }
}

/// The report of an import for people.
struct ImportReportText {
  let report: ImportReport
  let inputs: [String]
  let database: String
  let signal: Int32?
  /// Whether a map is checked: every path that no record had is told then.
  var isCheck = false
  /// Whether an import that failed between two batches can be gone on with.
  var isResumable = true
  /// Whether all rejects stand in a file.
  var hasRejectsFile = false

  /// The whole report; ends with a line feed.
  var text: String {
    var text = report.issues.map { group in
      group.examples.map(example).joined() + remainder(of: group)
    }.joined()
    if report.status != .failed || report.counts.read > 0 { text += summary + counts + links }
    text += drift
    text += unmatched
    for notice in report.notices { text += "note: \(notice)\n" }
    return text + closing
  }

  /// The paths that no record had: with a remedy where a wrong name is likely, or where a map is
  /// checked; a delivery of some of the values only is told in one line.
  private var unmatched: String {
    let told = report.unmatchedPaths.filter(\.isTold)
    let warned = told.filter { isCheck || $0.hasRemedy }
    let code = ImportIssue.Code.unmatchedPath.rawValue
    let text = warned.map { "warning[\(code)]: \($0.message)\n  help     \($0.help)\n" }.joined()
    let others = told.filter { !isCheck && !$0.hasRemedy }
      .map { $0.isDiscriminator ? "\($0.path) (the discriminator of \($0.entity))" : $0.subject }
    return others.isEmpty ? text : text + "note: no record has \(others.joined(separator: ", "))\n"
  }

  /// What the feed has otherwise than the last one, but for what the contract discards, and what the error
  /// names.
  private var drift: String {
    guard let drift = report.drift else { return "" }
    guard let run = drift.comparedWith else {
      return report.isDryRun || report.status == .failed
        ? "" : "note: later feeds by this map are compared with this one\n"
    }
    let isKept = !report.isDryRun && [.done, .rejected].contains(report.status)
    return drift.changes.filter { $0.rule != .discard && $0.rule != .freeze }.map { change in
      "note: since import \(run): \(change.message(isKept: isKept))\n"
        + (change.attribute.map { "  map      \($0)\n" } ?? "")
        + (change.namespaces.map { "  source   \($0)\n" } ?? "")
    }.joined()
  }

  // MARK: - Issues

  /// One issue in the shape of the tool's errors.
  private func example(_ issue: ImportIssue) -> String {
    let subject = issue.attribute.map { "\(issue.entity).\($0)" } ?? issue.entity
    var text = "\(issue.isReject ? "error" : "warning")[\(issue.code.rawValue)]: "
    text += "\(issue.origin): \(subject)\n"
    func line(_ name: String, _ value: String?) {
      guard let value, !value.isEmpty else { return }
      text += "  " + name.padding(toLength: 9, withPad: " ", startingAt: 0) + value + "\n"
    }
    line("problem", issue.message)
    line("value", issue.value.map { value in value + (issue.path.map { " at \($0)" } ?? "") })
    line("key", issue.key)
    line("tried", issue.tried.joined(separator: ", "))
    line("map", issue.map)
    line("help", issue.help.map(ToolWords.spelled))
    return text
  }

  private func remainder(of group: ImportReport.Group) -> String {
    let rest = group.count - group.examples.count
    guard rest > 0 else { return "" }
    let subject = group.attribute.map { "\(group.entity).\($0)" } ?? group.entity
    let isReject = group.examples.first?.isReject ?? false
    let way = isReject && !hasRejectsFile ? ": import with --rejects FILE names each" : ""
    return "… and \(Figures.grouped(rest)) more [\(group.code.rawValue)] of \(subject)\(way)\n"
  }

  // MARK: - Counts

  private var summary: String {
    let seconds = Figures.seconds(report.duration)
    let rate = Double(report.counts.read) / max(seconds, 0.000_001)
    let what = report.isDryRun ? "Tried" : "Read"
    return "\(what) \(Figures.count(report.counts.read, "record"))"
      + " (\(Figures.bytes(report.byteCount))) from \(inputs.map { WebText.shown($0) }.joined(separator: ", "))"
      + " in \(Figures.decimals(seconds, 2)) s, \(Figures.grouped(Int(rate)))/s\n"
  }

  private var counts: String {
    let counts = report.counts
    let rows = [
      ("inserted", counts.inserted), ("updated", counts.updated), ("unchanged", counts.unchanged),
      ("deleted", counts.deleted), ("skipped", counts.skipped), ("rejected", counts.rejected),
      ("pruned", report.pruned),
    ].filter { $0.1 > 0 }
    let width = rows.map { Figures.grouped($0.1).count }.max() ?? 0
    return rows.map { name, count in
      "  " + name.padding(toLength: 10, withPad: " ", startingAt: 0)
        + Figures.padded(Figures.grouped(count), width) + "\n"
    }.joined()
  }

  /// The objects and links of maps with relationships: a line an entity, a line a relationship.
  private var links: String {
    guard !report.relationships.isEmpty || hasNestedChanges else { return "" }
    let entities = report.entities.sorted { $0.key < $1.key }.map { name, counts in
      (
        name,
        [
          ("inserted", counts.inserted), ("updated", counts.updated),
          ("unchanged", counts.unchanged), ("deleted", counts.deleted), ("stubs", counts.stubs),
        ]
      )
    }
    let relationships = report.relationships.sorted { $0.key < $1.key }.map { name, counts in
      (
        name,
        [
          ("linked", counts.linked), ("unlinked", counts.unlinked),
          ("unresolved", counts.unresolved),
        ]
      )
    }
    let rows = entities + relationships
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { name, counts in
      let figures = counts.filter { $0.1 > 0 }.map { "\(Figures.grouped($0.1)) \($0.0)" }
      return "  " + name.padding(toLength: width + 2, withPad: " ", startingAt: 0)
        + figures.joined(separator: ", ") + "\n"
    }.joined()
  }

  /// Whether objects inside of records changed, which the records' own counts do not tell.
  private var hasNestedChanges: Bool {
    let objects = report.entities.values.reduce(0) { $0 + $1.inserted + $1.updated + $1.deleted }
    return objects > report.counts.inserted + report.counts.updated + report.counts.deleted
  }

  /// What was kept, where that is not plain.
  private var closing: String {
    let kept = Figures.count(report.committed, "record")
    let (are, were) = report.committed == 1 ? ("is", "was") : ("are", "were")
    switch report.status {
    case .done, .rejected:
      return report.isDryRun ? "Dry run: nothing was kept.\n" : ""
    case .cancelled where report.committed > 0:
      return "\(cause): \(kept) \(are) in \(database);"
        + " the same command with --resume goes on from there.\n"
    case .cancelled: return "\(cause): nothing was kept.\n"
    case .failed where report.committed > 0:
      return "\(kept) \(were) committed to \(database) before that"
        + (isResumable ? "; the same command with --resume goes on from there.\n" : ".\n")
    case .failed: return "Nothing was written.\n"
    }
  }

  private var cause: String {
    switch signal {
    case SIGINT: "Stopped by SIGINT"
    case SIGTERM: "Stopped by SIGTERM"
    case SIGHUP: "Stopped by SIGHUP"
    default: "Stopped"
    }
  }
}
