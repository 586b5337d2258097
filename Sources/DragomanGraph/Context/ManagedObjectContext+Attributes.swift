extension ManagedObjectContext {
  /// The slot of an attribute, once the object's entity is known.
  func attributeSlot(_ name: String, of object: ManagedObject) throws -> Int {
    if let slot = object.layout.attributeSlot(named: name) { return slot }
    // A fault may turn out to be of a sub-entity, which has more.
    if case .fault = object.content, object.layout.hasEntityColumn {
      try fire(object)
      if let slot = object.layout.attributeSlot(named: name) { return slot }
    }
    throw unknownProperty(name, of: object.layout, "attribute")
  }

  /// The column of an attribute.
  func attributeColumn(_ name: String, of object: ManagedObject) throws -> Int {
    let slot = try attributeSlot(name, of: object)
    return object.layout.attributeColumns[slot]
  }

  /// Sets a column of an object; a value that is there already changes nothing.
  func set(_ value: StoredValue, column: Int, of object: ManagedObject) throws {
    try checkOpen()
    guard !object.isDeleted else {
      throw ContextError(
        .deleted,
        "\(object.layout.name) \(object.place.key) was deleted and cannot be changed.",
        object: object.objectID
      )
    }
    // The version that is read now is what the save compares with.
    try fire(object)
    let known = object.inherited[column] ?? object.rowValue(column)
    undoLog?.steps.append(.changed(object, column, object.changes[column], object.status))
    let isKey = keyIndex?.covers(column, of: object.place.table) ?? false
    if isKey { keyIndex?.remove(object) }
    defer { if isKey { keyIndex?.insert(object) } }
    // What is being stored stays a change where it is taken back: the store has it by then.
    let isReturn = value == known && object.changes[column] != nil
    let isKept = isReturn && kind == .main && root.mainChanges.isAway(object.place)
    if value == known, !isKept {
      guard object.changes.removeValue(forKey: column) != nil else { return }
      if object.status == .updated, object.changes.isEmpty, !hasOwnLinks(object) {
        object.status = .clean
        changed[object.place] = nil
      }
    } else {
      object.changes[column] = value
      touch(object)
    }
    noteChange(of: object, layout.tables[object.place.table].columns[column].property)
    publish(object)
  }

  /// The object has unsaved changes.
  func touch(_ object: ManagedObject) {
    if object.status == .clean {
      object.status = .updated
      changed[object.place] = object
    }
  }

  /// Whether links in a table of their own are changed that the object owns, or an import says more of
  /// it than its values.
  func hasOwnLinks(_ object: ManagedObject) -> Bool {
    if marks[object.place] != nil { return true }
    return object.layout.relationships.contains { link in
      guard case .joinTable(_, isOwner: true) = link.storage else { return false }
      return pendingLinks[LinkKey(link: link.id, owner: object.place.key)]?.isEmpty == false
    }
  }

  /// The object's unsaved changes as a value.
  func pending(_ object: ManagedObject) -> PendingObject {
    let isDeleted = object.status == .deleted || object.status == .gone
    var base: [Int: StoredValue] = [:]
    if object.status == .updated {
      for column in object.changes.keys { base[column] = object.rowValue(column) }
    }
    var place: RowPlace?
    if case .row(let row) = object.content { place = row }
    return PendingObject(
      kind: isDeleted ? .deleted : object.status == .inserted ? .inserted : .updated,
      entity: object.layout.index,
      version: object.version,
      values: object.changes,
      base: base,
      row: place,
      mark: marks.isEmpty ? nil : marks[object.place]
    )
  }

  /// Main's changes are written through to where its children see them.
  func publish(_ object: ManagedObject) {
    guard kind == .main else { return }
    let isPending = object.status != .clean && object.status != .gone
    root.mainChanges.set(isPending ? pending(object) : nil, at: object.place)
  }

  func publish(_ key: LinkKey) {
    guard kind == .main else { return }
    root.mainChanges.set(pendingLinks[key], at: key)
  }
}
