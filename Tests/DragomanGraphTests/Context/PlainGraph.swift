import GRDB

@testable import DragomanGraph

/// A model with every kind of relationship between `A` and the family of `B`; each delete rule where
/// `rule` says so.
func everyLink(_ rule: Relationship.DeleteRule) -> Model {
  Model(
    entities: [
      Entity(
        name: "A",
        attributes: [
          Attribute(name: "n", type: .int32, rules: AttributeRules(maximum: .integer(100))),
          Attribute(name: "k", type: .int64),
        ],
        relationships: [
          .toOne("only", "B"),
          .toMany("kids", "B", inverse: "parent", deleteRule: rule),
          .toMany("rows", "B", inverse: "sheet", isOrdered: true, deleteRule: rule),
          .toOne("wife", "B", inverse: "husband", deleteRule: rule),
          .toMany("tags", "B", deleteRule: rule),
          .toMany("path", "B", isOrdered: true, deleteRule: rule),
          .toMany("songs", "B").with { $0.allowsRepeats = true },
          .toMany("clubs", "B", inverse: "fans", deleteRule: rule),
          .toMany("ranks", "B", inverse: "rankers", isOrdered: true, deleteRule: rule),
          .toMany("tops", "B", inverse: "bottoms", isOrdered: true),
          .toMany("friends", "A", inverse: "friends", deleteRule: rule),
          .toOne("team", "Team", inverse: "members"),
          .toMany("pairs", "B", inverse: "mates").with { $0.maximumCount = 3 },
        ],
        uniqueKeys: [["k"]]
      ),
      Entity(
        name: "B",
        attributes: [
          Attribute(name: "n", type: .int32, rules: AttributeRules(maximum: .integer(100))),
          Attribute(name: "k", type: .int64),
        ],
        relationships: [
          .toOne("parent", "A", inverse: "kids"),
          .toOne("sheet", "A", inverse: "rows"),
          .toOne("husband", "A", inverse: "wife"),
          .toMany("fans", "A", inverse: "clubs", deleteRule: rule),
          .toMany("rankers", "A", inverse: "ranks"),
          .toMany("bottoms", "A", inverse: "tops", isOrdered: true),
          .toMany("mates", "A", inverse: "pairs"),
        ],
        uniqueKeys: [["k"]]
      ),
      Entity(
        name: "C",
        attributes: [Attribute(name: "m")],
        relationships: [.toOne("twin", "B", deleteRule: rule)],
        parent: "B"
      ),
      Entity(
        name: "Team",
        attributes: [
          Attribute(name: "n", type: .int32, rules: AttributeRules(maximum: .integer(100))),
          Attribute(name: "k", type: .int64),
        ],
        relationships: [
          .toMany("members", "A", inverse: "team", isRequired: true).with { $0.maximumCount = 3 }
        ],
        uniqueKeys: [["k"]]
      ),
    ]
  )
}

/// A graph as anyone would write it down: rows, and for each relationship the targets of each owner,
/// on both sides.
struct PlainGraph: Equatable {
  struct Row: Equatable {
    let entity: Int
    var n: Int64
    /// Its key; nil: none.
    var k: Int64? = nil
  }

  /// What a save has to answer.
  enum Verdict: Equatable {
    case fine
    case fails(ContextError.Code)
  }

  let layout: ModelLayout
  var rows: [ObjectID: Row] = [:]
  /// What was deleted and is stored yet: links still lead there.
  var dead: [ObjectID: Row] = [:]
  var lists: [Int: [ObjectID: [ObjectID]]] = [:]

  static func == (left: Self, right: Self) -> Bool {
    left.rows == right.rows && left.dead == right.dead && left.lists == right.lists
  }

  init(_ layout: ModelLayout) { self.layout = layout }

  /// The live objects of an entity and of those below it, by id.
  func ids(_ entity: String) -> [ObjectID] {
    guard let family = layout.entity(named: entity)?.family else { return [] }
    return rows.filter { family.contains($0.value.entity) }.keys.sorted {
      ($0.entity, $0.primaryKey) < ($1.entity, $1.primaryKey)
    }
  }

