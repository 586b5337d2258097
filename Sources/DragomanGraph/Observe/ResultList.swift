/// The rows of results in memory, in order: what is needed to find a row's place again, and no more.
///
/// Beside its key and the values it is ordered by a row costs its version (8 bytes), its number
/// (4 bytes) and an entry of a hash table (12 bytes, at most three quarters and at least three
/// eighths of whose places are taken): 44 bytes at most.
struct ResultList {
  private let entity: String
  private let order: ResultOrder
  /// The keys, in order.
  private var keys: [Int64]
  /// Where the values and the version of each row lie, in the order of the rows.
  private var slots: [UInt32]
  private var versions: [Int64]
  private var values: [StoredValue]
  private var slotOfKey: [Int64: UInt32]
  private var freeSlots: [UInt32] = []
  private var starts: [Int] = []
  private var groups: [[StoredValue]] = []

  /// Takes over rows that are in order.
  init(_ rows: ResultRows, _ order: ResultOrder, of entity: String) {
    self.entity = entity
    self.order = order
    // Copies are as large as what they hold, lists that have grown are up to twice as large.
    keys = rows.keys.withUnsafeBufferPointer(Array.init)
    versions = rows.versions.withUnsafeBufferPointer(Array.init)
    values = rows.values.withUnsafeBufferPointer(Array.init)
    slots = (0..<rows.count).map(UInt32.init)
    slotOfKey = Dictionary(minimumCapacity: rows.count)
    for (place, key) in rows.keys.enumerated() { slotOfKey[key] = UInt32(place) }
    findSections()
  }

  /// How many rows there are.
  var count: Int { keys.count }

  /// Whether a row is among them.
  func contains(_ key: Int64) -> Bool { slotOfKey[key] != nil }

  /// The last row; nil where there is none.
  var last: ResultRow? {
    guard let key = keys.last, let slot = slots.last else { return nil }
    let start = Int(slot) * order.width
    return ResultRow(
      key: key,
      version: versions[Int(slot)],
      values: Array(values[start..<(start + order.width)])
    )
  }

  /// The rows as a value.
  var snapshot: ResultSnapshot {
    ResultSnapshot(
      entity: entity,
      keys: keys,
      starts: starts,
      groups: groups,
      values: order.groupCount == 0 ? [.null] : starts.dropLast().map { spelling(at: $0) }
    )
  }

  /// The ids of some rows, by their places without sections.
  func ids(at places: Range<Int>) -> [ObjectID] {
    keys[places].map { ObjectID(entity: entity, primaryKey: $0) }
  }

  /// Where a section begins, in places without sections.
  func start(of section: Int) -> Int { starts[section] }

  /// A row that was unsaved is stored as it is here.
  mutating func settle(_ key: Int64, _ version: Int64) {
    guard let slot = slotOfKey[key], versions[Int(slot)] < 0 else { return }
    versions[Int(slot)] = version
  }

  /// What differs from rows that were followed before; O(n log n).
  ///
  /// - Parameters:
  ///   - old: The rows as they were.
  ///   - relinked: The keys of rows whose links changed without them; nil: nothing has changed, but for what is
  ///     asked for, and rows that are unsaved are the same.
  /// - Returns: What was inserted, removed, moved and changed.
  func difference(from old: ResultList, _ relinked: Set<Int64>?) -> ResultDifference {
    var builder = DifferenceBuilder(from: old.snapshot, to: snapshot) { before, after in
      let version = versions[Int(slots[after])]
      return relinked.map { version < 0 || $0.contains(keys[after]) } ?? false
        || version != old.versions[Int(old.slots[before])]
    }
    return builder.difference()
  }

  // MARK: - Editing

  /// An edit under way, in places of the list as it was.
  private struct Edit {
    /// Places of rows that go.
    var removed: [Int] = []
    /// Places of rows that are put in again, by their keys.
    var taken: [Int64: Int] = [:]
    /// The slots of rows that are put in, with their keys.
    var coming: [(slot: UInt32, key: Int64)] = []
    /// The keys of rows with other values.
    var updated: [Int64] = []
    /// Slots that nobody needs afterwards.
    var freed: [UInt32] = []
  }

