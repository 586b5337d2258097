import Foundation

/// Rows of one table as they came from SQLite: values side by side, text and bytes in one arena.
///
/// Objects refer to their row by its number and make a `String` only of what is asked for, so a
/// fetched object costs 9 bytes a column besides its text. A buffer is filled once and then only
/// read; it lives as long as an object refers to it.
///
/// `@unchecked Sendable`: a row goes to another thread with changes that are published or saved, and
/// nothing is added to its buffer from then on. Main publishes at once, so its imports give every row
/// a buffer of its own (`importBuffer`); a save, of the context or of a child, ends the buffer that
/// an import fills; all others are filled within one call.
final class RowBuffer: @unchecked Sendable {
  /// Values a row.
  let columnCount: Int
  // Nothing here runs code of others, so that exclusive access needs no check at run time.
  /// Rows so far.
  @exclusivity(unchecked) private(set) var rowCount = 0
  /// Rows that there is room for.
  @exclusivity(unchecked) private var capacity: Int
  /// The number of each value, or where its text is and how long.
  @exclusivity(unchecked) private var bits: UnsafeMutablePointer<UInt64>
  /// What each value is: apart from the numbers, since side by side they would take 16 bytes.
  @exclusivity(unchecked) private var kinds: UnsafeMutablePointer<RowValue.Kind>
  @exclusivity(unchecked) private var arena: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var arenaCapacity: Int
  @exclusivity(unchecked) private(set) var arenaEnd = 0

  /// Makes an empty buffer for rows of that many columns.
  ///
  /// - Parameters:
  ///   - columnCount: Values a row.
  ///   - capacity: Rows that it has room for at first.
  ///   - byteCount: Bytes of text that it has room for at first.
  init(columnCount: Int, capacity: Int, byteCount: Int? = nil) {
    self.columnCount = columnCount
    self.capacity = max(1, capacity)
    bits = .allocate(capacity: max(1, columnCount * self.capacity))
    kinds = .allocate(capacity: max(1, columnCount * self.capacity))
    arenaCapacity = max(64, byteCount ?? 32 * capacity)
    arena = .allocate(byteCount: arenaCapacity, alignment: 16)
  }

  deinit {
    bits.deallocate()
    kinds.deallocate()
    arena.deallocate()
  }

  /// Copies the columns of a statement's current row, from `first` on.
  func append(_ row: StoredRow, from first: Int32) {
    reserveRow()
    var place = rowCount * columnCount
    for column in first..<first + Int32(columnCount) {
      put(copy(row[column]), at: place)
      place += 1
    }
    rowCount += 1
  }

  /// Copies values given one by one; columns that `row` lacks are null.
  func append(_ row: [StoredValue]) {
    reserveRow()
    let start = rowCount * columnCount
    for column in 0..<columnCount {
      put(column < row.count ? copy(row[column]) : .null, at: start + column)
    }
    rowCount += 1
  }

  /// Copies a row of another buffer, or one of nulls, with the values that were changed.
  func append(_ row: RowPlace?, changes: [Int: StoredValue]) {
    reserveRow()
    let start = rowCount * columnCount
    for column in 0..<columnCount {
      if let changed = changes[column] {
        put(copy(changed), at: start + column)
      } else if let row {
        put(copy(row.buffer[row.row, column], from: row.buffer.arena), at: start + column)
      } else {
        put(.null, at: start + column)
      }
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
    for column in 0..<columnCount { kinds[start + column] = .null }
    for fallback in defaults { put(copy(fallback.value), at: start + fallback.column) }
    for (index, column) in columns.enumerated() where row[index].kind != .absent {
      put(copy(row[index], from: source), at: start + column)
    }
    rowCount += 1
  }

  /// The value of a column as it lies here.
  @inline(__always)
  subscript(row: Int, column: Int) -> RowValue {
    let place = row * columnCount + column
    return RowValue(kinds[place], packed: bits[place])
  }

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

  @inline(__always)
  private func put(_ value: RowValue, at place: Int) {
    kinds[place] = value.kind
    bits[place] = value.packed
  }

  private func reserveRow() {
    guard rowCount == capacity else { return }
    let count = rowCount * columnCount
    capacity *= 2
    let moreBits = UnsafeMutablePointer<UInt64>.allocate(capacity: max(1, columnCount * capacity))
    moreBits.update(from: bits, count: count)
    bits.deallocate()
    bits = moreBits
    let moreKinds = UnsafeMutablePointer<RowValue.Kind>.allocate(
      capacity: max(1, columnCount * capacity)
    )
    moreKinds.update(from: kinds, count: count)
    kinds.deallocate()
    kinds = moreKinds
  }

  private func copy(_ value: ColumnValue) -> RowValue {
    switch value {
    case .null: return .null
    case .integer(let integer): return .integer(integer)
    case .real(let real): return .real(real)
    case .text(let bytes):
      guard let base = bytes.baseAddress else { return .null }
      return .text(at: copy(base, bytes.count), length: UInt32(bytes.count))
    case .blob(let bytes):
      guard let base = bytes.baseAddress else { return .blob(at: UInt32(arenaEnd), length: 0) }
      return .blob(at: copy(base, bytes.count), length: UInt32(bytes.count))
    }
  }

  /// A value that lies in another arena.
  private func copy(_ value: RowValue, from source: UnsafeRawPointer) -> RowValue {
    switch value.kind {
    case .text:
      .text(at: copy(source + value.offset, Int(value.length)), length: value.length)
    case .blob:
      .blob(at: copy(source + value.offset, Int(value.length)), length: value.length)
    default: value
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
