import ArgumentParser
import DragomanGraph

/// Which values `fetch` prints: columns of objects, or a table of groups and aggregates.
struct TableOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The values to print; all attributes without it.", valueName: "a,b.c"),
    completion: .custom { words, _, start in Suggestions(words).paths(behind: start) }
  )
  var columns: String?

  @Flag(help: "Print equal rows once; wants --columns.")
  var distinct = false

  @Option(
    help: ArgumentHelp(
      "A row for each group of objects that have these values alike.",
      valueName: "a,b.c"
    ),
    completion: .custom { words, _, start in Suggestions(words).paths(behind: start) }
  )
  var group: [String] = []

  @Flag(help: "Print only how many objects there are; with groups and sums: a column of it.")
  var count = false

  @Option(
    help: ArgumentHelp("A column sum_a: the sum, exactly.", valueName: "a,b.c"),
    completion: .custom { words, _, start in Suggestions(words).paths(behind: start) }
  )
  var sum: [String] = []

  @Option(
    help: ArgumentHelp("A column avg_a: the mean.", valueName: "a,b.c"),
    completion: .custom { words, _, start in Suggestions(words).paths(behind: start) }
  )
  var avg: [String] = []

  @Option(
    help: ArgumentHelp("A column min_a: the smallest value.", valueName: "a,b.c"),
    completion: .custom { words, _, start in Suggestions(words).paths(behind: start) }
  )
  var min: [String] = []

  @Option(
    help: ArgumentHelp("A column max_a: the largest value.", valueName: "a,b.c"),
    completion: .custom { words, _, start in Suggestions(words).paths(behind: start) }
  )
  var max: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Which rows of the table, by its columns: 'count > 10'.",
      valueName: "predicate"
    )
  )
  var having: String?

  /// Whether the rows are groups and aggregates rather than objects.
  var isTable: Bool { !group.isEmpty || hasAggregates }

  /// Whether nothing is asked for but a number.
  var isNumber: Bool { count && !isTable }

  private var hasAggregates: Bool { !(sum + avg + min + max).isEmpty }

  func validate() throws {
    if columns != nil, isTable {
      throw ValidationError(
        "--columns goes with objects. The columns of a table are those of --group, --count, --sum, "
          + "--avg, --min and --max."
      )
    }
    if distinct, isTable {
      throw ValidationError("Groups differ as they are: leave --distinct out.")
    }
    if distinct, columns == nil { throw ValidationError("--distinct wants --columns.") }
    if having != nil, !isTable {
      throw ValidationError(
        "--having wants --group, or a sum, mean, minimum or maximum; see --where."
      )
    }
  }

  /// Makes a request for objects one for the table.
  func apply(to request: inout FetchRequest) {
    request.isDistinct = distinct
    guard isTable else { return }
    request.groupBy = group.flatMap(SelectionOptions.names)
    var columns = request.groupBy.map { FetchColumn($0) }
    // An attribute may be called "count", none is called "@count".
    if count { columns.append(.count(as: request.groupBy.contains("count") ? "@count" : nil)) }
    for (paths, aggregate) in [
      (sum, FetchColumn.Aggregate.sum), (avg, .average), (min, .min), (max, .max),
    ] {
      columns += paths.flatMap(SelectionOptions.names).map { FetchColumn($0, aggregate: aggregate) }
    }
    request.columns = columns
  }
}