  func links(of id: ObjectID) -> [RelationshipLayout] {
    (rows[id] ?? dead[id]).map { layout.entities[$0.entity].relationships } ?? []
  }

  /// The live targets.
  func targets(_ link: RelationshipLayout, _ owner: ObjectID) -> [ObjectID] {
    (lists[link.id]?[owner] ?? []).filter { rows[$0] != nil }
  }

  // MARK: - Changing

  mutating func connect(_ link: RelationshipLayout, _ owner: ObjectID, _ target: ObjectID) {
    let inverse = layout.inverse(of: link)
    if link.isToOne {
      guard targets(link, owner) != [target] else { return }
      for known in lists[link.id]?[owner] ?? [] { disconnect(link, owner, known) }
    } else if !link.relationship.allowsRepeats, targets(link, owner).contains(target) {
      return
    }
    if let inverse, inverse.isToOne {
      for other in lists[inverse.id]?[target] ?? [] { disconnect(inverse, target, other) }
    }
    lists[link.id, default: [:]][owner, default: []].append(target)
    if let inverse, inverse.id != link.id || owner != target {
      lists[inverse.id, default: [:]][target, default: []].append(owner)
    }
  }

  mutating func disconnect(_ link: RelationshipLayout, _ owner: ObjectID, _ target: ObjectID) {
    lists[link.id]?[owner]?.removeAll { $0 == target }
    if let inverse = layout.inverse(of: link) {
      lists[inverse.id]?[target]?.removeAll { $0 == owner }
    }
  }

  mutating func assign(_ targets: [ObjectID], _ link: RelationshipLayout, _ owner: ObjectID) {
    var list = targets
    if !link.relationship.allowsRepeats {
      var seen: Set<ObjectID> = []
      list = targets.filter { seen.insert($0).inserted }
    }
    if link.isToOne {
      for known in lists[link.id]?[owner] ?? [] where known != list.first {
        disconnect(link, owner, known)
      }
      if let target = list.first { connect(link, owner, target) }
      return
    }
    let old = self.targets(link, owner)
    for target in old where !list.contains(target) { disconnect(link, owner, target) }
    for target in list where !old.contains(target) { connect(link, owner, target) }
    if link.isListed { lists[link.id, default: [:]][owner] = list }
  }

  /// Deletes an object with its rules; one that is not in the store is gone at once.
  mutating func delete(_ id: ObjectID, stored: PlainGraph) {
    var doomed = [id]
    while let next = doomed.popLast() {
      guard let row = rows[next] else { continue }
      for link in links(of: next) {
        switch link.relationship.deleteRule {
        case .cascade: doomed += targets(link, next)
        case .nullify:
          guard layout.inverse(of: link) != nil else { continue }
          for target in targets(link, next) { disconnect(link, next, target) }
        case .deny, .noAction: break
        }
      }
      rows[next] = nil
      if stored.rows[next] != nil { dead[next] = row } else { forget(next) }
    }
  }

  /// Somebody else has deleted an object.
  mutating func remove(_ id: ObjectID) {
    rows[id] = nil
    forget(id)
  }

  private mutating func forget(_ id: ObjectID) {
    for link in lists.keys {
      lists[link]?[id] = nil
      for owner in lists[link]?.keys.map({ $0 }) ?? [] {
        lists[link]?[owner]?.removeAll { $0 == id }
      }
    }
  }

  // MARK: - Saving

  /// What a save of this over what is stored answers.
  func verdict(stored: PlainGraph) -> Verdict {
    for (id, row) in rows {
      if row.n > 100 { return .fails(.invalid) }
      for link in links(of: id) {
        let count = targets(link, id).count
        if link.relationship.isRequired, count == 0 { return .fails(.invalid) }
        if let most = link.relationship.maximumCount, count > most { return .fails(.invalid) }
      }
    }
    for id in dead.keys {
      for link in links(of: id) {
        let rule = link.relationship.deleteRule
        let left = targets(link, id)
        if rule == .deny, !left.isEmpty { return .fails(.denied) }
        if case .column = link.storage { continue }
        guard rule == .noAction else { continue }
        let known = stored.lists[link.id]?[id] ?? []
        if left.contains(where: known.contains) { return .fails(.denied) }
      }
    }
    return .fine
  }

