import GRDB

extension SQLiteStore {
  /// The recorded imports that made, changed or deleted an object, the last one first.
  ///
  ///     for origin in try store.origins(of: person) {
  ///       print(origin.run, origin.kind, origin.attributes.map(\.new))
  ///     }
  ///
  /// Reads what `_dragoman_undo` keeps of the last imports, row by row; the file is not copied.
  ///
  /// - Parameter object: The object; one that is gone has origins, too.
  /// - Returns: The origins; empty where none is recorded.
  /// - Throws: `StoreError`, `.badRequest` for an entity that there is not, `.damaged` where what is kept cannot
  ///   be read.
  public func origins(of object: ObjectID) throws(StoreError) -> [ObjectOrigin] {
    let layout = layout
    guard let root = layout.entities.first(where: { hasSameBytes($0.name, object.entity) }) else {
      throw StoreError(.badRequest, "The store has no entity \"\(object.entity)\".", path: path)
    }
    return try read { database in
      try RecordedRun.all(FileSQL(database: database, path: path)).compactMap { run in
        try OriginReader(
          object.primaryKey,
          layout.entities[root.root],
          layout,
          FileSQL(database: database, path: path)
        ).origin(in: run)
      }
    }
  }
}

/// Looks for one object in what is recorded of an import.
private struct OriginReader {
  private let key: Int64
  private let root: EntityLayout
  private let layout: ModelLayout
  private let sql: FileSQL
  private let attributes: [Attribute]
  private let relationships: [RelationshipLayout]

  init(_ key: Int64, _ root: EntityLayout, _ layout: ModelLayout, _ sql: FileSQL) {
    self.key = key
    self.root = root
    self.layout = layout
    self.sql = sql
    let family = root.family.map { layout.entities[$0] }
    attributes = family.flatMap(\.entity.attributes)
    var seen: Set<Int> = []
    relationships = family.flatMap(\.relationships).filter { seen.insert($0.id).inserted }
  }

  func origin(in run: Int64) throws -> ObjectOrigin? {
    guard let recorded = try RecordedRun.load(run, sql) else { return nil }
    var origin: ObjectOrigin?
    var links: [Int: ObjectOrigin.Links] = [:]
    // The last part comes first.
    try RecordedRun.forEachChangeset(of: run, sql) { changes in
      try changes.withRows { row in
        guard
          let columns = recorded.tables.first(where: { hasSameBytes($0.name, row.table) })?.columns
        else { return }
        if hasSameBytes(row.table, root.table) {
          guard isObject(row, columns, "_pk") else { return }
          origin = merged(origin, change(row, columns, run))
          note(row, columns, in: &links)
        } else {
          noteLinks(row, columns, in: &links)
        }
      }
    }
    let isNew = recorded.newTables.contains {
      hasSameBytes($0.name, root.table) && ($0.first...max($0.first, $0.last)).contains(key)
    }
    if isNew { origin = ObjectOrigin(run: run, kind: .inserted, attributes: [], links: []) }
    let changed = links.sorted { $0.key < $1.key }.map(\.value)
      .filter { !$0.added.isEmpty || !$0.removed.isEmpty }
    if origin == nil, !changed.isEmpty {
      origin = ObjectOrigin(run: run, kind: .updated, attributes: [], links: [])
    }
    origin?.links = changed
    // What only another version of the row tells is nothing.
    if let found = origin, found.kind == .updated, found.attributes.isEmpty, found.links.isEmpty {
      return nil
    }
    return origin
  }

  private func isObject(_ row: Changeset.Row, _ columns: [String], _ name: String) -> Bool {
    columns.firstIndex(of: name).map { row.key(Int32($0))?.integer == key } ?? false
  }

