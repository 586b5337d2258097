extension Filter {
  /// Reads a filter from a predicate in NSPredicate's format language.
  ///
  /// Comparisons are `= == != <> < <= =< > >= =>`, `BETWEEN {low, high}`, `IN {a, b}`, `CONTAINS`,
  /// `BEGINSWITH`, `ENDSWITH`, `LIKE` and `MATCHES`, with `[c]`, `[d]` or `[cd]` behind them to
  /// overlook case and diacritics. They are joined by `AND OR NOT` (`&& || !`) and parentheses.
  /// Literals are numbers, strings in single or double quotes with C's escapes, `nil NULL`,
  /// `TRUE FALSE YES NO`. Keywords may be written in any case; `#` before a name that is a keyword
  /// makes it a name. `TRUEPREDICATE` and `FALSEPREDICATE` stand alone.
  ///
  /// Names may be paths through relationships (`company.city`), with `ANY`, `ALL` or `NONE` in front where
  /// they lead to many values, and end in `@count` or `@sum.name` (`FilterPath`).
  ///
  ///     try Filter(
  ///       parsing: "lastName BEGINSWITH[cd] %@ AND born > %@",
  ///       arguments: ["ó", "1990-01-01"]
  ///     )
  ///     try Filter(parsing: "company == %@ OR ANY phones.kind == 'work'", arguments: [.object(id)])
  ///     try Filter(parsing: "city IN $CITIES").substituting(["CITIES": ["Bergen", "Oslo"]])
  ///
  /// The grammar is Apple's "Predicate Format String Syntax", without functions and arithmetic
  /// (https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/Predicates/Articles/pSyntax.html).
  ///
  /// - Parameters:
  ///   - text: The predicate.
  ///   - arguments: What `%@` (values and lists), `%K` (names), `%d` and `%f` (numbers) stand for,
  ///     in order.
  /// - Throws: `StoreError.Code.badRequest` with the column, what was expected and what was found.
  public init(parsing text: String, arguments: [Operand] = []) throws(StoreError) {
    var parser = try FilterParser(text, arguments: arguments)
    self = try parser.parse()
  }

  /// The filter with its `$NAME` variables replaced by values, lists or paths.
  ///
  /// - Parameter variables: The replacements by name, without the dollar sign. Superfluous ones
  ///   are no fault; a variable that stays without one is a fault when the filter is used.
  /// - Returns: The filter without them.
  public func substituting(_ variables: [String: Operand]) -> Filter {
    switch self {
    case .constant: return self
    case .and(let parts): return .and(parts.map { $0.substituting(variables) })
    case .or(let parts): return .or(parts.map { $0.substituting(variables) })
    case .not(let part): return .not(part.substituting(variables))
    case .comparison(var comparison):
      comparison.left = comparison.left.substituting(variables)
      comparison.right = comparison.right.substituting(variables)
      return .comparison(comparison)
    }
  }

  /// The names of all variables, without the dollar sign.
  public var variables: Set<String> {
    switch self {
    case .constant: []
    case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.variables) }
    case .not(let part): part.variables
    case .comparison(let comparison): comparison.left.variables.union(comparison.right.variables)
    }
  }
}

extension Filter.Operand {
  fileprivate func substituting(_ variables: [String: Filter.Operand]) -> Filter.Operand {
    switch self {
    case .path, .value: self
    case .variable(let name): variables[name] ?? self
    case .list(let elements): .list(elements.map { $0.substituting(variables) })
    }
  }

  fileprivate var variables: Set<String> {
    switch self {
    case .path, .value: []
    case .variable(let name): [name]
    case .list(let elements): elements.reduce(into: []) { $0.formUnion($1.variables) }
    }
  }
}
