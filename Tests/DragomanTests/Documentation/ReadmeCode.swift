import Dragoman
import DragomanGraph

// docs: begin library
/// Imports a feed by a map; the report has exact counts, and every reject with its place and reason.
func importPeople(_ feed: String, by map: String, into store: SQLiteStore) async throws
  -> ImportReport
{
  let importer = Importer(map: try ImportMap(contentsOf: map), store: store)
  return try await importer.run(ImportRequest([.file(feed)]))
}

/// The best paid people of a city.
func bestPaid(in city: String, of store: SQLiteStore) throws -> [[StoredValue]] {
  let request = FetchRequest(
    "Person",
    filter: try Filter(
      parsing: "salary > 100000 AND city == %@",
      arguments: [.value(.string(city))]
    ),
    sortKeys: [SortKey("salary", ascending: false)],
    limit: 10,
    columns: ["lastName", "salary"]
  )
  var people: [[StoredValue]] = []
  try store.forEachRow(request) { people.append($0.values) }
  return people
}
// docs: end
