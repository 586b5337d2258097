import GRDB
import GRDBSQLite

/// Adds rows of one writer to a table that is loaded (`TableLoad`): one statement for rows of every shape.
///
/// Only rows that surely make a new object are added. What becomes of the others is known when the table has its
/// indexes.
final class RowLoader {
  /// Where a part of a key comes from: plain numbers, so that a row retains nothing.
  private struct Part {
    /// nil: rows do not give it.
    let slot: Int?
    /// What the column gets where a row does not give it, in `constants`; nil: null.
    let constant: Int?
    /// Whether it is the last part of its key.
    let isLast: Bool
  }

  private let load: TableLoad
  private let insert: PreparedSentence
  /// The parts of the unique keys of the table, one key behind the other; plain memory, so that a row retains nothing.
  private let parts: UnsafeMutableBufferPointer<Part>
  private let filter: KeyFilter
  private let constants: [StoredValue]
  /// Which of them is the identity of the rows.
  private let identity: Int?
  /// The slots without which a row makes no object; nil where no row makes one.
  private let required: [Int]?
  /// What slots get that a row does not give, where that is not null.
  private let fallbacks: [(slot: Int, value: StoredValue)]

  init(_ statements: EntityStatements, _ load: TableLoad, in database: Database) throws {
    self.load = load
    let defaults = Dictionary(
      statements.entity.attributes.map { ($0.column, $0.defaultValue ?? .null) },
      uniquingKeysWith: { first, _ in first }
    )
    let slots = statements.slots
    fallbacks = slots.indices.compactMap { slot in
      defaults[slots[slot].column].flatMap { $0 == .null ? nil : (slot, $0) }
    }
    var (parts, constants): ([Part], [StoredValue]) = ([], [])
    for key in load.keys {
      for (place, column) in key.columns.enumerated() {
        let constant = defaults[column].flatMap { $0 == .null ? nil : $0 }
        parts.append(
          Part(
            slot: slots.firstIndex { hasSameBytes($0.column, column) },
            constant: constant == nil ? nil : constants.count,
            isLast: place == key.columns.count - 1
          )
        )
        if let constant { constants.append(constant) }
      }
    }
    self.parts = .allocate(capacity: parts.count)
    _ = self.parts.initialize(fromContentsOf: parts)
    self.constants = constants
    filter = load.filter
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

  deinit { parts.deallocate() }

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

  /// Whether none of the keys of a row is known; from here on all are.
  @inline(__always)
  private func isUnknown(
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer
  ) -> Bool {
    var isUnknown = true
    forEachKey(row, arena) { _, hash in
      // All keys are added, whatever the others say.
      if let hash, filter.insert(hash) { isUnknown = false }
    }
    return isUnknown
  }

  /// Lends the hash of each unique key of a row; nil: a part is null, so that it is nobody's.
  @inline(__always)
  private func forEachKey(
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer,
    _ body: (Int, UInt64?) -> Void
  ) {
    var (number, isNull) = (0, false)
    var hash = KeyHash(seed: 0)
    for part in parts {
      if let slot = part.slot, row[slot].kind != .absent {
        if !hash.add(row[slot], arena) { isNull = true }
      } else if let constant = part.constant {
        hash.add(constants[constant])
      } else {
        isNull = true
      }
      guard part.isLast else { continue }
      body(number, isNull ? nil : hash.value)
      number += 1
      (hash, isNull) = (KeyHash(seed: number), false)
    }
  }

  @inline(__always)
  private func isComplete(_ row: UnsafeBufferPointer<RowValue>) -> Bool {
    required?.allSatisfy { row[$0].kind != .absent } ?? false
  }

  /// Whether a row gives a part of a key and not all of it: an object that it updates has another key then, which
  /// nobody knows who does not know the object.
  private func givesPart(of row: UnsafeBufferPointer<RowValue>) -> Bool {
    var (number, given, missing) = (0, false, false)
    for part in parts {
      if let slot = part.slot, row[slot].kind != .absent { given = true } else { missing = true }
      guard part.isLast else { continue }
      if given, missing, number != identity { return true }
      (number, given, missing) = (number + 1, false, false)
    }
    return false
  }

  /// Whether there surely is no object that has the identity of a row.
  func lacksObject(_ row: UnsafeBufferPointer<RowValue>, _ arena: UnsafeRawPointer) -> Bool {
    guard let identity, !filter.isFull, !load.isUnclear else { return false }
    var isUnknown = true
    forEachKey(row, arena) { number, hash in
      if number == identity, let hash, filter.contains(hash) { isUnknown = false }
    }
    return isUnknown
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
    for (slot, value) in fallbacks where row[slot].kind == .absent {
      _ = value.bind(to: insert.handle, Int32(slot + 2))
    }
    let code = sqlite3_step(insert.handle)
    sqlite3_reset(insert.handle)
    return code
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

  fileprivate mutating func add(_ value: StoredValue) {
    switch value {
    case .null: break
    case .integer(let integer): add(integer)
    case .real(let real): add(real)
    case .text(var text): text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    case .blob(let bytes): bytes.withUnsafeBytes { add($0) }
    }
  }
}
