@testable import DragomanGraph

/// A store in memory that holds one entity with the given rows.
func store(
  _ entity: Entity,
  _ rows: [[StoredValue]],
  at location: SQLiteStore.Location = .inMemory
) throws -> SQLiteStore {
  let store = try SQLiteStore(at: location)
  try store.grow(to: Model(entities: [entity]))
  try store.write { session in
    try session.begin()
    let writer = try session.writer(for: entity, slots: entity.attributes, mode: .upsert)
    for row in rows {
      var arena: [UInt8] = [0]
      let values = row.map { value -> RowValue in
        let offset = UInt32(arena.count)
        switch value {
        case .null: return .null
        case .integer(let integer): return .integer(integer)
        case .real(let real): return .real(real)
        case .text(let text):
          arena += text.utf8
          return .text(at: offset, length: UInt32(text.utf8.count))
        case .blob(let bytes):
          arena += bytes
          return .blob(at: offset, length: UInt32(bytes.count))
        }
      }
      let result = values.withUnsafeBufferPointer { values in
        arena.withUnsafeBytes { arena in
          Result { () throws(StoreError) in
            if let base = arena.baseAddress { _ = try writer.write(values, arena: base) }
          }
        }
      }
      try result.get()
    }
    try session.commit()
  }
  return store
}

extension SQLiteStore {
  /// All rows of a request.
  func rows(_ request: FetchRequest) throws -> [[StoredValue]] {
    var rows: [[StoredValue]] = []
    try forEachRow(request) { rows.append($0.values) }
    return rows
  }

  /// The ids of the rows of a request.
  func keys(_ request: FetchRequest) throws -> [Int64] {
    var keys: [Int64] = []
    try forEachRow(request) { keys.append($0.objectID.primaryKey) }
    return keys
  }
}