  /// Rows that were looked at again: nil is one that does not belong here (any more).
  ///
  /// Of k rows, costs O(k log n) comparisons, and copies the list of keys where a row moves.
  /// - Parameters:
  ///   - touched: The rows by their keys.
  ///   - limit: How many rows are kept.
  ///   - relinked: The keys of rows whose links changed without them.
  /// - Returns: What has changed.
  mutating func apply(
    _ touched: [Int64: ResultRow?],
    limit: Int?,
    _ relinked: Set<Int64> = []
  ) -> ResultDifference {
    let before = snapshot
    var edit = Edit()
    for (key, row) in touched { note(key, row, isRelinked: relinked.contains(key), &edit) }
    let coming = merge(&edit, limit)
    edit.removed.sort()
    var inserted: [Int] = []
    var relocated: [DifferenceBuilder.Relocation] = []
    for (place, key) in coming {
      if let old = edit.taken[key] {
        relocated.append(DifferenceBuilder.Relocation(old: old, new: place))
      } else {
        inserted.append(place)
      }
    }
    freeSlots += edit.freed
    var updated: [Int] = []
    for key in edit.updated {
      if let slot = slotOfKey[key] { updated.append(place(of: slot, key)) }
    }
    var builder = DifferenceBuilder(
      from: before,
      to: snapshot,
      removed: edit.removed,
      inserted: inserted,
      relocated: relocated,
      updated: updated.sorted()
    )
    return builder.difference()
  }

  /// Notes what becomes of a row.
  private mutating func note(
    _ key: Int64,
    _ row: ResultRow?,
    isRelinked: Bool,
    _ edit: inout Edit
  ) {
    guard let slot = slotOfKey[key] else {
      if let row { edit.coming.append((store(row), key)) }
      return
    }
    guard let row else {
      edit.removed.append(place(of: slot, key))
      edit.freed.append(slot)
      slotOfKey[key] = nil
      return
    }
    let isSame = row.version >= 0 && row.version == versions[Int(slot)] && !isRelinked
    let start = Int(slot) * order.width
    if values[start..<(start + order.width)].elementsEqual(row.values) {
      if !isSame { edit.updated.append(key) }
      versions[Int(slot)] = row.version
      return
    }
    edit.updated.append(key)
    edit.taken[key] = place(of: slot, key)
    edit.freed.append(slot)
    edit.coming.append((store(row), key))
  }

  /// Puts a row's values into a free slot.
  private mutating func store(_ row: ResultRow) -> UInt32 {
    let slot: UInt32
    if let free = freeSlots.popLast() {
      slot = free
      versions[Int(free)] = row.version
      let start = Int(free) * order.width
      values.replaceSubrange(start..<(start + order.width), with: row.values)
    } else {
      slot = UInt32(versions.count)
      versions.append(row.version)
      values += row.values
    }
    slotOfKey[row.key] = slot
    return slot
  }

  /// Takes rows out and puts rows in, in one pass, cuts at the limit, and mends the sections.
  ///
  /// - Returns: The rows that were put in, by their places, ascending.
  private mutating func merge(_ edit: inout Edit, _ limit: Int?) -> [(place: Int, key: Int64)] {
    let isLonger = limit.map { keys.count + edit.coming.count > $0 } ?? false
    guard !edit.coming.isEmpty || !edit.removed.isEmpty || isLonger else { return [] }
    let width = order.width
    edit.coming.sort { left, right in
      let order = order.compare(values, Int(left.slot) * width, values, Int(right.slot) * width)
      return order == 0 ? left.key < right.key : order < 0
    }
    let leaving = (edit.removed + edit.taken.values).sorted()
    var newKeys: [Int64] = []
    var newSlots: [UInt32] = []
    newKeys.reserveCapacity(keys.count + edit.coming.count)
    newSlots.reserveCapacity(keys.count + edit.coming.count)
    var next = 0
    var gone = leaving[...]
    func copy(upTo end: Int) {
      while next < end {
        let stop = gone.first.map { min($0, end) } ?? end
        newKeys += keys[next..<stop]
        newSlots += slots[next..<stop]
        next = stop
        if let first = gone.first, first == next, next < end {
          gone.removeFirst()
          next += 1
        }
      }
    }
    var placed: [(place: Int, key: Int64)] = []
    for row in edit.coming {
      copy(upTo: firstPlace(notBefore: row.slot, row.key))
      placed.append((newKeys.count, row.key))
      newKeys.append(row.key)
      newSlots.append(row.slot)
    }
    copy(upTo: keys.count)
    var kept = placed
    if let limit, newKeys.count > limit {
      kept = placed.filter { $0.place < limit }
      let new = Set(edit.coming.map(\.slot))
      for place in limit..<newKeys.count {
        drop(newKeys[place], newSlots[place], isNew: new.contains(newSlots[place]), &edit)
      }
      newKeys.removeSubrange(limit...)
      newSlots.removeSubrange(limit...)
    }
    mendSections(edit, kept.map { newSlots[$0.place] }, newSlots)
    keys = newKeys
    slots = newSlots
    return kept
  }

