import Foundation
import GRDB

extension MigrationRun {
  // MARK: - Links

  func placeLinks() throws {
    for (index, move) in plan.moves.enumerated() where !move.parts.isEmpty {
      for statement in plan.placements(of: move, from: "temp.\(aside(index))") {
        try execute(statement)
      }
      try execute("DROP TABLE temp.\(aside(index))")
    }
  }

  // MARK: - Values

  func fill() throws {
    for statement in plan.orderings { try execute(statement) }
    for change in plan.tables { try nameEntities(of: change) }
    for fill in plan.fills { try tellingOfTriggers { try database.fill(fill) } }
  }

  /// The new names of entities in the rows.
  private func nameEntities(of change: MigrationPlan.TableChange) throws {
    switch plan.naming(of: change) {
    case nil: break
    case .all(let name): try execute("UPDATE \(q(change.new)) SET _entity = ?", [name])
    case .renamed(let renames):
      let cases = renames.map { _ in "WHEN ? THEN ?" }.joined(separator: " ")
      try execute(
        "UPDATE \(q(change.new)) SET _entity = CASE _entity \(cases) END"
          + " WHERE _entity IN (\(renames.map { _ in "?" }.joined(separator: ", ")))",
        StatementArguments(renames.flatMap { [$0.old, $0.new] } + renames.map(\.old))
      )
    }
  }
}

extension Database {
  /// Puts a default in the place of null.
  ///
  /// Runs `UPDATE … SET … = ? WHERE … IS NULL`; versions stay.
  func fill(_ fill: MigrationPlan.Fill) throws {
    let column = Schema.quoted(fill.column)
    var sql = "UPDATE \(Schema.quoted(fill.table)) SET \(column) = ? WHERE \(column) IS NULL"
    if let names = fill.entities {
      sql += " AND _entity IN (\(names.map(Schema.literal).joined(separator: ", ")))"
    }
    let statement = try RawStatement(sql, in: self)
    try statement.bind(fill.value, 1)
    try statement.run()
  }
}
