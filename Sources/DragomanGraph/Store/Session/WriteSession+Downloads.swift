import GRDB

/// Which versions of feeds from the web were imported last: the table `_dragoman_downloads`, made by the first
/// import that fetches one.
extension WriteSession {
  private static let downloads = "_dragoman_downloads"

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
      run: Int64,
      started: String = ""
    ) {
      self.url = url
      self.options = options
      self.tag = tag
      self.modified = modified
      self.run = run
      self.started = started
    }
  }

  /// The versions that imports by a map took, of those that came to their end, took every record and were not
  /// taken back, and behind which no other import, deletion or undo has changed anything.
  ///
  /// Runs `SELECT`.
  package func keptDownloads(of map: String) throws(StoreError) -> [KeptDownload] {
    try run {
      guard try database.hasTable(Self.downloads) else { return [] }
      let rows = try Row.fetchAll(
        database,
        sql: """
          SELECT url, options, etag, modified, run, started FROM main.\(Self.downloads)
          JOIN main._dragoman_imports AS i ON i.id = run
          WHERE \(Self.downloads).map = ? AND i.status = 'done' AND i.rejected = 0
            AND NOT EXISTS (
              SELECT 1 FROM main._dragoman_imports AS later
              WHERE later.id > run AND later.inserted + later.updated + later.deleted > 0)
          """,
        arguments: [map]
      )
      return try rows.map { row in
        KeptDownload(
          url: try row.stored("url", of: Self.downloads),
          options: try row.stored("options", of: Self.downloads),
          tag: try row.stored("etag", of: Self.downloads),
          modified: try row.stored("modified", of: Self.downloads),
          run: try row.stored("run", of: Self.downloads),
          started: try row.stored("started", of: Self.downloads)
        )
      }
    }
  }

  /// Keeps which version of a feed an import took, in place of the one before.
  ///
  /// Needs an open transaction. Runs `CREATE TABLE`, `INSERT`.
  package func keep(_ download: KeptDownload, of map: String) throws(StoreError) {
    try run {
      try database.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS main.\(Self.downloads)
            (map TEXT, url TEXT, run INTEGER, options TEXT, etag TEXT, modified TEXT,
             PRIMARY KEY (map, url)) WITHOUT ROWID
          """
      )
      try database.execute(
        sql: """
          INSERT OR REPLACE INTO main.\(Self.downloads) (map, url, run, options, etag, modified)
          VALUES (?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          map, download.url, download.run, download.options, download.tag, download.modified,
        ]
      )
    }
  }
}
