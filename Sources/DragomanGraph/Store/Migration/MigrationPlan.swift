/// What a migration does to the tables: pure values, made of two models.
struct MigrationPlan: Sendable {
  let old: ModelLayout
  let new: ModelLayout
  let match: ModelMatch
  let oldSchema: Schema
  let newSchema: Schema
  /// The conversions that `dragoman_migrated` runs, by number.
  private(set) var conversions: [ValueConversion] = []
  /// The tables of objects that stay, in the order of the new schema.
  private(set) var tables: [TableChange] = []
  /// The tables of links that stay as they are but for their names: old and new.
  private(set) var keptJoins: [(old: String, new: String)] = []
  /// Links that go to another place.
  private(set) var moves: [LinkMove] = []
  /// Order columns that have to be filled.
  private(set) var orders: [OrderFill] = []
  /// What cannot be migrated, a sentence each.
  private(set) var faults: [String] = []
  /// Whether the tables are matched, so that the data can be checked.
  private(set) var isComplete = false

  /// A table of objects that stays.
  struct TableChange {
    let old: String
    let new: String
    /// By new column: where its values come from.
    var sources: [String: Source] = [:]
  }

  /// Where the values of a column come from.
  struct Source {
    let column: String
    /// The number of the conversion.
    var conversion: Int?
  }

  /// An order column that is new beside a column that is not.
  struct OrderFill {
    let table: String
    let owner: String
    let order: String
  }

  init(from old: ModelLayout, to new: ModelLayout, _ match: ModelMatch) {
    self.old = old
    self.new = new
    self.match = match
    oldSchema = Schema(old)
    newSchema = Schema(new)
    matchTables()
    guard faults.isEmpty else { return }
    isComplete = true
    matchAttributes()
    matchLinks()
  }

  /// The old tables that go: those of dropped entities, and those of links that are elsewhere now.
  var goneTables: [String] {
    let kept = Set(tables.map(\.old) + keptJoins.map(\.old))
    return oldSchema.tables.map(\.name).filter { !kept.contains($0) }
  }

  /// The new tables that are there already, under the same name or another one.
  var keptTables: [Schema.Table] {
    let kept = Set(tables.map(\.new) + keptJoins.map(\.new))
    return newSchema.tables.filter { kept.contains($0.name) }
  }

  /// The new tables that are not there yet.
  var madeTables: [Schema.Table] {
    let kept = Set(tables.map(\.new) + keptJoins.map(\.new))
    return newSchema.tables.filter { !kept.contains($0.name) }
  }

  /// Old entities without a successor whose rows stand in a table that stays.
  var goneEntities: [EntityLayout] {
    old.entities.filter { entity in
      match.successor(ofEntity: entity.index) == nil
        && tables.contains { $0.old == entity.table }
    }
  }

  /// Whether rows of the old tables are rows of the new ones, as they are, but for what they get besides (`additions`).
  var onlyAdds: Bool {
    conversions.isEmpty && goneEntities.isEmpty && keepsNames
      && oldSchema.tables.allSatisfy { old in
        guard let new = newSchema.table(named: old.name) else { return false }
        return old.columns.allSatisfy { column in
          new.columns.contains { hasSameBytes($0.name, column.name) && $0.type == column.type }
        }
      }
  }

  /// Whether all entities that stay have their names, which rows and references that wait have.
  private var keepsNames: Bool {
    new.entities.allSatisfy { entity in
      match.entities[entity.index].map { hasSameBytes(old.entities[$0].name, entity.name) } ?? true
    }
  }

  /// The old table of a new one.
  func oldTable(of new: String) -> String? { tables.first { $0.new == new }?.old }

  // MARK: - Tables

  private mutating func matchTables() {
    var newRoots: [Int: Int] = [:]
    var oldRoots: [Int: Int] = [:]
    for entity in new.entities {
      guard let known = match.entities[entity.index] else { continue }
      let oldRoot = old.entities[known].root
      let name = entity.name
      if let other = newRoots[oldRoot], other != entity.root {
        faults.append(
          "\(name) would leave the table \(old.entities[oldRoot].table) for"
            + " \(entity.table): objects cannot move between tables."
        )
      } else if let other = oldRoots[entity.root], other != oldRoot {
        faults.append(
          "\(name) would leave the table \(old.entities[oldRoot].table) for"
            + " \(entity.table), which holds other objects: objects cannot move between tables."
        )
      } else {
        if newRoots[oldRoot] == nil {
          let columns = ["_pk", "_v"].map { ($0, Source(column: $0)) }
          var change = TableChange(old: old.entities[oldRoot].table, new: entity.table)
          change.sources = Dictionary(uniqueKeysWithValues: columns)
          if old.entities[oldRoot].hasEntityColumn && new.entities[entity.root].hasEntityColumn {
            change.sources["_entity"] = Source(column: "_entity")
          }
          if old.entities[oldRoot].hasStubColumn && new.entities[entity.root].hasStubColumn {
            change.sources["_stub"] = Source(column: "_stub")
          }
          tables.append(change)
        }
        newRoots[oldRoot] = entity.root
        oldRoots[entity.root] = oldRoot
      }
    }
  }

