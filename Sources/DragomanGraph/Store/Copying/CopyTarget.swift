/// The side of a copy that is filled.
protocol CopyTarget {
  associatedtype Rows: CopyRows
  /// What is there.
  var rows: Rows { get }

  /// Begins, or goes on where an earlier copy was stopped.
  ///
  /// - Parameters:
  ///   - layout: What is to be there.
  ///   - startsAnew: Whether what a copy that was stopped has left goes first.
  /// - Returns: What is there already, by table.
  /// - Throws: `StoreError`, `.output`, where something else is there.
  func begin(_ layout: ModelLayout, startsAnew: Bool) throws -> [NameKey: CopyProgress]

  /// Adds rows of a table, and notes how far it has come with them.
  func add(_ rows: [[StoredValue]], to table: Schema.Table, _ progress: CopyProgress) throws

  /// Makes what was added a store: indexes, constraints, and the rows of our own tables.
  ///
  /// - Parameters:
  ///   - own: These.
  ///   - source: The source in messages.
  /// - Throws: `StoreError`, `.damaged`, for a link of the source that leads nowhere.
  func end(_ own: [CopyOwnRows], from source: String) throws
}

extension CopyTarget {
  /// A link of the source leads nowhere.
  func dangling(
    _ place: String,
    _ key: Int64?,
    to target: String,
    from source: String
  ) -> StoreError {
    StoreError(
      .damaged,
      "\(place)\(key.map { " of the row _pk \($0)" } ?? "") leads to an object of \(target) that does not exist.",
      help: "correct the link there, and begin the copy anew",
      path: source
    )
  }
}

/// How far the copy of a table has come.
struct CopyProgress: Equatable {
  /// How many rows are there, the first ones by key.
  var rowCount = 0
  /// Their hash.
  var hash = ContentHash()

  mutating func add(_ row: [StoredValue]) {
    rowCount += 1
    for value in row { hash.add(value: value) }
  }

  /// The hash in 16 hexadecimal digits.
  var digest: String { hash.digits }
}
