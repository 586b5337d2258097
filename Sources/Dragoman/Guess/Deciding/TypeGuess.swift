import DragomanGraph

/// The type of an attribute, with the formats of its values, told by all of them.
struct TypeGuess {
  var type = AttributeType.string
  var entries: [GuessedEntry] = []
  var remarks: [String] = []
  /// How texts are read.
  private(set) var reading = Meanings.Reading.spelled

  /// Guesses the type of a place.
  ///
  /// - Parameters:
  ///   - shape: The place.
  ///   - name: Its name.
  ///   - conventions: What the whole feed says of numbers and dates.
  init(_ shape: FeedShape, name: NameWords, _ conventions: Conventions) {
    let kinds = shape.kinds
    let values = shape.values
    if kinds.arrays > 0 || (kinds.objects > 0 && !conventions.isXML) {
      type = .json
      return
    }
    switch (kinds.booleans > 0, kinds.numbers > 0, values.textCount > 0 || values.emptyCount > 0) {
    case (true, false, false): type = .bool
    case (false, true, false): guess(values.numbers, name)
    case (false, true, true): guessMixed(values, name)
    case (false, false, true): guess(values, name, conventions)
    case (false, false, false):
      // Whatever comes one day is kept as it is. Elements and cells are texts.
      if !conventions.isTextual { type = .json }
      remarks.append("always null here")
    default:
      entries.append(("coerce", "true"))
      remarks.append("of several kinds: \(Self.kinds(of: kinds))")
    }
  }

  private static func kinds(of kinds: FeedShape.Kinds) -> String {
    [(kinds.booleans, "boolean"), (kinds.numbers, "number"), (kinds.texts, "text")]
      .filter { $0.0 > 0 }
      .map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
      .joined(separator: ", ")
  }

  // MARK: - Numbers

  private mutating func guess(_ numbers: NumberProfile, _ name: NameWords) {
    guard !numbers.hasHugeExponent else {
      type = .json
      remarks.append("beyond what a number can be here: kept as it is written")
      return
    }
    guard numbers.isWhole else {
      let isMoney = name.isMoney && numbers.fractionDigits <= 4
      if isMoney, !numbers.hasExponent {
        type = .decimal
        entries.append(("scale", String(numbers.fractionDigits)))
      } else {
        // What a double cannot hold to the last digit is a decimal.
        let isExact = numbers.significantDigits <= 15 && !numbers.hasExponent
        type = isExact ? .double : .decimal
      }
      return
    }
    type = .int64
    if name.isTime, let format = Self.epoch(numbers) {
      guard !Self.isMixed(numbers, format) else {
        remarks.append("times since 1970 in several units, by the name: kept as numbers")
        return
      }
      type = .timestamp
      entries.append(("dates", "[\(format)]"))
      remarks.append("numbers read as \(format), by the name")
    } else if numbers.least == 0, numbers.greatest == 1 {
      remarks.append("0 and 1 alone: type: bool takes them, too")
    }
  }

  /// The unit in which numbers count from 1970 to a time between 1973 and 2100.
  private static func epoch(_ numbers: NumberProfile) -> String? {
    switch numbers.greatest {
    case 100_000_000...4_102_444_800: "unix"
    case 100_000_000_000...4_102_444_800_000: "unix-ms"
    case 100_000_000_000_000...4_102_444_800_000_000: "unix-us"
    default: nil
    }
  }

  /// Whether some numbers are times of our days in a larger unit than that of the greatest one.
  private static func isMixed(_ numbers: NumberProfile, _ format: String) -> Bool {
    switch format {
    case "unix-ms": numbers.hasDigits(9...10)
    case "unix-us": numbers.hasDigits(9...10) || numbers.hasDigits(12...13)
    default: false
    }
  }

  private mutating func guessMixed(_ values: ValueProfile, _ name: NameWords) {
    let isNumeric =
      !values.isPlainText
      && values.forms.keys.allSatisfy { !$0.isDisjoint(with: [.whole, .plainDecimal]) }
    guard isNumeric else {
      entries.append(("coerce", "true"))
      remarks.append("\(values.numbers.count) numbers among texts")
      return
    }
    let hasNumberTexts = !values.forms.isEmpty
    if hasNumberTexts {
      let isWhole = values.numbers.isWhole && values.forms.keys.allSatisfy { $0.contains(.whole) }
      type = isWhole ? .int64 : .decimal
      reading = .first
      entries.append(("numbers", "{ decimal: \".\" }"))
      remarks.append("numbers, and numbers in texts")
    } else {
      guess(values.numbers, name)
    }
    addNulls(values, emptyIsNull: true)
  }

