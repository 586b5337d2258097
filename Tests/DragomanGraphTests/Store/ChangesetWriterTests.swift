import GRDB
import TestSupport
import Testing

@testable import DragomanGraph

/// Changesets that are written of notes are those that SQLite writes itself.
@Suite struct ChangesetWriterTests {
  private static let tables = [
    Schema.Table(
      name: "Thing \u{e9}",
      columns: [
        Schema.Column(name: "_pk", type: "INTEGER PRIMARY KEY"),
        Schema.Column(name: "a", type: ""), Schema.Column(name: "b", type: ""),
      ],
      primaryKey: []
    ),
    Schema.Table(
      name: "Links",
      columns: [
        Schema.Column(name: "owner", type: "INTEGER"), Schema.Column(name: "place", type: ""),
        Schema.Column(name: "target", type: "INTEGER"),
      ],
      primaryKey: ["target", "owner"]
    ),
  ]

  private static func value(_ random: inout SplitMix) -> StoredValue {
    let length = [0, 1, 127, 128, 16_384, 40].randomElement(using: &random) ?? 0
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .null
    case 1: return .integer([.min, -1, 0, 1, .max].randomElement(using: &random) ?? 0)
    case 2:
      return .real([0, -1.5, .infinity, .leastNonzeroMagnitude].randomElement(using: &random) ?? 0)
    case 3: return .text(String(repeating: "\u{e9}", count: length) + "\0x")
    case 4: return .blob([UInt8](repeating: .random(in: 0...255, using: &random), count: length))
    default: return .text("")
    }
  }

  /// The rows of a table, and the keys among their columns.
  private static func row(_ table: Schema.Table, _ random: inout SplitMix) -> [StoredValue] {
    table.columns.map { column in
      table.key.contains(column.name)
        ? .integer(.random(in: 1...4, using: &random)) : value(&random)
    }
  }

  private static func told(_ changes: Changeset) throws -> [String] {
    var told: [String] = []
    try changes.withRows { row in
      let values = (Int32(0)..<3).map {
        "\(String(describing: row.old($0))) \(String(describing: row.new($0)))"
      }
      told.append("\(row.table) \(row.operation) \(values)")
    }
    return told.sorted()
  }

  @Test("Random changes of rows, the same one several times", arguments: Seeds.seeds(40))
  func random(seed: UInt64) throws {
    var random = SplitMix(state: seed)
    let database = try DatabaseQueue()
    var writer = ChangesetWriter()
    let expected = try database.write { database in
      for table in Self.tables { try database.execute(sql: table.sql) }
      var rows: [[[StoredValue]: [StoredValue]]] = [[:], [:]]
      func key(_ row: [StoredValue], _ table: Schema.Table) -> [StoredValue] {
        table.columns.indices.filter { table.key.contains(table.columns[$0].name) }.map { row[$0] }
      }
      func put(_ row: [StoredValue], _ table: Schema.Table) throws {
        let places = row.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let statement = try RawStatement(
          "INSERT INTO \(Schema.quoted(table.name)) VALUES (\(places))",
          in: database
        )
        for (column, value) in row.enumerated() { try statement.bind(value, Int32(column) + 1) }
        _ = try statement.step()
      }
      for (number, table) in Self.tables.enumerated() {
        for _ in 0..<6 {
          let row = Self.row(table, &random)
          guard rows[number][key(row, table)] == nil else { continue }
          rows[number][key(row, table)] = row
          try put(row, table)
        }
      }
      let recording = try ChangesetRecording(of: Self.tables.map(\.name), in: database)
      defer { recording.end() }
      for (number, table) in Self.tables.enumerated() {
        var notes: [[StoredValue]: [(row: [StoredValue], isOfBefore: Bool)]] = [:]
        for _ in 0..<Int.random(in: 0...12, using: &random) {
          var row = Self.row(table, &random)
          let key = key(row, table)
          let former = rows[number][key]
          if let former {
            // Some columns stay.
            for column in row.indices where Bool.random(using: &random) {
              row[column] = former[column]
            }
            notes[key, default: []].append((former, true))
            let statement = try RawStatement(
              "DELETE FROM \(Schema.quoted(table.name)) WHERE "
                + table.key.map { "\($0) = ?" }.joined(separator: " AND "),
              in: database
            )
            for (place, name) in table.key.enumerated() {
              let column = try #require(table.columns.firstIndex { $0.name == name })
              try statement.bind(former[column], Int32(place) + 1)
            }
            _ = try statement.step()
            rows[number][key] = nil
            if Int.random(in: 0..<3, using: &random) == 0 { continue }
          }
          notes[key, default: []].append((row, false))
          rows[number][key] = row
          try put(row, table)
        }
        writer.begin(table)
        for (row, isOfBefore) in notes.values.flatMap({ $0 }) {
          try Self.withLent(row) { writer.add($0, isOfBefore: isOfBefore) }
        }
      }
      return try recording.take()
    }
    #expect(try Self.told(writer.finish()) == Self.told(expected), "seed \(seed)")
  }

  /// Lends a row as a server does.
  private static func withLent(
    _ row: [StoredValue],
    _ body: (UnsafePointer<ColumnValue>) throws -> Void
  ) throws {
    var memory: [UnsafeMutableRawBufferPointer] = []
    defer { for one in memory { one.deallocate() } }
    func lent(_ bytes: some Collection<UInt8>) -> UnsafeRawBufferPointer {
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
      copy.copyBytes(from: bytes)
      memory.append(copy)
      return UnsafeRawBufferPointer(copy)
    }
    let values: [ColumnValue] = row.map { value in
      switch value {
      case .null: .null
      case .integer(let integer): .integer(integer)
      case .real(let real): .real(real)
      case .text(let text): .text(lent(text.utf8))
      case .blob(let bytes): .blob(lent(bytes))
      }
    }
    try values.withUnsafeBufferPointer { try body(#require($0.baseAddress)) }
  }
}
