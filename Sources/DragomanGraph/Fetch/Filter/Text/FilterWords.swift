/// What the words of a predicate may have been meant to be.
enum FilterWords {
  private static let relations: [String] = Filter.Comparison.Relation.allCases.map(\.rawValue)

  /// How other languages say it.
  private static let synonyms: [String: String] = [
    "IS": "==", "EQ": "==", "EQUALS": "==", "===": "==", "NE": "!=", "LT": "<", "GT": ">",
    "LE": "<=",
    "GE": ">=", "STARTSWITH": "BEGINSWITH", "STARTS": "BEGINSWITH", "STARTS_WITH": "BEGINSWITH",
    "PREFIX": "BEGINSWITH", "ENDS": "ENDSWITH", "ENDS_WITH": "ENDSWITH", "SUFFIX": "ENDSWITH",
    "HAS": "CONTAINS", "INCLUDES": "CONTAINS", "ILIKE": "LIKE[c]", "GLOB": "LIKE",
    "REGEXP": "MATCHES",
    "REGEX": "MATCHES", "RLIKE": "MATCHES", "SIMILAR": "MATCHES",
  ]

  /// Help for a word where a comparison is wanted.
  static func help(forRelation word: String) -> String? {
    if word == "NOT" { return "put NOT in front of the comparison: NOT name IN {…}" }
    return (synonyms[word] ?? nearest(to: word, in: relations)).map { "did you mean \($0)?" }
  }

  /// Help for a word behind a comparison.
  static func help(forConjunction word: String) -> String? {
    nearest(to: word, in: ["AND", "OR"]).map { "did you mean \($0)?" }
  }

  /// The functions that there are, without parentheses.
  static let functions = ["now", "today", "SUBQUERY"]

  /// Help for the name of a function that there is not.
  static func help(forFunction name: String) -> String {
    switch name.lowercased() {
    case "lower", "upper", "lowercase", "uppercase", "ucase", "lcase":
      return "to overlook case write [c] behind the comparison: name ==[c] 'x'"
    case "count", "sum", "avg", "min", "max", "average", "length":
      return "aggregates stand behind a to-many path: phones.@count, phones.@sum.minutes"
    case "date", "datetime", "timestamp", "cast", "function":
      return "dates are written as text, '2024-05-01', or relative: now() - 7 days"
    default:
      return nearest(to: name, in: functions).map { "did you mean \($0)(…)?" }
        ?? "there are now(), today() and SUBQUERY(path, $x, predicate)"
    }
  }

  /// Help where a name seems to be meant that is no word.
  static func help(forName name: String) -> String {
    "a name that is no word is written \(PathSpelling.step(name))"
  }

  /// Help for a character without meaning.
  static func help(forSymbol symbol: Unicode.Scalar) -> String? {
    switch symbol {
    case "&": "write && or AND"
    case "|": "write || or OR"
    case "~": "patterns are compared by LIKE (* and ?) and MATCHES"
    case "*", "/": "there is no arithmetic; the + and - behind now() and today() move a date"
    case "“", "”", "‘", "’", "`": "strings stand in \"double\" or 'single' quotes"
    default: help(forName: "first name")
    }
  }

  /// A unit behind a number, singular or plural.
  static func unit(_ word: String) -> FilterMoment.Unit? {
    let word = word.lowercased()
    return FilterMoment.Unit.allCases.first { word == $0.rawValue || word == $0.rawValue + "s" }
  }
}