  /// What is stored after a save.
  func saved() -> PlainGraph {
    var saved = self
    for id in dead.keys { saved.forget(id) }
    saved.dead = [:]
    return saved
  }

  // MARK: - Comparing

  /// What a context says otherwise; nil: nothing.
  func difference(from context: ManagedObjectContext) throws -> String? {
    for entity in ["A", "B", "Team"] {
      let found = try context.fetch(FetchRequest(entity)).map(\.objectID)
      if Set(found) != Set(ids(entity)) || found.count != ids(entity).count {
        return "\(entity): \(found.map(\.primaryKey)), not \(ids(entity).map(\.primaryKey))"
      }
    }
    for (id, row) in rows {
      guard let object = try context.existingObject(with: id) else { return "\(id) is not there" }
      if let fault = try difference(from: object, row) { return fault }
    }
    for id in dead.keys where try context.existingObject(with: id) != nil {
      return "\(id) is there"
    }
    return nil
  }

  /// What an object that somebody holds says otherwise; nil: nothing.
  func difference(from held: [ManagedObject]) throws -> String? {
    for object in held {
      guard let row = rows[object.objectID] else { continue }
      if object.isDeleted { return "held: \(object.objectID) is deleted" }
      if let fault = try difference(from: object, row) { return "held: \(fault)" }
    }
    return nil
  }

  private func difference(from object: ManagedObject, _ row: Row) throws -> String? {
    let id = object.objectID
    if object["n"] != .integer(row.n) { return "\(id).n is \(object["n"]), not \(row.n)" }
    for link in links(of: id) {
      let known = try object.context.links.targets(of: link, object).map(\.objectID)
      if let fault = Self.compare(known, targets(link, id), link) { return "\(id).\(fault)" }
    }
    return nil
  }

  /// What a file says otherwise, asked past all contexts; nil: nothing.
  func difference(from database: Database) throws -> String? {
    for entity in ["A", "B", "Team"] {
      let found = try GRDB.Row.fetchAll(database, sql: "SELECT _pk, n FROM \(entity) ORDER BY _pk")
        .map {
          "\($0[0] as Int64)|\($0[1] as Int64)"
        }
      let wanted = ids(entity).map { "\($0.primaryKey)|\(rows[$0]?.n ?? 0)" }
      if found != wanted { return "file: \(entity) \(found), not \(wanted)" }
    }
    for link in layout.links {
      let target = layout.entities[link.destination]
      for owner in ids(layout.entities[link.owner].name) {
        let sql: String
        switch link.storage {
        case .column(let column):
          let table = layout.entities[link.owner].table
          sql = "SELECT \(column) FROM \(table) WHERE _pk = ? AND \(column) IS NOT NULL"
        case .inverseColumn(let column, let order):
          // What has no place yet stands behind what has one.
          let places = order.map { "\($0) IS NULL, \($0), " } ?? ""
          sql = "SELECT _pk FROM \(target.table) WHERE \(column) = ? ORDER BY \(places)_pk"
        case .joinTable(let join, isOwner: true):
          let order = join.hasPosition ? "position" : "target"
          sql = "SELECT target FROM \(join.name) WHERE owner = ? ORDER BY \(order)"
        case .joinTable(let join, isOwner: false):
          let order = join.hasInversePosition ? "inverse_position" : "owner"
          sql = "SELECT owner FROM \(join.name) WHERE target = ? ORDER BY \(order)"
        }
        let keys = try Int64.fetchAll(database, sql: sql, arguments: [owner.primaryKey])
        let found = keys.map { ObjectID(entity: target.rootName, primaryKey: $0) }
        if let fault = Self.compare(found, targets(link, owner), link) {
          return "file: \(owner).\(fault)"
        }
      }
    }
    return nil
  }

  private static func compare(
    _ found: [ObjectID],
    _ wanted: [ObjectID],
    _ link: RelationshipLayout
  ) -> String? {
    let keys = { (ids: [ObjectID]) in
      let keys = ids.map(\.primaryKey)
      return link.isListed ? keys : keys.sorted()
    }
    return keys(found) == keys(wanted)
      ? nil : "\(link.name) leads to \(keys(found)), not to \(keys(wanted))"
  }
}
