/// The columns of a binding's slots in a statement, behind `_pk`, and in the rows it fills.
final class SlotColumns {
  /// The columns of the slots that have one.
  let names: [String]
  /// The column of each slot in the statement; -1: it has none.
  let places: UnsafeBufferPointer<Int32>
  /// The column of each slot in rows without `_pk`; -1: it has none.
  let rowPlaces: UnsafeBufferPointer<Int32>
  /// The column of each slot among all columns of its table; -1: it has none.
  let tablePlaces: UnsafeBufferPointer<Int32>

  init(_ binding: ValueBinding) {
    let table = binding.layout.tables[binding.entity.tableIndex]
    var names: [String] = []
    let places = UnsafeMutableBufferPointer<Int32>.allocate(capacity: binding.slots.count)
    let rowPlaces = UnsafeMutableBufferPointer<Int32>.allocate(capacity: binding.slots.count)
    let tablePlaces = UnsafeMutableBufferPointer<Int32>.allocate(capacity: binding.slots.count)
    for (slot, column) in binding.columns.enumerated() {
      let hasColumn = column >= 0
      places[slot] = hasColumn ? Int32(names.count) + 1 : -1
      rowPlaces[slot] = hasColumn ? Int32(names.count) : -1
      tablePlaces[slot] = Int32(column)
      if hasColumn { names.append(table.columns[column].name) }
    }
    self.names = names
    self.places = UnsafeBufferPointer(places)
    self.rowPlaces = UnsafeBufferPointer(rowPlaces)
    self.tablePlaces = UnsafeBufferPointer(tablePlaces)
  }

  deinit {
    places.deallocate()
    rowPlaces.deallocate()
    tablePlaces.deallocate()
  }
}
