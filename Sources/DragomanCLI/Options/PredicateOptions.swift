import ArgumentParser
import DragomanGraph

/// Which objects of an entity: the options of `fetch`, `export`, `watch` and `delete`.
struct PredicateOptions: ParsableArguments {
  @Option(
    name: .customLong("where"),
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Which objects.", valueName: "predicate"),
    completion: .custom { words, _, start in Suggestions(words).paths(behind: start) }
  )
  var predicates: [String] = []

  /// The predicate.
  var predicate: String? { predicates.first }

  @Option(
    name: .shortAndLong,
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A value for $NAME in the predicate; repeatable.", valueName: "name=value")
  )
  var parameter: [String] = []

  func validate() throws {
    if predicates.count > 1 {
      throw ValidationError("There is one --where: join the predicates by AND or OR.")
    }
    for text in parameter where !text.utf8.dropFirst().contains(UInt8(ascii: "=")) {
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
      let parts = text.parts(at: "=", maxSplits: 1)
      let name = parts[0]
      guard known.contains(name), parts.count == 2 else {
        throw StoreError(
          .badRequest,
          "The predicate has no variable $\(name).",
          help: nearest(to: name, in: known.sorted()).map { "did you mean $\($0)?" }
        )
      }
      variables[name] = .value(.string(parts[1]))
    }
    return filters.map { $0?.substituting(variables) }
  }
}
