import DragomanGraph

/// Where the objects of an import go: rows of a store, in bulk, or objects of a context.
///
/// What a draft means is the walker's (`DraftWalker`); a backend finds, makes, changes, deletes and
/// links what it is told to, in the way that is fast for it. Objects are known by their primary key,
/// which is theirs from insertion on. The walker is compiled for each backend: nothing is looked up
/// while a record is written.
protocol DraftBackend: AnyObject {
  associatedtype Writer: DraftWriter
  associatedtype Stage: DraftStage

  /// Whether rows without links need nothing to be undone, and many records are undone together.
  static var isBulk: Bool { get }
  /// What the model looks like where the objects go.
  var layout: ModelLayout { get }

  /// Makes what a plan needs: a record that is undone would take along what is made for it later.
  func prepare(for plan: ImportPlan) throws
  /// A batch is about to be written.
  func begin(_ batch: DraftBatch, _ plan: ImportPlan) throws
  /// The batch is written.
  func end()

  /// What writes the rows of one plan.
  func writer(for rows: EntityStatements, isNested: Bool) throws -> Writer
  /// What stores the links of one relationship.
  func stage(_ plan: LinkStage.Plan) throws -> Stage

  /// Whether some tables are loaded: nothing in them can be looked up, and what becomes of some rows is not
  /// known (`DraftWriter.isUndecided`).
  var isLoading: Bool { get }
  /// Whether a table is.
  func isLoading(_ table: String) -> Bool
  /// How often it was changed which tables are.
  var loadChangeCount: Int { get }
  /// Ends that.
  func endLoads() throws

  /// From here on what is done can be undone: a record, or a run of them.
  func begin() throws
  /// What was done since `begin()` stays.
  func release() throws
  /// What was done since `begin()` is undone.
  func undo() throws
  /// The import fails within what `begin()` began.
  func abandon()
  /// Whether something may be done only to be undone: nobody is told of it.
  var mayTry: Bool { get }

  /// Whether an object has these values of a key.
  func exists(_ reference: KeyReference, _ values: [StoredValue]) throws -> Bool
  /// Deletes objects by the delete rules, or none of them.
  ///
  /// - Returns: What went, or what forbids it.
  func delete(_ objects: [(key: Int64, entity: EntityLayout)]) throws -> ObjectDeleter.Outcome
  /// Which objects some owners have as targets of these relationships.
  func targets(
    of owners: Set<ObjectPlace>,
    by links: [RelationshipLayout],
    among objects: Set<ObjectPlace>
  ) throws -> Set<ObjectPlace>
  /// The relationships with references that wait from earlier imports, as `Entity.relationship`, with
  /// the parts of their targets' key: each pair of the two once.
  func pendingRelationships() throws -> [(name: String, key: [String])]

  /// An object is written, with the links that can be resolved by then.
  ///
  /// - Returns: Whether it is there still: a hook may have deleted it.
  /// - Throws: `RecordStop.hook`, `RecordStop.taken`.
  func didWrite(_ object: Int, key: Int64, _ plan: EntityPlan, in batch: DraftBatch) throws -> Bool
  /// A record is applied to an object, or leaves it alone.
  func didApply(_ key: Int64, of entity: EntityLayout, ordinal: Int)

  /// Whether the object of each record is to be known.
  var namesObjects: Bool { get }
  /// Whether the backend remembers what the feed has.
  var isPruning: Bool { get }
  /// Remembers that the feed has an object.
  func see(_ key: Int64, of entity: EntityLayout) throws
  /// Remembers which sources brought the records of a batch.
  func cover(_ batch: DraftBatch, _ plan: ImportPlan)
  /// A record is held until the end; an owner of references that wait is counted as unchanged until then, or
  /// is not: what an import that is resumed has to know.
  func keep(held ordinal: Int) throws
  func keep(_ owner: ObjectPlace, unchanged: UnchangedOwner?) throws
  /// Whether somebody is told of every change.
  var isObserved: Bool { get }
  /// Tells of what was changed since the last time, by the record that stands there.
  func tell(at origin: Origin?) throws
}

extension DraftBackend {
  func prepare(for plan: ImportPlan) throws {}
  func begin(_ batch: DraftBatch, _ plan: ImportPlan) throws {}
  func end() {}
  func abandon() {}
  var mayTry: Bool { true }
  var isLoading: Bool { false }
  func isLoading(_ table: String) -> Bool { false }
  var loadChangeCount: Int { 0 }
  func endLoads() throws {}
  func didWrite(
    _ object: Int,
    key: Int64,
    _ plan: EntityPlan,
    in batch: DraftBatch
  ) throws -> Bool { true }
  func didApply(_ key: Int64, of entity: EntityLayout, ordinal: Int) {}
  var namesObjects: Bool { true }
  var isPruning: Bool { false }
  func see(_ key: Int64, of entity: EntityLayout) throws {}
  func cover(_ batch: DraftBatch, _ plan: ImportPlan) {}
  func keep(held ordinal: Int) throws {}
  func keep(_ owner: ObjectPlace, unchanged: UnchangedOwner?) throws {}
  var isObserved: Bool { false }
  func tell(at origin: Origin?) throws {}
}

/// An object that is counted as unchanged as long as its references wait: its entity, and whether it is the
/// object of a record.
typealias UnchangedOwner = (entity: String, isTop: Bool)

/// The values of a row, on their way.
typealias RowValues = UnsafeBufferPointer<RowValue>

