import Foundation

extension Filter {
  /// Reads a filter from a predicate in NSPredicate's format language.
  ///
  /// Comparisons are `= == != <> < <= =< > >= =>`, `BETWEEN {low, high}`, `IN {a, b}`, `CONTAINS`,
  /// `BEGINSWITH`, `ENDSWITH`, `LIKE` and `MATCHES`, with `[c]`, `[d]` or `[cd]` behind them to
  /// overlook case and diacritics. They are joined by `AND OR NOT` (`&& || !`) and parentheses.
  /// Literals are numbers, strings in single or double quotes with C's escapes, `nil NULL`,
  /// `TRUE FALSE YES NO`. Keywords may be written in any case; `#` before a name that is a keyword
  /// makes it a name, `#"first name"` is one that is no word. `TRUEPREDICATE` and `FALSEPREDICATE` stand
  /// alone.
  ///
  /// Names may be paths through relationships (`company.city`), with `ANY`, `ALL` or `NONE` in front where
  /// they lead to many values, and end in `@count` or `@sum.name` (`FilterPath`). `SUBQUERY(phones, $p,
  /// $p.minutes > 5).@count` counts some of them (`FilterSubquery`), `now() - 7 days` and `today()` are
  /// moments (`FilterMoment`).
  ///
  ///     try Filter(
  ///       parsing: "lastName BEGINSWITH[cd] %@ AND born > %@",
  ///       arguments: ["ó", "1990-01-01"]
  ///     )
  ///     try Filter(parsing: "company == %@ OR ANY phones.kind == 'work'", arguments: [.object(id)])
  ///     try Filter(parsing: "city IN $CITIES").substituting(["CITIES": ["Bergen", "Oslo"]])
  ///
  /// The grammar is Apple's "Predicate Format String Syntax", without arithmetic and other functions
  /// (https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/Predicates/Articles/pSyntax.html).
  ///
  /// - Parameters:
  ///   - text: The predicate.
  ///   - arguments: What `%@` (values and lists), `%K` (names), `%d` and `%f` (numbers) stand for,
  ///     in order.
  /// - Throws: `StoreError.Code.badRequest` with the column, what was expected and what was found.
  public init(parsing text: String, arguments: [Operand] = []) throws(StoreError) {
    do throws(StoreError) {
      var parser = try FilterParser(text, arguments: arguments)
      self = try parser.parse()
    } catch {
      var error = error
      error.place = error.place.map { TextPlace(text: text, column: $0.column) }
      throw error
    }
  }

  /// The filter with one instant for every `now()` and `today()` in it, so that several fetches agree.
  ///
  /// - Parameter now: The instant.
  /// - Returns: The filter, which gives the same answer whenever it is used.
  public func fixing(now: Date) -> Filter {
    mapOperands { operand in
      guard case .value(.moment(var moment)) = operand else { return operand }
      moment.now = moment.now ?? now
      return .value(.moment(moment))
    }
  }

  /// The filter with its `$NAME` variables replaced by values, lists or paths.
  ///
  /// - Parameter variables: The replacements by name, without the dollar sign. Superfluous ones
  ///   are no fault; a variable that stays without one is a fault when the filter is used.
  /// - Returns: The filter without them.
  public func substituting(_ variables: [String: Operand]) -> Filter {
    mapOperands { operand in
      if case .variable(let name) = operand { variables[name] ?? operand } else { operand }
    }
  }

  /// The names of all variables, without the dollar sign; those of subqueries are none.
  public var variables: Set<String> {
    var names: Set<String> = []
    _ = mapOperands { operand in
      if case .variable(let name) = operand { names.insert(name) }
      return operand
    }
    return names
  }

  /// The filter with other operands: `change` gets each that holds no others.
  private func mapOperands(_ change: (Operand) -> Operand) -> Filter {
    switch self {
    case .constant: return self
    case .and(let parts): return .and(parts.map { $0.mapOperands(change) })
    case .or(let parts): return .or(parts.map { $0.mapOperands(change) })
    case .not(let part): return .not(part.mapOperands(change))
    case .comparison(var comparison):
      comparison.left = Self.map(comparison.left, change)
      comparison.right = Self.map(comparison.right, change)
      return .comparison(comparison)
    }
  }

  private static func map(_ operand: Operand, _ change: (Operand) -> Operand) -> Operand {
    switch operand {
    case .path, .value, .variable: return change(operand)
    case .list(let elements): return .list(elements.map { map($0, change) })
    case .subquery(var subquery):
      subquery.condition = subquery.condition.mapOperands(change)
      return .subquery(subquery)
    }
  }
}
