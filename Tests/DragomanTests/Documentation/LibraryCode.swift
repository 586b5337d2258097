// docs: begin everyday model
import Dragoman
import DragomanGraph

let people = Model(entities: [
  Entity(
    name: "Person",
    attributes: [
      Attribute(name: "ticketNumber"), Attribute(name: "lastName"),
      Attribute(name: "salary", type: .decimal), Attribute(name: "dateOfBirth", type: .date),
    ],
    uniqueKeys: [["ticketNumber"]]
  )
])
// docs: end

/// Runs the everyday things of docs/library.md in one folder.
@MainActor func everyday(_ path: String) async throws -> (
  names: [StoredValue], ids: [ObjectID], fetched: [ObjectID], exported: [ForeignRecord]
) {
  // docs: begin everyday
  let stack = try Stack(people, at: .file(path))

  // Register a mapper.
  try stack.mappers.register(
    Mapper(for: "Person", in: people) {
      Map("ticket_number", to: "ticketNumber")
      Map("name.last", to: "lastName")
      Map("salary", to: "salary", numbers: NumberFormat(locale: "de_DE"))
      Map("born", to: "dateOfBirth", dates: ["dd.MM.yyyy"])
    }
  )

  // Import an array in the background: ids in input order, and a report of what did not fit.
  let records: [ForeignValue] = [  // or ForeignValue.records(array), of any [[String: Any]]
    ["ticket_number": "A14", "name": ["last": "Panchal"], "salary": "118.000,50"],
    ["ticket_number": "A15", "name": ["last": "Smith"], "salary": 132_000, "born": "10.12.1985"],
  ]
  let imported = try await stack.import(records, into: "Person")

  // Fetch with sort keys; live objects, on main or in the background.
  let sorted = try stack.main.fetch(
    FetchRequest("Person", sortKeys: [SortKey("lastName"), SortKey("salary", ascending: false)])
  )

  // Export to dictionaries, in the names and formats of the feed.
  let dictionaries = try stack.main.export(sorted)
  // docs: end
  try stack.close()
  return (sorted.map { $0["lastName"] }, imported.ids, sorted.map(\.objectID), dictionaries)
}
