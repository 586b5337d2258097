import DragomanGraph

/// The objects of a context: every record becomes one, whose unsaved changes are those of the context.
///
/// What it adds to rows is that hooks run, that unsaved changes of the context and of those above are
/// seen, and that objects come back.
///
/// Large because it notes, for what is undone with a record, what the context does not.
final class ObjectBackend: DraftBackend {
  typealias Writer = ObjectWriter
  typealias Stage = ObjectStage

  static let isBulk = false
  let context: ManagedObjectContext
  private let code: ImportCode
  private let pruning: FeedPruning?
  /// The only object that records may be applied to, whatever their key.
  let only: ManagedObject?
  /// Objects that the import made.
  private(set) var made: Set<RowKey> = []
  /// By relationship, how many links another owner lost to objects of the record at hand.
  var moved: [Int: Int] = [:]
  /// By relationship, the owners whose references of earlier imports do not wait any more.
  var forgotten: [Int: Set<Int64>] = [:]
  /// Whether the objects of records are listed for who asks for them.
  private let listsObjects: Bool
  private var named: [(place: RowKey, ordinal: Int)] = []
  private var known: Set<RowKey> = []
  private var deleted: Set<ObjectID> = []
  /// Where the record at hand begins; nil: there is none.
  private var start: Int?
  private var probes: [String: Probe] = [:]
  /// How the targets of a relationship are looked up, by its number; nil: by keys that are objects themselves.
  private var references: [Int: Probe?] = [:]
  private var waiting: [WaitingReference]?
  /// What other imports let wait.
  let others: OtherWaiting
  private var hasLooked = false
  /// Whether what waits is kept from batch to batch, so that these can be committed.
  let keepsWaiting: Bool
  /// What an earlier part of the import has kept, by relationship.
  var keptLists: [String: [(owner: Int64, text: String)]] = [:]
  private var stages: [ObjectStage] = []
  /// Owners that are counted as unchanged as long as they wait, or no more, since that was kept.
  private var owners: [ObjectPlace: UnchangedOwner?] = [:]

  /// The batch behind the one at hand, if it is there already; nil: batches are not looked up ahead.
  var following: (() -> DraftBatch?)?
  /// What is looked up for the batch behind the one at hand.
  private var ahead: (batch: DraftBatch, keys: BatchKeys)?
  /// Records since the server was last listened to.
  private var quietCount = 0

  /// The keys of what a batch is about.
  private struct BatchKeys {
    /// Of objects, by entity.
    var objects: [String: [[StoredValue]]] = [:]
    /// Of targets, by the number of the relationship.
    var references: [Int: Set<[StoredValue]>] = [:]
  }

  /// What of a plan's objects is looked up beforehand.
  private struct Probe {
    let entity: EntityLayout
    let key: [EntityLayout.KeyPart]
    let slots: [Int]
  }

  init(
    _ context: ManagedObjectContext,
    code: ImportCode,
    only: ManagedObject? = nil,
    pruning: FeedPruning? = nil,
    keepsWaiting: Bool = false,
    listsObjects: Bool = true
  ) {
    self.context = context
    others = OtherWaiting(context)
    self.listsObjects = listsObjects
    self.keepsWaiting = keepsWaiting
    self.pruning = pruning
    self.code = code
    self.only = only
  }

  var layout: ModelLayout { context.layout }

  /// The object of each record that was applied, once, at its first appearance; those that a later
  /// record deleted are left out.
  var objects: [ObjectID] {
    named.sorted { $0.ordinal < $1.ordinal }.map { id(of: $0.place) }
      .filter { !deleted.contains($0) }
  }

  private func id(of place: RowKey) -> ObjectID {
    let root = layout.entities[layout.tables[place.table].root]
    return ObjectID(entity: root.name, primaryKey: place.key)
  }

  // MARK: - Batches

  /// Looks up the keys of a batch's objects at once, and those that it refers to.
  func begin(_ batch: DraftBatch, _ plan: ImportPlan) throws {
    // What went wrong before the import is no record's fault.
    try context.throwRecorded()
    try lookForOthers(plan)
    guard only == nil else { return }
    let known = ahead.flatMap { $0.batch === batch ? $0.keys : nil }
    ahead = nil
    let keys = try known ?? self.keys(of: batch, plan)
    for (name, values) in keys.objects {
      if let probe = probes[name] { try context.finder.probe(probe.entity, probe.key, values) }
    }
    for (link, values) in keys.references {
      guard let probe = self.references[link] ?? nil else { continue }
      try context.finder.probe(probe.entity, probe.key, Array(values))
    }
    try lookAhead()
  }

  /// Looks who else lets references wait, once a transaction.
  private func lookForOthers(_ plan: ImportPlan) throws {
    guard keepsWaiting || !hasLooked,
      plan.entities.contains(where: { $0.links.contains { $0.reference != nil } })
    else { return }
    hasLooked = true
    guard try others.look() else { return }
    forgetAdopted()
  }

