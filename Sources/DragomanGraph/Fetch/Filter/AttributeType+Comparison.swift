extension Filter.Comparison.Relation {
  /// The relation with its sides exchanged, where there is one.
  var mirrored: Filter.Comparison.Relation? {
    switch self {
    case .equalTo, .notEqualTo: self
    case .lessThan: .greaterThan
    case .lessThanOrEqualTo: .greaterThanOrEqualTo
    case .greaterThan: .lessThan
    case .greaterThanOrEqualTo: .lessThanOrEqualTo
    default: nil
    }
  }
}

extension AttributeType {
  /// Whether the text relations and `[cd]` apply.
  var isTextual: Bool {
    switch self {
    case .string, .url, .uuid, .enum, .json: true
    default: false
    }
  }

  /// The type with its indefinite article, for messages.
  var withArticle: String { MessageWords.withArticle(rawValue) }

  /// Whether two attributes can be compared: the same type, or two binary numbers.
  func compares(with other: AttributeType) -> Bool {
    let numbers: Set<AttributeType> = [.int16, .int32, .int64, .double, .float]
    return self == other || numbers.contains(self) && numbers.contains(other)
  }
}
