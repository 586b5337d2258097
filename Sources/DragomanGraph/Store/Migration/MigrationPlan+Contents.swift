/// What a migration writes into rows that stay where they are, and of which ones it takes away: in SQL that files and
/// servers take.
extension MigrationPlan {
  /// A required attribute whose default takes the place of null.
  struct Fill {
    let table: String
    let column: String
    let value: StoredValue
    /// The type of the attribute.
    let type: AttributeType
    /// The entities whose rows are filled, by their new names; nil: all rows of the table.
    let entities: [String]?

    /// The same for rows that come back.
    var addition: RowAddition {
      RowAddition(table: table, column: column, value: value, entities: entities)
    }
  }

  /// What the rows of a table are called.
  enum Naming {
    /// All rows were of the one entity that the table had.
    case all(String)
    /// The old names with their new ones.
    case renamed([(old: String, new: String)])
  }

  /// The defaults that take the place of null.
  var fills: [Fill] {
    new.entities.filter { oldTable(of: $0.table) != nil }.flatMap { entity in
      entity.entity.attributes.enumerated().compactMap { property, attribute in
        guard attribute.isRequired, let value = attribute.defaultValue else { return nil }
        let known = match.attributes[entity.index][property].map {
          old.entities[$0.entity].entity.attributes[property: $0]
        }
        if known?.isRequired == true { return nil }
        return Fill(
          table: entity.table,
          column: attribute.column,
          value: value,
          type: attribute.type,
          entities: entity.hasEntityColumn ? entity.family.map { new.entities[$0].name } : nil
        )
      }
    }
  }

  /// What the rows of a table are called from now on; nil: what they were, or nothing.
  func naming(of change: TableChange) -> Naming? {
    guard
      let root = new.entities.first(where: { $0.table == change.new && $0.root == $0.index }),
      root.hasEntityColumn
    else { return nil }
    let family = root.family.compactMap { index in
      match.entities[index].map { (old: old.entities[$0].name, new: new.entities[index].name) }
    }
    guard change.sources["_entity"] != nil else { return (family.first?.new).map(Naming.all) }
    let renames = family.filter { !hasSameBytes($0.old, $0.new) }
    return renames.isEmpty ? nil : .renamed(renames)
  }

  /// What the rows that stay get, for rows that come back when an import is taken back.
  var additions: [RowAddition] {
    let names: [RowAddition] = tables.compactMap { change in
      guard case .all(let name) = naming(of: change) else { return nil }
      return .name(name, in: change.new)
    }
    return names + fills.map(\.addition)
  }

  /// The columns of a table that have another name in the new one, in one order: old and new.
  func renames(of table: TableChange) -> [(old: String, new: String)] {
    table.sources.sorted { $0.key < $1.key }.map { (old: $0.value.column, new: $0.key) }
      .filter { !hasSameBytes($0.old, $0.new) }
  }

  /// The columns of an old table that no new one goes on with.
  func goneColumns(of table: TableChange) -> [String] {
    let kept = Set(table.sources.values.map(\.column))
    return oldSchema.table(named: table.old)?.columns.map(\.name).filter { !kept.contains($0) }
      ?? []
  }

  /// The tables that have another name, objects and links: old and new.
  var tableRenames: [(old: String, new: String)] {
    (tables.map { (old: $0.old, new: $0.new) } + keptJoins).filter { !hasSameBytes($0.old, $0.new) }
  }

  // MARK: - Who writes meanwhile

  /// The model that the store has afterwards.
  ///
  /// - Parameter known: What it has before.
  /// - Returns: The model, with a migration more where rows and links of before do not fit.
  func layout(after known: ModelLayout) -> ModelLayout {
    // A tool that does not know the number loses it: none is to come twice then.
    let step = onlyGrows ? 0 : Int.random(in: 1...1 << 30)
    return ModelLayout(new.model, migrations: known.migrations &+ step)
  }

  /// Whether rows and links that somebody goes on to write for the old model fit the new one: all that they name is
  /// where it was, and means the same.
  var onlyGrows: Bool {
    onlyAdds && moves.isEmpty && orders.isEmpty && tableRenames.isEmpty && keepsLinks && keepsKeys
      && tables.allSatisfy { renames(of: $0).isEmpty }
  }

  private var keepsKeys: Bool {
    let keys = Set(newSchema.indexes.filter(\.isUnique).map(\.identity))
    return oldSchema.indexes.allSatisfy { !$0.isUnique || keys.contains($0.identity) }
  }

  /// Whether links that stay lead to the same entities, and are told in the same way.
  private var keepsLinks: Bool {
    new.links.allSatisfy { link in
      guard let known = predecessor(of: link) else { return true }
      let (before, after) = (known.relationship, link.relationship)
      let inverse = new.inverse(of: link).flatMap { predecessor(of: $0) }
      return before.kind == after.kind && before.isOrdered == after.isOrdered
        && before.allowsRepeats == after.allowsRepeats
        && match.entities[link.destination] == known.destination
        && new.isExclusive(link) == old.isExclusive(known)
        && (known.inverse == nil || inverse == old.inverse(of: known))
    }
  }

