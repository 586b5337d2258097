/// Rows that are looked up by their keys ahead, while others are applied; what these write meanwhile is looked up again.
final class AskedKeys {
  let lookup: Lookup
  let keys: [[StoredValue]]
  private let rows: any AskedRows
  /// Rows that were written since.
  private var written: Set<Int64> = []
  /// The places of keys that were written since.
  private var met: Set<Int> = []

  init(_ lookup: Lookup, _ keys: [[StoredValue]], _ rows: any AskedRows) {
    self.lookup = lookup
    self.keys = keys
    self.rows = rows
  }

  func listen() { rows.listen() }

  /// Notes what is about to be written.
  ///
  /// - Parameters:
  ///   - changes: What is written.
  ///   - index: Its objects by unique key.
  func note(_ changes: ChangeSet, _ index: KeyIndex?) {
    for (key, _) in changes.rows(in: lookup.table) { written.insert(key) }
    guard !written.isEmpty, let index else { return }
    for (place, key) in keys.enumerated()
    where index.place(of: KeyIndex.Values(key), lookup.columns, in: lookup.table) != nil {
      met.insert(place)
    }
  }

  /// Lends the rows that are as they were when they were asked for.
  ///
  /// - Parameter body: Gets the place of the key, and the row.
  /// - Returns: The places whose keys are to be looked up again.
  /// - Throws: What the store throws.
  func take(_ body: (Int, StoredRow) -> Void) throws -> [Int] {
    try rows.rows { place, row in
      if written.contains(row.integer(0)) { met.insert(place) }
      if !met.contains(place) { body(place, row) }
    }
    return met.sorted()
  }
}
