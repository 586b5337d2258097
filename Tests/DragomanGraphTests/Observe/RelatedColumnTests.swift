import Foundation
import Testing

@testable import DragomanGraph

/// Columns of results whose values belong to other objects.
@Suite struct RelatedColumnTests {
  @Test(
    "A row is told anew where a value changes that it has through a relationship",
    arguments: ["customer.name", "customer.city.name", "customer", "items.@count"]
  )
  func columns(column: String) async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).db").path
    defer { for end in ["", "-wal", "-shm"] { unlink(path + end) } }
    let id = Attribute(name: "id", type: .int64, isRequired: true)
    let model = Model(
      entities: [
        Entity(
          name: "Purchase",
          attributes: [id],
          relationships: [
            Relationship(name: "customer", destination: "Customer", kind: .toOne),
            Relationship(name: "items", destination: "Item", kind: .toMany, inverse: "purchase"),
          ],
          uniqueKeys: [["id"]]
        ),
        Entity(
          name: "Customer",
          attributes: [id, Attribute(name: "name")],
          relationships: [Relationship(name: "city", destination: "City", kind: .toOne)],
          uniqueKeys: [["id"]]
        ),
        Entity(name: "City", attributes: [id, Attribute(name: "name")], uniqueKeys: [["id"]]),
        Entity(
          name: "Item",
          attributes: [id],
          relationships: [
            Relationship(name: "purchase", destination: "Purchase", kind: .toOne, inverse: "items")
          ],
          uniqueKeys: [["id"]]
        ),
      ]
    )
    let stack = try Stack(model, at: .file(path))
    try await stack.write { context in
      let city = try context.insert("City")
      city["id"] = .integer(1)
      city["name"] = "Oslo"
      let customer = try context.insert("Customer")
      customer["id"] = .integer(7)
      customer["name"] = "Ada"
      customer[one: "city"] = city
      for number in 1...3 {
        let purchase = try context.insert("Purchase")
        purchase["id"] = .integer(Int64(number))
        if number < 3 { purchase[one: "customer"] = customer }
        let item = try context.insert("Item")
        item["id"] = .integer(Int64(number))
        item[one: "purchase"] = purchase
      }
    }
    let store = try SQLiteStore(
      at: .file(path),
      options: SQLiteStore.Options(isReadOnly: true, createsFile: false)
    )
    let isCount = column == "items.@count"
    let request = try FetchRequest(
      "Purchase",
      sortKeys: [SortKey("id")],
      columns: ["id", FetchColumn(column)]
    ).showingKeys(in: store.layout)
    let results = try await store.results(request, pollingEvery: .milliseconds(5))
    var events = results.events().makeAsyncIterator()
    _ = try await events.next()
    try await stack.write { context in
      let city = try context.fetch(FetchRequest("City"))[0]
      city["name"] = "Bergen"
      let customer = try context.fetch(FetchRequest("Customer"))[0]
      customer["name"] = "Bo"
      customer["id"] = .integer(8)
      let item = try context.fetch(FetchRequest("Item", sortKeys: [SortKey("id")]))[0]
      try context.delete(item)
    }
    guard case .difference(let difference)? = try await events.next() else {
      Issue.record("there is no difference")
      return
    }
    #expect(difference.changes.count == (isCount ? 1 : 2))
    let rows = try await results.elements(at: 0..<3)
    let expected: [StoredValue] =
      switch column {
      case "customer.name": [.text("Bo"), .text("Bo"), .null]
      case "customer": [.integer(8), .integer(8), .null]
      case "items.@count": [.integer(0), .integer(1), .integer(1)]
      default: [.text("Bergen"), .text("Bergen"), .null]
      }
    #expect(rows.map { $0[1] } == expected)
  }
}
