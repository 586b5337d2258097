import Foundation
import GRDB
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// ChinookData.json beside the SQLite file that the same project makes of the same data.
@Suite("Chinook") struct ChinookTests {
  private static let folder = "\(Shared.folder)/feeds/chinook"

  /// An entity of the feed: columns with their types, and references by name, target and member.
  private struct Table {
    let name: String
    let attributes: [(name: String, type: String)]
    var links: [(name: String, target: String, column: String)] = []

    /// The key is the first attribute, or, where there is none, both links.
    var key: String? { attributes.first?.name }
  }

  private static func strings(_ names: String...) -> [(name: String, type: String)] {
    names.map { ($0, "string") }
  }

  private static let tables = [
    Table(name: "Genre", attributes: [("GenreId", "int64"), ("Name", "string")]),
    Table(name: "MediaType", attributes: [("MediaTypeId", "int64"), ("Name", "string")]),
    Table(name: "Artist", attributes: [("ArtistId", "int64"), ("Name", "string")]),
    Table(
      name: "Album",
      attributes: [("AlbumId", "int64"), ("Title", "string")],
      links: [("Artist", "Artist", "ArtistId")]
    ),
    Table(
      name: "Track",
      attributes: [
        ("TrackId", "int64"), ("Name", "string"), ("Composer", "string"),
        ("Milliseconds", "int64"), ("Bytes", "int64"), ("UnitPrice", "decimal"),
      ],
      links: [
        ("Album", "Album", "AlbumId"), ("MediaType", "MediaType", "MediaTypeId"),
        ("Genre", "Genre", "GenreId"),
      ]
    ),
    Table(
      name: "Employee",
      attributes: [("EmployeeId", "int64")] + strings("LastName", "FirstName", "Title")
        + [("BirthDate", "timestamp"), ("HireDate", "timestamp")]
        + strings("Address", "City", "State", "Country", "PostalCode", "Phone", "Fax", "Email"),
      links: [("ReportsTo", "Employee", "ReportsTo")]
    ),
    Table(
      name: "Customer",
      attributes: [("CustomerId", "int64")]
        + strings("FirstName", "LastName", "Company", "Address", "City", "State", "Country")
        + strings("PostalCode", "Phone", "Fax", "Email"),
      links: [("SupportRepId", "Employee", "SupportRepId")]
    ),
    Table(
      name: "Invoice",
      attributes: [("InvoiceId", "int64"), ("InvoiceDate", "timestamp")]
        + strings("BillingAddress", "BillingCity", "BillingState", "BillingCountry")
        + [("BillingPostalCode", "string"), ("Total", "decimal")],
      links: [("Customer", "Customer", "CustomerId")]
    ),
    Table(
      name: "InvoiceLine",
      attributes: [("InvoiceLineId", "int64"), ("UnitPrice", "decimal"), ("Quantity", "int64")],
      links: [("Invoice", "Invoice", "InvoiceId"), ("Track", "Track", "TrackId")]
    ),
    Table(name: "Playlist", attributes: [("PlaylistId", "int64"), ("Name", "string")]),
    Table(
      name: "PlaylistTrack",
      attributes: [],
      links: [("Playlist", "Playlist", "PlaylistId"), ("Track", "Track", "TrackId")]
    ),
  ]

  private static func key(of name: String) -> String {
    tables.first { $0.name == name }?.key ?? ""
  }

