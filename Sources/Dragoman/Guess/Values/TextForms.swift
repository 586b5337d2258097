import DragomanGraph

/// The forms in which one text can be read: as a number of some notation, a date of some pattern.
struct TextForms: OptionSet, Hashable {
  let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The form at a place of a list.
  init(place: Int) { rawValue = 1 << UInt64(place) }

  /// Digits without a zero in front, 18 at most.
  static let whole = TextForms(place: 0)
  /// Digits with a point between them.
  static let plainDecimal = TextForms(place: 1)
  static let uuid = TextForms(place: 2)
  static let url = TextForms(place: 3)
  static let duration = TextForms(place: 4)

  /// Where the numbers, the words of booleans and the dates begin.
  private static let firstNumber = 5
  private static let firstWords = 16
  private static let firstDate = 24

  /// Notations of numbers with separators and signs, the likelier first.
  static let numberFormats: [NumberFormat] = [
    NumberFormat(decimal: ",", group: "."),
    NumberFormat(decimal: ".", group: ","),
    NumberFormat(decimal: ",", group: " "),
    NumberFormat(decimal: ".", group: " "),
    NumberFormat(decimal: ".", group: "'"),
    NumberFormat(decimal: ".", group: ",", style: .percent),
    NumberFormat(decimal: ",", group: ".", style: .percent),
    NumberFormat(decimal: ".", group: ",", style: .accounting),
    NumberFormat(decimal: ",", group: ".", style: .accounting),
    NumberFormat(decimal: ",", group: " ", style: .accounting),
  ]

  /// Pairs of words for true and false.
  static let booleanWords: [(true: String, false: String)] = [
    ("true", "false"), ("yes", "no"), ("Yes", "No"), ("Y", "N"), ("y", "n"), ("ja", "nein"),
    ("True", "False"), ("TRUE", "FALSE"),
  ]

  /// A date format and the type that it gives.
  struct DateForm {
    let format: String
    let type: AttributeType
    /// The format in which day and month stand the other way round.
    var swapped: String?

    /// Whether the month stands before the day where the day could do so, too.
    var isMonthFirst: Bool { swapped != nil && format.lowercased().hasPrefix("m") }
  }

  /// Date formats, the likelier first.
  static let dateForms: [DateForm] = [
    DateForm(format: "iso8601-date", type: .date),
    DateForm(format: "dd.MM.yyyy", type: .date),
    DateForm(format: "dd/MM/yyyy", type: .date, swapped: "MM/dd/yyyy"),
    DateForm(format: "MM/dd/yyyy", type: .date, swapped: "dd/MM/yyyy"),
    DateForm(format: "d.M.yyyy", type: .date),
    DateForm(format: "d/M/yyyy", type: .date, swapped: "M/d/yyyy"),
    DateForm(format: "M/d/yyyy", type: .date, swapped: "d/M/yyyy"),
    DateForm(format: "dd.MM.yy", type: .date),
    DateForm(format: "dd/MM/yy", type: .date, swapped: "MM/dd/yy"),
    DateForm(format: "MM/dd/yy", type: .date, swapped: "dd/MM/yy"),
    DateForm(format: "dd-MM-yyyy", type: .date, swapped: "MM-dd-yyyy"),
    DateForm(format: "MM-dd-yyyy", type: .date, swapped: "dd-MM-yyyy"),
    DateForm(format: "yyyy/MM/dd", type: .date),
    DateForm(format: "dd-MMM-yyyy", type: .date),
    DateForm(format: "dd MMM yyyy", type: .date),
    DateForm(format: "d MMM yyyy", type: .date),
    DateForm(format: "dd MMM yy", type: .date),
    DateForm(format: "d MMMM yyyy", type: .date),
    DateForm(format: "MMM d, yyyy", type: .date),
    DateForm(format: "MMMM d, yyyy", type: .date),
    DateForm(format: "yyyy-MM-dd HH:mm:ss", type: .timestamp),
    DateForm(format: "yyyy-MM-dd'T'HH:mm:ss", type: .timestamp),
    DateForm(format: "iso8601", type: .timestamp),
    DateForm(format: "rfc2822", type: .timestamp),
    DateForm(format: "dd.MM.yyyy HH:mm", type: .timestamp),
    DateForm(format: "dd.MM.yyyy HH:mm:ss", type: .timestamp),
    DateForm(format: "dd/MM/yyyy HH:mm", type: .timestamp, swapped: "MM/dd/yyyy HH:mm"),
    DateForm(format: "MM/dd/yyyy HH:mm", type: .timestamp, swapped: "dd/MM/yyyy HH:mm"),
    DateForm(format: "dd/MM/yyyy HH:mm:ss", type: .timestamp, swapped: "MM/dd/yyyy HH:mm:ss"),
    DateForm(format: "MM/dd/yyyy HH:mm:ss", type: .timestamp, swapped: "dd/MM/yyyy HH:mm:ss"),
    DateForm(format: "M/d/yyyy h:mm a", type: .timestamp),
    DateForm(format: "EEE MMM dd HH:mm:ss Z yyyy", type: .timestamp),
    DateForm(format: "HH:mm", type: .time),
    DateForm(format: "HH:mm:ss", type: .time),
    DateForm(format: "h:mm a", type: .time),
  ]

  static func number(_ place: Int) -> TextForms { TextForms(place: firstNumber + place) }
  static func words(_ place: Int) -> TextForms { TextForms(place: firstWords + place) }
  static func date(_ place: Int) -> TextForms { TextForms(place: firstDate + place) }

  /// Every form.
  static let all = TextForms(rawValue: .max)

  private static let numbers = numberFormats.indices.reduce(
    into: [whole, plainDecimal] as TextForms
  ) {
    $0.formUnion(number($1))
  }

  /// Whether the text may be a date or a time.
  var isDate: Bool { rawValue >> UInt64(Self.firstDate) != 0 }

  /// Whether the text may be a number.
  var isNumber: Bool { !isDisjoint(with: Self.numbers) }
}
