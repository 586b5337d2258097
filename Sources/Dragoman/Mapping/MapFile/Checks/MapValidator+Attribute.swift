import DragomanGraph

extension MapValidator {
  /// Checks one attribute: that each rule suits the type, compiles and can be carried out.
  mutating func check(_ attribute: AttributeMap, at place: String) {
    let finding = "attribute is \(attribute.type.rawValue)"
    check(attribute, by: MapGrammar.attribute, at: place, finding)
    checkTimeZone(attribute.format.timeZone, at: place)
    if attribute.type.isDateOrTime {
      let dates = attribute.format.dates ?? []
      report(FormatChecks.faults(inDates: dates, type: attribute.type), at: "\(place).dates")
      if attribute.format.dates?.isEmpty == true {
        report(.format, "The list of date formats is empty.", at: "\(place).dates")
      }
    }
    checkNumbers(attribute.format.numbers, at: place)
    checkWords(attribute, at: place)
    checkLiterals(attribute, at: place)
    if attribute.policies.hasDefault, attribute.defaultValue == nil {
      report(
        .policy,
        "The policy is \"default\" and the attribute has no default.",
        at: "\(place).\(attribute.policies.defaultKey)",
        rule: "add default:, or choose clear, keep or reject"
      )
    }
    if let pattern = attribute.rules.pattern, let problem = PatternCheck.problem(in: pattern) {
      report(
        .pattern,
        problem,
        at: "\(place).pattern",
        rule: "patterns are bounded: no repetition inside a repeated group, no back references"
      )
    }
  }

  private mutating func checkWords(_ attribute: AttributeMap, at place: String) {
    let admitsValues = attribute.type == .enum || attribute.type == .string
    if admitsValues, attribute.format.unknown != nil, attribute.format.values.isEmpty {
      report(
        .misplaced,
        "\"unknown\" is for words that \"values\" does not have; there is no \"values\".",
        at: "\(place).unknown"
      )
    }
    let trueWords = Set(attribute.format.trueValues.map { Array($0.utf8) })
    if let both = attribute.format.falseValues.first(where: { trueWords.contains(Array($0.utf8)) })
    {
      report(.value, "\"\(both)\" cannot mean true and false.", at: "\(place).falseValues")
    }
  }

  private mutating func checkLiterals(_ attribute: AttributeMap, at place: String) {
    let literals = [
      ("default", attribute.defaultValue), ("min", attribute.rules.minimum),
      ("max", attribute.rules.maximum),
    ]
    var values: [String: StoredValue] = [:]
    for (key, text) in literals {
      guard let text else { continue }
      values[key] = attribute.storedValue(ofLiteral: text)
      let zone = attribute.format.timeZone ?? map.defaults.timeZone
      if values[key] != nil, let zone, attribute.isMeantOtherwise(text, in: zone) {
        report(
          .literal,
          "\"\(text)\" has no zone: in the feed it would be on the clock of \(zone), here it is UTC.",
          at: "\(place).\(key)",
          rule: "write its offset behind it, or Z for UTC"
        )
      }
      if values[key] == nil {
        let words = attribute.rawValues ?? []
        report(
          .literal,
          "\"\(text)\" is no \(attribute.type.rawValue)"
            + (attribute.rules.scale.map { " of scale \($0)" } ?? "")
            + (words.isEmpty ? "." : " of \(words.joined(separator: ", "))."),
          at: "\(place).\(key)",
          suggestion: nearest(
            to: text,
            in: attribute.type == .bool ? ["true", "false"] : words
          ),
          rule: attribute.type == .json
            ? #"JSON text in quotes: '{"open": true}', or '"word"' for a text"# : nil
        )
      }
    }
    let type = attribute.type
    if let low = values["min"], let high = values["max"], low.isLarger(than: high, as: type) {
      report(.literal, "\"min\" is larger than \"max\".", at: "\(place).min")
    }
    guard let value = values["default"] else { return }
    if values["min"]?.isLarger(than: value, as: type) == true
      || values["max"].map({ value.isLarger(than: $0, as: type) }) == true
    {
      report(.literal, "The default is not between \"min\" and \"max\".", at: "\(place).default")
    }
    if let length = attribute.rules.length, case .text(let text) = value,
      !length.contains(text.unicodeScalars.count)
    {
      report(.literal, "The default has not the length it must have.", at: "\(place).default")
    }
  }
}

extension AttributeType {
  /// Whether date formats and time zones have a meaning.
  var isDateOrTime: Bool { self == .timestamp || self == .date || self == .time }
}
