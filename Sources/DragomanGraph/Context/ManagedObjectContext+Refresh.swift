/// Undoing what is not saved, and reading again what is.
extension ManagedObjectContext {
  /// Drops all unsaved changes: inserted objects are gone, deleted ones are back.
  public func rollback() {
    for (place, object) in changed {
      switch object.status {
      case .inserted:
        object.status = .gone
        identities[place.table][place.key] = nil
      case .updated, .deleted: object.status = .clean
      case .clean, .gone: break
      }
      object.changes = [:]
      publish(object)
    }
    for object in changed.values { noteRollback(of: object) }
    changed = [:]
    pendingLinks = [:]
    marks = [:]
    keyIndex?.removeAll()
    forgetTargets()
    forgetRecorded()
    if kind == .main { root.mainChanges.removeAll() }
    processChanges()
  }

  /// Reads an object again when it is next looked at.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - keepingChanges: Whether its unsaved changes stay, on top of what the store has by then.
  public func refresh(_ object: ManagedObject, keepingChanges: Bool = false) {
    guard object.context === self, object.status == .clean || object.status == .updated else {
      return
    }
    if !keepingChanges, object.status == .updated {
      object.changes = [:]
      object.status = .clean
      changed[object.place] = nil
      for link in object.layout.relationships {
        let key = LinkKey(link: link.id, owner: object.place.key)
        if pendingLinks.removeValue(forKey: key) != nil { publish(key) }
      }
      noteRollback(of: object)
    }
    object.content = .fault(nil)
    object.inherited = [:]
    object.targets = [:]
    publish(object)
  }

  /// Objects of these tables may have been changed in bulk: those whose version differs are read
  /// again when they are next looked at.
  ///
  /// Runs one `SELECT _pk, _v` a table, for the registered objects.
  func refresh(tables: Set<Int>) {
    forgetTargets()
    for table in tables where identities.indices.contains(table) {
      do {
        try refresh(table)
      } catch {
        record(error)
      }
    }
    noteRefresh(of: tables)
    processChanges()
  }

  /// Forgets which targets registered objects have: they are read again when they are asked for.
  ///
  /// What was read before a commit, here or elsewhere, and what was read behind it before this
  /// context was told of it, are not the same: after either nothing of it is believed.
  func forgetTargets() { linkRound &+= 1 }

  private func refresh(_ table: Int) throws {
    var missing: Set<Int64> = []
    for object in identities[table].objects where object.status == .clean && !object.isFault {
      missing.insert(object.place.key)
    }
    guard !missing.isEmpty else { return }
    let keys = StoredValue.text("[\(missing.map(String.init).joined(separator: ","))]")
    let name = Schema.quoted(layout.tables[table].name)
    var stale: [ManagedObject] = []
    try read { database in
      let sql = "SELECT _pk, _v FROM \(name) WHERE _pk IN (SELECT value FROM json_each(?1))"
      let statement = try RawStatement(sql, in: database)
      try statement.bind(keys, 1)
      try statement.forEachRow { row in
        let key = columnInteger(row, 0)
        missing.remove(key)
        guard let object = registered(RowKey(table: table, key: key)),
          object.version != columnInteger(row, 1)
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
