import GRDB
import Logging

@testable import Dragoman
@testable import DragomanGraph

/// A store in memory with a map, for imports of text.
struct ImportFixture {
  let map: ImportMap
  let store: SQLiteStore

  /// Makes an empty store for a map written in YAML.
  init(_ yaml: String, in store: SQLiteStore? = nil) throws {
    map = try ImportMap(yaml: yaml)
    self.store = try store ?? SQLiteStore(at: .inMemory)
  }

  /// A map of one entity `P` with the key `id` and the attributes given.
  init(attributes: String, entity: String = "", defaults: String = "") throws {
    try self.init(
      """
      version: 1
      defaults: { \(defaults) }
      entities:
        P:
          unique: id
          \(entity)
          attributes:
            id: { type: int64, from: { json: id, xml: "@id" } }
            \(attributes)
      sources:
        json: { format: json, entity: P }
        xml: { format: xml, entity: P, records: /r/p }
      """
    )
  }

  /// Imports texts, each an input of its own; the format is told by their content.
  @discardableResult
  func run(
    _ texts: String...,
    mode: EntityWriter.Mode? = nil,
    change: (inout ImportRequest) -> Void = { _ in }
  ) async throws -> ImportReport {
    var request = ImportRequest(
      texts.enumerated().map { .bytes(Array($1.utf8), name: "feed\($0 + 1)") },
      mode: mode
    )
    change(&request)
    return try await Importer(map: map, store: store).run(request)
  }

  /// Imports lines of NDJSON, a record a batch, on this thread; calls `behind` when a batch is committed.
  func runInBatches(
    _ text: String,
    behind: @escaping () throws -> Void = {},
    change: (inout ImportRequest) -> Void = { _ in }
  ) throws {
    var request = ImportRequest([.bytes(Array(text.utf8), name: "feed.ndjson")])
    request.options.commit = .batch
    request.options.batchSize = 1
    change(&request)
    var fault: (any Error)?
    _ = try store.write { session in
      let writing = ImportWriting(
        RowSink(session),
        map: map,
        code: ImportCode(),
        request: request,
        cancellation: Cancellation(),
        logger: Logger(label: "test")
      ) { _ in
        do { try behind() } catch { fault = error }
      }
      return try writing.run()
    }
    if let fault { throw fault }
  }

  /// The rows of an entity in the order of their insertion, values as text: `1|a|null`.
  func rows(_ entity: String = "P", _ columns: [String]? = nil) throws -> [String] {
    var rows: [String] = []
    try store.forEachRow(FetchRequest(entity, columns: columns?.map { FetchColumn($0) })) { row in
      rows.append(row.values.map(\.text).joined(separator: "|"))
    }
    return rows
  }
}

extension ImportReport {
  /// The counts that are not 0, as text: `read 2, inserted 1, rejected 1`.
  var summary: String {
    [
      ("read", counts.read), ("inserted", counts.inserted), ("updated", counts.updated),
      ("unchanged", counts.unchanged), ("deleted", counts.deleted), ("skipped", counts.skipped),
      ("rejected", counts.rejected), ("pruned", pruned),
    ].filter { $0.1 > 0 }.map { "\($0) \($1)" }.joined(separator: ", ")
  }

  /// The codes of the issues with their counts: `value.date 2`.
  var issueSummary: [String] { issues.map { "\($0.code.rawValue) \($0.count)" } }
}

/// The rows of a query, values as text.
func sql(_ store: SQLiteStore, _ query: String) throws -> [String] {
  try store.read { database in
    try Row.fetchAll(database, sql: query).map { row in
      row.databaseValues.map { value in
        switch value.storage {
        case .null: "null"
        case .int64(let integer): String(integer)
        case .double(let double): String(double)
        case .string(let text): text
        case .blob(let data): "\(data.count) bytes"
        }
      }.joined(separator: "|")
    }
  }
}
