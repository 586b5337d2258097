/// A version of a feed.
package struct KeptDownload: Sendable, Hashable {
  /// The URL, without what may be a secret.
  package let url: String
  /// What decides besides what becomes of the feed: the map and the options of the import.
  package let options: String
  /// `ETag`.
  package let tag: String?
  /// `Last-Modified`.
  package let modified: String?
  /// What tells the URL that it is the version of, where `url` leads to another one; nil: `url`.
  package let place: String?
  /// The import that took it.
  package let run: Int64
  /// When that import began.
  package let started: String

  /// Describes one.
  package init(
    url: String,
    options: String,
    tag: String?,
    modified: String?,
    place: String?,
    run: Int64,
    started: String = ""
  ) {
    self.url = url
    self.options = options
    self.tag = tag
    self.modified = modified
    self.place = place
    self.run = run
    self.started = started
  }

  static let table = "_dragoman_downloads"
  /// Between the options and the place, which a server decides, too.
  private static let placeMark = " at "

  /// What stands in the column `options`.
  var optionsText: String { place.map { options + Self.placeMark + $0 } ?? options }

  /// The options and the place of such a text.
  static func parts(ofOptions text: String) -> (options: String, place: String?) {
    guard let mark = text.range(of: placeMark, options: .backwards) else { return (text, nil) }
    return (String(text[..<mark.lowerBound]), String(text[mark.upperBound...]))
  }

  /// Forgets all versions: something else has changed what imports of them made.
  ///
  /// Runs `DELETE`.
  package static func forgetAll(_ sql: any SharedSQL) throws(StoreError) {
    guard try sql.hasTable(table) else { return }
    try sql.run("DELETE FROM \(table)")
  }
}

/// Which versions of feeds from the web were imported last: the table `_dragoman_downloads`, made by the first
/// import that fetches one.
extension ImportSession {
  private var downloads: String { KeptDownload.table }

  /// The versions that imports by a map took, of those that came to their end, took every record and were not
  /// taken back, and behind which no other import, deletion or undo has changed anything; what migrations
  /// and nested objects of others have changed forgets them (`KeptDownload.forgetAll`).
  ///
  /// Runs `SELECT`.
  package func keptDownloads(of map: String) throws(StoreError) -> [KeptDownload] {
    guard try sql.hasTable(downloads) else { return [] }
    let rows = try sql.rows(
      ["url", "options", "etag", "modified", "run", "started"],
      "FROM \(downloads) AS d JOIN _dragoman_imports AS i ON i.id = run"
        + " WHERE d.map = ?1 AND i.status = 'done' AND i.rejected = 0"
        + " AND NOT EXISTS (SELECT 1 FROM _dragoman_imports AS later"
        + " WHERE later.id > run AND later.inserted + later.updated + later.deleted > 0)",
      [.text(map)]
    )
    return try rows.map { row throws(StoreError) in
      let (options, place) = KeptDownload.parts(ofOptions: try row.stored("options", of: downloads))
      return KeptDownload(
        url: try row.stored("url", of: downloads),
        options: options,
        tag: try row.stored("etag", of: downloads),
        modified: try row.stored("modified", of: downloads),
        place: place,
        run: try row.stored("run", of: downloads),
        started: try row.stored("started", of: downloads)
      )
    }
  }

  /// Keeps which version of a feed an import took, in place of the one before.
  ///
  /// Needs an open transaction. Runs `CREATE TABLE`, `INSERT`.
  package func keep(_ download: KeptDownload, of map: String) throws(StoreError) {
    try sql.run(
      "CREATE TABLE IF NOT EXISTS \(downloads) (map TEXT, url TEXT, run INTEGER, options TEXT, etag TEXT,"
        + " modified TEXT, PRIMARY KEY (map, url))\(sql.keyedTable)"
    )
    try sql.run(
      "INSERT INTO \(downloads) (map, url, run, options, etag, modified) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
        + " ON CONFLICT (map, url) DO UPDATE SET run = excluded.run, options = excluded.options,"
        + " etag = excluded.etag, modified = excluded.modified",
      [
        .text(map), .text(download.url), .integer(download.run), .text(download.optionsText),
        download.tag.map { .text($0) } ?? .null, download.modified.map { .text($0) } ?? .null,
      ]
    )
  }
}
