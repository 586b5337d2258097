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
    started = Figure.moment(entry.started)
    duration = Figure.seconds(from: entry.started, to: entry.finished).map(Figure.duration) ?? ""
    status = entry.status.rawValue
    source = entry.source
    map = entry.map
    let counts = entry.counts
    read = Figure.grouped(counts.read)
    inserted = Figure.grouped(counts.inserted)
    updated = Figure.grouped(counts.updated)
    unchanged = Figure.grouped(counts.unchanged)
    deleted = Figure.grouped(counts.deleted)
    skipped = Figure.grouped(counts.skipped)
    rejected = Figure.grouped(counts.rejected)
    hasRejects = counts.rejected > 0
  }

  /// The import as JSON.
  static func json(_ entry: ImportLedgerEntry) -> JSONValue {
    let counts = entry.counts
    return [
      "id": entry.id.map(JSONValue.integer) ?? .null, "source": .string(entry.source),
      "map": .string(entry.map), "started": .string(entry.started),
      "finished": JSONValue(entry.finished), "status": .string(entry.status.rawValue),
      "bytes": JSONValue(entry.byteCount), "read": JSONValue(counts.read),
      "inserted": JSONValue(counts.inserted), "updated": JSONValue(counts.updated),
      "unchanged": JSONValue(counts.unchanged), "deleted": JSONValue(counts.deleted),
      "skipped": JSONValue(counts.skipped), "rejected": JSONValue(counts.rejected),
    ]
  }
}