  /// Asks for the objects of the next batch, while this one is applied: those of the entity that has most of them.
  private func lookAhead() throws {
    guard let next = following?(), let plan = next.plan else { return }
    let keys = try keys(of: next, plan)
    ahead = (next, keys)
    guard let (name, values) = keys.objects.max(by: { $0.value.count < $1.value.count }),
      let probe = probes[name]
    else { return }
    try context.finder.ask(probe.entity, probe.key, values)
  }

  private func keys(of batch: DraftBatch, _ plan: ImportPlan) throws -> BatchKeys {
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    var found = BatchKeys()
    for object in batch.objects {
      let entity = plan.entities[object.plan]
      for link in object.links.map({ batch.links[$0] }) {
        let target = entity.links[link.slot]
        guard let probe = try reference(by: target, plan.model) else { continue }
        for case .key(let start, _) in link.targets.map({ batch.targets[$0] }) {
          let values = probe.key.indices.map { batch.values[start + $0].stored(in: arena) }
          found.references[target.layout.id, default: []].insert(values)
        }
      }
      let probe = try probe(of: entity)
      guard !probe.slots.isEmpty else { continue }
      found.objects[entity.name, default: []].append(
        probe.slots.map { batch.values[object.start + $0].stored(in: arena) }
      )
    }
    return found
  }

  private func reference(by link: LinkPlan, _ model: ModelLayout) throws -> Probe? {
    if let known = references[link.layout.id] { return known }
    let entity = try entity(named: model.entities[link.layout.destination].name)
    let names = link.reference?.columns.map { Array($0.name.utf8) }
    let key = entity.uniqueKeys.first { $0.map { Array($0.name.utf8) } == names }
    let isPlain = key?.allSatisfy { if case .attribute = $0.property { true } else { false } }
    let made = key.flatMap { isPlain == true ? Probe(entity: entity, key: $0, slots: []) : nil }
    references[link.layout.id] = .some(made)
    return made
  }

  private func probe(of plan: EntityPlan) throws -> Probe {
    if let known = probes[plan.name] { return known }
    let entity = try entity(named: plan.name)
    let key = entity.uniqueKeys.first ?? []
    let slots = key.compactMap { part in
      plan.slots.firstIndex { $0.attribute.column.utf8.elementsEqual(part.column.utf8) }
    }
    let made = Probe(entity: entity, key: key, slots: slots.count == key.count ? slots : [])
    probes[plan.name] = made
    return made
  }

  private func entity(named name: String) throws -> EntityLayout {
    if let entity = layout.entity(named: name) { return entity }
    throw ImportError(.request, "The stack has no entity \(name).")
  }

  var isPruning: Bool { pruning != nil }

  func cover(_ batch: DraftBatch, _ plan: ImportPlan) { pruning?.cover(batch, plan) }

  func see(_ key: Int64, of entity: EntityLayout) throws { try pruning?.see(key, of: entity) }

  func end() { context.finder.forgetProbes() }

  func writer(for rows: EntityStatements, isNested: Bool) throws -> ObjectWriter {
    ObjectWriter(rows, isNested: isNested, of: self)
  }

  func stage(_ plan: LinkStage.Plan) throws -> ObjectStage {
    let stage = ObjectStage(plan, of: self)
    stages.append(stage)
    if let kept = keptLists.removeValue(forKey: stage.name) { try stage.restore(kept) }
    return stage
  }

  // MARK: - Records

  func begin() throws {
    moved.removeAll()
    others.mark()
    start = context.records.beginRecord()
  }

  func release() throws {
    try context.throwRecorded()
    guard let start else { return }
    deleted.formUnion(context.records.deletedObjects(since: start))
    context.records.endRecord()
    self.start = nil
    guard ahead != nil else { return }
    quietCount += 1
    if quietCount % 64 == 0 { context.finder.listen() }
  }

  func undo() throws { abandon() }

  func abandon() {
    if let start { context.records.undoRecord(start) }
    others.undo()
    start = nil
  }

  /// Hooks may do what nobody undoes.
  var mayTry: Bool { code.entities.values.allSatisfy { $0.postImport == nil } }

  func didApply(_ key: Int64, of entity: EntityLayout, ordinal: Int) {
    guard listsObjects else { return }
    let place = RowKey(table: entity.tableIndex, key: key)
    if known.insert(place).inserted { named.append((place, ordinal)) }
  }

  func didMake(_ object: ManagedObject) { made.insert(object.place) }

  func didWrite(
    _ object: Int,
    key: Int64,
    _ plan: EntityPlan,
    in batch: DraftBatch
  ) throws -> Bool {
    guard let hook = code.entity(plan.name).postImport else { return true }
    let written = try self.object(key, of: plan.layout)
    let before = context.records.length
    do {
      guard context.records.depth <= Self.deepestHook else {
        throw ImportError(
          .request,
          "Hooks import records in one another more than \(Self.deepestHook) levels deep.",
          help: "does a hook import the record that it was called for?"
        )
      }
      try hook(batch.record(of: object), written)
      try context.throwRecorded()
      // What the record says was checked when it was mapped.
      try context.records.validate(since: before)
    } catch {
      // What else it did wrong is no fault of the records behind it.
      context.forgetRecorded()
      throw RecordStop.hook(object: object, error)
    }
    if let clash = try context.records.clash(since: before) {
      throw RecordStop.taken(object: object, by: clash.object.entityName, clash.columns)
    }
    return !written.isDeleted
  }