  // MARK: - Texts

  private mutating func guess(
    _ values: ValueProfile,
    _ name: NameWords,
    _ conventions: Conventions
  ) {
    let forms = values.forms.keys
    guard !values.isPlainText, !forms.isEmpty else { return describeText(values) }
    let common = forms.reduce(TextForms.all) { $0.intersection($1) }
    if let pair = TextForms.booleanWords.indices.first(where: { common.contains(.words($0)) }) {
      guessBoolean(pair, values, conventions)
    } else if common.contains(.uuid) {
      type = .uuid
    } else if common.contains(.url) {
      type = .url
    } else if common.contains(.duration) {
      type = .duration
    } else if let dates = DateGuess(values.forms, conventions) {
      type = dates.type
      reading = type == .string ? .spelled : dates.reading
      if dates.isDeclared {
        entries.append(("dates", "[\(dates.formats.map(YAML.scalar).joined(separator: ", "))]"))
      }
      remarks += dates.remarks
      if type != .string, values.fractions.isBelowMicroseconds {
        remarks.append("digits behind microseconds are cut")
      }
    } else if forms.allSatisfy(\.isNumber) {
      guessNumber(values, common, name, conventions)
    }
    guard type != .string else { return describeText(values) }
    addNulls(values, emptyIsNull: !conventions.isTextual)
  }

  private mutating func guessBoolean(
    _ pair: Int,
    _ values: ValueProfile,
    _ conventions: Conventions
  ) {
    let words = TextForms.booleanWords[pair]
    let isPlain = words.true == "true"
    // One word alone may be any code.
    guard isPlain || values.forms.values.reduce(0, +) > values.words.first?.count ?? 0 else {
      return
    }
    type = .bool
    guard !isPlain || !conventions.isTextual else { return }
    entries.append(("trueValues", "[\(YAML.scalar(words.true))]"))
    entries.append(("falseValues", "[\(YAML.scalar(words.false))]"))
  }

  private mutating func guessNumber(
    _ values: ValueProfile,
    _ common: TextForms,
    _ name: NameWords,
    _ conventions: Conventions
  ) {
    if common.contains(.whole), !conventions.isTextual || values.longestText > 18 || name.isCode {
      remarks.append("digits alone: type: int64 with numbers: { decimal: \".\" } takes them")
      return
    }
    guard !values.currency.isMixed else {
      remarks.append("several currencies: a number would lose them")
      return
    }
    let isPlain = values.forms.keys.allSatisfy {
      $0.contains(.plainDecimal) || $0.contains(.whole)
    }
    var style = conventions.number.flatMap { common.contains(.number($0)) ? $0 : nil }
    let mayBeGrouped = isPlain && !common.contains(.whole) && common.contains(.number(0))
    // 52.520 is a latitude, and among numbers with commas and others with points nobody can tell.
    let isGrouped = style == 0 && mayBeGrouped && !name.isCoordinate && !conventions.hasBothNumbers
    if style == 0, mayBeGrouped, !isGrouped { style = nil }
    if common.contains(.whole) {
      type = .int64
      reading = .first
    } else if isPlain, style == nil || style == 1 {
      guard !losesZeros(values.fractions, name) else {
        remarks.append("digits behind a point that end in 0 in some: type: decimal drops the zeros")
        return
      }
      type = .decimal
      reading = .first
      addScale(values.fractions.point, name, isByHand: false)
      if !conventions.isTextual { entries.append(("numbers", "{ decimal: \".\" }")) }
      if conventions.number == nil || (conventions.number == 0 && !name.isCoordinate), mayBeGrouped
      {
        remarks.append("ambiguous: the point may divide thousands")
      }
    } else {
      let places = TextForms.numberFormats.indices.filter { common.contains(.number($0)) }
      // Where the feed shows its notation elsewhere, amounts and shares are written in it, too.
      let shown = conventions.number.map { TextForms.numberFormats[$0].decimal }
      let likely = places.first { TextForms.numberFormats[$0].decimal == shown }
      let grouping = likely == nil ? values.fractions.grouping(among: places) : nil
      guard let place = style ?? likely ?? grouping?.place ?? places.first else { return }
      let format = TextForms.numberFormats[place]
      reading = format.decimal == "," ? .other : .first
      let fractions = format.decimal == "," ? values.fractions.comma : values.fractions.point
      if (fractions?.upperBound ?? 0) == 0, values.longestText <= 18, format.style == nil {
        // Digits in groups may as well be a telephone's.
        guard format.group != " " || conventions.number != nil else { return }
        type = .int64
      } else {
        type = .decimal
        if format.style != .percent { addScale(fractions, name, isByHand: true) }
      }
      entries.append(("numbers", Self.spelled(format)))
      if let grouping {
        remarks.append("ambiguous: the \(grouping.separator) may be the decimal one")
      } else if isGrouped {
        remarks.append("ambiguous here: the comma is the decimal one elsewhere in the feed")
      }
      if format.style == .accounting { remarks.append("an export leaves out the currency") }
    }
  }

