import Foundation
import GRDB

/// Counts and lists what a store holds, in the transaction of its caller.
struct ContentsReader {
  private let layout: ModelLayout
  private let database: Database
  /// Whether the file has our own tables: an empty one has none.
  private let isInitialized: Bool

  init(_ layout: ModelLayout, _ database: Database) throws {
    self.layout = layout
    self.database = database
    isInitialized = try database.hasTable("_dragoman_imports")
  }

  func contents(_ exampleCount: Int?) throws -> StoreContents {
    let pageCount = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
    let pageSize = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
    let pending = try pendingCounts()
    let imports =
      isInitialized
      ? try Int.fetchOne(database, sql: "SELECT count(*) FROM _dragoman_imports") ?? 0 : 0
    let entities = try ordered().map { try contents(of: $0) }
    let stubs = try zip(ordered(), entities).flatMap { entity, contents in
      contents.stubCount == 0 ? [] : try self.stubs(of: [entity.index], entity, exampleCount)
    }
    return StoreContents(
      formatVersion: try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0,
      byteCount: pageCount * pageSize,
      entities: entities,
      relationships: try ordered().flatMap { entity in
        try entity.relationships.filter { $0.owner == entity.index }.map { link in
          try contents(of: link, entity, pending)
        }
      },
      stubs: stubs,
      pendingReferences: try pending.flatMap { relationship, _ in
        try pendingReferences(of: relationship, exampleCount, byOwner: true)
      },
      pendingCount: pending.reduce(0) { $0 + $1.1 },
      importCount: imports,
      lastImport: try history(1).first
    )
  }

  /// The entities in declared order, each followed by its sub-entities.
  private func ordered() -> [EntityLayout] {
    func branch(_ entity: EntityLayout) -> [EntityLayout] {
      [entity]
        + layout.entities.filter { $0.lineage.dropFirst().first == entity.index }.flatMap(branch)
    }
    return layout.entities.filter { $0.root == $0.index }.flatMap(branch)
  }

  // MARK: - Entities

  private func contents(of entity: EntityLayout) throws -> StoreContents.EntityContents {
    let stubs = entity.hasStubColumn ? "count(_stub)" : "0"
    let row = try Row.fetchOne(
      database,
      sql: "SELECT count(*), \(stubs) FROM \(Schema.quoted(entity.table))"
        + " WHERE \(condition([entity.index], entity))"
    )
    let declared = entity.entity
    return StoreContents.EntityContents(
      name: entity.name,
      parent: declared.parent,
      depth: entity.lineage.count - 1,
      table: entity.table,
      objectCount: try row?.stored(0, of: entity.table) ?? 0,
      stubCount: try row?.stored(1, of: entity.table) ?? 0,
      uniqueKeys: declared.uniqueKeys,
      indexes: declared.attributes.filter(\.isIndexed).map { [$0.name] } + declared.indexes
    )
  }

  /// The test for rows of some entities of one table.
  private func condition(
    _ entities: [Int],
    _ entity: EntityLayout,
    alias: String = ""
  ) -> String {
    guard entity.hasEntityColumn else { return "TRUE" }
    let names = entities.map { Schema.literal(layout.entities[$0].name) }
    return "\(alias)_entity IN (\(names.joined(separator: ", ")))"
  }

  func stubs(of entities: [Int], _ entity: EntityLayout, _ limit: Int?) throws -> [Stub] {
    guard entity.hasStubColumn else { return [] }
    let test = condition(entities, entity, alias: "t.")
    return try ObjectKeyReader(entity, in: layout)
      .objects(
        where: "t._stub IS NOT NULL AND \(test)",
        limit: limit,
        FileSQL(database: database, path: nil)
      )
      .map { found in
        Stub(
          objectID: ObjectID(entity: entity.rootName, primaryKey: found.primaryKey),
          entity: found.entity,
          key: found.key
        )
      }
  }

  // MARK: - Relationships

  private func contents(
    of link: RelationshipLayout,
    _ owner: EntityLayout,
    _ pending: [(String, Int)]
  ) throws -> StoreContents.RelationshipContents {
    let target = layout.entities[link.destination]
    let name = "\(owner.name).\(link.name)"
    return StoreContents.RelationshipContents(
      name: name,
      destination: target.name,
      kind: link.relationship.kind,
      linkCount: try Int.fetchOne(database, sql: LinkQuery(link, in: layout).countSQL) ?? 0,
      pendingCount: pending.first { $0.0.utf8.elementsEqual(name.utf8) }?.1 ?? 0
    )
  }

  /// How many references wait, by relationship, in the order of their names.
  private func pendingCounts() throws -> [(String, Int)] {
    guard isInitialized else { return [] }
    return try Row.fetchAll(
      database,
      sql: "SELECT relationship, count(*) FROM _dragoman_pending GROUP BY 1 ORDER BY 1"
    ).map { row in
      let place = PendingReference.table
      return (try row.stored(0, of: place), try row.stored(1, of: place))
    }
  }

  /// How many references wait.
  func pendingCount() throws -> Int {
    guard isInitialized else { return 0 }
    return try Int.fetchOne(database, sql: "SELECT count(*) FROM _dragoman_pending") ?? 0
  }

