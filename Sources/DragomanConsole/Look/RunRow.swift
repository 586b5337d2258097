import Dragoman
import DragomanGraph

/// An import in a list.
///
/// Large because each property is a cell of a row.
struct RunRow {
  let id: String
  let address: String
  let started: String
  let duration: String
  let status: String
  let source: String
  let map: String
  let read: String
  let inserted: String
  let updated: String
  let unchanged: String
  let deleted: String
  let skipped: String
  let rejected: String
  let hasRejects: Bool

  init(_ entry: ImportLedgerEntry) {
    id = entry.id.map(String.init) ?? ""
    address = WebText.address(["history", id])
    started = Figures.moment(entry.started)
    duration = Figures.seconds(from: entry.started, to: entry.finished).map(Figures.duration) ?? ""
    status = entry.status.rawValue
    source = entry.source
    map = entry.map
    let counts = entry.counts
    read = Figures.grouped(counts.read)
    inserted = Figures.grouped(counts.inserted)
    updated = Figures.grouped(counts.updated)
    unchanged = Figures.grouped(counts.unchanged)
    deleted = Figures.grouped(counts.deleted)
    skipped = Figures.grouped(counts.skipped)
    rejected = Figures.grouped(counts.rejected)
    hasRejects = counts.rejected > 0
  }

  /// The import for programs, as the tool's history has it.
  static func json(_ entry: ImportLedgerEntry) throws -> JSONValue {
    .raw(try JSONDocument.text(LedgerEntryJSON(entry)))
  }
}
