import DragomanGraph
import Foundation

/// What is wrong with a format, and the nearest one that is right.
struct FormatProblem: Error, Equatable {
  var message: String
  var suggestion: String?
}

/// The checks of date formats, number formats and time zones that a map needs: the one place
/// where map files meet the formats' own compilers.
enum FormatChecks {
  /// The formats that have names; every other text is a Unicode (LDML) pattern.
  static let dateNames = ["iso8601", "iso8601-date", "rfc2822", "unix", "unix-ms", "unix-us"]

  /// Checks one date format: a name, or a pattern of UTS #35 fields, literals in quotes.
  static func checkDate(_ format: String, type: AttributeType) throws(FormatProblem) {
    if dateNames.contains(format) { return }
    var isQuoted = false
    var fields = 0
    for (offset, scalar) in format.unicodeScalars.enumerated() {
      if scalar == "'" {
        isQuoted.toggle()
      } else if !isQuoted, scalar.isASCII, scalar.properties.isAlphabetic {
        guard fieldLetters.unicodeScalars.contains(scalar) else {
          throw FormatProblem(
            message: "\"\(format)\": the letter \"\(scalar)\" at \(offset + 1) is no date field"
              + " (put literal text between ' and ').",
            suggestion: nearest(to: format, in: dateNames)
          )
        }
        fields += 1
      }
    }
    if isQuoted {
      throw FormatProblem(message: "\"\(format)\": the quote \"'\" is never closed.")
    }
    if fields == 0 {
      throw FormatProblem(
        message: "\"\(format)\" has no date field.",
        suggestion: nearest(to: format, in: dateNames)
      )
    }
  }

  /// Checks a number format: two different characters that are no digits, or a known locale.
  static func checkNumber(_ format: NumberFormat) throws(FormatProblem) {
    for (name, separator) in [("decimal", format.decimal), ("group", format.group)] {
      guard let separator else { continue }
      guard separator.unicodeScalars.count == 1, let scalar = separator.unicodeScalars.first,
        scalar.properties.numericType == nil, !"+-−".unicodeScalars.contains(scalar)
      else {
        throw FormatProblem(
          message: "The \(name) separator is one character, no digit and no sign, not"
            + " \"\(separator)\"."
        )
      }
    }
    if let decimal = format.decimal, let group = format.group,
      decimal.utf8.elementsEqual(group.utf8)
    {
      throw FormatProblem(message: "\"\(decimal)\" cannot separate both decimals and groups.")
    }
    guard let locale = format.locale else { return }
    if format.decimal != nil || format.group != nil {
      throw FormatProblem(message: "A locale gives both separators; write one or the other.")
    }
    let known = Locale.availableIdentifiers
    let identifier = locale.replacing("-", with: "_")
    guard known.contains(identifier) else {
      throw FormatProblem(
        message: "The locale \"\(locale)\" is not known.",
        suggestion: nearest(to: identifier, in: known.sorted())
      )
    }
  }

  /// Checks the name of a time zone against the IANA database.
  static func checkTimeZone(_ name: String) throws(FormatProblem) {
    guard TimeZone(identifier: name) == nil else { return }
    throw FormatProblem(
      message: "The time zone \"\(name)\" is not known.",
      suggestion: nearest(to: name, in: TimeZone.knownTimeZoneIdentifiers)
    )
  }

  /// The pattern letters of UTS #35, "Date Field Symbol Table".
  private static let fieldLetters = "GyYuUrQqMLwWdDFgEecabBhHKkmsSAzZOvVXx"
}
