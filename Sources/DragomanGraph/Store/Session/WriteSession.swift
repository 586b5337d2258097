import GRDB
import GRDBSQLite

/// The writing connection of a store, lent to a closure: transactions, growth of the model, and
/// writers for the rows of an entity.
///
/// Large because it holds all that lasts as long as the connection is lent: the model before and after, keys,
/// loads, stages, notes.
public final class WriteSession: ImportSession {
  let database: Database
  package let path: String?
  /// The model that this session's writers are made for.
  package private(set) var layout: ModelLayout
  /// The model that is in the file, without what the open transaction adds.
  private(set) var committed: StoredModel
  private var modelChanged = false
  /// Whether something was made for `layout`, which must not change under it.
  private var isInUse = false
  private var keys: [String: PrimaryKeys] = [:]
  private var isObserved = false
  private var stageCount = 0
  private var rowNote: RowNote?
  /// The tables that are loaded.
  package let loads: TableLoads
  /// What was made to store links.
  private var stages: [LinkStage] = []
  /// What records the run at hand.
  weak var recording: RunRecorder?
  /// Whether what stages and the pruner know lasts longer than the session.
  package var keepsRun = false

  init(database: Database, path: String?, _ stored: StoredModel) {
    self.database = database
    self.path = path
    layout = stored.layout
    committed = stored
    loads = TableLoads(database: database, path: path)
  }

  package var sql: any SharedSQL { FileSQL(database: database, path: path) }

  package func storedModel() throws(StoreError) -> String? {
    try run { try StoredModel.text(database) }
  }

  /// Writes or rewrites a row of the import ledger.
  ///
  /// Needs an open transaction. Runs `INSERT` on the first call and `UPDATE` on later ones, into
  /// `_dragoman_imports`.
  public func record(_ entry: inout ImportLedgerEntry) throws(StoreError) {
    try StoreError.naming(path) { try entry.save(to: database) }
  }

  /// Takes the write lock: `BEGIN IMMEDIATE`.
  ///
  /// - Throws: `.busy` when another process kept the lock longer than the store waits; `.migrated` when
  ///   one has changed the model between two transactions of this session so that its rows would not
  ///   fit any more, or the file was moved.
  public func begin() throws(StoreError) {
    try run {
      try database.beginTransaction(.immediate)
      try checkPlace()
      // Another process may have written since the last transaction.
      try lookAtModel()
      for keys in keys.values { try keys.load(from: database) }
      for stage in stages { try stage.lookForPending() }
    }
  }

  /// The same, unless a transaction is open.
  package func beginIfNeeded() throws(StoreError) {
    if !database.isInsideTransaction { try begin() }
  }

  /// Refuses to write into a file that was moved, replaced or removed: nobody would find it there again.
  ///
  /// SQLite asks the same before it writes a rollback journal, but not before it writes a log.
  private func checkPlace() throws(StoreError) {
    guard let path, let connection = database.sqliteConnection else { return }
    var hasMoved: Int32 = 0
    let code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard code == SQLITE_OK, hasMoved != 0 else { return }
    throw StoreError(
      .migrated,
      "The database was moved, replaced or removed while it was in use; nothing of the open transaction is kept.",
      help:
        "put it back, without the -wal beside it where another file stands there now, and begin again",
      path: path
    )
  }

  /// Takes over what others have made of the model, as far as nothing was made for the old one.
  private func lookAtModel() throws {
    guard let now = try committed.changed(in: database) else { return }
    committed = now
    guard isInUse else {
      layout = now.layout
      return
    }
    guard now.layout.takesRows(of: layout) else {
      throw StoreError(
        .migrated,
        "The model of the database was changed by another process while this one wrote; what was committed"
          + " before that stands.",
        help: "run it again",
        path: path
      )
    }
  }

  /// Refuses to write rows of a layout that the store does not have any more.
  ///
  /// What was only added since is no reason.
  /// - Throws: `.migrated`.
  func check(_ rows: ModelLayout) throws(StoreError) {
    if rows !== layout, !layout.holds(rows) { throw StoreError.migrated(at: path) }
  }

  /// Makes everything since `begin` durable: `COMMIT`.
  public func commit() throws(StoreError) {
    try checkLinks()
    try run {
      for keys in keys.values { try keys.save(to: database) }
      let model = modelChanged ? try StoredModel(layout, in: database) : committed
      try checkPlace()
      try database.commit()
      committed = model
    }
    modelChanged = false
  }

