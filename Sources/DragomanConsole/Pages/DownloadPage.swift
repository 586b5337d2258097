import Dragoman
import DragomanGraph
import Foundation

/// The objects of an entity as a file, as long as it may be.
enum DownloadPage {
  /// - Throws: `StoreError` and `ConsoleError`, before anything is sent.
  static func answer(
    _ name: String,
    _ format: String,
    _ request: ConsoleRequest,
    _ sources: PageSources
  ) throws -> ConsoleResponse {
    let store = try sources.database.open(for: nil)
    let shape = try EntityShape(name, in: store.model)
    let query = try EntityQuery(request)
    if format == "xml" {
      return try byMap(
        name,
        try sources.maps.item(at: request.value(of: "map") ?? "0"),
        try query.request(of: name, in: store),
        store,
        into: try sources.jobs.folder()
      )
    }
    let table = try EntityTable(shape, query.columns, in: store.model)
    let columns = query.columns.isEmpty ? table.all : table.shown
    let fetch = try query.request(
      of: name,
      columns: columns.flatMap { column -> [FetchColumn] in
        guard let link = column.link else { return [FetchColumn(column.name)] }
        let keys =
          store.model.entity(named: link.destination)
          .map { EntityShape($0, in: store.model).keyPaths(in: store.model) } ?? []
        return keys.isEmpty
          ? [FetchColumn(link.name)] : keys.map { FetchColumn("\(link.name).\($0)") }
      },
      in: store
    )
    let attributes = try store.attributes(of: fetch)
    let types = [
      "csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson",
      "json": "application/json",
    ]
    guard let type = types[format] else {
      throw ConsoleError(404, "Downloads are .csv, .ndjson, .json and .xml.")
    }
    var response = ConsoleResponse(
      type: type,
      .written { output in
        var writer = RowText(format, attributes)
        var buffer = writer.head
        try store.forEachRow(fetch) { row in
          writer.append(row.values, to: &buffer)
          if buffer.count > 64 << 10 {
            try output.write(buffer)
            buffer.removeAll(keepingCapacity: true)
          }
        }
        try output.write(buffer + writer.tail)
      }
    )
    response.headers.append(disposition(name, format))
    return response
  }

  /// All objects of an entity as XML.
  static func xmlRequest(_ name: String) -> ExportRequest {
    ExportRequest(entity: name, format: .xml, isLossy: true).with { $0.masksSensitive = true }
  }

  private static func byMap(
    _ name: String,
    _ item: MapShelf.Item,
    _ fetch: FetchRequest,
    _ store: SQLiteStore,
    into folder: String
  ) throws -> ConsoleResponse {
    let exporter = Exporter(map: try item.map.get(), store: store)
    let request = xmlRequest(name).with {
      $0.filter = fetch.filter
      $0.sortKeys = fetch.sortKeys
    }
    // Whole before the first byte is sent, so that what is wrong can still be told.
    let path = "\(folder)/download-\(UUID().uuidString).xml"
    defer { try? FileManager.default.removeItem(atPath: path) }
    _ = try Waiting.result { try await exporter.run(request, to: .file(path)) }
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    var response = ConsoleResponse(
      type: "application/xml",
      .written { output in
        for start in stride(from: 0, to: bytes.count, by: 64 << 10) {
          try output.write(Array(bytes[start..<min(start + (64 << 10), bytes.count)]))
        }
      }
    )
    response.headers.append(disposition(name, "xml"))
    return response
  }

  /// Names a file of letters that every system takes.
  private static func disposition(_ name: String, _ format: String) -> (name: String, value: String)
  {
    let plain = String(
      name.unicodeScalars.map { scalar in
        scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
          ? Character(scalar) : "_"
      }
    )
    return ("Content-Disposition", "attachment; filename=\"\(plain).\(format)\"")
  }
}

/// Rows as CSV (RFC 4180), NDJSON or one JSON array; values of sensitive attributes are masked.
private struct RowText {
  private let format: String
  private let attributes: [Attribute]
  private var isFirst = true

  init(_ format: String, _ attributes: [Attribute]) {
    self.format = format
    self.attributes = attributes
  }

  var head: [UInt8] {
    switch format {
    case "csv": Array(DelimitedLine.csv.text(attributes.map(\.name)).utf8)
    case "json": Array("[".utf8)
    default: []
    }
  }

  var tail: [UInt8] { format == "json" ? Array("\n]\n".utf8) : [] }

  mutating func append(_ values: [StoredValue], to bytes: inout [UInt8]) {
    let cells = zip(values, attributes)
    if format == "csv" {
      bytes += DelimitedLine.csv.text(cells.map { ShownValue.text($0, $1) }).utf8
      return
    }
    if format == "json" { bytes += (isFirst ? "\n" : ",\n").utf8 }
    isFirst = false
    bytes += JSONString.object(cells.map { ($1.name, ShownValue.json($0, $1)) }).utf8
    if format == "ndjson" { bytes.append(0x0A) }
  }
}
