import DragomanGraph

/// The writing half of an import into a context: every record becomes an object, whose unsaved
/// changes are those of the context.
///
/// It means the same as `StoreSink` and reports the same; what it adds is that hooks run, that
/// unsaved changes of the context and of those above are seen, and that objects come back.
/// `ContextSink+Objects` writes the objects of a record, `ContextSink+Links` their links, and
/// `ContextSink+Waiting` those whose targets are not there yet.
final class ContextSink: CountingSink {
  let context: ManagedObjectContext
  let code: ImportCode
  /// What happens to objects that exist; nil is the map's word.
  let mode: EntityWriter.Mode?
  let maximumRejects: Int?
  /// The counts so far.
  var counts = ImportLedgerEntry.Counts()
  var entities: [String: ImportReport.EntityCounts] = [:]
  var relationships: [String: ImportReport.RelationshipCounts] = [:]
  var issues = IssueLog()
  var contradictions = Contradictions<ObjectID>()
  /// Objects that the import made.
  var made: Set<ObjectID> = []
  private var named: [ObjectID] = []
  private var known: Set<RowKey> = []
  private var deleted: Set<ObjectID> = []
  private var targets: [String: ContextTarget] = [:]
  /// What objects of the record at hand came to.
  var written: [Written] = []
  /// The only object that records may be applied to, whatever their key.
  var only: ManagedObject?
  /// References to objects that are not there yet, by owner and relationship; later ones replace
  /// earlier ones.
  var waiting: [WaitingLink.Place: WaitingLink] = [:]
  var waitingOfRecord: [WaitingLink.Place: [WaitingLink]] = [:]
  /// What the record at hand says in place of references that wait.
  var forgottenOfRecord: [WaitingLink.Place] = []

  /// An object that was written.
  struct Written {
    let id: ObjectID
    let plan: String
    let isTop: Bool
    var outcome: EntityWriter.Outcome

    init(
      _ object: ManagedObject,
      _ target: ContextTarget,
      isTop: Bool,
      _ outcome: EntityWriter.Outcome
    ) {
      id = object.objectID
      plan = target.plan.name
      self.isTop = isTop
      self.outcome = outcome
    }
  }

  /// Why a record is not applied: everything it did is undone.
  enum Stop: Error {
    /// A rule refuses an object, by its index.
    case refused(object: Int, EntityWriter.Outcome)
    /// The record's object is left alone.
    case skipped(RowKey)
    /// A hook refuses the record.
    case hook(object: Int, any Error)
  }

  init(
    _ context: ManagedObjectContext,
    code: ImportCode,
    mode: EntityWriter.Mode?,
    maximumRejects: Int?
  ) {
    self.context = context
    self.code = code
    self.mode = mode
    self.maximumRejects = maximumRejects
  }

  /// Applies the records of a batch, in their order.
  ///
  /// - Throws: `StoreError`, `ContextError`, or `ImportError` where more records were rejected than
  ///   is admitted.
  func apply(_ batch: DraftBatch) throws {
    guard let plan = batch.plan else { return }
    // What went wrong before the import is no record's fault.
    try context.throwRecordedError()
    try probe(batch, plan)
    defer { context.forgetProbes() }
    var reported = 0
    for (index, draft) in batch.drafts.enumerated() {
      counts.read += 1
      switch draft {
      case .row(let object): try write(object, record: index, in: batch, plan)
      case .tombstone(let object): try delete(object, record: index, in: batch, plan)
      case .reject(let issue):
        for passedOver in batch.issues[reported..<issue] { issues.add(passedOver) }
        reported = issue + 1
        try countReject(batch.issues[issue])
      }
    }
    for passedOver in batch.issues[reported...] { issues.add(passedOver) }
    for (group, count) in batch.repeatedIssues { issues.add(count, of: group) }
  }

  /// The report of everything applied so far.
  func report() -> ImportReport {
    var report = ImportReport()
    report.counts = counts
    report.entities = entities.filter { $0.value != .init() }
    report.relationships = relationships.filter { $0.value != .init() }
    report.issues = issues.groups
    report.status = counts.rejected > 0 ? .rejected : .done
    return report
  }

  /// The object of each record that was applied, once, at its first appearance; those that a later
  /// record deleted are left out.
  var objects: [ObjectID] {
    deleted.isEmpty ? named : named.filter { !deleted.contains($0) }
  }

  /// Where the objects of a plan go.
  func target(of plan: EntityPlan) throws -> ContextTarget {
    if let known = targets[plan.name] { return known }
    let made = try ContextTarget(plan, in: context.layout)
    targets[plan.name] = made
    return made
  }

  /// Looks up the keys of a batch's objects at once.
  private func probe(_ batch: DraftBatch, _ plan: ImportPlan) throws {
    guard only == nil else { return }
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    var keys: [String: [[StoredValue]]] = [:]
    for object in batch.objects {
      let entity = plan.entities[object.plan]
      guard let slots = try target(of: entity).keySlots else { continue }
      keys[entity.name, default: []].append(
        slots.map { batch.values[object.start + $0].stored(in: arena) }
      )
    }
    for (name, values) in keys {
      guard let target = targets[name], let key = target.entity.uniqueKeys.first else { continue }
      try context.probe(target.entity, key, values)
    }
  }