  /// References that wait, in the order in which they came; or of their owners and keys, which is the same on a server,
  /// where those that still wait keep their places.
  func pendingReferences(
    of relationship: String?,
    _ limit: Int?,
    byOwner: Bool = false,
    from ownKey: Int64? = nil
  ) throws -> [PendingReference] {
    guard isInitialized else { return [] }
    let place = PendingReference.table
    try PendingReference.check(database)
    let order = byOwner ? ["owner", "key", "id"] : ["id"]
    var tests: [String] = []
    if relationship != nil { tests.append("relationship = ?1") }
    if ownKey != nil { tests.append("owner = ?3") }
    let condition = tests.isEmpty ? "TRUE" : tests.joined(separator: " AND ")
    let rows = try RawStatement(
      """
      SELECT p.id, p.owner, p.relationship, p.entity, e.key, \(PendingReference.value(in: "e")) FROM
        (SELECT * FROM \(place) WHERE \(condition)
          ORDER BY \(order.joined(separator: ", ")) LIMIT ?2) AS p,
        json_each(p.key) AS e ORDER BY \(order.map { "p.\($0)" }.joined(separator: ", ")), e.id
      """,
      in: database
    )
    if let relationship { try rows.bind(.text(relationship), 1) }
    rows.bind(integer: Int64(limit ?? -1), 2)
    if let ownKey { rows.bind(integer: ownKey, 3) }
    var found: [Waiting] = []
    try rows.forEachRow { row in
      let id = row.integer(0)
      if found.last?.id != id {
        found.append(
          Waiting(
            id: id,
            owner: row.integer(1),
            relationship: row.text(2),
            target: row.text(3)
          )
        )
      }
      let name = row.text(4)
      let target = layout.entity(named: found[found.count - 1].target)
      let attribute = target.flatMap { entity in
        entity.attributeSlot(named: name).map { entity.attributes[$0] }
      }
      found[found.count - 1].parts.append(
        ObjectKey.Part(name, attribute ?? Attribute(name: name), row.stored(5))
      )
    }
    let owners = try ownerKeys(of: found)
    return found.map { waiting in
      let owner = owner(of: waiting.relationship)
      return PendingReference(
        owner: ObjectID(
          entity: owner?.rootName
            ?? String(waiting.relationship.prefix { $0 != "." }),
          primaryKey: waiting.owner
        ),
        ownerKey: owners[NameKey(waiting.relationship)]?[waiting.owner] ?? ObjectKey([]),
        relationship: waiting.relationship,
        target: waiting.target,
        key: ObjectKey(waiting.parts)
      )
    }
  }

  private struct Waiting {
    let id: Int64
    let owner: Int64
    let relationship: String
    let target: String
    var parts: [ObjectKey.Part] = []
  }

  /// The keys of the objects that refer, by relationship and `_pk`: a statement a relationship.
  private func ownerKeys(of waiting: [Waiting]) throws -> [NameKey: [Int64: ObjectKey]] {
    var keys: [NameKey: [Int64: ObjectKey]] = [:]
    for (relationship, references) in Dictionary(
      grouping: waiting,
      by: { NameKey($0.relationship) }
    ) {
      guard let owner = owner(of: relationship.name) else { continue }
      let list = "[\(references.map { String($0.owner) }.joined(separator: ","))]"
      let found = try ObjectKeyReader(owner, in: layout)
        .objects(
          where: "t._pk IN (SELECT value FROM json_each(?1))",
          [.text(list)],
          FileSQL(database: database, path: nil)
        )
      keys[relationship] = Dictionary(
        found.map { ($0.primaryKey, $0.key) },
        uniquingKeysWith: { first, _ in first }
      )
    }
    return keys
  }

  /// The entity that declares a relationship spelled `Article.replaces`.
  private func owner(of relationship: String) -> EntityLayout? {
    layout.links.first { link in
      "\(layout.entities[link.owner].name).\(link.name)".utf8.elementsEqual(relationship.utf8)
    }.map { layout.entities[$0.owner] }
  }

  // MARK: - Imports

  func history(_ limit: Int?) throws -> [ImportLedgerEntry] {
    guard isInitialized else { return [] }
    let rows = try Row.fetchAll(
      database,
      sql: "SELECT * FROM _dragoman_imports ORDER BY id DESC LIMIT ?",
      arguments: [limit ?? -1]
    )
    var entries = try rows.reversed().map(ImportLedgerEntry.init)
    // Who was killed could not say so.
    let running = entries.indices.filter { entries[$0].status == .running }
    let owner = running.isEmpty ? nil : try keptOwner()
    for index in running {
      guard let run = entries[index].id, let mark = try mark(of: run, owner), !mark.isRunning else {
        continue
      }
      entries[index].status = .stopped
    }
    return entries
  }

  /// Whose import it is: by what it has kept to be gone on with, or by what is recorded of it; nil: nothing tells.
  private func mark(of run: Int64, _ owner: RunOwner?) throws -> RunMark? {
    if let owner, owner.ledger == run { return owner.mark }
    return try FileSQL(database: database, path: nil).recordedMark(of: run)
  }

  /// Who has kept how far an import came; nil: nobody.
  private func keptOwner() throws -> RunOwner? {
    let table = "_dragoman_run"
    guard try database.hasTable(table),
      let row = try Row.fetchOne(database, sql: "SELECT state FROM \(table)")
    else { return nil }
    return try row.stored(0, of: table, as: String?.self).flatMap { RunOwner($0) }
  }
}
