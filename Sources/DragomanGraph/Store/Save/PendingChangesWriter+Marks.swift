/// What an import says of rows besides their values.
extension PendingChangesWriter {
  /// Writes what is said of a row that stands.
  func write(_ mark: RowMark, of row: RowChange, at place: RowKey) throws {
    let name = Schema.quoted(layout.tables[place.table].name)
    if let isStub = mark.isStub {
      try run("UPDATE \(name) SET _stub = ? WHERE _pk = ?", isStub ? .integer(1) : .null, place)
    }
    if mark.isSpecialized {
      let entity = layout.entities[Int(row.entity)].name
      try run("UPDATE \(name) SET _entity = ? WHERE _pk = ?", .text(entity), place)
    }
    for id in mark.resolved.compactMap(\.id) {
      let statement = try statement("DELETE FROM \(PendingReference.table) WHERE id = ?")
      statement.bind(integer: id, 1)
      try statement.run()
    }
    for reference in mark.waits {
      let key = PendingReference.json(
        reference.key.enumerated().map { ($1.name, "?\($0 + 4)") }
      )
      let statement = try statement(
        "INSERT INTO \(PendingReference.table) (owner, relationship, entity, key)"
          + " VALUES (?1, ?2, ?3, \(key))"
      )
      let values: [StoredValue] = [
        .integer(place.key), .text(reference.relationship), .text(reference.entity),
      ]
      for (index, value) in (values + reference.key.map(\.value)).enumerated() {
        try statement.bind(value, Int32(index) + 1)
      }
      try statement.run()
    }
  }

  private func run(_ sql: String, _ value: StoredValue, _ place: RowKey) throws {
    let statement = try statement(sql)
    try statement.bind(value, 1)
    statement.bind(integer: place.key, 2)
    try statement.run()
  }
}
