/// The tables and indexes of docs/file.md, as they follow from a model.
///
/// A value: what a store has to add, or to change, is the difference of two of them.
struct Schema: Equatable {
  /// The tables, in the order in which they are made.
  private(set) var tables: [Table] = []
  /// The indexes, in the order in which they are made.
  private(set) var indexes: [Index] = []
  /// Indexes that a unique key of the same table makes needless, because it starts with their columns.
  private(set) var needlessIndexes: [Index] = []
  /// What was added to `indexes`, while it is.
  private var added: Set<NameKey> = []

  /// A table of objects or of links.
  struct Table: Equatable {
    let name: String
    var columns: [Column]
    /// The columns of a primary key over several columns; empty: `_pk` is the key.
    let primaryKey: [String]

    /// `CREATE TABLE …`.
    var sql: String {
      var parts = columns.map(\.sql)
      if !primaryKey.isEmpty {
        parts.append("PRIMARY KEY (\(primaryKey.map(Schema.quoted).joined(separator: ", ")))")
      }
      return "CREATE TABLE \(Schema.quoted(name)) (\(parts.joined(separator: ", ")))"
        + (primaryKey.isEmpty ? "" : " WITHOUT ROWID")
    }
  }

  /// A column of a table.
  struct Column: Equatable {
    let name: String
    /// The declared type, with `PRIMARY KEY` where it is one.
    let type: String
    /// The table whose `_pk` it refers to.
    var references: String?
    /// Whether it is ours and not the user's: a plain word, written without quotes.
    var isOwn = false

    /// The column as `CREATE TABLE` and `ADD COLUMN` take it.
    var sql: String {
      let name = isOwn ? name : Schema.quoted(name)
      let reference = references.map {
        " REFERENCES \(Schema.quoted($0)) (_pk) DEFERRABLE INITIALLY DEFERRED"
      }
      return "\(name) \(type)\(reference ?? "")"
    }
  }

  /// An index of a table.
  struct Index: Equatable {
    fileprivate(set) var name: String
    let table: String
    let columns: [String]
    let isUnique: Bool

    /// `CREATE INDEX …`.
    var sql: String {
      "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(Schema.quoted(name)) ON \(Schema.quoted(table))"
        + " (\(columns.map(Schema.quoted).joined(separator: ", ")))"
    }

    /// What is the same of indexes that are the same to SQLite, which compares names by their bytes.
    var identity: NameKey { NameKey(sql) }

    /// Whether the index serves wherever the other one does.
    fileprivate func starts(with other: Index) -> Bool {
      columns.starts(with: other.columns, by: hasSameBytes)
    }
  }

  /// The schema of a model.
  init(_ layout: ModelLayout) {
    for entity in layout.entities where entity.root == entity.index {
      var columns = [
        Column(name: "_pk", type: "INTEGER PRIMARY KEY", isOwn: true),
        Column(name: "_v", type: "INTEGER", isOwn: true),
      ]
      if entity.hasEntityColumn {
        columns.append(Column(name: "_entity", type: "TEXT", isOwn: true))
      }
      if entity.hasStubColumn {
        columns.append(Column(name: "_stub", type: "INTEGER", isOwn: true))
      }
      tables.append(Table(name: entity.table, columns: columns, primaryKey: []))
    }
    for entity in layout.entities { add(entity, in: layout) }
    for entity in layout.entities { addLinks(of: entity, in: layout) }
    added = []
    nameIndexes()
    let keys = Dictionary(grouping: indexes.filter(\.isUnique)) { NameKey($0.table) }
    let isNeedless = { (index: Index) in
      !index.isUnique
        && keys[NameKey(index.table)]?.contains { $0.starts(with: index) } ?? false
    }
    needlessIndexes = indexes.filter(isNeedless)
    indexes.removeAll(where: isNeedless)
  }

  private mutating func add(_ entity: EntityLayout, in layout: ModelLayout) {
    let table = entity.table
    for attribute in entity.entity.attributes {
      add(Column(name: attribute.column, type: attribute.type.columnType), to: table)
    }
    for link in entity.relationships where link.owner == entity.index {
      if case .column(let column) = link.storage {
        let target = layout.entities[link.destination].table
        add(Column(name: column, type: "INTEGER", references: target), to: table)
      }
    }
    for key in entity.uniqueKeys.prefix(entity.entity.uniqueKeys.count) {
      addIndex("unique", key.map(\.column), isUnique: true, to: table)
    }
    for attribute in entity.entity.attributes where attribute.isIndexed {
      addIndex(nil, [attribute.column], isUnique: false, to: table)
    }
    for link in entity.relationships where link.owner == entity.index {
      if case .column(let column) = link.storage {
        addIndex(nil, [column], isUnique: false, to: table)
      }
    }
    for names in entity.entity.indexes {
      let columns = names.compactMap { entity.column(named: $0) }
      if columns.count == names.count {
        addIndex("index", columns, isUnique: false, to: table)
      }
    }
  }

  private mutating func addLinks(of entity: EntityLayout, in layout: ModelLayout) {
    for link in entity.relationships where link.owner == entity.index {
      switch link.storage {
      case .column: break
      case .inverseColumn(_, let order):
        if let order {
          add(Column(name: order, type: "INTEGER"), to: layout.entities[link.destination].table)
        }
      case .joinTable(let join, isOwner: true):
        let hasOrder = join.hasPosition
        var columns = [
          Column(name: "owner", type: "INTEGER", references: join.ownerTable, isOwn: true)
        ]
        if hasOrder { columns.append(Column(name: "position", type: "INTEGER", isOwn: true)) }
        columns.append(
          Column(name: "target", type: "INTEGER", references: join.targetTable, isOwn: true)
        )
        if join.hasInversePosition {
          columns.append(Column(name: "inverse_position", type: "INTEGER", isOwn: true))
        }
        let key = ["owner", hasOrder ? "position" : "target"]
        tables.append(Table(name: join.name, columns: columns, primaryKey: key))
        addIndex(nil, ["target"], isUnique: false, to: join.name)
      case .joinTable: break
      }
    }
  }

