import DragomanGraph
import Foundation

/// Which objects of an entity a page shows: what stands in its address.
struct EntityQuery {
  /// The predicate, as it was typed; empty for none.
  var predicate: String
  /// The sort keys, as they were typed; empty for none.
  var sort: String
  /// The attributes and to-one relationships that are shown; empty for all.
  var columns: [String]
  /// Where the page begins; nil: at the beginning.
  let after: String?
  /// How many objects a page has.
  let limit: Int

  static let limits = [25, 50, 100, 200, 500]

  /// - Throws: `ConsoleError` for a number of objects that no page has.
  init(_ request: ConsoleRequest) throws(ConsoleError) {
    predicate = (request.value(of: "where") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    sort = request.value(of: "sort") ?? ""
    columns = request.values(of: "columns").flatMap { $0.split(separator: ",").map(String.init) }
    after = request.value(of: "after").flatMap { $0.isEmpty ? nil : $0 }
    let asked = request.value(of: "limit") ?? ""
    guard asked.isEmpty || (1...1000).contains(Int(asked) ?? 0) else {
      throw ConsoleError(
        400,
        "A page has 1 to 1000 objects: \"\(asked.prefix(40))\" is no such number.",
        help: "give another limit, or none for 50"
      )
    }
    limit = Int(asked) ?? 50
  }

  /// The sort keys.
  ///
  /// - Throws: `StoreError` for text that is no order.
  func sortKeys() throws(StoreError) -> [SortKey] { sort.isEmpty ? [] : try SortKey.parse(sort) }

  /// What is fetched.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - columns: The columns; nil: all attributes.
  ///   - store: The store.
  /// - Returns: The request, without a limit.
  /// - Throws: `StoreError` with the place of the fault, and `ConsoleError` for a sensitive attribute: which
  ///   objects a predicate admits, and in which order they come, tells its values letter by letter.
  func request(
    of entity: String,
    columns: [FetchColumn]? = nil,
    in store: SQLiteStore
  ) throws -> FetchRequest {
    let request = FetchRequest(
      entity,
      filter: predicate.isEmpty ? nil : try Filter(parsing: predicate),
      sortKeys: try sortKeys(),
      columns: columns
    )
    guard try !store.explain(request).revealsSensitive else {
      throw ConsoleError(
        400,
        "A sensitive attribute chooses and orders nothing here: its values could be read from what comes.",
        help: "ask by another attribute"
      )
    }
    return request
  }

  /// Whether it is the order that does not fit the entity, rather than the predicate.
  func hasFaultyOrder(of entity: String, in store: SQLiteStore) -> Bool {
    (try? request(of: entity, in: store)) == nil
      && (try? with { $0.sort = "" }.request(of: entity, in: store)) != nil
  }

  /// The query, changed.
  func with(_ change: (inout EntityQuery) -> Void) -> EntityQuery {
    var query = self
    change(&query)
    return query
  }

  /// Where the same objects are shown.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - view: How: `profile`, `live`, `events`; nil: as a list.
  /// - Returns: The address.
  func address(of entity: String, _ view: String? = nil) -> String {
    WebText.address(["entities", entity] + [view].compactMap(\.self), pairs())
  }

  /// The pairs of an address that shows the same.
  func pairs(
    sort: String? = nil,
    after: String? = nil
  ) -> [(String, String?)] {
    let order = sort ?? self.sort
    return [
      ("where", predicate.isEmpty ? nil : predicate), ("sort", order.isEmpty ? nil : order),
      ("columns", columns.isEmpty ? nil : columns.joined(separator: ",")),
      ("limit", limit == 50 ? nil : String(limit)), ("after", after),
    ]
  }
}
