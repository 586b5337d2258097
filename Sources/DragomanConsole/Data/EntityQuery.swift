import DragomanGraph
import Foundation

/// Which objects of an entity a page shows: what stands in its address.
struct EntityQuery {
  /// The predicate, as it was typed; empty for none.
  let predicate: String
  /// The sort keys, as they were typed; empty for none.
  let sort: String
  /// The attributes and to-one relationships that are shown; empty for all.
  let columns: [String]
  /// Where the page begins; nil: at the beginning.
  let after: String?
  /// How many objects a page has.
  let limit: Int

  static let limits = [25, 50, 100, 200, 500]

  init(_ request: ConsoleRequest) {
    predicate = (request.value(of: "where") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    sort = request.value(of: "sort") ?? ""
    columns = request.values(of: "columns").flatMap { $0.split(separator: ",").map(String.init) }
    after = request.value(of: "after").flatMap { $0.isEmpty ? nil : $0 }
    limit = min(max(request.value(of: "limit").flatMap(Int.init) ?? 50, 1), 1000)
  }

  /// The filter.
  ///
  /// - Throws: `StoreError` with the place of the fault.
  func filter() throws(StoreError) -> Filter? {
    predicate.isEmpty ? nil : try Filter(parsing: predicate)
  }

  /// The sort keys; a sensitive attribute orders nothing, since its values would stand in addresses.
  ///
  /// - Throws: `StoreError` for text that is no order.
  func sortKeys(_ shape: EntityShape) throws -> [SortKey] {
    guard !sort.isEmpty else { return [] }
    let keys = try SortKey.parse(sort)
    for key in keys
    where shape.attributes.contains(where: { $0.name == key.name && $0.isSensitive }) {
      throw ConsoleError(
        400,
        "\(shape.name).\(key.name) is sensitive: nothing is sorted by it here.",
        help: "sort by another attribute"
      )
    }
    return keys
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
