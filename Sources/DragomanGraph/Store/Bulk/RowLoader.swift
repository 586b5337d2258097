import GRDB
import GRDBSQLite

/// Adds rows of one writer to a table that is loaded (`TableLoad`): one statement for rows of every shape.
///
/// Only rows that surely make a new object are added. What becomes of the others is known when the table has its
/// indexes.
final class RowLoader {
  /// Where a part of a key comes from.
  private struct Part {
    let slot: Int?
    /// What the column gets where the row does not give it.
    let fallback: StoredValue
  }

  private let load: TableLoad
  private let insert: PreparedSentence
  /// By unique key of the table.
  private let keys: [[Part]]
  /// Which of them is the identity of the rows.
  private let identity: Int?
  /// The slots without which a row makes no object; nil where no row makes one.
  private let required: [Int]?
  /// What slots get that a row does not give.
  private let fallbacks: [StoredValue?]

  init(_ statements: EntityStatements, _ load: TableLoad, in database: Database) throws {
    self.load = load
    let defaults = Dictionary(
      statements.entity.attributes.map { ($0.column, $0.defaultValue ?? .null) },
      uniquingKeysWith: { first, _ in first }
    )
    let slots = statements.slots
    fallbacks = slots.map { slot in
      defaults[slot.column].flatMap { $0 == .null ? nil : $0 }
    }
    keys = load.keys.map { key in
      key.columns.map { column in
        Part(
          slot: slots.firstIndex { $0.column.utf8.elementsEqual(column.utf8) },
          fallback: defaults[column] ?? .null
        )
      }
    }
    let columns = statements.entity.uniqueKeys.first?.map(\.column)
    identity = columns.flatMap { columns in
      load.keys.firstIndex { $0.columns.elementsEqual(columns) { hasSameBytes($0, $1) } }
    }
    let mandatory = statements.entity.attributes.filter { $0.isRequired && $0.defaultValue == nil }
    let given = mandatory.compactMap { attribute in
      slots.firstIndex { $0.column.utf8.elementsEqual(attribute.column.utf8) }
    }
    required = given.count == mandatory.count ? given : nil
    insert = try PreparedSentence(statements.insert(Array(slots.indices)), in: database)
  }

  /// Whether the table still is loaded.
  @inline(__always)
  var isOpen: Bool { load.isOpen }

  /// Whether a row surely makes a new object; its keys are known from here on.
  func makesObject(_ row: UnsafeBufferPointer<RowValue>, _ arena: UnsafeRawPointer) -> Bool {
    if load.isUnclear { return false }
    let isNew = isUnknown(row, arena) && isComplete(row)
    if !isNew, givesPart(of: row) { load.isUnclear = true }
    return isNew
  }

  private func isUnknown(_ row: UnsafeBufferPointer<RowValue>, _ arena: UnsafeRawPointer) -> Bool {
    var isNew = true
    for number in keys.indices {
      guard let hash = hash(number, row, arena) else { continue }
      // All keys are added, whatever the others say.
      if load.filter.insert(hash) { isNew = false }
    }
    return isNew
  }

  @inline(__always)
  private func isComplete(_ row: UnsafeBufferPointer<RowValue>) -> Bool {
    required?.allSatisfy { row[$0].kind != .absent } ?? false
  }

  /// Whether a row gives a part of a key and not all of it: an object that it updates has another key then, which
  /// nobody knows who does not know the object.
  private func givesPart(of row: UnsafeBufferPointer<RowValue>) -> Bool {
    keys.indices.contains { number in
      guard number != identity else { return false }
      let isGiven = keys[number].map { part in part.slot.map { row[$0].kind != .absent } ?? false }
      return isGiven.contains(true) && isGiven.contains(false)
    }
  }

  /// Whether there surely is no object that has the identity of a row.
  func lacksObject(_ row: UnsafeBufferPointer<RowValue>, _ arena: UnsafeRawPointer) -> Bool {
    guard let identity, !load.filter.isFull, !load.isUnclear else { return false }
    return hash(identity, row, arena).map { !load.filter.contains($0) } ?? true
  }

  /// Runs `INSERT`; the statement's handle, for what it says.
  @inline(__always)
  func step(
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer,
    key: Int64
  ) -> Int32 {
    sqlite3_bind_int64(insert.handle, 1, key)
    insert.bind(row, arena)
    for (slot, fallback) in fallbacks.enumerated() where row[slot].kind == .absent {
      if let fallback { _ = fallback.bind(to: insert.handle, Int32(slot + 2)) }
    }
    let code = sqlite3_step(insert.handle)
    sqlite3_reset(insert.handle)
    return code
  }

  /// The hash of a unique key; nil: a part is null, so that it is nobody's.
  @inline(__always)
  private func hash(
    _ number: Int,
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer
  ) -> UInt64? {
    var hash = KeyHash(seed: number)
    for part in keys[number] {
      if let slot = part.slot, row[slot].kind != .absent {
        guard hash.add(row[slot], arena) else { return nil }
      } else {
        guard hash.add(part.fallback) else { return nil }
      }
    }
    return hash.value
  }
}

extension KeyHash {
  /// Adds a value; false: it is null.
  @inline(__always)
  fileprivate mutating func add(_ value: RowValue, _ arena: UnsafeRawPointer) -> Bool {
    switch value.kind {
    case .absent, .null: return false
    case .integer: add(value.integer)
    case .real: add(value.real)
    case .text, .blob:
      add(UnsafeRawBufferPointer(start: arena + value.offset, count: Int(value.length)))
    }
    return true
  }

  fileprivate mutating func add(_ value: StoredValue) -> Bool {
    switch value {
    case .null: return false
    case .integer(let integer): add(integer)
    case .real(let real): add(real)
    case .text(var text): text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    case .blob(let bytes): bytes.withUnsafeBytes { add($0) }
    }
    return true
  }
}