  /// Undoes everything since `begin`, growth of the model included: `ROLLBACK`.
  public func rollbackIfOpen() {
    keys.removeAll()
    stages.removeAll()
    isInUse = false
    if modelChanged { layout = committed.layout }
    modelChanged = false
    guard database.isInsideTransaction else { return }
    // SQLite may have rolled back by itself (full disk, I/O error); then this fails harmlessly.
    try? database.rollback()
  }

  /// Adds what `model` names and the store does not have yet, and indexes of unique keys that are gone.
  ///
  /// Needs an open transaction.
  ///
  /// - Returns: The joined model.
  /// - Throws: `.modelConflict` when the model contradicts what is stored; nothing is added then.
  @discardableResult
  public func grow(to model: Model) throws(StoreError) -> Model {
    let stored = try run { try StoredModel.load(database) }
    if stored.model != layout.model || stored.migrations != layout.migrations { layout = stored }
    let isNew = try run { try !database.hasTable("_dragoman_model") }
    let grown = try stored.model.grown(
      to: model,
      at: path,
      help:
        "change the map, open the store with `onConflict: .migrate`, or import into another database"
    )
    if isNew { try run { try StoredModel.initialize(database) } }
    let old = Schema(layout)
    let layout = ModelLayout(grown, migrations: stored.migrations)
    let new = Schema(layout)
    for index in new.renamedIndexes(of: old) {
      try run {
        if let removal = try index.removal(in: database) { try database.execute(sql: removal) }
      }
    }
    for table in new.tables where old.table(named: table.name) == nil {
      try run { try Schema.checkIsFree(table.name, in: database, at: path) }
    }
    for statement in new.additions(to: old) { try run { try database.execute(sql: statement) } }
    for index in new.newIndexes(than: old) { try make(index, in: layout) }
    // Somebody has dropped them: nothing else would refuse double values.
    for index in try run({ try new.lostKeys(in: database) }) { try make(index, in: layout) }
    try nameEntities(in: layout, before: old)
    if isNew || grown != stored.model {
      try run { try StoredModel.save(layout, to: database) }
      self.layout = layout
      modelChanged = true
    }
    return grown
  }

  /// Makes an index, and names the objects that are in the way of a unique one.
  ///
  /// Runs `CREATE INDEX`; where that fails `SELECT … GROUP BY … HAVING count(*) > 1`.
  private func make(_ index: Schema.Index, in layout: ModelLayout) throws(StoreError) {
    try run {
      if try index.isThere(in: database, at: path) { return }
      do {
        try database.execute(sql: index.sql)
      } catch let error as DatabaseError where error.isUniqueViolation {
        throw StoreError(
          .modelConflict,
          try DuplicateKeys(index, in: layout).sentence(database),
          help: "delete or change the objects that are there more than once, and run it again",
          path: path
        )
      }
    }
  }

  /// Takes over the model that a migration has written in the open transaction.
  func adopt(_ layout: ModelLayout) {
    // Their tables may have other names now.
    keys.removeAll()
    self.layout = layout
    modelChanged = true
  }

  /// Where a table gets its first sub-entities, its rows are named after the root.
  ///
  /// Runs `UPDATE … SET _entity = 'Root'`.
  private func nameEntities(in layout: ModelLayout, before old: Schema) throws(StoreError) {
    for entity in layout.entities where entity.root == entity.index && entity.hasEntityColumn {
      guard let known = old.table(named: entity.table),
        !known.columns.contains(where: { $0.name == "_entity" })
      else { continue }
      try run {
        try database.execute(
          sql: "UPDATE \(Schema.quoted(entity.table)) SET _entity = ?",
          arguments: [entity.name]
        )
        try RowAddition.note([.name(entity.name, in: entity.table)], sql)
      }
    }
  }

  /// The primary key of a new object.
  func nextKey(in table: String) throws(StoreError) -> Int64 {
    let keys = try primaryKeys(of: table)
    keys.take()
    return keys.next - 1
  }

  /// A writer for rows of `entity`.
  ///
  /// It is valid until the transaction is rolled back.
  ///
  /// - Parameters:
  ///   - entity: The entity as the store knows it, after `grow(to:)`.
  ///   - slots: The attributes that rows give, in the order of their values.
  ///   - mode: What happens to objects that exist.
  ///   - version: The slot of the attribute that tells newer rows from older ones, which are
  ///     skipped; nil: the last one wins.
  /// - Returns: The writer.
  /// - Throws: `StoreError` where the next free key cannot be read.
  public func writer(
    for entity: Entity,
    slots: [Attribute],
    mode: EntityWriter.Mode,
    version: Int? = nil
  ) throws(StoreError) -> EntityWriter {
    let slots = slots.map { RowSlot($0) }
    return try writer(
      for: EntityStatements(entity: layout(of: entity), slots: slots, mode: mode, version: version)
    )
  }

