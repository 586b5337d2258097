import DragomanGraph

/// An import of the ledger as the JSON documents of `info` and `history` have it.
///
/// Large because each property is a member of the document, and names it.
package struct LedgerEntryJSON: Encodable {
  let id: Int64?
  let source: String
  let map: String
  let mapHash: String
  let started: String
  let finished: String?
  let status: ImportLedgerEntry.Status
  /// The import that it took back; left out where it is an import itself.
  let undoes: Int64?
  let committed: Int
  let read: Int
  let inserted: Int
  let updated: Int
  let unchanged: Int
  let deleted: Int
  let skipped: Int
  let rejected: Int
  let bytes: Int

  package init(_ entry: ImportLedgerEntry) {
    id = entry.id
    source = entry.source
    map = entry.map
    mapHash = entry.mapHash
    started = ShownValue.instant(entry.started)
    finished = entry.finished.map(ShownValue.instant)
    status = entry.status
    undoes = entry.undoes
    committed = entry.committed
    read = entry.counts.read
    inserted = entry.counts.inserted
    updated = entry.counts.updated
    unchanged = entry.counts.unchanged
    deleted = entry.counts.deleted
    skipped = entry.counts.skipped
    rejected = entry.counts.rejected
    bytes = entry.byteCount
  }
}
