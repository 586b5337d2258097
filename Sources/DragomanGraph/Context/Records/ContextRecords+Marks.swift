/// What an import says of objects besides their values: stubs, sub-entities, references that wait.
///
/// All of it is unsaved like the values are, and is undone, merged and stored with them.
extension ContextRecords {
  /// The object at a place, which may turn out not to exist.
  package func object(at place: RowKey) throws -> ManagedObject {
    try context.register(place, layout.entities[layout.tables[place.table].root])
  }

  /// Whether an object holds its key only.
  ///
  /// Reads the row of a stored one.
  package func isStub(_ object: ManagedObject) throws -> Bool {
    guard object.layout.hasStubColumn else { return false }
    let place = object.place
    if let known = context.overlay[place]?.mark?.isStub ?? context.changeAbove(place)?.mark?.isStub
    {
      return known
    }
    if object.status == .inserted { return false }
    return try context.read { try !$0.stubs(among: [place.key], of: place.table).isEmpty }
  }

  /// Makes an object of a key that holds nothing else.
  package func insertStub(
    of entity: EntityLayout,
    _ values: [(column: Int, value: StoredValue)]
  ) throws -> ManagedObject {
    var change = RowChange(.inserted, entity.index)
    for (slot, attribute) in entity.attributes.enumerated() {
      if let value = attribute.defaultValue {
        change.values[entity.attributeColumns[slot]] = value
      }
    }
    for (column, value) in values { change.values[column] = value }
    change.mark = RowMark(isStub: true)
    return try context.insert(entity, change)
  }

  /// A record has completed a stub.
  package func completeStub(_ object: ManagedObject) { mark(object) { $0.isStub = false } }

  /// An object that was known by a more general entity becomes one of a more special one.
  package func specialize(_ object: ManagedObject, to entity: EntityLayout) {
    object.layout = entity
    mark(object) { $0.isSpecialized = true }
  }

  /// The references that wait, stored or not.
  package func waitingReferences() throws -> [WaitingReference] {
    let marks = context.overlay.read { changes in changes.marked.compactMap { changes[$0]?.mark } }
    let resolved = Set(marks.flatMap(\.resolved).map(\.id))
    let stored = try context.read { try $0.waitingReferences() }
    return stored.filter { !resolved.contains($0.id) } + marks.flatMap(\.waits)
  }

  /// Lets a reference wait from now on.
  package func wait(_ reference: WaitingReference) throws {
    try mark(object(at: reference.owner)) { mark in
      if let known = mark.resolved.firstIndex(where: { $0.isSame(as: reference) }) {
        mark.resolved.remove(at: known)
      } else {
        mark.waits.append(reference)
      }
    }
  }

  /// A reference does not wait any more.
  package func forget(_ reference: WaitingReference) throws {
    try mark(object(at: reference.owner)) { mark in
      if reference.id != nil {
        mark.resolved.append(reference)
      } else {
        mark.waits.removeAll { $0 == reference }
      }
    }
  }

  /// The imports in batches that are not at their end besides the one that is open here; nil: no transaction is open.
  package func otherRuns() throws -> OtherRuns? { try context.importing.session?.otherRuns() }

  /// What some owners, by relationship, wait for in those is not waited for any more.
  package func endWaiting(_ owners: [String: Set<Int64>], in runs: [String]) throws {
    try context.importing.session?.endWaiting(owners, in: runs)
  }

  private func mark(_ object: ManagedObject, _ say: (inout RowMark) -> Void) {
    guard !object.isDeleted else { return }
    let layout = object.layout
    var isPut = false
    while !isPut {
      let settles = context.overlay.settles
      context.tryFire(object)
      var change = context.own(object) ?? context.emptyUpdate(of: object)
      var mark = change.mark ?? RowMark()
      say(&mark)
      change.mark = mark.isEmpty ? nil : mark
      change.entity = Int32(layout.index)
      object.layout = layout
      // Where what was said is taken back, there may be nothing to store any more.
      let isOver = change.isEmptyUpdate && !context.hasOwnLinks(object)
      isPut = context.put(isOver ? nil : change, object, ifSettles: settles)
    }
  }
}
