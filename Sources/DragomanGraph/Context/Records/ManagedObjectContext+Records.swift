/// Records of an import, which are undone whole or kept whole.
extension ManagedObjectContext {
  /// From now on what is done can be undone.
  ///
  /// - Returns: Where the record begins, for `undoRecord`; records may be nested, by hooks that
  ///   import.
  package func beginRecord() -> Int {
    overlay.beginRecord()
    importing.recordCount += 1
    return importing.log.count
  }

  /// What was done since the record began stays, unless a record around it is undone.
  package func endRecord() {
    overlay.endRecord()
    importing.recordCount -= 1
    if importing.recordCount == 0 { importing.log = [] }
  }

  /// Undoes everything since the record began, and ends it: what is unsaved is what it was then.
  package func undoRecord(_ start: Int) {
    guard importing.recordCount > 0 else { return }
    let places = Set(importing.log.dropFirst(start).map(\.place))
    let before = overlay.changes
    for place in places { importing.keys?.remove(place, in: self) }
    overlay.undo()
    importing.recordCount -= 1
    importing.log.removeLast(importing.log.count - start)
    for place in places {
      let now = overlay[place]
      if let object = registered(place) { restore(object, before[place], now) }
      if let now, now.kind != .deleted { importing.keys?.insert(place, in: self) }
      noteRollback(of: place, before[place]?.kind, now?.kind)
    }
  }

  /// Does all of something, or nothing.
  func whole(_ body: () throws -> Void) throws {
    let start = beginRecord()
    do {
      try body()
    } catch {
      undoRecord(start)
      throw error
    }
    endRecord()
  }

  /// How much was done since the first open record began.
  package var recordLength: Int { importing.log.count }

  /// Checks the values of the objects to which something was done since then.
  ///
  /// - Throws: `ContextError` `.invalid`, with every fault.
  package func validateRecord(since start: Int) throws {
    var validation = ObjectValidation(self)
    for place in Set(importing.log.dropFirst(start).map(\.place)) {
      guard let change = overlay[place], change.kind != .deleted, change.mark?.isStub != true else {
        continue
      }
      try validation.checkValues(enroll(place, change), change)
    }
    if !validation.faults.isEmpty { throw ContextError(.invalid, validation.faults) }
  }

  /// An object becomes what it was before changes that are dropped.
  func restore(_ object: ManagedObject, _ before: RowChange?, _ now: RowChange?) {
    if let now { return follow(now, object) }
    switch before?.kind {
    case .inserted:
      object.status = .gone
      identities[object.place.table][object.place.key] = nil
    case .updated, .deleted:
      object.status = .clean
      // What it is an object of is in its row.
      if before?.row == nil || before?.mark != nil { object.content = .fault(nil) }
    case nil: break
    }
  }

  /// The objects that were deleted since `beginRecord()` gave that number.
  package func deletedObjects(since start: Int) -> [ObjectID] {
    importing.log.dropFirst(start).filter(\.isDeletion).map { place, _ in
      ObjectID(
        entity: layout.entities[layout.tables[place.table].root].name,
        primaryKey: place.key
      )
    }
  }

  /// The relationship whose delete rule `deny` forbids a deletion since `beginRecord()` gave that
  /// number, if any.
  package func deniedRelationship(since start: Int) throws -> String? {
    for (place, isDeletion) in importing.log.dropFirst(start) where isDeletion {
      guard let change = overlay[place], change.kind == .deleted else { continue }
      let object = enroll(place, change)
      for link in object.layout.relationships where link.relationship.deleteRule == .deny {
        if try !targets(of: link, object).isEmpty { return "\(object.layout.name).\(link.name)" }
      }
    }
    return nil
  }
}
