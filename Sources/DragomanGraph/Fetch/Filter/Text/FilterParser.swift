/// Reads a predicate by recursive descent: `OR` binds weaker than `AND`, `AND` weaker than `NOT`.
///
///     disjunction  = conjunction { ("OR" | "||") conjunction }
///     conjunction  = negation { ("AND" | "&&") negation }
///     negation     = ("NOT" | "!") negation | primary
///     primary      = "(" disjunction ")" | "TRUEPREDICATE" | "FALSEPREDICATE" | comparison
///     comparison   = [ "ANY" | "SOME" | "ALL" | "NONE" ] operand relation [ "[" options "]" ] operand
///     operand      = path | literal | "$" name | "%" directive | "{" [ operand { "," operand } ] "}"
///                  | moment | subquery
///     path         = [ "$" name "." ] name { "." name }
///     name         = word | "#" word | "#" string
///     moment       = ("now" | "today") "(" ")" { ("+" | "-") number unit }
///     subquery     = "SUBQUERY" "(" path "," "$" name "," disjunction ")" "." "@" aggregate { "." name }
struct FilterParser {
  /// Parentheses and `NOT`s inside one another, at most.
  static let maximumDepth = 100

  private let text: String
  private let places: [FilterLexer.Place]
  private var position = 0
  private var arguments: ArraySlice<Filter.Operand>
  /// How many parentheses, `NOT`s and subqueries are open.
  var depth = 0
  /// The variables of the subqueries around the place.
  var bound: [String] = []

  init(_ text: String, arguments: [Filter.Operand]) throws(StoreError) {
    self.text = text
    places = try FilterLexer.tokens(of: text)
    self.arguments = arguments[...]
  }

  /// The whole text as one filter; every argument must be used.
  mutating func parse() throws(StoreError) -> Filter {
    let filter = try disjunction()
    guard place.token == .end else {
      var help: String?
      if case .word(let word, _) = place.token { help = FilterWords.help(forConjunction: word) }
      throw fault("AND, OR or the end of the predicate", help: help)
    }
    guard arguments.isEmpty else {
      throw StoreError(
        .badRequest,
        "The predicate leaves \(arguments.count) of its arguments unused."
      )
    }
    return filter
  }

  /// The token at hand.
  var place: FilterLexer.Place { places[position] }

  /// The token behind it.
  var next: FilterLexer.Place { places[min(position + 1, places.count - 1)] }

  /// Goes to the next token.
  mutating func advance() {
    if position < places.count - 1 { position += 1 }
  }

  // MARK: Conditions

