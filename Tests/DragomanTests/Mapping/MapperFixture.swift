import DragomanGraph

@testable import Dragoman

/// The model of Vokoder's own tests, more or less, with a sub-entity.
enum MapperFixture {
  static let model = Model(entities: [
    Entity(
      name: "Person",
      attributes: [
        Attribute(name: "ticketNumber"), Attribute(name: "firstName"),
        Attribute(name: "lastName"),
        Attribute(name: "socialSecurityNumber").with { $0.isSensitive = true },
        Attribute(name: "salary", type: .decimal), Attribute(name: "dateOfBirth", type: .date),
        Attribute(name: "seen", type: .timestamp), Attribute(name: "age", type: .int16),
        Attribute(name: "isCool", type: .bool),
        Attribute(name: "kind", type: .enum, allowedValues: ["a", "b"]),
        Attribute(name: "wakes", type: .time), Attribute(name: "photo", type: .data),
        Attribute(name: "extra", type: .json), Attribute(name: "score", type: .double),
      ],
      relationships: [Relationship(name: "employer", destination: "Company", kind: .toOne)],
      uniqueKeys: [["ticketNumber"]]
    ),
    Entity(name: "Employee", attributes: [Attribute(name: "desk")], parent: "Person"),
    Entity(name: "Boss", attributes: [Attribute(name: "car")], parent: "Employee"),
    Entity(
      name: "Company",
      attributes: [Attribute(name: "id", type: .int64), Attribute(name: "name")],
      uniqueKeys: [["id"]]
    ),
    Entity(
      name: "Note",
      attributes: [Attribute(name: "text"), Attribute(name: "stars", type: .int16)]
    ),
  ])

  /// The mapper of Vokoder's README.
  static func person(
    ignoreNullValueOverwrites: Bool = false,
    overwriteExisting: Bool = true,
    ignoreOptionalNullValues: Bool = false,
    policies: ValuePolicies = ValuePolicies()
  ) throws -> Mapper {
    try Mapper(
      for: "Person",
      in: model,
      uniqueKey: ["ticketNumber"],
      overwriteExisting: overwriteExisting,
      ignoreNullValueOverwrites: ignoreNullValueOverwrites,
      policies: policies.with { $0.ignoreOptionalNullValues = ignoreOptionalNullValues }
    ) {
      Map("ticket_number", to: "ticketNumber")
      Map("first_name", to: "firstName")
      Map("name.last", to: "lastName").or("last_name")
      Map("ss_num", to: "socialSecurityNumber")
      Map("salary", to: "salary", numbers: NumberFormat(locale: "en_US"))
      Map("dob", to: "dateOfBirth", dates: ["d LLL yyyy"])
      Map("age", to: "age")
      Map("cool", to: "isCool")
    }
  }
}

/// A store in memory that a mapper imports dictionaries into.
struct MapperStore {
  let mapper: Mapper
  let store: SQLiteStore

  init(_ mapper: Mapper) throws {
    self.mapper = mapper
    store = try SQLiteStore(at: .inMemory)
  }

  /// Imports records.
  @discardableResult
  func run(
    _ records: ForeignValue...,
    by mapper: Mapper? = nil,
    change: (inout ImportRequest) -> Void = { _ in }
  ) async throws -> ImportReport {
    var request = ImportRequest([.records(records)])
    change(&request)
    return try await Importer(mapper: mapper ?? self.mapper, store: store).run(request)
  }

  /// The rows of the mapper's entity, the values of some columns as text.
  func rows(_ columns: String...) throws -> [String] {
    var rows: [String] = []
    try store.forEachRow(FetchRequest(mapper.name, columns: columns.map { FetchColumn($0) })) {
      row in
      rows.append(row.values.map(\.text).joined(separator: "|"))
    }
    return rows
  }
}
