import GRDB

/// A statement of `EntityStatements`, compiled: rows are bound to it as they are.
final class PreparedSentence {
  private let statement: RawStatement
  private let slots: [Int]
  private let firstParameter: Int32

  /// Compiles a statement, and binds its constants.
  init(_ sentence: EntityStatements.Sentence, in database: Database) throws {
    statement = try RawStatement(sentence.sql, in: database)
    slots = sentence.slots
    firstParameter = Int32(sentence.firstParameter)
    for (index, constant) in sentence.constants.enumerated() {
      try statement.bind(constant, firstParameter + Int32(slots.count + index))
    }
  }

  /// SQLite's statement.
  var handle: OpaquePointer { statement.handle }

  /// Binds the values of a row; text and bytes stay in the arena, which must outlive the step.
  @inline(__always)
  func bind(_ row: UnsafeBufferPointer<RowValue>, _ arena: UnsafeRawPointer) {
    var parameter = firstParameter
    for slot in slots {
      statement.bind(row[slot], parameter, arena)
      parameter += 1
    }
  }

  /// Runs a `SELECT` for a row, and tells whether it finds anything.
  func finds(
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer,
    path: String?
  ) throws(StoreError) -> Bool {
    try key(row, arena, path: path) != nil
  }

  /// Runs a `SELECT` of one integer for a row; nil: it finds nothing.
  func key(
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer,
    path: String?
  ) throws(StoreError) -> Int64? {
    try first(row, arena, path) { $0.integer(0) }
  }

  /// Runs a `SELECT` of one text for a row; nil: it finds nothing.
  func text(
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer,
    path: String?
  ) throws(StoreError) -> String? {
    try first(row, arena, path) { $0.text(0) }
  }

  @inline(__always)
  private func first<T>(
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer,
    _ path: String?,
    _ value: (StoredRow) -> T
  ) throws(StoreError) -> T? {
    bind(row, arena)
    do throws(DatabaseError) {
      guard try statement.step() else { return nil }
      defer { statement.reset() }
      return value(statement.row)
    } catch {
      throw StoreError(error, path: path)
    }
  }
}
