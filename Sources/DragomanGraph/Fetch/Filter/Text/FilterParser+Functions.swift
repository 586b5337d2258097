/// What has parentheses behind its name: moments and subqueries.
extension FilterParser {
  /// The function whose name comes next, if one does: a name with "(" behind it.
  mutating func function() throws(StoreError) -> Filter.Operand? {
    guard case .word(let word, isEscaped: false) = place.token, next.token == .symbol("(") else {
      return nil
    }
    switch word.uppercased() {
    case "NOW", "TODAY": return .value(.moment(try moment(isDay: word.uppercased() == "TODAY")))
    case "SUBQUERY": return .subquery(try subquery())
    // What stands in parentheses behind a keyword is told by who wants it.
    case let word where Self.isKeyword(word): return nil
    default:
      throw FilterLexer.fault(
        column: place.column,
        "there is no function \"\(word.prefix(40))\"",
        help: FilterWords.help(forFunction: word)
      )
    }
  }

  // MARK: Moments

  private mutating func moment(isDay: Bool) throws(StoreError) -> FilterMoment {
    advance()
    advance()
    try expect(")", "\")\", for it takes no arguments")
    var moment = FilterMoment(isDay: isDay)
    while true {
      let sign: Int
      if accept(symbol: "+") {
        sign = 1
      } else if accept(symbol: "-") {
        sign = -1
      } else {
        return moment
      }
      guard moment.steps.count < Self.maximumDepth else { throw fault("fewer steps") }
      moment.steps.append(try step(sign))
    }
  }

  private mutating func step(_ sign: Int) throws(StoreError) -> FilterMoment.Step {
    guard case .number(let digits) = place.token, let amount = Int(digits),
      amount <= FilterMoment.maximumAmount
    else {
      throw fault("a whole number up to \(FilterMoment.maximumAmount) and a unit, such as 7 days")
    }
    advance()
    let units = FilterMoment.Unit.allCases.map { $0.rawValue + "s" }
    guard case .word(let word, isEscaped: false) = place.token, let unit = FilterWords.unit(word)
    else {
      var help: String?
      if case .word(let word, _) = place.token {
        help = nearest(to: word, in: units).map { "did you mean \($0)?" }
      }
      throw fault("a unit (\(units.joined(separator: ", ")))", help: help)
    }
    advance()
    return FilterMoment.Step(sign * amount, unit)
  }

  // MARK: Subqueries

  private mutating func subquery() throws(StoreError) -> FilterSubquery {
    try descend(place.column)
    defer { depth -= 1 }
    advance()
    advance()
    guard case .path(let path) = try operand("a path to many objects") else {
      throw fault("a path to many objects")
    }
    try expect(",", "\",\"")
    guard case .variable(let name) = place.token else {
      throw fault("a variable for each of the objects, such as $x")
    }
    guard !bound.contains(name) else {
      throw FilterLexer.fault(
        column: place.column,
        "$\(name) stands for something else already",
        help: "give it another name"
      )
    }
    advance()
    try expect(",", "\",\"")
    bound.append(name)
    let condition = try disjunction()
    bound.removeLast()
    try expect(")", "AND, OR or \")\" for SUBQUERY")
    var subquery = FilterSubquery(path, name, condition)
    guard accept(symbol: ".") else { throw fault("an aggregate of the objects: .@count") }
    guard case .word(let word, _) = place.token,
      let aggregate = FetchColumn.Aggregate(rawValue: String(word.dropFirst())), word.hasPrefix("@")
    else {
      var help: String?
      if case .word(let word, _) = place.token {
        let names = FetchColumn.Aggregate.allCases.map { "@" + $0.rawValue }
        help = nearest(to: word, in: names).map { "did you mean \($0)?" }
      }
      throw fault("@count, @sum, @avg, @min or @max", help: help)
    }
    advance()
    subquery.aggregate = aggregate
    while accept(symbol: ".") {
      guard subquery.value.count < Self.maximumDepth else { throw fault("a shorter key path") }
      guard case .word(let word, _) = place.token else { throw fault("a name after \".\"") }
      subquery.value.append(word)
      advance()
    }
    return subquery
  }

  private mutating func expect(_ symbol: String, _ wanted: String) throws(StoreError) {
    guard accept(symbol: symbol) else { throw fault(wanted) }
  }
}