  // MARK: - What goes

  /// The statements that delete the objects of sub-entities that go, the links to them, and what they wait for.
  var removals: [String] {
    var statements: [String] = []
    var tables: Set<String> = []
    for entity in goneEntities where old.entities[entity.root].hasEntityColumn {
      statements.append(
        "DELETE FROM \(Schema.quoted(entity.table)) WHERE _entity = \(Schema.literal(entity.name))"
      )
      tables.insert(entity.table)
    }
    for link in old.links {
      let owner = old.entities[link.owner]
      guard tables.contains(owner.table) else { continue }
      statements.append(
        "DELETE FROM _dragoman_pending WHERE relationship = \(Schema.literal("\(owner.name).\(link.name)"))"
          + " AND owner NOT IN (SELECT _pk FROM \(Schema.quoted(owner.table)))"
      )
    }
    for table in oldSchema.tables {
      for column in table.columns {
        guard let target = column.references, tables.contains(target) else { continue }
        let name = column.isOwn ? column.name : Schema.quoted(column.name)
        let strays =
          "\(name) IS NOT NULL AND \(name) NOT IN (SELECT _pk FROM \(Schema.quoted(target)))"
        statements.append(
          table.primaryKey.isEmpty
            ? "UPDATE \(Schema.quoted(table.name)) SET \(name) = NULL WHERE \(strays)"
            : "DELETE FROM \(Schema.quoted(table.name)) WHERE \(strays)"
        )
      }
    }
    return statements
  }

  // MARK: - Links

  /// The statements that write links to where they are now.
  ///
  /// - Parameters:
  ///   - move: What moves.
  ///   - aside: The table that has the links meanwhile, as SQL takes it.
  /// - Returns: None where nothing of it is stored.
  func placements(of move: LinkMove, from aside: String) -> [String] {
    switch move.link.storage {
    case .column(let column): placement(ofToOne: move, column, from: aside)
    case .joinTable(let join, _): [Self.placement(in: join, from: aside)]
    case .inverseColumn: []
    }
  }

  private func placement(
    ofToOne move: LinkMove,
    _ column: String,
    from aside: String
  ) -> [String] {
    let table = Schema.quoted(new.entities[move.link.owner].table)
    let links =
      "UPDATE \(table) SET \(Schema.quoted(column)) = link.target FROM (SELECT owner, target FROM \(aside))"
      + " AS link WHERE link.owner = _pk"
    guard let inverse = move.inverse, case .inverseColumn(_, let order?) = inverse.storage else {
      return [links]
    }
    return [
      links,
      "UPDATE \(table) SET \(Schema.quoted(order)) = place.number FROM (SELECT owner, "
        + Self.number("target", "inverse_position", "owner")
        + " AS number FROM \(aside)) AS place WHERE place.owner = _pk",
    ]
  }

  private static func placement(
    in join: RelationshipLayout.JoinTable,
    from aside: String
  ) -> String {
    var columns = ["owner", "target"]
    var values = columns
    if join.hasPosition {
      columns.append("position")
      values.append(number("owner", "position", "target"))
    }
    if join.hasInversePosition {
      columns.append("inverse_position")
      values.append(number("target", "inverse_position", "owner"))
    }
    return "INSERT INTO \(Schema.quoted(join.name)) (\(columns.joined(separator: ", ")))"
      + " SELECT \(values.joined(separator: ", ")) FROM \(aside)"
  }

  /// Positions from 0 for each `group`: as they were, then by `_pk`.
  private static func number(_ group: String, _ position: String, _ key: String) -> String {
    "row_number() OVER (PARTITION BY \(group)"
      + " ORDER BY \(position) IS NULL, \(position), \(key)) - 1"
  }

  /// The statements that give places to the owners of links that had none, by `_pk`.
  var orderings: [String] {
    orders.map { order in
      let table = Schema.quoted(order.table)
      let owner = Schema.quoted(order.owner)
      return
        "UPDATE \(table) SET \(Schema.quoted(order.order)) = place.number FROM (SELECT _pk AS pk,"
        + " row_number() OVER (PARTITION BY \(owner) ORDER BY _pk) - 1 AS number"
        + " FROM \(table) WHERE \(owner) IS NOT NULL) AS place WHERE place.pk = _pk"
    }
  }
}

extension ModelLayout {
  /// The defaults that take the place of null in a store that has grown to this model.
  ///
  /// A default that is to be unique is nobody's but the first one's: a unique key gets none.
  func fills(since old: Model) -> [MigrationPlan.Fill] {
    guard model != old else { return [] }
    let plan = MigrationPlan(from: ModelLayout(old), to: self, ModelMatch(from: old, to: model))
    return plan.fills.filter { fill in
      !entities.contains { entity in
        entity.table == fill.table
          && entity.uniqueKeys.joined().contains { hasSameBytes($0.column, fill.column) }
      }
    }
  }
}
