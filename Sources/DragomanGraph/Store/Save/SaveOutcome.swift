/// What a save did that the context did not know before.
struct SaveOutcome {
  /// The version of every row written.
  var versions: [RowKey: Int64] = [:]
  /// Objects whose values are not the context's alone: the context reads them again.
  var merged: Set<RowKey> = []
  /// Rows whose deletion the policy gave up.
  var kept: Set<RowKey> = []
  /// Rows whose changes the policy dropped, with their links.
  var dropped: Set<RowKey> = []
  /// Rows that others have deleted, and that the policy leaves so.
  var gone: Set<RowKey> = []
  /// Columns of rows besides that a deletion has cleared.
  var cleared: [RowKey: [Int: StoredValue]] = [:]
  /// Links that were to be written and were there already.
  var known: [LinkKey: Set<Int64>] = [:]
  /// What the lists that were written lead to now.
  var lists: [LinkKey: [Int64]] = [:]
}
