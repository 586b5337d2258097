/// Which slots of a row are given, as bits.
struct Shape: Hashable {
  private var low: UInt64 = 0
  private var high: [UInt64] = []

  /// The shape of a row; up to 64 slots allocate nothing.
  @inline(__always)
  init(_ row: UnsafeBufferPointer<RowValue>) {
    for slot in 0..<min(row.count, 64) where row[slot].kind != .absent {
      low |= 1 << UInt64(slot)
    }
    if row.count > 64 { addHigh(row) }
  }

  private mutating func addHigh(_ row: UnsafeBufferPointer<RowValue>) {
    high = Array(repeating: 0, count: (row.count - 1) / 64)
    for slot in 64..<row.count where row[slot].kind != .absent {
      high[slot / 64 - 1] |= 1 << UInt64(slot % 64)
    }
  }
}
