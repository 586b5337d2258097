/// Rows of results as they are read: keys, versions and the values that they are ordered by.
///
/// Lists side by side rather than a list of rows, so that 100,000 of them are five pieces of memory.
struct ResultRows {
  /// How many values a row has.
  let width: Int
  private(set) var keys: [Int64] = []
  /// `_v` of each row; −1 for one with unsaved changes.
  private(set) var versions: [Int64] = []
  private(set) var values: [StoredValue] = []

  init(width: Int) { self.width = width }

  var count: Int { keys.count }

  mutating func append(_ key: Int64, version: Int64, _ values: some Sequence<StoredValue>) {
    keys.append(key)
    versions.append(version)
    self.values.append(contentsOf: values)
  }

  /// One row.
  subscript(place: Int) -> ResultRow {
    ResultRow(
      key: keys[place],
      version: versions[place],
      values: Array(values[(place * width)..<(place * width + width)])
    )
  }
}

/// A row of results by itself.
struct ResultRow {
  let key: Int64
  let version: Int64
  let values: [StoredValue]
}

/// In which order rows of results come, and which of them share a section.
///
/// A row's values are what its sort keys compare, folds applied, and then the value of its section
/// as it is spelled, where the first key folds that away.
struct ResultOrder {
  struct Part {
    let isAscending: Bool
    let isDecimal: Bool
  }

  private let keys: [ResolvedSortKey]
  /// How each value is compared, in order.
  let parts: [Part]
  /// How many of the values tell sections apart; 0: there are none.
  let groupCount: Int
  /// Whether the spelling of the section is a value of its own.
  private let hasSpelling: Bool

  init(_ keys: [ResolvedSortKey], isSectioned: Bool) {
    self.keys = keys
    parts = keys.flatMap { key in
      let isDecimal = key.expression.attribute.type == .decimal
      return key.folds.map { _ in Part(isAscending: key.isAscending, isDecimal: isDecimal) }
    }
    groupCount = isSectioned ? keys.first?.folds.count ?? 0 : 0
    hasSpelling = isSectioned && keys.first?.folds.last?.isEmpty == false
  }

  /// How many sort keys there are.
  var keyCount: Int { keys.count }

  /// How many values a row has.
  var width: Int { parts.count + (hasSpelling ? 1 : 0) }

  /// Which of the values is that of the section as it is spelled.
  var spellingPlace: Int { hasSpelling ? parts.count : groupCount - 1 }

  /// The values of a row.
  ///
  /// - Parameter value: The value of a sort key, by its number.
  /// - Returns: `width` values.
  func values(_ value: (Int) throws -> StoredValue) rethrows -> [StoredValue] {
    var values: [StoredValue] = []
    values.reserveCapacity(width)
    var spelling = StoredValue.null
    for (number, key) in keys.enumerated() {
      let plain = try value(number)
      if number == 0 { spelling = plain }
      for fold in key.folds {
        if !fold.isEmpty, case .text(let text) = plain {
          values.append(.text(TextFold.fold(text, fold)))
        } else {
          values.append(plain)
        }
      }
    }
    if hasSpelling { values.append(spelling) }
    return values
  }

  /// The values of an object in a context.
  func values(of subject: some FilterSubject) throws -> [StoredValue] {
    try values { try keys[$0].expression.value(of: subject) }
  }

  /// Less than 0 if the row whose values begin at `left` comes first; 0 for a tie.
  func compare(
    _ left: [StoredValue],
    _ leftStart: Int,
    _ right: [StoredValue],
    _ rightStart: Int
  ) -> Int {
    compare(left, leftStart, right, rightStart, upTo: parts.count)
  }

  /// The same for the sections of rows.
  func compareGroups(
    _ left: [StoredValue],
    _ leftStart: Int,
    _ right: [StoredValue],
    _ rightStart: Int
  ) -> Int {
    compare(left, leftStart, right, rightStart, upTo: groupCount)
  }

  /// Compares the first `count` values of two rows.
  func compare(
    _ left: [StoredValue],
    _ leftStart: Int,
    _ right: [StoredValue],
    _ rightStart: Int,
    upTo count: Int
  ) -> Int {
    for place in 0..<count {
      let order = ValueOrder.order(
        left[leftStart + place],
        right[rightStart + place],
        asDecimals: parts[place].isDecimal
      )
      if order != 0 { return parts[place].isAscending ? order : -order }
    }
    return 0
  }
}