  private mutating func matchAttributes() {
    for entity in new.entities {
      for (property, attribute) in entity.entity.attributes.enumerated() {
        guard let place = match.attributes[entity.index][property] else { continue }
        let known = old.entities[place.entity].entity.attributes[property: place]
        let conversion = ValueConversion(from: known, to: attribute)
        var source = Source(column: known.column)
        switch conversion.kind {
        case .none: break
        case .impossible:
          faults.append(
            "\(entity.name).\(attribute.name) is \(known.type.rawValue) and cannot become"
              + " \(attribute.type.rawValue): there is no rule for it."
          )
        case .values:
          source.conversion = conversions.count
          conversions.append(conversion)
        }
        setSource(source, of: attribute.column, in: entity.table)
      }
    }
  }

  private mutating func setSource(_ source: Source, of column: String, in table: String) {
    guard let index = tables.firstIndex(where: { $0.new == table }) else { return }
    tables[index].sources[column] = source
  }

  // MARK: - Links

  private mutating func matchLinks() {
    for link in new.links where link.isStoredByOwner { matchLink(link) }
  }

  /// Where one set of links comes from; `link` is the side that stores them.
  private mutating func matchLink(_ link: RelationshipLayout) {
    let known = predecessor(of: link)
    let inverse = new.inverse(of: link)
    let knownInverse = inverse.flatMap { predecessor(of: $0) }
    let isSame =
      known.map { known in
        leadsToSameTable(known, link)
          && (knownInverse == nil || isPair(known, knownInverse))
      } ?? false
    switch (link.storage, known?.storage) {
    case (.column(let column), .column(let before)) where isSame:
      setSource(Source(column: before), of: column, in: new.entities[link.owner].table)
      matchOrder(of: inverse, column, knownInverse)
      return
    case (.joinTable(let join, _), .joinTable(let before, isOwner: true))
    where isSame && join.hasPosition == before.hasPosition
      && join.hasInversePosition == before.hasInversePosition
      && join.isSymmetric == before.isSymmetric
      && (link.relationship.allowsRepeats || known?.relationship.allowsRepeats != true):
      keptJoins.append((before.name, join.name))
      return
    default: break
    }
    var parts: [LinkMove.Part] = []
    if let known { parts.append(LinkMove.Part(link: known, isFlipped: false)) }
    if let knownInverse, !isPair(known, knownInverse) {
      parts.append(LinkMove.Part(link: knownInverse, isFlipped: true))
    }
    for part in parts {
      let wanted = part.isFlipped ? inverse : link
      if let wanted, !leadsToSameTable(part.link, wanted) {
        moves.append(LinkMove(link: link, inverse: inverse, parts: [], strays: part.link))
      }
    }
    parts = parts.filter { part in
      (part.isFlipped ? inverse : link).map { leadsToSameTable(part.link, $0) } ?? false
    }
    if !parts.isEmpty { moves.append(LinkMove(link: link, inverse: inverse, parts: parts)) }
  }

  /// The order column that an ordered inverse has beside a column that stays.
  private mutating func matchOrder(
    of inverse: RelationshipLayout?,
    _ column: String,
    _ known: RelationshipLayout?
  ) {
    guard let inverse, case .inverseColumn(_, let order?) = inverse.storage else { return }
    let table = new.entities[inverse.destination].table
    if case .inverseColumn(_, let before?)? = known?.storage {
      setSource(Source(column: before), of: order, in: table)
    } else {
      orders.append(OrderFill(table: table, owner: column, order: order))
    }
  }

  /// The old relationship that a new one goes on with.
  func predecessor(of link: RelationshipLayout) -> RelationshipLayout? {
    let entity = new.entities[link.owner].entity
    guard
      let property = entity.relationships.firstIndex(where: {
        $0.name.utf8.elementsEqual(link.name.utf8)
      }), let place = match.relationships[link.owner][property]
    else { return nil }
    let name = old.entities[place.entity].entity.relationships[property: place].name
    let owner = old.entities[place.entity]
    return owner.linkSlot(named: name).map { owner.relationships[$0] }
  }

  /// Whether two old relationships are the two sides of the same links.
  private func isPair(_ known: RelationshipLayout?, _ other: RelationshipLayout?) -> Bool {
    guard let known, let other else { return false }
    return old.inverse(of: known).map {
      $0.owner == other.owner && $0.name.utf8.elementsEqual(other.name.utf8)
    } ?? false
  }

  private func leadsToSameTable(_ known: RelationshipLayout, _ link: RelationshipLayout) -> Bool {
    oldTable(of: new.entities[link.destination].table) == old.entities[known.destination].table
      && oldTable(of: new.entities[link.owner].table) == old.entities[known.owner].table
  }
}

extension Array {
  /// The element at a place.
  subscript(property place: ModelMatch.Place) -> Element { self[place.property] }
}
