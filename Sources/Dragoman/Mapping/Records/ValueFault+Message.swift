import DragomanGraph

/// What is wrong with a value, in words.
extension ValueConverter.Fault {
  /// The issue's code.
  var code: ImportIssue.Code {
    switch self {
    case .type: .type
    case .notANumber, .fractional, .tooManyDigits, .notFinite: .number
    case .outOfRange, .tooLong, .limits: .range
    case .date, .farDate, .zoneless: .date
    case .closure, .closureType: .closure
    case .boolean: .boolean
    case .word: .word
    case .duration, .uuid, .url, .data, .length, .pattern: .text
    case .blocked: .path
    case .repeated: .repeated
    case .keyless: .keyMissing
    case .tooManyKeys: .recordSize
    }
  }

  /// A full sentence about the value of a slot.
  func message(for slot: EntityPlan.Slot) -> String {
    let type = slot.attribute.type.rawValue
    switch self {
    case .type:
      return
        "The value is of a type that \(MessageWords.withArticle(type)) attribute does not take."
    case .notANumber: return "The text is not a number as the map declares them."
    case .fractional: return "The number has a fraction, and the attribute is \(type)."
    case .outOfRange: return "The number is outside of what \(type) holds."
    case .tooManyDigits:
      return "The number has more than \(slot.attribute.rules.scale ?? 0) digits behind the point."
    case .tooLong: return "Written without exponent the number is too long."
    case .date:
      return "None of the declared formats takes the value as \(MessageWords.withArticle(type))."
    case .boolean: return "The value is neither of the words for true nor of those for false."
    case .word: return "The value table does not have this word."
    case .duration: return "The text is not a duration of ISO 8601 such as P1DT2H30M."
    case .uuid: return "The text is not a UUID in the form 8-4-4-4-12."
    case .url: return "The text is not an absolute URL."
    case .data: return "The text is neither base64 nor \\x and hexadecimal digits."
    case .blocked: return "The path runs through a value that has no members."
    case .repeated: return "The path names more than one value."
    case .keyless: return "An element of the list has no key."
    case .tooManyKeys: return "The text names more keys than one record may hold."
    case .limits: return "The value is outside of the limits that the map sets."
    case .length: return "The text is shorter or longer than the map admits."
    case .pattern: return "The text does not match the map's pattern."
    case .notFinite: return "The value is no number that can be stored: NaN, infinite or misspelt."
    case .farDate: return "The date is outside of the years 0000 to 9999."
    case .zoneless:
      return "A Date is an instant, and which \(type) that is depends on a time zone."
    case .closure: return "The map's closure refused the value."
    case .closureType:
      return "The map's closure gave a value that is not \(MessageWords.withArticle(type))."
    }
  }

  /// The formats or words that were tried.
  func tried(for slot: EntityPlan.Slot) -> [String] {
    switch self {
    case .date: slot.converter.triedFormats
    case .word: slot.converter.knownWords
    case .limits:
      [
        slot.attribute.rules.minimum.map { "min \($0.text)" },
        slot.attribute.rules.maximum.map { "max \($0.text)" },
      ].compactMap { $0 }
    case .length:
      [
        slot.attribute.rules.minimumLength.map { "at least \($0)" },
        slot.attribute.rules.maximumLength.map { "at most \($0)" },
      ].compactMap { $0 }
    case .pattern: slot.attribute.rules.pattern.map { [$0] } ?? []
    default: []
    }
  }

  /// What to do about it.
  ///
  /// - Parameters:
  ///   - slot: The attribute.
  ///   - isScalar: Whether the value is a string, a number or a boolean.
  ///   - decimalSign: The decimal sign that a text seems to have that begins as numbers do.
  ///   - isInSpace: Whether a text is a number but for the white space around it.
  /// - Returns: A sentence, or nil where there is nothing to say.
  func help(
    for slot: EntityPlan.Slot,
    isScalar: Bool,
    decimalSign: String?,
    isInSpace: Bool
  ) -> String? {
    // A key is never cleared.
    let lenient = slot.isKey ? "" : ", or set onInvalid: clear"
    switch self {
    case .type where !isScalar: return "the path should lead to one of its members"
    case .type:
      if slot.attribute.type == .string { return "set coerce: true to take numbers and booleans" }
      if slot.attribute.type.isNumeric, !slot.converter.takesNumberText, let decimalSign {
        return "declare numbers: {decimal: \"\(decimalSign)\"} to take numbers in strings"
      }
      if slot.attribute.type == .bool { return "declare trueValues and falseValues" }
      return nil
    case .date where slot.attribute.type == .date && slot.converter.readsTimes:
      return "add the format to dates\(lenient); with a time of day it is a timestamp"
    case .date: return "add the format to dates\(lenient)"
    case .notANumber where isInSpace:
      return "set strings: {trim: true} to take the space around it away\(lenient)"
    case .notANumber: return "declare the separators under numbers\(lenient)"
    case .fractional: return "make the attribute a double or a decimal\(lenient)"
    case .outOfRange: return "take a larger type\(lenient)"
    case .tooManyDigits: return "raise the scale\(lenient)"
    case .boolean: return "add the word to trueValues or falseValues\(lenient)"
    case .word: return "add the word to values, or set unknown"
    case .blocked, .repeated: return "check the path"
    case .zoneless: return "declare timeZone for the attribute"
    case .closure: return nil
    case .closureType: return "mend the closure"
    default: return "mend the feed\(lenient)"
    }
  }
}

extension StoredValue {
  /// The value as text, for messages.
  var text: String {
    switch self {
    case .null: "null"
    case .integer(let value): String(value)
    case .real(let value): String(value)
    case .text(let value): value
    case .blob(let bytes): MessageWords.count(bytes.count, "byte")
    }
  }
}
