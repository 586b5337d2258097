import Foundation
import GRDB

extension MigrationRun {
  // MARK: - Links

  func placeLinks() throws {
    for (index, move) in plan.moves.enumerated() where !move.parts.isEmpty {
      switch move.link.storage {
      case .column(let column): try placeToOne(move, column, from: aside(index))
      case .joinTable(let join, _): try placeToMany(join, from: aside(index))
      case .inverseColumn: break
      }
      try execute("DROP TABLE temp.\(aside(index))")
    }
  }

  private func placeToOne(_ move: LinkMove, _ column: String, from aside: String) throws {
    let table = q(plan.new.entities[move.link.owner].table)
    try execute(
      "UPDATE \(table) SET \(q(column)) = (SELECT target FROM temp.\(aside) WHERE owner = _pk)"
        + " WHERE _pk IN (SELECT owner FROM temp.\(aside))"
    )
    guard let inverse = move.inverse, case .inverseColumn(_, let order?) = inverse.storage else {
      return
    }
    try execute(
      "UPDATE \(table) SET \(q(order)) = place.number FROM (SELECT owner, "
        + Self.number("target", "inverse_position", "owner")
        + " AS number FROM temp.\(aside)) AS place WHERE place.owner = _pk"
    )
  }

  private func placeToMany(_ join: RelationshipLayout.JoinTable, from aside: String) throws {
    var columns = ["owner", "target"]
    var values = columns
    if join.hasPosition {
      columns.append("position")
      values.append(Self.number("owner", "position", "target"))
    }
    if join.hasInversePosition {
      columns.append("inverse_position")
      values.append(Self.number("target", "inverse_position", "owner"))
    }
    try execute(
      "INSERT INTO \(q(join.name)) (\(columns.joined(separator: ", ")))"
        + " SELECT \(values.joined(separator: ", ")) FROM temp.\(aside)"
    )
  }

  /// Positions from 0 for each `group`: as they were, then by `_pk`.
  private static func number(_ group: String, _ position: String, _ key: String) -> String {
    "row_number() OVER (PARTITION BY \(group)"
      + " ORDER BY \(position) IS NULL, \(position), \(key)) - 1"
  }

  // MARK: - Values

  func fill() throws {
    for order in plan.orders {
      let table = q(order.table)
      try execute(
        "UPDATE \(table) SET \(q(order.order)) = place.number FROM (SELECT _pk AS pk, "
          + "row_number() OVER (PARTITION BY \(q(order.owner)) ORDER BY _pk) - 1 AS number"
          + " FROM \(table) WHERE \(q(order.owner)) NOT NULL) AS place WHERE place.pk = _pk"
      )
    }
    for change in plan.tables { try nameEntities(of: change) }
    for entity in plan.new.entities where plan.oldTable(of: entity.table) != nil {
      for (property, attribute) in entity.entity.attributes.enumerated() {
        guard attribute.isRequired, let value = attribute.defaultValue else { continue }
        let known = plan.match.attributes[entity.index][property].map {
          plan.old.entities[$0.entity].entity.attributes[property: $0]
        }
        if known?.isRequired == true { continue }
        var sql = "UPDATE \(q(entity.table)) SET \(q(attribute.column)) = ?"
        sql += " WHERE \(q(attribute.column)) IS NULL"
        var arguments: [(any DatabaseValueConvertible)?] = [value.databaseValue]
        if entity.hasEntityColumn {
          let names = entity.family.map { plan.new.entities[$0].name }
          sql += " AND _entity IN (\(names.map { _ in "?" }.joined(separator: ", ")))"
          arguments += names
        }
        try execute(sql, StatementArguments(arguments))
      }
    }
  }

  /// The new names of entities in the rows.
  private func nameEntities(of change: MigrationPlan.TableChange) throws {
    guard
      let root = plan.new.entities.first(where: {
        $0.table == change.new && $0.root == $0.index
      }), root.hasEntityColumn
    else { return }
    let family = root.family.compactMap { index in
      plan.match.entities[index].map { (plan.old.entities[$0].name, plan.new.entities[index].name) }
    }
    guard change.sources["_entity"] != nil else {
      // All rows were of the one entity that the table had.
      guard let name = family.first?.1 else { return }
      return try execute("UPDATE \(q(change.new)) SET _entity = ?", [name])
    }
    let renames = family.filter { !$0.0.utf8.elementsEqual($0.1.utf8) }
    guard !renames.isEmpty else { return }
    let cases = renames.map { _ in "WHEN ? THEN ?" }.joined(separator: " ")
    try execute(
      "UPDATE \(q(change.new)) SET _entity = CASE _entity \(cases) END"
        + " WHERE _entity IN (\(renames.map { _ in "?" }.joined(separator: ", ")))",
      StatementArguments(renames.flatMap { [$0.0, $0.1] } + renames.map(\.0))
    )
  }
}
