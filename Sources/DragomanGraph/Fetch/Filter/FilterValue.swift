/// A literal in a filter, before it is converted by the type of the attribute it is compared with.
///
/// Numbers keep their digits, so that 19-digit integers and 30-digit decimals stay exact. What a
/// literal means is decided when the filter is bound to a model: `"2024-05-01"` is an instant beside
/// a timestamp attribute and plain text beside a string attribute.
public enum FilterValue: Sendable {
  /// `nil`: no value.
  case null
  /// `TRUE` or `FALSE`.
  case boolean(Bool)
  /// A number in decimal notation, an exponent allowed.
  case number(String)
  /// Text.
  case string(String)
  /// Bytes.
  case data([UInt8])
  /// An object, for comparisons with a relationship or `SELF`.
  case objectID(ObjectID)
  /// A moment relative to now, for comparisons with dates and times.
  indirect case moment(FilterMoment)

  /// Takes over a stored value: reals in their shortest exact spelling.
  public init(_ value: StoredValue) {
    switch value {
    case .null: self = .null
    case .integer(let integer): self = .number(String(integer))
    case .real(let real): self = .number(String(real))
    case .text(let text): self = .string(text)
    case .blob(let bytes): self = .data(bytes)
    }
  }

  /// How messages name the literal: its kind and its spelling, cut after 40 characters.
  var summary: String {
    switch self {
    case .null: "nil"
    case .boolean(let value): value ? "TRUE" : "FALSE"
    case .number(let digits): "the number \(digits.prefix(40))"
    case .string(let text): "the string \"\(text.prefix(40))\(text.count > 40 ? "…" : "")\""
    case .data(let bytes): MessageWords.count(bytes.count, "byte")
    case .objectID(let id): "the object \(id.uri)"
    case .moment(let moment): moment.text
    }
  }
}

extension FilterValue: Hashable {
  /// Compares kind and bytes, so two Unicode normal forms are two values.
  public static func == (left: FilterValue, right: FilterValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.boolean(let a), .boolean(let b)): a == b
    case (.number(let a), .number(let b)), (.string(let a), .string(let b)):
      a.utf8.elementsEqual(b.utf8)
    case (.data(let a), .data(let b)): a == b
    case (.objectID(let a), .objectID(let b)): a == b
    case (.moment(let a), .moment(let b)): a == b
    default: false
    }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .boolean(let value): hasher.combine(value)
    case .number(let text), .string(let text): hasher.combine(Array(text.utf8))
    case .data(let bytes): hasher.combine(bytes)
    case .objectID(let id): hasher.combine(id)
    case .moment(let moment): hasher.combine(moment)
    }
  }
}
