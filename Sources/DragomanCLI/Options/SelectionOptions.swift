import ArgumentParser
import DragomanGraph
import Foundation

/// Which objects of an entity, in which order, and how many: the options of `fetch`, `export` and
/// `watch`.
struct SelectionOptions: ParsableArguments {
  @OptionGroup
  var condition: PredicateOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The order: a,-b is a ascending, then b descending; a[cd] ignores case and diacritics.",
      valueName: "keys"
    ),
    completion: .custom { words, _, start in Suggestions(words).paths(behind: start) }
  )
  var sort: String?

  @Option(help: "How many objects at most: the first ones.")
  var limit: Int?

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more.") }
  }

  /// The filter that the predicate and its variables spell; nil without a predicate.
  ///
  /// - Throws: `StoreError`, `.badRequest` for a predicate that is none, or a variable that it lacks.
  func filter() throws(StoreError) -> Filter? { try condition.filter() }

  /// The order; nil without one.
  ///
  /// - Throws: `StoreError`, `.badRequest` for text that is no order.
  func sortKeys() throws(StoreError) -> [SortKey]? {
    try sort.map { (text) throws(StoreError) in try SortKey.parse(text) }
  }

  /// A request for the objects with these columns.
  ///
  /// - Parameters:
  ///   - entity: The entity's name.
  ///   - columns: Key paths with commas between them; nil for all attributes.
  ///   - having: A predicate on rows of a table, which takes the same variables; nil: there is none.
  /// - Returns: The request, which nobody has checked against a store so far.
  /// - Throws: `StoreError`, as `filters(and:)` and `sortKeys()` do.
  func request(
    _ entity: String,
    columns: String?,
    having: String? = nil
  ) throws(StoreError) -> FetchRequest {
    let filters = try condition.filters(and: having)
    var request = FetchRequest(
      entity,
      filter: filters[0],
      sortKeys: try sortKeys() ?? [],
      limit: limit,
      columns: columns.map { Self.names($0).map { FetchColumn($0) } }
    )
    request.having = filters[1]
    return request
  }

  /// The names of a list with commas between them.
  static func names(_ list: String) -> [String] {
    list.parts(at: ",").map { $0.trimmingCharacters(in: .whitespaces) }
  }
}
