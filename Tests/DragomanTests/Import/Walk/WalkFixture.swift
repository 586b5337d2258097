import DragomanGraph
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// How records come to the store.
enum Way: String, CaseIterable, CustomTestStringConvertible {
  /// As rows.
  case rows
  /// Through a context, in the transaction of the import.
  case context
  /// Through a context of the program's own, saved by the program.
  case ownContext

  var testDescription: String { rawValue }
}

/// A stack with a map of several entities, into which records of each can be imported in any way.
struct WalkFixture {
  private let entities: String
  let stack: Stack

  /// Makes an empty stack for the entities of a map, in YAML, each on a line of its own.
  init(_ entities: String) throws {
    self.entities = entities.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
    let names = entities.split(separator: "\n").filter { !$0.hasPrefix(" ") }
    let first = String(names[0].prefix { $0 != ":" })
    stack = try Stack(Self.map(self.entities, first).model(), at: .inMemory)
  }

  /// Another map for the same stack.
  init(_ entities: String, in stack: Stack) {
    self.entities = entities.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
    self.stack = stack
  }

  private static func map(_ entities: String, _ entity: String) throws -> ImportMap {
    try ImportMap(
      yaml:
        "version: 1\nentities:\n\(entities)\nsources: { json: { format: json, entity: \(entity) } }"
    )
  }

  /// Imports records of an entity; rows are committed in batches where they have a size.
  @discardableResult
  func run(
    _ entity: String,
    _ records: [ForeignValue],
    by way: Way,
    mode: EntityWriter.Mode? = nil,
    batchSize: Int? = nil,
    code: ImportCode = ImportCode()
  ) async throws -> ImportReport {
    let map = try Self.map(entities, entity)
    switch way {
    case .rows:
      var request = ImportRequest([.records(records)], mode: mode)
      request.options.commit = batchSize.map { _ in .batch }
      request.options.batchSize = batchSize
      return try await Importer(map: map, store: stack.store).run(request)
    case .context:
      return try await stack.writeInOneTransaction { context in
        try ContextImport(map, code, context, mode, nil).run(records) {
          try context.records.flush()
        }
      }
      .report
    case .ownContext:
      return try await stack.write { context in
        try ContextImport(map, code, context, mode, nil).run(records)
      }
      .report
    }
  }

  func rows(_ query: String) throws -> [String] { try sql(stack.store, query) }

  /// The references that wait: `Person.team {"id":9}`.
  func waiting() throws -> [String] {
    try rows("SELECT relationship || ' ' || key FROM _dragoman_pending ORDER BY id")
  }
}
