import DragomanGraph

/// The rows of a store, written in bulk: no object is made.
///
/// Rows are written by `EntityWriter`, links stored by `LinkStage`; what the feed has is remembered
/// for pruning (`FeedPruning`), and who asked is told of changes (`RowBackend+Changes`).
final class RowBackend: DraftBackend {
  typealias Writer = EntityWriter
  typealias Stage = LinkStage

  static let isBulk = true
  let session: WriteSession
  let request: ImportRequest
  let changeLog: ChangeLog?
  /// Up to which place of the log who changed it, where only what all came to is told.
  var netMarks: [NetMark] = []
  /// Remembers what the feed has; nil where nothing is to be pruned.
  private let pruning: FeedPruning?
  /// Whether empty tables are loaded: what is in them is seen by others when all is.
  let mayLoad: Bool
  /// The objects that records were applied to, in their order; nil where nobody asks.
  private var applied: [(entity: EntityLayout, key: Int64)]?
  private var deleter: ObjectDeleter?
  private var savepoint: Savepoint?
  /// Whether the rows go on to a server, which cannot hold all that a file can.
  private let isForServer: Bool

  init(
    session: WriteSession,
    request: ImportRequest,
    changeLog: ChangeLog? = nil,
    pruning: FeedPruning? = nil,
    mayLoad: Bool = false,
    namesObjects: Bool = false,
    isForServer: Bool = false
  ) {
    self.isForServer = isForServer
    self.mayLoad = mayLoad
    applied = namesObjects ? [] : nil
    self.session = session
    self.request = request
    self.changeLog = changeLog
    self.pruning = pruning
  }

  var layout: ModelLayout { session.layout }

  func prepare(for plan: ImportPlan) throws {
    if plan.entities.contains(where: { $0.links.contains(where: \.deletesUnlinked) }) {
      _ = try madeDeleter()
    }
  }

  func writer(for rows: EntityStatements, isNested: Bool) throws -> EntityWriter {
    // Who observes is told record by record, and who asks for objects finds those that are there.
    let writer = try session.writer(for: rows, mayLoad: mayLoad && !isObserved && !namesObjects)
    writer.isForServer = isForServer
    return writer
  }

  var isLoading: Bool { session.loads.isOpen }

  var loadChangeCount: Int { session.loads.changeCount }

  func isLoading(_ table: String) -> Bool { session.loads.holds(table) }

  func endLoads() throws { try session.loads.end() }

  func stage(_ plan: LinkStage.Plan) throws -> LinkStage { try session.stage(plan) }

  func begin() throws {
    let savepoint = try self.savepoint ?? session.savepoint()
    self.savepoint = savepoint
    try savepoint.begin()
  }

  func release() throws { try savepoint?.release() }

  func undo() throws { try savepoint?.undo() }

  func exists(_ reference: KeyReference, _ values: [StoredValue]) throws -> Bool {
    try session.exists(reference, values)
  }

  func delete(_ objects: [(key: Int64, entity: EntityLayout)]) throws -> ObjectDeleter.Outcome {
    let deleter = try madeDeleter()
    for (key, entity) in objects { try deleter.mark(key, of: entity) }
    return try deleter.delete()
  }

  func targets(
    of owners: Set<ObjectPlace>,
    by links: [RelationshipLayout],
    among objects: Set<ObjectPlace>
  ) throws -> Set<ObjectPlace> {
    let owners = Dictionary(grouping: owners, by: \.root)
    let objects = Dictionary(grouping: objects, by: \.root)
    var found: Set<ObjectPlace> = []
    for link in links {
      let root = layout.entities[link.destination].root
      guard let owners = owners[layout.entities[link.owner].root], let objects = objects[root]
      else { continue }
      let keys = try session.targets(of: owners.map(\.key), by: link, among: objects.map(\.key))
      found.formUnion(keys.map { ObjectPlace(root, $0) })
    }
    return found
  }

  var namesObjects: Bool { isPruning || applied != nil }

  func didApply(_ key: Int64, of entity: EntityLayout, ordinal: Int) {
    applied?.append((entity, key))
  }

  /// The objects that records were applied to, each once, at its first appearance.
  var objects: [ObjectID] {
    guard let applied else { return [] }
    let places = applied.map { RowKey(table: $0.entity.tableIndex, key: $0.key) }
    // New objects are: their keys ascend.
    let areDistinct = zip(places, places.dropFirst()).allSatisfy {
      $0.table == $1.table && $0.key < $1.key
    }
    var known: Set<RowKey> = []
    return zip(applied, places).compactMap { object, place in
      guard areDistinct || known.insert(place).inserted else { return nil }
      return ObjectID(entity: object.entity.rootName, primaryKey: object.key)
    }
  }

  var isPruning: Bool { pruning != nil }

  func cover(_ batch: DraftBatch, _ plan: ImportPlan) { pruning?.cover(batch, plan) }

  func see(_ key: Int64, of entity: EntityLayout) throws { try pruning?.see(key, of: entity) }

  func madeDeleter() throws -> ObjectDeleter {
    if let deleter { return deleter }
    let made = try session.deleter()
    deleter = made
    return made
  }

  func keep(held ordinal: Int) throws {
    if session.keepsRun { try session.keep(held: ordinal) }
  }

  func keep(_ owner: ObjectPlace, unchanged: UnchangedOwner?) throws {
    guard session.keepsRun else { return }
    let kept = KeptRun.UnchangedOwner(
      root: owner.root,
      key: owner.key,
      entity: unchanged?.entity ?? "",
      isTop: unchanged?.isTop ?? false
    )
    try session.keep(kept, isUnchanged: unchanged != nil)
  }

  func pendingRelationships() throws -> [(name: String, key: [String])] {
    try session.pendingRelationships()
  }
}

extension EntityWriter: DraftWriter {
  // Keys are given in order.
  func isMade(_ key: Int64) -> Bool { key >= firstKey }
}

extension LinkStage: DraftStage {
  var isWaiting: Bool { waitingCount > 0 }
}