/// What writes rows, and tells of the last one what it met; what each means stands at `EntityWriter`.
protocol DraftWriter: AnyObject {
  func write(_ row: RowValues, arena: UnsafeRawPointer) throws -> EntityWriter.Outcome
  func write(_ row: RowValues, arena: UnsafeRawPointer, reserved: Int64?) throws
    -> EntityWriter.Outcome
  func isUndecided(_ row: RowValues, arena: UnsafeRawPointer, isTombstone: Bool) throws -> Bool
  var isLoadable: Bool { get }
  func openLoad() throws
  func reserveKey() -> Int64?
  func find(_ row: RowValues, arena: UnsafeRawPointer) throws -> EntityWriter.Outcome
  func delete(_ row: RowValues, arena: UnsafeRawPointer) throws -> EntityWriter.Outcome
  func keeps(_ row: RowValues, arena: UnsafeRawPointer) throws -> Bool
  var key: Int64? { get }
  func previous(_ column: Int) -> Int64?
  func target(_ number: Int) -> Int64?
  var former: [(column: String, value: StoredValue)] { get }
  /// Whether this import made the object.
  func isMade(_ key: Int64) -> Bool
}

extension DraftWriter {
  func write(
    _ row: RowValues,
    arena: UnsafeRawPointer,
    reserved: Int64?
  ) throws -> EntityWriter.Outcome {
    try write(row, arena: arena)
  }
  func isUndecided(_ row: RowValues, arena: UnsafeRawPointer, isTombstone: Bool) throws -> Bool {
    false
  }
  var isLoadable: Bool { false }
  func openLoad() throws {}
  func reserveKey() -> Int64? { nil }
}

/// What stores the links of one relationship, at once or many together; what each means stands at
/// `LinkStage`.
protocol DraftStage: AnyObject {
  var plan: LinkStage.Plan { get }
  var name: String { get }

  // What is staged, where links are stored together.
  var isEmpty: Bool { get }
  var hasUnlinked: Bool { get }
  /// Whether some targets are named by a key that an object may lose.
  var namesByOtherKeys: Bool { get }
  func holds(_ owner: Int64) -> Bool
  func number(of owner: Int64, lacking target: Int64) -> Int?
  func holds(
    _ list: some Collection<LinkStage.Listed>,
    of owner: Int64,
    _ isSame: (Int, Int) -> Bool
  ) -> Bool
  func isClaimed(_ key: RowValues, arena: UnsafeRawPointer, byOthersThan owner: Int64) -> Bool
  func isClaimed(_ target: Int64, by owner: Int64) -> Bool
  func dropDeleted() throws
  /// Which targets nobody has, where the links are a column of theirs.
  func withoutOwner(among keys: [Int64]) throws -> [Int64]
  func bumpVersions(of keys: [Int64]) throws
  func forgetAll()
  func forget(_ owner: Int64)
  func skipPlace()

  // A list: its owner, its targets by their primary keys and by their own, and then all of it.
  func begin(
    _ owner: Int64,
    isNew: Bool,
    number: Int,
    list: some Collection<LinkStage.Listed>
  ) throws
  func add(_ owner: Int64, position: Int, target: Int64, _ standing: LinkStage.Standing) throws
  func add(
    _ owner: Int64,
    position: Int,
    key: RowValues,
    arena: UnsafeRawPointer,
    at place: LinkStage.ReferencePlace
  ) throws
  func flush(origin: (LinkStage.ReferencePlace) -> WaitingPlace) throws -> LinkStage.Outcome

  // References that wait.
  func wait(_ owner: Int64, key: RowValues, arena: UnsafeRawPointer, at place: WaitingPlace) throws
  func forgetTarget(of owner: Int64) throws
  /// Whether an owner has references of this import that wait.
  func waits(_ owner: Int64) throws -> Bool
  func endWaiting(for key: [StoredValue], before ordinal: Int) throws
  func mark()
  func undo()
  var isWaiting: Bool { get }
  func adoptPending() throws
  func finish(
    _ policy: LinkStage.Unresolved,
    exampleCount: Int,
    asking isAsked: @escaping (Int64) -> Bool
  ) throws -> LinkStage.Finish
  func dropLinked() throws
}

extension DraftStage {
  var isEmpty: Bool { true }
  var hasUnlinked: Bool { false }
  var namesByOtherKeys: Bool { false }
  func holds(_ owner: Int64) -> Bool { false }
  func number(of owner: Int64, lacking target: Int64) -> Int? { nil }
  func holds(
    _ list: some Collection<LinkStage.Listed>,
    of owner: Int64,
    _ isSame: (Int, Int) -> Bool
  ) -> Bool { false }
  func isClaimed(_ key: RowValues, arena: UnsafeRawPointer, byOthersThan owner: Int64) -> Bool {
    false
  }
  func isClaimed(_ target: Int64, by owner: Int64) -> Bool { false }
  func dropDeleted() throws {}
  func bumpVersions(of keys: [Int64]) throws {}
  func forgetAll() {}
  func forget(_ owner: Int64) {}
  func skipPlace() {}
  func adoptPending() throws {}

  /// How many values a reference has.
  var keyCount: Int { plan.key.count }
  /// Whether an owner may have a target several times.
  var allowsRepeats: Bool { plan.link.relationship.allowsRepeats }
  /// Whether the links have a table of their own, so that the owner's row does not change with them.
  var isTable: Bool {
    if case .joinTable = plan.link.storage { true } else { false }
  }
}