  private func change(_ row: Changeset.Row, _ columns: [String], _ run: Int64) -> ObjectOrigin {
    let fields = attributes.compactMap { attribute -> ObjectOrigin.AttributeChange? in
      guard let column = columns.firstIndex(where: { hasSameBytes($0, attribute.column) }) else {
        return nil
      }
      let (old, new) = (row.old(Int32(column)), row.new(Int32(column)))
      // What has no value before or after is nothing to tell of.
      guard (old ?? .null) != (new ?? .null) else { return nil }
      return ObjectOrigin.AttributeChange(attribute: attribute, old: old, new: new)
    }
    let kind: ObjectOrigin.Kind =
      switch row.operation {
      case .inserted: .inserted
      case .updated: .updated
      case .deleted: .deleted
      }
    return ObjectOrigin(run: run, kind: kind, attributes: fields, links: [])
  }

  /// What two changes one after the other come to; nil where they come to nothing.
  private func merged(_ later: ObjectOrigin?, _ earlier: ObjectOrigin) -> ObjectOrigin? {
    guard var merged = later else { return earlier }
    switch (earlier.kind, merged.kind) {
    case (.inserted, .deleted): return nil
    case (.inserted, _): merged.kind = .inserted
    case (.deleted, .inserted): merged.kind = .updated
    default: break
    }
    var fields: [ObjectOrigin.AttributeChange] = []
    for attribute in attributes {
      let first = earlier.attributes.first { hasSameBytes($0.attribute.name, attribute.name) }
      let last = merged.attributes.first { hasSameBytes($0.attribute.name, attribute.name) }
      switch (first, last) {
      case (let first?, let last?):
        if first.old != last.new {
          fields.append(
            ObjectOrigin.AttributeChange(attribute: attribute, old: first.old, new: last.new)
          )
        }
      case (let one?, nil), (nil, let one?): fields.append(one)
      case (nil, nil): break
      }
    }
    merged.attributes = fields
    return merged
  }

  // MARK: - Links

  /// To-one relationships of the row itself.
  private func note(
    _ row: Changeset.Row,
    _ columns: [String],
    in links: inout [Int: ObjectOrigin.Links]
  ) {
    for link in relationships {
      guard case .column(let name) = link.storage,
        let column = columns.firstIndex(where: { hasSameBytes($0, name) })
      else { continue }
      add(row.old(Int32(column)), row.new(Int32(column)), to: link, in: &links)
    }
  }

  /// Rows of tables of links, and to-ones of others that lead here.
  private func noteLinks(
    _ row: Changeset.Row,
    _ columns: [String],
    in links: inout [Int: ObjectOrigin.Links]
  ) {
    for link in relationships {
      guard case .joinTable(let join, let isOwner) = link.storage,
        hasSameBytes(join.name, row.table),
        let own = columns.firstIndex(of: isOwner ? "owner" : "target"),
        let other = columns.firstIndex(of: isOwner ? "target" : "owner")
      else { continue }
      let (own32, other32) = (Int32(own), Int32(other))
      let was = row.old(own32)?.integer == key
      let stays =
        row.operation == .updated && row.new(own32) == nil && row.key(own32)?.integer == key
      let isNow = row.new(own32)?.integer == key || stays
      guard was || isNow else { continue }
      add(was ? row.old(other32) : nil, isNow ? row.new(other32) : nil, to: link, in: &links)
    }
  }

  private func add(
    _ old: StoredValue?,
    _ new: StoredValue?,
    to link: RelationshipLayout,
    in links: inout [Int: ObjectOrigin.Links]
  ) {
    guard (old ?? .null) != (new ?? .null) else { return }
    var found =
      links[link.id] ?? ObjectOrigin.Links(relationship: link.name, removed: [], added: [])
    let entity = layout.entities[link.destination].rootName
    // Parts come the last one first: what a later one removes an earlier one may have added.
    if let id = new?.integer.map({ ObjectID(entity: entity, primaryKey: $0) }) {
      if let place = found.removed.firstIndex(of: id) {
        found.removed.remove(at: place)
      } else {
        found.added.append(id)
      }
    }
    if let id = old?.integer.map({ ObjectID(entity: entity, primaryKey: $0) }) {
      if let place = found.added.firstIndex(of: id) {
        found.added.remove(at: place)
      } else {
        found.removed.append(id)
      }
    }
    links[link.id] = found
  }
}