  /// How deep hooks may import records whose hooks import: each level has its share of the thread's stack.
  private static let deepestHook = 100

  func delete(_ objects: [(key: Int64, entity: EntityLayout)]) throws -> ObjectDeleter.Outcome {
    var outcome = ObjectDeleter.Outcome()
    let isAlone = start == nil
    if isAlone { try begin() }
    guard let start else { return outcome }
    do {
      for (key, entity) in objects {
        let gone = try context.deleteCounting(object(key, of: entity))
        outcome.deleted.merge(gone, uniquingKeysWith: +)
      }
      outcome.denied = try context.records.deniedRelationship(since: start)
      if isAlone {
        if outcome.denied == nil { try release() } else { abandon() }
      }
      return outcome
    } catch {
      if isAlone { abandon() }
      throw error
    }
  }

  func targets(
    of owners: Set<ObjectPlace>,
    by links: [RelationshipLayout],
    among objects: Set<ObjectPlace>
  ) throws -> Set<ObjectPlace> {
    var found: Set<ObjectPlace> = []
    for owner in owners {
      let object = try self.object(owner.key, of: layout.entities[owner.root])
      guard !object.isDeleted else { continue }
      for link in links where object.layout.relationships.contains(link) {
        let root = layout.entities[link.destination].root
        let targets = try context.links.targets(of: link, object)
        found.formUnion(targets.map { ObjectPlace(root, $0.place.key) })
      }
    }
    return found.intersection(objects)
  }

  // MARK: - Objects

  func object(_ key: Int64, of entity: EntityLayout) throws -> ManagedObject {
    try context.records.object(at: RowKey(table: entity.tableIndex, key: key))
  }

  func exists(_ reference: KeyReference, _ values: [StoredValue]) throws -> Bool {
    try find(reference.entity, reference.columns.map(\.name), values) != nil
  }

  /// Finds an object by a key as references give it: a to-one by the key of its target.
  func find(
    _ entity: EntityLayout,
    _ names: [String],
    _ values: [StoredValue]
  ) throws -> ManagedObject? {
    let entity = try self.entity(named: entity.name)
    let wanted = names.map { Array($0.utf8) }
    guard let key = entity.uniqueKeys.first(where: { $0.map { Array($0.name.utf8) } == wanted }),
      let stored = try stored(values, of: key, entity)
    else { return nil }
    return try context.finder.find(entity, key, stored.map(\.value))
  }

  /// A key as columns have it, given as references have it; nil where a part is the key of nobody.
  func stored(
    _ values: [StoredValue],
    of key: [EntityLayout.KeyPart],
    _ entity: EntityLayout
  ) throws -> [(column: Int, value: StoredValue)]? {
    var found: [(column: Int, value: StoredValue)] = []
    for (column, (part, value)) in zip(entity.columns(key), zip(key, values)) {
      guard case .relationship(let slot) = part.property else {
        if value == .null { return nil }
        found.append((column, value))
        continue
      }
      let target = layout.entities[entity.relationships[slot].destination]
      guard let identity = target.uniqueKeys.first,
        let object = try find(target, identity.map(\.name), [value])
      else { return nil }
      found.append((column, .integer(object.place.key)))
    }
    return found
  }

  // MARK: - References that wait

  /// The references of earlier imports that wait.
  func waitingReferences() throws -> [WaitingReference] {
    if let waiting { return waiting }
    let found = try context.records.waitingReferences()
    waiting = found
    return found
  }

  /// Reads them again when they are asked for, without those that were forgotten.
  func forgetAdopted() {
    waiting = nil
    forgotten.removeAll()
    for stage in stages { stage.forgetAdopted() }
  }

  func keep(_ owner: ObjectPlace, unchanged: UnchangedOwner?) {
    if keepsWaiting { owners[owner] = .some(unchanged) }
  }

  /// The lists that wait, or wait no more, since they were taken last.
  func takeChangedLists() throws -> [(relationship: String, owner: Int64, text: String?)] {
    try stages.flatMap { stage in
      try stage.takeChanged().map { (stage.name, $0.owner, $0.text) }
    }
  }

  /// The owners that are counted as unchanged, or no more, since they were taken last.
  func takeUnchanged() -> [KeptRun.UnchangedOwner] {
    defer { owners.removeAll(keepingCapacity: true) }
    return owners.map { place, unchanged in
      KeptRun.UnchangedOwner(
        root: place.root,
        key: place.key,
        entity: unchanged?.entity ?? "",
        isTop: unchanged?.isTop ?? false
      )
    }
  }

  func pendingRelationships() throws -> [(name: String, key: [String])] {
    let found = Set(
      try waitingReferences().map { reference in
        ([reference.relationship] + reference.key.map(\.name)).map { Array($0.utf8) }
      }
    )
    return found.map { names in
      let texts = names.map { String(decoding: $0, as: UTF8.self) }
      return (texts[0], Array(texts.dropFirst()))
    }
  }
}
