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
      let parts = reference.key.map { "\(Schema.literal($0.name)), ?" }.joined(separator: ", ")
      let statement = try statement(
        "INSERT INTO \(PendingReference.table) (key, owner, relationship, entity)"
          + " VALUES (json_object(\(parts)), ?, ?, ?)"
      )
      var next: Int32 = 1
      for value in reference.key.map(\.value) + [
        .integer(place.key), .text(reference.relationship), .text(reference.entity),
      ] {
        try statement.bind(value, next)
        next += 1
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
