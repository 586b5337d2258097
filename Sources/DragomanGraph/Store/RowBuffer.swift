import Foundation
import GRDBSQLite

/// Rows of one table as they came from SQLite: values side by side, text and bytes in one arena.
///
/// Objects refer to their row by its number and make a `String` only of what is asked for, so a
/// fetched object costs 16 bytes a column besides its text. A buffer is filled once and then only
/// read; it lives as long as an object refers to it.
///
/// `@unchecked Sendable`: only main's changes are published to other threads, and to a buffer that main
/// publishes nothing is added any more (`importBuffer`); what background contexts fill is handed to
/// main when their closure has ended.
final class RowBuffer: @unchecked Sendable {
  /// Values a row.
  let columnCount: Int
  /// Rows so far.
  private(set) var rowCount = 0
  private var values: UnsafeMutableBufferPointer<RowValue>
  private var arena: UnsafeMutableRawPointer
  private var arenaCapacity: Int
  private var arenaEnd = 0

  /// Makes an empty buffer for rows of that many columns.
  init(columnCount: Int, capacity: Int) {
    self.columnCount = columnCount
    values = .allocate(capacity: max(1, columnCount * capacity))
    arenaCapacity = max(64, 32 * capacity)
    arena = .allocate(byteCount: arenaCapacity, alignment: 16)
  }

  deinit {
    values.deallocate()
    arena.deallocate()
  }

  /// Copies the columns of the statement's current row, from `first` on.
  func append(_ statement: OpaquePointer, from first: Int32) {
    reserveRow()
    var place = rowCount * columnCount
    // A local: every access to a property is checked for exclusivity.
    let values = values
    for column in first..<first + Int32(columnCount) {
      values[place] = value(statement, column)
      place += 1
    }
    rowCount += 1
  }

  /// Copies values given one by one; columns that `row` lacks are null.
  func append(_ row: [StoredValue]) {
    reserveRow()
    let start = rowCount * columnCount
    for column in 0..<columnCount {
      values[start + column] = column < row.count ? copy(row[column]) : .null
    }
    rowCount += 1
  }

  /// Copies rows values that lie in another arena: `columns[i]` is where `row[i]` goes.
  func append(
    _ row: UnsafeBufferPointer<RowValue>,
    to columns: [Int],
    defaults: [RowDefault],
    arena source: UnsafeRawPointer
  ) {
    reserveRow()
    let start = rowCount * columnCount
    for column in 0..<columnCount { values[start + column] = .null }
    for fallback in defaults { values[start + fallback.column] = copy(fallback.value) }
    for (index, column) in columns.enumerated() where row[index].kind != .absent {
      let value = row[index]
      switch value.kind {
      case .text:
        let place = copy(source + value.offset, Int(value.length))
        values[start + column] = .text(at: place, length: value.length)
      case .blob:
        let place = copy(source + value.offset, Int(value.length))
        values[start + column] = .blob(at: place, length: value.length)
      default: values[start + column] = value
      }
    }
    rowCount += 1
  }

  /// The value of a column as it lies here.
  @inline(__always)
  subscript(row: Int, column: Int) -> RowValue { values[row * columnCount + column] }

  /// The value of a column, its text copied out.
  func stored(_ row: Int, _ column: Int) -> StoredValue {
    self[row, column].stored(in: UnsafeRawBufferPointer(start: arena, count: arenaEnd))
  }

  /// Whether a column holds that value, byte for byte; nothing is copied.
  func equals(_ row: Int, _ column: Int, _ other: RowValue, in base: UnsafeRawPointer) -> Bool {
    let own = self[row, column]
    switch (own.kind, other.kind) {
    case (.null, .null): return true
    case (.integer, .integer): return own.integer == other.integer
    case (.real, .real): return own.real == other.real
    case (.text, .text), (.blob, .blob):
      guard own.length == other.length else { return false }
      return memcmp(arena + own.offset, base + other.offset, Int(own.length)) == 0
    default: return false
    }
  }

  /// Lends the arena that the values' offsets refer to.
  func withArena<T>(_ body: (UnsafeRawPointer) throws -> T) rethrows -> T {
    try body(UnsafeRawPointer(arena))
  }

  // MARK: - Filling

  private func reserveRow() {
    let needed = (rowCount + 1) * columnCount
    guard needed > values.count else { return }
    let larger = UnsafeMutableBufferPointer<RowValue>.allocate(
      capacity: max(needed, values.count * 2)
    )
    _ = larger.update(fromContentsOf: values[..<(rowCount * columnCount)])
    values.deallocate()
    values = larger
  }

  private func value(_ statement: OpaquePointer, _ column: Int32) -> RowValue {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
    case SQLITE_TEXT:
      guard let bytes = sqlite3_column_text(statement, column) else { return .null }
      let count = Int(sqlite3_column_bytes(statement, column))
      return .text(at: copy(UnsafeRawPointer(bytes), count), length: UInt32(count))
    case SQLITE_BLOB:
      let count = Int(sqlite3_column_bytes(statement, column))
      guard count > 0, let bytes = sqlite3_column_blob(statement, column) else {
        return .blob(at: UInt32(arenaEnd), length: 0)
      }
      return .blob(at: copy(bytes, count), length: UInt32(count))
    default: return .null
    }
  }

  private func copy(_ value: StoredValue) -> RowValue {
    switch value {
    case .null: return .null
    case .integer(let integer): return .integer(integer)
    case .real(let real): return .real(real)
    case .text(var text):
      return text.withUTF8 { bytes in
        guard let base = bytes.baseAddress else { return .text(at: UInt32(arenaEnd), length: 0) }
        return .text(at: copy(base, bytes.count), length: UInt32(bytes.count))
      }
    case .blob(let blob):
      return blob.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return .blob(at: UInt32(arenaEnd), length: 0) }
        return .blob(at: copy(base, bytes.count), length: UInt32(bytes.count))
      }
    }
  }

  /// Copies bytes into the arena and tells where they are.
  ///
  /// Offsets have 32 bits: a buffer takes no further rows beyond 64 MB, and SQLite's rows have at
  /// most 1 GB.
  private func copy(_ bytes: UnsafeRawPointer, _ count: Int) -> UInt32 {
    if arenaCapacity - arenaEnd < count {
      arenaCapacity = max(arenaEnd + count, arenaCapacity * 2)
      let larger = UnsafeMutableRawPointer.allocate(byteCount: arenaCapacity, alignment: 16)
      larger.copyMemory(from: arena, byteCount: arenaEnd)
      arena.deallocate()
      arena = larger
    }
    (arena + arenaEnd).copyMemory(from: bytes, byteCount: count)
    arenaEnd += count
    return UInt32(arenaEnd - count)
  }

  /// Whether the buffer takes no further rows.
  var isFull: Bool { arenaEnd > 64 << 20 }
}

/// A value that a new row gets in a column that is not given.
struct RowDefault {
  let column: Int
  let value: StoredValue
}
