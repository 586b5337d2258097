/// Writes what became of rows as SQLite's session extension does
/// ("CHANGESET BLOB FORMAT", https://www.sqlite.org/src/file/ext/session/sqlite3session.c).
///
/// It is told notes of a table's rows, all of one row behind each other: each says how the row was before a change, or
/// how it is after one. What is written is the difference between the first note and the last.
struct ChangesetWriter {
  private enum Code {
    static let table = UInt8(ascii: "T")
    static let deleted: UInt8 = 9
    static let inserted: UInt8 = 18
    static let updated: UInt8 = 23
    static let undefined: UInt8 = 0
    static let integer: UInt8 = 1
    static let real: UInt8 = 2
    static let text: UInt8 = 3
    static let blob: UInt8 = 4
    static let null: UInt8 = 5
  }

  private var bytes: [UInt8] = []
  /// What stands before the changes of a table; empty: it is written.
  private var heading: [UInt8] = []
  private var columnCount = 0
  private var keyPlaces: [Int] = []
  /// The first note of the row at hand, the last one behind it, and one that is looked at.
  private var first = Note()
  private var last = Note()
  private var next = Note()
  private var isAtRow = false
  private var hasLast = false

  /// Begins with the rows of a table.
  mutating func begin(_ table: Schema.Table) {
    endRow()
    keyPlaces = table.key.compactMap { name in table.columns.firstIndex { $0.name == name } }
    columnCount = table.columns.count
    heading = [Code.table]
    Self.append(columnCount, to: &heading)
    // The column's place in the key, from 1 on.
    heading += table.columns.indices.map { UInt8(1 + (keyPlaces.firstIndex(of: $0) ?? -1)) }
    heading += Array(table.name.utf8) + [0]
  }

  /// Takes a note.
  ///
  /// - Parameters:
  ///   - values: The row's values.
  ///   - isOfBefore: Whether they are those before a change.
  mutating func add(_ values: UnsafePointer<ColumnValue>, isOfBefore: Bool) {
    next.take(values, columnCount)
    next.isOfBefore = isOfBefore
    if isAtRow, keyPlaces.allSatisfy({ next[$0] == first[$0] }) {
      swap(&last, &next)
      hasLast = true
      return
    }
    endRow()
    swap(&first, &next)
    isAtRow = true
  }

  /// What all notes come to.
  mutating func finish() -> Changeset {
    endRow()
    defer { bytes = [] }
    return Changeset(bytes)
  }

  private mutating func endRow() {
    guard isAtRow else { return }
    isAtRow = false
    let isGone = hasLast ? last.isOfBefore : first.isOfBefore
    switch (first.isOfBefore, isGone) {
    case (false, true): break
    case (false, false): append(Code.inserted, hasLast ? last.bytes : first.bytes)
    case (true, true): append(Code.deleted, first.bytes)
    case (true, false): appendUpdate()
    }
    hasLast = false
  }

  private mutating func append(_ operation: UInt8, _ record: [UInt8]) {
    bytes += heading
    heading.removeAll(keepingCapacity: true)
    bytes.append(operation)
    // By the statement itself, and by no trigger.
    bytes.append(0)
    bytes += record
  }

  /// Writes the key and what columns that differ had before, and then what they have.
  private mutating func appendUpdate() {
    let changed = Set((0..<columnCount).filter { first[$0] != last[$0] })
    if changed.isEmpty { return }
    append(Code.updated, [])
    for column in 0..<columnCount {
      let isTold = changed.contains(column) || keyPlaces.contains(column)
      bytes += isTold ? first[column] : [Code.undefined]
    }
    for column in 0..<columnCount {
      bytes += changed.contains(column) ? last[column] : [Code.undefined]
    }
  }

  /// A row as the format has it.
  private struct Note {
    private(set) var bytes: [UInt8] = []
    /// Where each value ends.
    private var ends: [Int] = []
    var isOfBefore = false

    /// A value with its type.
    subscript(column: Int) -> ArraySlice<UInt8> {
      bytes[(column == 0 ? 0 : ends[column - 1])..<ends[column]]
    }

    mutating func take(_ values: UnsafePointer<ColumnValue>, _ count: Int) {
      bytes.removeAll(keepingCapacity: true)
      ends.removeAll(keepingCapacity: true)
      for column in 0..<count {
        append(values[column])
        ends.append(bytes.count)
      }
    }

    private mutating func append(_ value: ColumnValue) {
      switch value {
      case .null: bytes.append(Code.null)
      case .integer(let integer): append(Code.integer, UInt64(bitPattern: integer))
      case .real(let real): append(Code.real, real.bitPattern)
      case .text(let text): append(Code.text, text)
      case .blob(let blob): append(Code.blob, blob)
      }
    }

    private mutating func append(_ type: UInt8, _ number: UInt64) {
      bytes.append(type)
      withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }

    private mutating func append(_ type: UInt8, _ text: UnsafeRawBufferPointer) {
      bytes.append(type)
      ChangesetWriter.append(text.count, to: &bytes)
      bytes += text
    }
  }

  /// Appends a length: seven bits a byte, the highest ones first (https://www.sqlite.org/fileformat2.html#varint).
  private static func append(_ length: Int, to bytes: inout [UInt8]) {
    var groups = [UInt8(length & 0x7F)]
    var rest = length >> 7
    while rest > 0 {
      groups.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes += groups.reversed()
  }
}
