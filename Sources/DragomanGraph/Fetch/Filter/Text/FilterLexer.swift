/// Cuts the text of a predicate into tokens, each with the column where it begins.
struct FilterLexer {
  enum Token: Equatable {
    /// A keyword or a name; `#name` and `#"first name"` are always names.
    case word(String, isEscaped: Bool)
    case number(String)
    case string(String)
    /// `$NAME`.
    case variable(String)
    /// `%@`, `%K`, `%d`, …: the letters after the percent sign.
    case directive(String)
    case symbol(String)
    case end
  }

  struct Place {
    var token: Token
    /// The column, in Unicode scalars from 1.
    var column: Int
  }

  private let scalars: [Unicode.Scalar]
  private var position = 0

  /// All tokens of the text, the last one `end`.
  static func tokens(of text: String) throws(StoreError) -> [Place] {
    var lexer = FilterLexer(scalars: Array(text.unicodeScalars))
    var places: [Place] = []
    while true {
      let place = try lexer.next()
      places.append(place)
      if place.token == .end { return places }
    }
  }

  private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

  /// Whether a text is a name without quotes around it.
  static func isName(_ text: String) -> Bool {
    let scalars = text.unicodeScalars
    return scalars.first.map(isNameStart) == true && scalars.dropFirst().allSatisfy(isNamePart)
  }

  private var current: Unicode.Scalar? { at(0) }

  private func at(_ offset: Int) -> Unicode.Scalar? {
    position + offset < scalars.count ? scalars[position + offset] : nil
  }

  private mutating func next() throws(StoreError) -> Place {
    while let scalar = current, scalar.properties.isWhitespace { position += 1 }
    let column = position + 1
    guard let scalar = current else { return Place(token: .end, column: column) }
    if scalar == "\"" || scalar == "'" {
      return Place(token: .string(try string(quote: scalar)), column: column)
    }
    if isDigit(scalar) || scalar == ".", isDigit(scalar) || at(1).map(isDigit) == true {
      return Place(token: .number(try number()), column: column)
    }
    if isNameStart(scalar) {
      return Place(token: .word(name(), isEscaped: false), column: column)
    }
    if "#$%".unicodeScalars.contains(scalar) {
      return Place(token: try prefixed(scalar), column: column)
    }
    return Place(token: .symbol(try symbol()), column: column)
  }

  private mutating func prefixed(_ prefix: Unicode.Scalar) throws(StoreError) -> Token {
    position += 1
    if prefix == "%", current == "@" {
      position += 1
      return .directive("@")
    }
    if prefix == "#", let quote = current, quote == "\"" || quote == "'" {
      return .word(try string(quote: quote), isEscaped: true)
    }
    guard let scalar = current, isNameStart(scalar) else {
      let wanted = prefix == "%" ? "@, K, d or f" : "a name"
      throw Self.fault(column: position + 1, "expected \(wanted) after \(prefix)")
    }
    let name = name()
    switch prefix {
    case "#": return .word(name, isEscaped: true)
    case "$": return .variable(name)
    default: return .directive(name)
    }
  }

  /// Letters, digits and underscores; `@` may begin a name, as in `@count`.
  private mutating func name() -> String {
    var text = String.UnicodeScalarView()
    repeat {
      text.append(scalars[position])
      position += 1
    } while current.map(isNamePart) == true
    return String(text)
  }

  private mutating func number() throws(StoreError) -> String {
    let start = position
    if current == "0", at(1) == "x" || at(1) == "X" {
      position += 2
      let digits = take { $0.properties.isASCIIHexDigit }
      guard let value = UInt64(digits, radix: 16) else {
        throw Self.fault(column: start + 1, "expected a hexadecimal number of at most 64 bits")
      }
      return String(value)
    }
    var text = take(isDigit)
    if current == ".", at(1).map(isDigit) == true {
      position += 1
      text += "." + take(isDigit)
    }
    if current == "e" || current == "E" {
      let hasSign = at(1) == "+" || at(1) == "-"
      if at(hasSign ? 2 : 1).map(isDigit) == true {
        text += "e" + (hasSign ? at(1).map(String.init) ?? "" : "")
        position += hasSign ? 2 : 1
        text += take(isDigit)
      }
    }
    if let scalar = current, isNamePart(scalar) {
      let column = position + 1
      throw Self.fault(
        column: column,
        "expected the end of the number, found \"\(scalar)\"",
        help: FilterWords.help(forName: text + take(isNamePart))
      )
    }
    return text.hasPrefix(".") ? "0" + text : text
  }

  private mutating func take(_ accepts: (Unicode.Scalar) -> Bool) -> String {
    var text = String.UnicodeScalarView()
    while let scalar = current, accepts(scalar) {
      text.append(scalar)
      position += 1
    }
    return String(text)
  }

  private mutating func string(quote: Unicode.Scalar) throws(StoreError) -> String {
    let start = position
    position += 1
    var text = String.UnicodeScalarView()
    while let scalar = current {
      position += 1
      if scalar == quote { return String(text) }
      text.append(scalar == "\\" ? try escape() : scalar)
    }
    throw Self.fault(column: start + 1, "the string that begins here has no closing \(quote)")
  }

  /// What follows a backslash: C's letters, `\uXXXX`, `\xXX`; any other character is itself.
  private mutating func escape() throws(StoreError) -> Unicode.Scalar {
    guard let scalar = current else {
      throw Self.fault(column: position + 1, "expected a character after the backslash")
    }
    position += 1
    switch scalar {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "x": return try scalarEscape(digitCount: 2)
    case "u": return try scalarEscape(digitCount: 4)
    default: return scalar
    }
  }

  private mutating func scalarEscape(digitCount: Int) throws(StoreError) -> Unicode.Scalar {
    let column = position - 1
    var value = try hexadecimal(digitCount, column: column)
    if (0xD800..<0xDC00).contains(value), at(0) == "\\", at(1) == "u" {
      position += 2
      let low = try hexadecimal(digitCount, column: column)
      if (0xDC00..<0xE000).contains(low) {
        value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
      }
    }
    guard let scalar = Unicode.Scalar(value) else {
      throw Self.fault(column: column, "the escape is half of a surrogate pair")
    }
    return scalar
  }

  private mutating func hexadecimal(_ count: Int, column: Int) throws(StoreError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<count {
      guard let digit = current.flatMap({ Character($0).hexDigitValue }) else {
        throw Self.fault(column: column, "expected \(count) hexadecimal digits in the escape")
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }

  private mutating func symbol() throws(StoreError) -> String {
    let pair = String(
      String.UnicodeScalarView(scalars[position..<min(position + 2, scalars.count)])
    )
    if ["==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||"].contains(pair) {
      position += 2
      return pair
    }
    let single = scalars[position]
    guard "=<>!(){},.[]-+".unicodeScalars.contains(single) else {
      throw Self.fault(
        column: position + 1,
        "\"\(single)\" has no meaning in a predicate",
        help: FilterWords.help(forSymbol: single)
      )
    }
    position += 1
    return String(single)
  }

  /// A malformed predicate, with its column; who has the text fills it in.
  static func fault(column: Int, _ message: String, help: String? = nil) -> StoreError {
    var error = StoreError(
      .badRequest,
      "The predicate is malformed at column \(column): \(message).",
      help: help
    )
    error.place = TextPlace(text: "", column: column)
    return error
  }
}

private func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

private func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
  scalar == "_" || scalar == "@" || scalar.properties.isXIDStart
}

private func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
  scalar == "_" || scalar.properties.isXIDContinue
}
