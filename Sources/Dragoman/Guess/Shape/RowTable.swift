/// The first records of a list as rows of hashes, in which combinations of values are looked for that
/// occur once.
final class RowTable {
  /// A column of a table.
  struct Column {
    let table: ObjectIdentifier
    /// From 2: column 0 is the record around, column 1 the sample.
    let index: Int
  }

  /// A column as part of a key.
  struct Part {
    let index: Int
    /// What its values mean, and how they are read.
    let meanings: Meanings
    let reading: Meanings.Reading

    /// The record around.
    static let owner = Part(index: 0, meanings: Meanings(), reading: .spelled)
  }

  /// How many values of a record are kept, with its sample and the record around it.
  static let width = 26
  /// How many values are kept in all.
  private static let maximumCellCount = 2_000_000

  @exclusivity(unchecked) private var cells: [UInt64] = []
  @exclusivity(unchecked) private var row = [UInt64](repeating: 0, count: width)
  @exclusivity(unchecked) private var columnCount = 2
  /// How many records there were.
  @exclusivity(unchecked) private(set) var recordCount = 0

  /// How many rows are kept.
  var rowCount: Int { cells.count / Self.width }
  /// Whether the next record is kept, too.
  var isOpen: Bool { cells.count < Self.maximumCellCount }
  /// Whether the rows are all records.
  var isComplete: Bool { rowCount == recordCount }

  /// Begins a record that stands in another one.
  func begin(in owner: Int, ofSample sample: Int) {
    for index in row.indices { row[index] = 0 }
    row[0] = UInt64(truncatingIfNeeded: owner)
    row[1] = UInt64(truncatingIfNeeded: sample)
  }

  /// Ends the record.
  func end() {
    recordCount += 1
    if isOpen { cells.append(contentsOf: row) }
  }

  /// Sets the record's value at a place.
  func set(_ hash: UInt64, for shape: FeedShape) {
    if let column = madeColumn(of: shape) { row[column] = hash }
  }

  /// The column of a place, made where it has none; nil where there is no room.
  private func madeColumn(of shape: FeedShape) -> Int? {
    if let known = column(of: shape) { return known }
    guard columnCount < Self.width else { return nil }
    shape.column = Column(table: ObjectIdentifier(self), index: columnCount)
    columnCount += 1
    return columnCount - 1
  }

  /// Adds the rows of the records of another place.
  ///
  /// - Parameters:
  ///   - other: The rows.
  ///   - theirs: The place of their records.
  ///   - own: The place of the records here, which has all values of the other one.
  func append(_ other: RowTable, of theirs: FeedShape, as own: FeedShape) {
    var columns = [(from: 0, to: 0), (from: 1, to: 1)]
    func match(_ theirs: FeedShape, _ own: FeedShape) {
      if let from = other.column(of: theirs), let to = madeColumn(of: own) {
        columns.append((from, to))
      }
      for member in theirs.members {
        var place = 0
        match(
          member,
          member.name.withUnsafeBytes {
            own.member($0, space: member.space, isAttribute: member.isAttribute, at: &place)
          }
        )
      }
    }
    match(theirs, own)
    recordCount += other.recordCount
    var start = 0
    while start < other.cells.count, isOpen {
      for index in row.indices { row[index] = 0 }
      for column in columns { row[column.to] = other.cells[start + column.from] }
      cells.append(contentsOf: row)
      start += Self.width
    }
  }

  /// The column of a place, where it has one here.
  func column(of shape: FeedShape) -> Int? {
    guard let column = shape.column, column.table == ObjectIdentifier(self) else { return nil }
    return column.index
  }

  /// In how many records around them the rows are, and how many rows have others beside them there.
  var listCounts: (lists: Int, shared: Int) {
    var counts: [UInt64: Int] = [:]
    for start in stride(from: 0, to: cells.count, by: Self.width) {
      counts[cells[start], default: 0] += 1
    }
    return (counts.count, counts.values.reduce(0) { $0 + ($1 > 1 ? $1 : 0) })
  }

  /// Whether rows with the same value in a column have other values for the most part; nil: there are none.
  func differs(behind column: Int) -> Bool? {
    var first: [UInt64: Int] = [:]
    var (same, different) = (0, 0)
    for start in stride(from: 0, to: cells.count, by: Self.width) {
      guard let other = first[cells[start + column]] else {
        first[cells[start + column]] = start
        continue
      }
      for index in 2..<max(2, columnCount) where index != column {
        let (left, right) = (cells[start + index], cells[other + index])
        if left != right { different += 1 } else if left != 0 { same += 1 }
      }
    }
    return same + different == 0 ? nil : different >= same
  }

  /// Whether no two rows have the same values in the columns.
  func isUnique(_ parts: [Part]) -> Bool {
    guard rowCount > 0 else { return false }
    var seen = HashSet()
    var start = 0
    while start < cells.count {
      var hash: UInt64 = 0
      for part in parts {
        let value = part.meanings.of(cells[start + part.index], as: part.reading)
        hash = HashSet.mixed(hash ^ value)
      }
      if !seen.insert(hash) { return false }
      start += Self.width
    }
    return true
  }
}
