/// The versions that an import has left in a table, read in the order of the keys.
///
/// Kept are those that are not 1, in portions, so that memory does not grow with the table. A portion is a part of
/// `_dragoman_undo` below 0: keys and versions by turns, 8 bytes each, the least significant first, packed.
struct RowVersions {
  /// How many rows are in a portion.
  private static let portionCount = 16_384

  private let table: RecordedRun.NewTable
  private let run: Int64
  private let sql: any SharedSQL
  private var unread: ArraySlice<Int64>
  private var portion: [Int64] = []
  private var place = 0

  init(_ table: RecordedRun.NewTable, of run: Int64, _ sql: any SharedSQL) {
    self.table = table
    self.run = run
    self.sql = sql
    unread = (table.versionParts ?? [])[...]
  }

  /// The version of a row; nil where it was 1.
  ///
  /// Keys are asked for in their order. Runs `SELECT` a portion.
  ///
  /// - Throws: `StoreError` where the portion cannot be read.
  mutating func version(of key: Int64) throws -> Int64? {
    if let versions = table.versions { return versions[key] }
    while true {
      while place < portion.count, portion[place] < key { place += 2 }
      if place < portion.count { return portion[place] == key ? portion[place + 1] : nil }
      guard let part = unread.popFirst() else { return nil }
      portion = try Self.read(part, of: run, sql)
      place = 0
    }
  }

  private static func read(
    _ part: Int64,
    of run: Int64,
    _ sql: any SharedSQL
  ) throws(StoreError) -> [Int64] {
    let bytes = try RecordedRun.part(part, of: run, sql).flatMap(PackedBytes.unpack)
    guard let bytes, bytes.count.isMultiple(of: 16) else { throw RecordedRun.damaged(run) }
    return bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: 8).map {
        Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: Int64.self))
      }
    }
  }

  /// Keeps the versions of a table.
  ///
  /// Runs `SELECT` and `INSERT` a portion, in the open transaction.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - run: The import's number.
  ///   - last: The last part below 0 that there is; that of the last portion afterwards.
  ///   - sql: The statements of the writer.
  /// - Returns: The parts.
  /// - Throws: `StoreError`.
  static func keep(
    of table: String,
    as run: Int64,
    behind last: inout Int64,
    _ sql: any SharedSQL
  ) throws(StoreError) -> [Int64] {
    var parts: [Int64] = []
    var key = Int64.min
    while true {
      let rows = try sql.values(
        ["_pk", "_v"],
        "FROM \(Schema.quoted(table)) WHERE _pk > ?1 AND (_v <> 1 OR _v IS NULL) ORDER BY _pk"
          + " LIMIT \(portionCount)",
        [.integer(key)]
      )
      guard let end = rows.last?[0].integer else { return parts }
      key = end
      var portion: [UInt8] = []
      for row in rows {
        guard let key = row[0].integer, let version = row[1].integer else {
          throw StoreError(.damaged, "An object of \(table) has no version.")
        }
        for number in [key, version] {
          withUnsafeBytes(of: number.littleEndian) { portion += $0 }
        }
      }
      last -= 1
      try RecordedRun.add(PackedBytes.pack(portion), as: last, to: run, sql)
      parts.append(last)
    }
  }
}