  // MARK: - Records

  private func write(
    _ object: Int,
    record index: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    written.removeAll(keepingCapacity: true)
    waitingOfRecord.removeAll(keepingCapacity: true)
    forgottenOfRecord.removeAll(keepingCapacity: true)
    contradictions.begin()
    let start = context.beginRecord()
    let linksBefore = relationships
    do {
      let made = try write(object, in: batch, plan, under: nil, isNested: false)
      try context.throwRecordedError()
      end(since: start)
      contradictions.keep(in: &issues)
      for object in written where object.outcome == .inserted { self.made.insert(object.id) }
      note(made.place)
      for place in forgottenOfRecord { waiting[place] = nil }
      keepWaiting()
      for object in written { count(object.outcome, of: object.plan, isTop: object.isTop) }
    } catch let stop as Stop {
      context.undoRecord(start)
      relationships = linksBefore
      switch stop {
      case .skipped(let place):
        note(place)
        counts.skipped += 1
      case .refused(let refused, let outcome):
        let entity = plan.entities[batch.objects[refused].plan]
        let origin = origin(of: refused, record: index, in: batch)
        let issue = OutcomeIssue.describe(outcome, batch, object: refused, origin: origin, entity)
        if let issue { try countReject(issue) }
      case .hook(let refused, let error):
        let entity = plan.entities[batch.objects[refused].plan]
        let origin = origin(of: refused, record: index, in: batch)
        try countReject(OutcomeIssue.hook(error, batch, object: refused, origin: origin, entity))
      }
    } catch {
      context.undoRecord(start)
      throw error
    }
  }

  private func delete(
    _ object: Int,
    record index: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    let draft = batch.objects[object]
    let target = try target(of: plan.entities[draft.plan])
    let entity = plan.entities[draft.plan]
    guard let found = try existing(draft, target, in: batch, under: nil) else {
      count(.unchanged, of: entity.name, isTop: true)
      return
    }
    if try isOlder(draft, than: found, target, in: batch) {
      note(found.place)
      counts.skipped += 1
      return
    }
    let start = context.beginRecord()
    let denied: String?
    do {
      try context.delete(found)
      denied = try context.deniedRelationship(since: start)
    } catch {
      context.undoRecord(start)
      throw error
    }
    if let denied {
      context.undoRecord(start)
      let origin = origin(of: object, record: index, in: batch)
      try countReject(OutcomeIssue.denial(denied, batch, object: object, origin: origin, entity))
      return
    }
    end(since: start)
    count(.deleted, of: entity.name, isTop: true)
  }

  /// Keeps the references of the record that wait for the end.
  private func keepWaiting() {
    guard !waitingOfRecord.isEmpty else { return }
    let owners = Dictionary(written.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    for (place, links) in waitingOfRecord {
      for var link in links {
        if let owner = owners[place.owner], owner.outcome == .unchanged {
          link.isUnchangedTop = owner.isTop
        }
        if !link.plan.replaces, let earlier = waiting[place] {
          link.targets = earlier.joined(by: link.targets)
        }
        waiting[place] = link
      }
    }
  }

  /// What the record did stays.
  private func end(since start: Int) {
    deleted.formUnion(context.deletedObjects(since: start))
    context.endRecord()
  }

  private func note(_ place: RowKey) {
    guard known.insert(place).inserted else { return }
    let root = context.layout.entities[context.layout.tables[place.table].root]
    named.append(ObjectID(entity: root.name, primaryKey: place.key))
  }

  func origin(of object: Int, record index: Int, in batch: DraftBatch) -> Origin {
    OutcomeIssue.origin(of: object, record: index, in: batch)
  }
}

/// Where the objects of one plan go in a context.
final class ContextTarget {
  let plan: EntityPlan
  let entity: EntityLayout
  /// The column of each slot.
  let columns: [Int]
  /// The slots of the identity, where it consists of attributes that the plan feeds.
  let keySlots: [Int]?
  /// The columns of the identity.
  let keyColumns: [Int]
  /// The relationship of each link of the plan.
  let links: [RelationshipLayout]

  init(_ plan: EntityPlan, in layout: ModelLayout) throws {
    self.plan = plan
    guard let entity = layout.entity(named: plan.name) else {
      throw ImportError(.request, "The stack has no entity \(plan.name).")
    }
    self.entity = entity
    var columns: [Int] = []
    for slot in plan.slots {
      guard let place = entity.attributeSlot(named: slot.attribute.name) else {
        throw ImportError(
          .request,
          "The stack's \(plan.name) has no attribute \(slot.attribute.name)."
        )
      }
      columns.append(entity.attributeColumns[place])
    }
    self.columns = columns
    let key = entity.uniqueKeys.first.map(entity.columns) ?? []
    keyColumns = key
    let slots = key.compactMap { column in columns.firstIndex(of: column) }
    keySlots = !key.isEmpty && slots.count == key.count ? slots : nil
    var links: [RelationshipLayout] = []
    for link in plan.links {
      guard let slot = entity.linkSlot(named: link.name) else {
        throw ImportError(.request, "The stack's \(plan.name) has no relationship \(link.name).")
      }
      links.append(entity.relationships[slot])
    }
    self.links = links
  }
}