  /// A writer for rows of an entity that has links, or that is linked to.
  ///
  /// - Parameters:
  ///   - rows: The rows, of an entity of this session's layout.
  ///   - specializes: Whether a row makes an object of its entity of one that was known by a more
  ///     general one.
  ///   - mayLoad: Whether the table is loaded if it is empty; then rows that the writer calls undecided wait
  ///     until the loads have ended.
  /// - Returns: The writer.
  /// - Throws: `StoreError` where the next free key cannot be read.
  package func writer(
    for rows: EntityStatements,
    specializes: Bool = true,
    mayLoad: Bool = false
  ) throws(StoreError) -> EntityWriter {
    let entity = rows.entity
    isInUse = true
    return EntityWriter(
      database: database,
      path: path,
      statements: rows.with {
        let family = entity.family.map { layout.entities[$0] }
        $0.family = family.map(\.name)
        $0.demanding = family.filter { $0.requiresMore(than: entity) }.map(\.name)
        if specializes {
          $0.ancestors = entity.lineage.dropFirst().map { layout.entities[$0] }
        }
      },
      keys: try primaryKeys(of: entity.table),
      note: rows.noted == nil ? nil : try note(),
      loads: mayLoad ? loads : nil
    )
  }

  /// A stage for the links of one relationship.
  ///
  /// Makes temporary tables, which are gone with the connection; of what waits, tables of the run
  /// (`keepRun()`).
  package func stage(_ plan: LinkStage.Plan) throws(StoreError) -> LinkStage {
    isInUse = true
    stageCount += 1
    let number = stageCount
    let keys = (
      owners: try primaryKeys(of: layout.entities[plan.link.owner].table),
      targets: try primaryKeys(of: layout.entities[plan.link.destination].table)
    )
    let stage = try run {
      try LinkStage(
        plan,
        number: number,
        isKept: keepsRun,
        keys: keys,
        database: database,
        path: path,
        layout: layout
      )
    }
    stages.append(stage)
    return stage
  }

  /// Deletes objects by the delete rules of the relationships.
  ///
  /// Makes a temporary table, which is gone with the connection.
  package func deleter() throws(StoreError) -> ObjectDeleter {
    let keepNotes = { [weak self] () throws(StoreError) -> Void in
      guard let recording = self?.recording else { return }
      try recording.keepIfFull()
    }
    return try ObjectDeleter(sql, layout: layout, onPortion: keepNotes)
  }

  /// A savepoint for what a record does, so that it can be undone whole.
  package func savepoint() throws(StoreError) -> Savepoint {
    try run { try Savepoint(database: database, path: path) }
  }

  private func layout(of entity: Entity) throws(StoreError) -> EntityLayout {
    guard let found = layout.entity(named: entity.name) else {
      throw StoreError(.modelConflict, "The store has no entity \(entity.name).", path: path)
    }
    return found
  }

  private func note() throws(StoreError) -> RowNote {
    if let rowNote { return rowNote }
    let made = try run { try RowNote.register(on: database) }
    rowNote = made
    return made
  }

  /// A log of everything that is done to the store's objects from here on.
  ///
  /// Needs an open transaction, after `grow(to:)`. Makes a temporary table and temporary triggers,
  /// which are gone when the session is.
  public func changeLog() throws(StoreError) -> ChangeLog { try changeLog(lookingIn: []) }

  /// A log as above.
  ///
  /// - Parameter others: Databases of the connection (`attach(_:)`) in which targets of links are looked for,
  ///   too: who changes rows in any order may find them there only.
  /// - Returns: The log.
  /// - Throws: `StoreError`.
  package func changeLog(lookingIn others: [String]) throws(StoreError) -> ChangeLog {
    isObserved = true
    return try run {
      try ChangeLog(layout: layout, database: database, path: path, others: others)
    }
  }

  /// Drops what `changeLog()` made.
  func endObserving() {
    guard isObserved else { return }
    isObserved = false
    // Only a connection that is lost fails here; then there is nothing to drop.
    try? ChangeLog.end(on: database)
  }

  /// The value of a setting of the connection: `PRAGMA name`.
  func pragma(_ name: String) throws(StoreError) -> String? {
    try run { try String.fetchOne(database, sql: "PRAGMA \(name)") }
  }

  private func primaryKeys(of table: String) throws(StoreError) -> PrimaryKeys {
    if let known = keys[table] { return known }
    let made = try run { try PrimaryKeys(table: table, database: database) }
    keys[table] = made
    return made
  }

  @discardableResult
  func run<T>(_ body: () throws -> T) throws(StoreError) -> T {
    try StoreError.naming(path, body)
  }
}
