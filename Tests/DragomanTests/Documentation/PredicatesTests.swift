import Dragoman
import DragomanGraph
import Testing

/// Runs the code of docs/predicates.md.
@Suite struct PredicatesTests {
  @Test("The page's table of values has one row a company with more than ten people")
  func table() async throws {
    let stack = try Stack(staff, at: .inMemory)
    try await stack.write { context in
      for (name, count) in [("Acme", 11), ("Globex", 12), ("Initech", 10)] {
        let company = try context.insert("Company")
        company["name"] = .text(name)
        for number in 1...count {
          let person = try context.insert("Person")
          person["lastName"] = .text("\(number)")
          person["salary"] = .text("\(number).10")
          person[one: "company"] = company
        }
      }
    }
    let store = try stack.store
    // docs: begin table
    let rows = try store.dictionaries(
      FetchRequest(
        "Person",
        sortKeys: [SortKey("total", ascending: false)],
        columns: ["company.name", .count(), .sum("salary", as: "total")],
        groupBy: ["company.name"]
      ).with { $0.having = try Filter(parsing: "count > 10") }
    )
    // docs: end
    #expect(
      rows == [
        ["company.name": "Globex", "count": 12, "total": "79.20"],
        ["company.name": "Acme", "count": 11, "total": "67.10"],
      ]
    )
  }
}
