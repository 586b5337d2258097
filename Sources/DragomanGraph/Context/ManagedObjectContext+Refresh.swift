/// Undoing what is not saved, and reading again what is.
extension ManagedObjectContext {
  /// Drops all unsaved changes: inserted objects are gone, deleted ones are back, and all are as the store has them by
  /// now.
  ///
  /// In the hook of an import it drops nothing, and rejects the record (`save.importing`).
  public func rollback() {
    guard mayDrop() else { return }
    let dropped = overlay.removeAll()
    var kept: [Int: [ManagedObject]] = [:]
    for (place, change) in dropped.sorted {
      if let object = registered(place), object.status != .gone {
        // Others may have stored it already.
        if object.hasChanges { settling.restore(object, change, nil) }
        if object.status == .clean { kept[place.table, default: []].append(object) }
      }
      notices.rollBack(layout.objectID(of: place), change.kind, nil)
    }
    notices.drop(ChangeNotice(dropped, layout))
    // Others may have changed them since they were read.
    for objects in kept.values { FaultBatch.assign(to: objects) }
    importing.keys?.removeAll()
    linkMemory.forgetTargets()
    forgetRecorded()
    processChanges()
  }

  /// Whether unsaved changes may be dropped; in the hook of an import, where those of the records before would go, too,
  /// that is an error, which rejects the record.
  private func mayDrop() -> Bool {
    guard importing.recordCount > 0 else { return true }
    record(
      ContextError(
        .importing,
        "Unsaved changes cannot be dropped while a record is imported: they are those of the records"
          + " before it, too.",
        help: "throw an error from the hook to reject its record"
      )
    )
    return false
  }

  /// Reads an object again when it is next looked at.
  ///
  /// In the hook of an import a changed object keeps its changes, or the record is rejected (`save.importing`).
  /// - Parameters:
  ///   - object: The object.
  ///   - keepingChanges: Whether its unsaved changes stay, on top of what the store has by then.
  public func refresh(_ object: ManagedObject, keepingChanges: Bool = false) {
    guard object.context === self, object.status == .clean || object.status == .updated,
      keepingChanges || object.status == .clean || mayDrop()
    else { return }
    let place = object.place
    var isDone = false
    while !isDone {
      let settles = overlay.settles
      guard var change = own(object) else { break }
      if keepingChanges {
        // The row that it is compared with is the one that is read next.
        change.row = nil
        isDone = put(change, object, ifSettles: settles)
      } else if put(nil, object, ifSettles: settles) {
        isDone = true
        notices.rollBack(layout.objectID(of: place), change.kind, nil)
        var dropped = ChangeSet()
        dropped.set(change, at: place, layout)
        notices.drop(ChangeNotice(dropped, layout))
      }
    }
    // The hook of an import keeps the links of an object that it has not changed itself.
    if !keepingChanges, importing.recordCount == 0 { dropLinks(of: object) }
    object.content = .fault(nil)
    object.targets = [:]
  }

  /// Drops what is unsaved of the links that an object shows, but for columns of other rows.
  private func dropLinks(of object: ManagedObject) {
    let key = object.place.key
    let owners = overlay.change { [layout, links = object.layout.relationships] changes in
      var owners: [RowKey] = []
      for link in links {
        guard case .joinTable(let join, let isOwner) = link.storage else { continue }
        if isOwner { changes.links.forget(owner: LinkKey(link: link.id, owner: key)) }
        guard join.isSymmetric || !isOwner, let inverse = link.inverse else { continue }
        let target = LinkKey(link: inverse, owner: key)
        let table = layout.entities[link.destination].tableIndex
        owners += changes.links.owners(of: target).map { RowKey(table: table, key: $0.owner) }
        changes.links.forget(target: target)
      }
      return owners
    }
    for case let owner? in owners.map(registered) { untouch(owner) }
  }

  /// Objects of these tables may have been changed in bulk: those whose version differs are read
  /// again when they are next looked at.
  ///
  /// Runs one `SELECT _pk, _v` a table, for the registered objects.
  func refresh(tables: Set<Int>) {
    linkMemory.forgetTargets()
    for table in tables where identities.indices.contains(table) {
      do {
        try refresh(table)
      } catch {
        record(error)
      }
    }
    notices.refresh(tables.map { layout.entities[layout.tables[$0].root].name })
    processChanges()
  }

  private func refresh(_ table: Int) throws {
    var missing: Set<Int64> = []
    for object in identities[table].objects where object.status == .clean && !object.isFault {
      missing.insert(object.place.key)
    }
    guard !missing.isEmpty else { return }
    var stale: [ManagedObject] = []
    try read { reader in
      try reader.rows(at: Array(missing), of: table, reading: ["_v"]) { row in
        let key = row.integer(0)
        missing.remove(key)
        guard let object = registered(RowKey(table: table, key: key)),
          object.version != row.integer(1)
        else { return }
        stale.append(object)
      }
    }
    FaultBatch.assign(to: stale)
    for key in missing {
      guard let object = registered(RowKey(table: table, key: key)) else { continue }
      object.status = .gone
      identities[table][key] = nil
    }
  }

  /// Reads every registered object without unsaved changes again when it is next looked at.
  public func refreshAll() {
    for identity in identities {
      for object in identity.objects where object.status == .clean { refresh(object) }
    }
  }
}