  /// Amounts have a scale; of other numbers only those that people write always have the same digits.
  private mutating func addScale(
    _ digits: ClosedRange<Int>?,
    _ name: NameWords,
    isByHand: Bool
  ) {
    guard let digits, digits.upperBound > 0 else { return }
    guard digits.upperBound <= 4, name.isMoney || (isByHand && digits.count == 1) else { return }
    entries.append(("scale", String(digits.upperBound)))
  }

  /// Whether the zeros at the end may mean something, as in 1.10 behind 1.9: not where all have as many digits, and
  /// not those of amounts.
  private func losesZeros(_ fractions: FractionDigits, _ name: NameWords) -> Bool {
    fractions.endInZero && !name.isMoney && (fractions.point?.count ?? 0) > 1
  }

  /// Makes a text of a plain value, whatever it could be read as.
  mutating func keepText() {
    guard type != .string else { return }
    (type, reading, entries) = (.string, .spelled, [])
  }

  private static func spelled(_ format: NumberFormat) -> String {
    var parts = ["decimal: \"\(format.decimal ?? ".")\""]
    if let group = format.group { parts.append("group: \"\(group)\"") }
    if let style = format.style { parts.append("style: \(style.rawValue)") }
    return "{ \(parts.joined(separator: ", ")) }"
  }

  // MARK: - Words

  /// What stands for no value in a typed attribute is declared.
  private mutating func addNulls(_ values: ValueProfile, emptyIsNull: Bool) {
    var parts: [String] = []
    if emptyIsNull, values.emptyCount > 0 { parts.append("emptyAsNull: true") }
    if !values.sentinels.isEmpty {
      let words = values.sentinels.map { YAML.scalar($0.text) }
      parts.append("nulls: [\(words.joined(separator: ", "))]")
    }
    if !parts.isEmpty { entries.append(("strings", "{ \(parts.joined(separator: ", ")) }")) }
  }

  /// What is worth knowing of texts.
  private mutating func describeText(_ values: ValueProfile) {
    if values.words.count == 1, !values.hasManyWords, values.textCount > 2 {
      remarks.append("always \(YAML.scalar(values.words[0].text))")
    } else if !values.sentinels.isEmpty,
      values.sentinels.count < values.words.count || values.hasManyWords
    {
      let words = values.sentinels.map { "\(YAML.scalar($0.text)) \($0.count) times" }
      remarks.append("\(words.joined(separator: ", ")): `strings: { nulls: […] }` makes it null")
    } else if !values.hasManyWords, values.words.count > 1,
      values.textCount >= 4 * values.words.count
    {
      let words = values.words.prefix(8).map { "\(YAML.scalar($0.text)) \($0.count)" }
      let more = values.words.count > 8 ? ", …" : ""
      remarks.append("few values, type: enum? \(words.joined(separator: ", "))\(more)")
    }
    if values.emptyCount > 0 { remarks.append("\(values.emptyCount) empty") }
  }
}