  /// A row is beyond the limit.
  private mutating func drop(_ key: Int64, _ slot: UInt32, isNew: Bool, _ edit: inout Edit) {
    slotOfKey[key] = nil
    edit.freed.append(slot)
    if let old = edit.taken.removeValue(forKey: key) {
      edit.removed.append(old)
    } else if !isNew {
      edit.removed.append(place(of: slot, key))
    }
  }

  // MARK: - Finding

  /// Where a row is that is in the list.
  private func place(of slot: UInt32, _ key: Int64) -> Int {
    let place = firstPlace(notBefore: slot, key)
    if place < slots.count, slots[place] == slot { return place }
    // Never, unless a text that is no UTF-8 has made the store's order another than ours.
    return slots.firstIndex(of: slot) ?? place
  }

  /// The first place whose row does not come before another one.
  private func firstPlace(notBefore slot: UInt32, _ key: Int64) -> Int {
    let width = order.width
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      let order = order.compare(values, Int(slots[middle]) * width, values, Int(slot) * width)
      if order < 0 || (order == 0 && keys[middle] < key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: - Sections

  private func spelling(at place: Int) -> StoredValue {
    values[Int(slots[place]) * order.width + order.spellingPlace]
  }

  private func group(of slot: UInt32) -> [StoredValue] {
    let start = Int(slot) * order.width
    return Array(values[start..<(start + order.groupCount)])
  }

  private mutating func findSections() {
    guard order.groupCount > 0 else {
      starts = [0, keys.count]
      groups = [[]]
      return
    }
    for (place, slot) in slots.enumerated() {
      if let last = groups.last,
        order.compareGroups(last, 0, values, Int(slot) * order.width) == 0
      {
        continue
      }
      starts.append(place)
      groups.append(group(of: slot))
    }
    starts.append(keys.count)
  }

  /// Counts the sections' rows again: those of the rows that go, and those of the rows that come.
  private mutating func mendSections(_ edit: Edit, _ coming: [UInt32], _ newSlots: [UInt32]) {
    guard order.groupCount > 0 else {
      starts = [0, newSlots.count]
      return
    }
    var counts = groups.indices.map { starts[$0 + 1] - starts[$0] }
    for place in edit.removed + edit.taken.values { counts[section(at: place)] -= 1 }
    // Rows come in order, so those of a new section come one after the other.
    var new: [(index: Int, group: [StoredValue], count: Int)] = []
    for slot in coming {
      let place = section(of: slot)
      if place.isKnown {
        counts[place.index] += 1
      } else if let last = new.last,
        order.compareGroups(last.group, 0, values, Int(slot) * order.width) == 0
      {
        new[new.count - 1].count += 1
      } else {
        new.append((place.index, group(of: slot), 1))
      }
    }
    let old = groups
    groups = []
    starts = [0]
    func append(_ group: [StoredValue], _ count: Int) {
      guard count > 0 else { return }
      groups.append(group)
      starts.append(starts[starts.count - 1] + count)
    }
    var next = new[...]
    for index in 0...old.count {
      while let first = next.first, first.index == index {
        append(first.group, first.count)
        next.removeFirst()
      }
      if index < old.count { append(old[index], counts[index]) }
    }
  }

  /// The section of a place in the list.
  private func section(at place: Int) -> Int {
    var low = 0
    var high = groups.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= place { low = middle } else { high = middle }
    }
    return low
  }

  /// The section that a row belongs to, or where it is to be.
  private func section(of slot: UInt32) -> (index: Int, isKnown: Bool) {
    let start = Int(slot) * order.width
    var low = 0
    var high = groups.count
    while low < high {
      let middle = (low + high) / 2
      let order = order.compareGroups(groups[middle], 0, values, start)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }
}

extension ResultList {
  /// About how many bytes the lists take, texts that do not fit into a value left out.
  var byteCount: Int {
    // A hash table is at most three quarters full and has a power of two of places.
    var places = 1
    while places * 3 / 4 < slotOfKey.capacity { places *= 2 }
    let table = places * (MemoryLayout<Int64>.stride + MemoryLayout<UInt32>.stride) + places / 8
    return table + keys.capacity * MemoryLayout<Int64>.stride
      + (slots.capacity + freeSlots.capacity) * MemoryLayout<UInt32>.stride
      + versions.capacity * MemoryLayout<Int64>.stride
      + values.capacity * MemoryLayout<StoredValue>.stride
  }
}
