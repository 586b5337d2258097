import ArgumentParser
import DragomanGraph
import Foundation

/// Which objects of an entity, in which order, and how many: the options of `fetch`, `export` and
/// `watch`.
struct SelectionOptions: ParsableArguments {
  @Option(
    name: .customLong("where"),
    parsing: .unconditional,
    help: ArgumentHelp("Which objects; all without it.", valueName: "predicate")
  )
  var predicate: String?

  @Option(
    name: .shortAndLong,
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A value for $NAME in the predicate; repeatable.", valueName: "name=value")
  )
  var parameter: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The order: a,-b is a ascending, then b descending; a[cd] overlooks case and diacritics.",
      valueName: "keys"
    )
  )
  var sort: String?

  @Option(help: "How many objects at most: the first ones.")
  var limit: Int?

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    for text in parameter where !text.dropFirst().contains("=") {
      throw ValidationError("-p \(text) is not of the form NAME=VALUE.")
    }
  }

  /// The filter that the predicate and its variables spell; nil without a predicate.
  ///
  /// - Throws: `StoreError`, `.badRequest` for a predicate that is none, or a variable that it lacks.
  func filter() throws(StoreError) -> Filter? { try filters()[0] }

  /// The filters of the predicate, and of another one that takes the same variables.
  ///
  /// - Parameter other: The other predicate; nil: there is none.
  /// - Returns: Two filters, nil where there is no predicate.
  /// - Throws: `StoreError`, `.badRequest` for a predicate that is none, or a variable that none of them has.
  func filters(and other: String? = nil) throws(StoreError) -> [Filter?] {
    var filters: [Filter?] = []
    for text in [predicate, other] {
      filters.append(try text.map { (text) throws(StoreError) in try Filter(parsing: text) })
    }
    let known = filters.reduce(into: Set<String>()) { $0.formUnion($1?.variables ?? []) }
    var variables: [String: Filter.Operand] = [:]
    for text in parameter {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard known.contains(name), parts.count == 2 else {
        throw StoreError(
          .badRequest,
          "The predicate has no variable $\(name).",
          help: nearest(to: name, in: known.sorted()).map { "did you mean $\($0)?" }
        )
      }
      variables[name] = .value(.string(String(parts[1])))
    }
    return filters.map { $0?.substituting(variables) }
  }

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
    let filters = try filters(and: having)
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
    list.split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }
}