  private static var map: String {
    var lines = [
      "version: 1", "name: chinook", "defaults:", "  strings: { emptyAsNull: true }",
      #"  dates: ["iso8601", "yyyy-MM-dd HH:mm:ss"]"#, "  onUnresolved: reject", "entities:",
    ]
    for table in tables {
      let links = table.links.map(\.name).joined(separator: ", ")
      let attributes = table.attributes.map { "\($0.name): { type: \($0.type) }" }
      lines += [
        "  \(table.name):", "    unique: \(table.key ?? "[\(links)]")",
        "    attributes: { \(attributes.joined(separator: ", ")) }",
      ]
      if !table.links.isEmpty { lines.append("    relationships:") }
      lines += table.links.map { link in
        let key = key(of: link.target)
        return "      \(link.name): { entity: \(link.target), kind: toOne,"
          + " key: { \(key): \(link.column) } }"
      }
    }
    lines.append("sources:")
    lines += tables.map { table in
      "  \(table.name): { format: json, entity: \(table.name), records: /\(table.name) }"
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Our rows of a table, with the keys of the targets in place of the links.
  private func ours(_ table: Table, _ store: SQLiteStore) throws -> [String] {
    var columns = table.attributes.map { "o.\"\($0.name)\"" }
    var joins = ""
    for (index, link) in table.links.enumerated() {
      joins += " LEFT JOIN \"\(link.target)\" j\(index) ON j\(index)._pk = o.\"\(link.name)\""
      columns.append("j\(index).\"\(Self.key(of: link.target))\"")
    }
    let query = "SELECT \(columns.joined(separator: ", ")) FROM \"\(table.name)\" o\(joins)"
    return try store.read { try rows(query, table, $0) }
  }

  private func theirs(_ table: Table, _ database: DatabaseQueue) throws -> [String] {
    let columns = table.attributes.map(\.name) + table.links.map(\.column)
    let query = "SELECT \(columns.joined(separator: ", ")) FROM \"\(table.name)\""
    return try database.read { try rows(query, table, $0) }
  }

  /// Rows as sorted text, null and types told apart; their prices are doubles, ours exact decimals.
  private func rows(_ query: String, _ table: Table, _ database: Database) throws -> [String] {
    try Row.fetchAll(database, sql: query).map { row in
      row.databaseValues.enumerated().map { index, value in
        let isDecimal =
          index < table.attributes.count && table.attributes[index].type == "decimal"
        return switch value.storage {
        case .null: "null"
        case .int64(let integer): "\(integer)"
        case .double(let real):
          isDecimal ? "decimal \(Decimal(string: "\(real)") ?? .nan)" : "\(real)"
        case .string(let text):
          isDecimal ? "decimal \(Decimal(string: text) ?? .nan)" : "\"\(text)\""
        case .blob(let data): "\(Array(data))"
        }
      }.joined(separator: "|")
    }.sorted()
  }

  @Test("An import of all eleven entities holds every row and link of Chinook's own SQLite file")
  func same() async throws {
    let feed = "\(Self.folder)/ChinookData.json"
    let oracle = "\(Self.folder)/Chinook_Sqlite.sqlite"
    guard Shared.has(feed), Shared.has(oracle) else { return }
    var configuration = Configuration()
    configuration.readonly = true
    // The folder may be write-protected, and SQLite then cannot make a journal beside the file.
    let database = try DatabaseQueue(
      path: "file:\(oracle)?immutable=1",
      configuration: configuration
    )
    let store = try SQLiteStore(at: .temporary)
    let map = try ImportMap(yaml: Self.map)
    let importer = Importer(map: map, store: store)
    let first = try await importer.run(ImportRequest([.file(feed)]))
    #expect(first.summary == "read 15607, inserted 15607")
    #expect(first.issueSummary == [])
    for table in Self.tables {
      let expected = try theirs(table, database)
      let found = try ours(table, store)
      #expect(found.count == expected.count, "\(table.name)")
      let differences = zip(found, expected).filter { $0 != $1 }.prefix(2).map { "\($0) ≠ \($1)" }
      #expect(differences == [], "\(table.name)")
    }
    let counts = try store.contents()
    let objects = counts.entities.map(\.objectCount)
    #expect(objects == [25, 5, 275, 347, 3503, 8, 59, 412, 2240, 18, 8715])
    let links = counts.relationships.filter { $0.kind == .toOne }.map {
      "\($0.name) \($0.linkCount)"
    }
    #expect(
      links == [
        "Album.Artist 347", "Track.Album 3503", "Track.MediaType 3503", "Track.Genre 3503",
        "Employee.ReportsTo 7", "Customer.SupportRepId 59", "Invoice.Customer 412",
        "InvoiceLine.Invoice 2240", "InvoiceLine.Track 2240", "PlaylistTrack.Playlist 8715",
        "PlaylistTrack.Track 8715",
      ]
    )
    let second = try await importer.run(ImportRequest([.file(feed)]))
    #expect(second.summary == "read 15607, unchanged 15607")
    try store.close()
  }
}