  private mutating func add(_ column: Column, to table: String) {
    guard let place = tables.firstIndex(where: { hasSameBytes($0.name, table) }) else { return }
    tables[place].columns.append(column)
  }

  private mutating func addIndex(
    _ kind: String?,
    _ columns: [String],
    isUnique: Bool,
    to table: String
  ) {
    let name = ([table, kind].compactMap { $0 } + columns).joined(separator: "_")
    let index = Index(name: name, table: table, columns: columns, isUnique: isUnique)
    if added.insert(index.identity).inserted { indexes.append(index) }
  }

  /// Numbers the indexes whose names are taken by a table or an earlier index, as of a key a_b beside a, b.
  ///
  /// SQLite has one space of names for both, and ignores the case of ASCII letters.
  private mutating func nameIndexes() {
    var taken = NameRegister()
    for table in tables { _ = taken.insert(table.name) }
    for place in indexes.indices {
      let name = indexes[place].name
      var number = 1
      while taken.insert(indexes[place].name) != nil {
        number += 1
        indexes[place].name = "\(name)_\(number)"
      }
    }
  }

  // MARK: - Differences

  /// The statements that add the tables and columns that this schema has and `other` has not; nothing
  /// is dropped.
  func additions(to other: Schema) -> [String] {
    var statements: [String] = []
    for table in tables {
      guard let known = other.table(named: table.name) else {
        statements.append(table.sql)
        continue
      }
      for column in table.columns
      where !known.columns.contains(where: { hasSameBytes($0.name, column.name) }) {
        statements.append("ALTER TABLE \(Schema.quoted(table.name)) ADD COLUMN \(column.sql)")
      }
    }
    return statements
  }

  /// The indexes that this schema has and `other` has not.
  func newIndexes(than other: Schema) -> [Index] {
    let known = Set(other.indexes.map(\.identity))
    return indexes.filter { !known.contains($0.identity) }
  }

  /// The indexes of `other` whose names this schema gives to something else.
  func renamedIndexes(of other: Schema) -> [Index] {
    var taken = NameRegister()
    for name in indexes.map(\.name) + tables.map(\.name) { _ = taken.insert(name) }
    let own = Set(indexes.map(\.identity))
    return other.indexes.filter { taken.contains($0.name) && !own.contains($0.identity) }
  }

  /// Leaves indexes out.
  mutating func removeIndexes(where isNeedless: (Index) -> Bool) {
    indexes.removeAll(where: isNeedless)
  }

  /// The table of that name.
  func table(named name: String) -> Table? { tables.first { hasSameBytes($0.name, name) } }
}

extension Schema {
  /// "DRAG": PRAGMA application_id of our files.
  static let applicationID: Int32 = 0x4452_4147
  /// PRAGMA user_version of our files: the format of docs/file.md.
  static let formatVersion = 1

  /// The tables every store has, and their indexes.
  static let ownTables = [
    "CREATE TABLE _dragoman_model (id INTEGER PRIMARY KEY, model TEXT)",
    "CREATE TABLE _dragoman_keys (\"table\" TEXT PRIMARY KEY, next INTEGER) WITHOUT ROWID",
    """
    CREATE TABLE _dragoman_imports (
      id INTEGER PRIMARY KEY, source TEXT, fingerprint TEXT, map TEXT, map_hash TEXT,
      started TEXT, finished TEXT, status TEXT, committed INTEGER, read INTEGER,
      inserted INTEGER, updated INTEGER, unchanged INTEGER, deleted INTEGER, skipped INTEGER,
      rejected INTEGER, bytes INTEGER)
    """,
    """
    CREATE TABLE _dragoman_pending (
      id INTEGER PRIMARY KEY, owner INTEGER, relationship TEXT, entity TEXT, key TEXT)
    """,
    pendingIndex,
  ]

  /// What finds the references of an owner that wait.
  static let pendingIndex =
    "CREATE INDEX IF NOT EXISTS _dragoman_pending_owner ON _dragoman_pending (relationship, owner)"

  /// A name as SQL takes it, whatever is in it.
  static func quoted(_ name: String) -> String { name.enclosed(in: "\"") }
}

extension Schema {
  /// The test that one of some tests holds.
  ///
  /// SQLite takes expressions of 1000 levels, and a chain has one a test.
  static func any(_ tests: some Collection<String>) -> String {
    if tests.isEmpty { return "0" }
    if tests.count <= 100 { return tests.joined(separator: " OR ") }
    let half = tests.count / 2
    return "(\(any(tests.prefix(half)))) OR (\(any(tests.dropFirst(half))))"
  }
}

extension Model {
  /// The statements that make the tables and indexes of an empty store of this model.
  ///
  /// The store's own tables (`_dragoman_model` and others) are not among them.
  public var sqlStatements: [String] {
    let schema = Schema(ModelLayout(self))
    return schema.tables.map(\.sql) + schema.indexes.map(\.sql)
  }
}

extension EntityLayout {
  /// The column of a property, if it has one in the entity's table.
  package func column(named name: String) -> String? {
    switch property(named: name) {
    case .attribute(let slot): return attributes[slot].column
    case .relationship(let slot):
      if case .column(let column) = relationships[slot].storage { return column }
      return nil
    case nil: return nil
    }
  }
}