  mutating func disjunction() throws(StoreError) -> Filter {
    var parts = [try conjunction()]
    while accept(keyword: "OR") || accept(symbol: "||") { parts.append(try conjunction()) }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func conjunction() throws(StoreError) -> Filter {
    var parts = [try negation()]
    while accept(keyword: "AND") || accept(symbol: "&&") { parts.append(try negation()) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func negation() throws(StoreError) -> Filter {
    let column = place.column
    guard accept(keyword: "NOT") || accept(symbol: "!") else { return try primary() }
    try descend(column)
    defer { depth -= 1 }
    return .not(try negation())
  }

  private mutating func primary() throws(StoreError) -> Filter {
    let column = place.column
    if accept(symbol: "(") {
      try descend(column)
      defer { depth -= 1 }
      let inner = try disjunction()
      guard accept(symbol: ")") else { throw fault("\")\" for the \"(\" of column \(column)") }
      return inner
    }
    if accept(keyword: "TRUEPREDICATE") { return .constant(true) }
    if accept(keyword: "FALSEPREDICATE") { return .constant(false) }
    return .comparison(try comparison())
  }

  mutating func descend(_ column: Int) throws(StoreError) {
    depth += 1
    guard depth <= Self.maximumDepth else {
      throw FilterLexer.fault(
        column: column,
        "more than \(Self.maximumDepth) parentheses or NOTs inside one another"
      )
    }
  }

  // MARK: Comparisons

  private mutating func comparison() throws(StoreError) -> Filter.Comparison {
    var quantifier = Filter.Comparison.Quantifier.one
    if accept(keyword: "ANY") || accept(keyword: "SOME") {
      quantifier = .any
    } else if accept(keyword: "ALL") {
      quantifier = .all
    } else if accept(keyword: "NONE") {
      quantifier = .none
    }
    var columns = [place.column]
    let left = try operand("an attribute, a value or \"(\"")
    columns.append(place.column)
    let relation = try relation()
    let options = try options()
    columns.append(place.column)
    var comparison = Filter.Comparison(
      left,
      relation,
      try operand("a value"),
      options: options,
      quantifier: quantifier
    )
    comparison.places = FilterPlaces(text: text, columns: columns)
    return comparison
  }

  private static func relation(_ token: FilterLexer.Token) -> Filter.Comparison.Relation? {
    switch token {
    case .symbol("="): .equalTo
    case .symbol("<>"): .notEqualTo
    case .symbol("=<"): .lessThanOrEqualTo
    case .symbol("=>"): .greaterThanOrEqualTo
    case .symbol(let symbol): .init(rawValue: symbol)
    case .word(let word, isEscaped: false): .init(rawValue: word.uppercased())
    default: nil
    }
  }

  private mutating func relation() throws(StoreError) -> Filter.Comparison.Relation {
    guard let relation = Self.relation(place.token) else {
      var help: String?
      switch place.token {
      case .word(let word, _):
        help =
          FilterWords.help(forRelation: word.uppercased())
          ?? FilterWords.help(forName: "first name")
      case .symbol("-"): help = FilterWords.help(forName: "first-name")
      default: break
      }
      throw fault(
        "a comparison (==, !=, <, <=, >, >=, IN, BETWEEN, CONTAINS, LIKE, …)",
        help: help
      )
    }
    advance()
    return relation
  }

  private mutating func options() throws(StoreError) -> Filter.Comparison.Options {
    guard accept(symbol: "[") else { return [] }
    guard case .word(let letters, _) = place.token else { throw fault("c, d or cd") }
    var options: Filter.Comparison.Options = []
    for letter in letters.lowercased() {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      default: throw fault("c, d or cd")
      }
    }
    advance()
    guard accept(symbol: "]") else { throw fault("\"]\"") }
    return options
  }

  // MARK: Operands

  mutating func operand(
    _ wanted: String,
    inList: Bool = false
  ) throws(StoreError) -> Filter.Operand {
    if let function = try function() {
      if inList, case .subquery = function { throw fault("a literal") }
      return function
    }
    switch place.token {
    case .number(let digits):
      advance()
      return .value(.number(digits))
    case .string(let text):
      advance()
      return .value(.string(text))
    case .variable(let name) where bound.contains(name) && !inList:
      let column = place.column
      advance()
      guard accept(symbol: ".") else {
        var path = FilterPath(steps: [], from: name)
        path.places = FilterPlaces(text: text, columns: [column])
        return .path(path)
      }
      return try path(from: name)
    case .variable(let name):
      guard next.token != .symbol(".") else {
        throw FilterLexer.fault(
          column: place.column,
          "$\(name) is the variable of no subquery around it",
          help: bound.isEmpty ? nil : "there is \(bound.map { "$" + $0 }.joined(separator: ", "))"
        )
      }
      advance()
      return .variable(name)
    case .directive(let letters):
      return try argument(letters)
    case .symbol("-"):
      advance()
      guard case .number(let digits) = place.token else { throw fault("a number after \"-\"") }
      advance()
      return .value(.number("-" + digits))
    case .symbol("{") where !inList:
      return try list()
    case .word(let word, let isEscaped):
      if !isEscaped, let literal = Self.literals[word.uppercased()] {
        advance()
        return .value(literal)
      }
      if !isEscaped, Self.keywords.contains(word.uppercased()) {
        throw fault(wanted, help: helpForKeyword())
      }
      guard !inList else { throw fault("a literal") }
      return try path()
    case .symbol("("):
      throw fault(wanted, help: "a list is written { 1, 2 }")
    default:
      throw fault(wanted, help: helpForKeyword())
    }
  }

  /// Help where a comparison follows a keyword: that is meant to be a name.
  private func helpForKeyword() -> String? {
    for index in [position, position - 1] where places.indices.contains(index) {
      guard case .word(let word, isEscaped: false) = places[index].token,
        Self.isKeyword(word.uppercased()), index + 1 < places.count,
        Self.relation(places[index + 1].token) != nil
      else { continue }
      return "an attribute of that name is written #\(word)"
    }
    return nil
  }

  private mutating func list() throws(StoreError) -> Filter.Operand {
    advance()
    var elements: [Filter.Operand] = []
    if accept(symbol: "}") { return .list([]) }
    repeat {
      elements.append(try operand("a value", inList: true))
    } while accept(symbol: ",")
    guard accept(symbol: "}") else { throw fault("\",\" or \"}\"") }
    return .list(elements)
  }

  private mutating func path(from variable: String? = nil) throws(StoreError) -> Filter.Operand {
    var steps: [String] = []
    var columns: [Int] = []
    repeat {
      columns.append(place.column)
      guard steps.count < Self.maximumDepth else { throw fault("a shorter key path") }
      guard case .word(let word, _) = place.token else { throw fault("a name after \".\"") }
      steps.append(word)
      advance()
    } while accept(symbol: ".")
    var path = FilterPath(steps: steps, from: variable)
    path.places = FilterPlaces(text: text, columns: columns)
    return .path(path)
  }

  /// The next argument, which must be a name for `%K` and anything else for the other directives.
  private mutating func argument(_ letters: String) throws(StoreError) -> Filter.Operand {
    let column = place.column
    let numbers = ["d", "i", "u", "ld", "li", "lu", "lld", "llu", "f", "lf", "g"]
    guard letters == "@" || letters == "K" || numbers.contains(letters) else {
      throw FilterLexer.fault(column: column, "%\(letters) is none of %@, %K, %d, %f")
    }
    guard let argument = arguments.popFirst() else {
      throw FilterLexer.fault(column: column, "there is no argument for %\(letters)")
    }
    switch (letters, argument) {
    case ("K", .path), ("@", .value), ("@", .list), ("@", .variable): break
    case ("K", .value(.string(let text))):
      advance()
      return .path(FilterPath(steps: text.parts(at: ".").filter { !$0.isEmpty }))
    case (_, .value(.number)) where numbers.contains(letters): break
    default:
      let wanted = letters == "K" ? "a name" : letters == "@" ? "a value or list" : "a number"
      throw FilterLexer.fault(column: column, "the argument for %\(letters) is not \(wanted)")
    }
    advance()
    return argument
  }

  // MARK: Tokens

  mutating func accept(symbol: String) -> Bool {
    guard place.token == .symbol(symbol) else { return false }
    advance()
    return true
  }

  private mutating func accept(keyword: String) -> Bool {
    guard case .word(let word, isEscaped: false) = place.token, word.uppercased() == keyword
    else { return false }
    advance()
    return true
  }

  /// What was wanted in place of the token at hand.
  func fault(_ wanted: String, help: String? = nil) -> StoreError {
    let found =
      switch place.token {
      case .word(let text, _), .number(let text), .symbol(let text): "\"\(text.prefix(40))\""
      case .string(let text): "the string \"\(text.prefix(40))\""
      case .variable(let name): "$\(name)"
      case .directive(let letters): "%\(letters)"
      case .end: "the end"
      }
    return FilterLexer.fault(
      column: place.column,
      "expected \(wanted), found \(found)",
      help: help
    )
  }

  /// Whether the word, in capitals, is no name.
  static func isKeyword(_ word: String) -> Bool { keywords.contains(word) || literals[word] != nil }

  private static let literals: [String: FilterValue] = [
    "NIL": .null, "NULL": .null,
    "TRUE": .boolean(true), "YES": .boolean(true),
    "FALSE": .boolean(false), "NO": .boolean(false),
  ]

  private static let keywords: Set<String> = [
    "AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE", "TRUEPREDICATE", "FALSEPREDICATE",
    "BETWEEN", "IN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES",
  ]
}
