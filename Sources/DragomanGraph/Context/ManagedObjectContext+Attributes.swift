/// What is unsaved of rows, here and above.
extension ManagedObjectContext {
  // MARK: - Names

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

  // MARK: - Values

  /// What a column of an object holds, with everything unsaved; reads the row where nothing unsaved
  /// says it.
  func value(_ column: Int, of object: ManagedObject) throws -> StoredValue {
    if let own = own(object) {
      if let value = own.values[column] { return value }
      if own.kind == .inserted { return own.base(column) }
    }
    if let value = valueAbove(column, at: object.place) { return value }
    if case .fault = object.content { try fire(object) }
    return object.rowValue(column)
  }

  /// What a column holds as far as that is known without reading.
  func knownValue(_ column: Int, at place: RowKey) -> StoredValue {
    if let value = overlay[place]?.value(column) { return value }
    return valueAbove(column, at: place) ?? registered(place)?.rowValue(column) ?? .null
  }

  /// What the contexts above say of a column; nil: nothing.
  private func valueAbove(_ column: Int, at place: RowKey) -> StoredValue? {
    for changes in upper {
      if let value = changes[place]?.value(column) { return value }
    }
    return nil
  }

  /// What the contexts above have unsaved of a row; nil: nothing.
  func changeAbove(_ place: RowKey) -> RowChange? {
    var found: RowChange?
    for changes in upper {
      guard let change = changes[place] else { continue }
      guard var upper = found else {
        if change.kind == .deleted { return change }
        found = change
        continue
      }
      upper.kind = change.kind == .deleted ? upper.kind : change.kind
      upper.values.merge(change.values) { upper, _ in upper }
      upper.row = change.row
      upper.mark = upper.mark.map { change.mark?.merging($0) ?? $0 } ?? change.mark
      found = upper
    }
    return found
  }

  /// Whether a row is deleted here or above, or was while this context lived.
  func isDeleted(_ place: RowKey) -> Bool {
    let own = overlay[place]
    if own?.kind == .deleted || own == nil && linkMemory.goneRows.contains(place) { return true }
    return changeAbove(place)?.kind == .deleted
  }

  /// Whether an object is deleted here or above.
  func isDeleted(_ object: ManagedObject) -> Bool {
    object.isDeleted || (kind != .main && changeAbove(object.place)?.kind == .deleted)
  }

  // MARK: - Changing

  /// Whether others have changed a column since this context began, where its changes are merged.
  private func isRivalled(
    _ column: Int,
    of object: ManagedObject,
    _ said: StoredValue?,
    _ known: StoredValue
  ) -> Bool {
    guard let seen = above.seen else { return false }
    guard let value = seen[object.place]?.value(column) else { return said != nil }
    return known != value
  }

  /// Whether a context above says another value of a stored row than the store has: who says the same here saves it, and
  /// not what is above.
  ///
  /// A place in a list is said of nobody: lists are numbered as they are seen, with what is unsaved above.
  private func isUnsaved(_ said: StoredValue?, _ column: Int, of object: ManagedObject) -> Bool {
    guard saysWhatIsAbove, let said, case .row = object.content else { return false }
    if case .order = layout.tables[object.place.table].columns[column].kind { return false }
    return said != object.rowValue(column)
  }

  /// Whether what a column of an object holds is neither stored nor said here, so that to say it is a change.
  package func isOnlyAbove(_ column: Int, of object: ManagedObject) -> Bool {
    guard hasChangesAbove, object.status == .clean || object.status == .updated else {
      return false
    }
    return own(object)?.values[column] == nil
      && isUnsaved(valueAbove(column, at: object.place), column, of: object)
  }

  /// Sets a column of an object; a value that is there already changes nothing.
  func set(_ value: StoredValue, column: Int, of object: ManagedObject) throws {
    try checkOpen()
    guard !isDeleted(object) else {
      throw ContextError(
        .deleted,
        "\(object.layout.name) \(object.place.key) was deleted and cannot be changed.",
        object: object.objectID
      )
    }
    let layout = layout.tables[object.place.table].columns[column]
    let isKey = importing.keys?.covers(column, of: object.place.table) ?? false
    var isSet = false
    while !isSet {
      // What others have stored by now is taken in before anything is compared with it.
      _ = upper
      let settles = overlay.settles
      _ = own(object)
      // The version that is read now is what the save compares with.
      try fire(object)
      var change = own(object) ?? emptyUpdate(of: object)
      let said = valueAbove(column, at: object.place)
      let known =
        change.kind == .inserted ? change.base(column) : said ?? object.rowValue(column)
      let isRivalled = change.kind == .updated && isRivalled(column, of: object, said, known)
      let isSaid = change.kind == .updated && isUnsaved(said, column, of: object)
      // Who counts up comes to the number that another one has come to since: that is no reason to say nothing.
      if isRivalled { above.rivals[object.place, default: [:]][column] = known }
      guard
        change.values[column] ?? known != value || isRivalled
          || (isSaid && change.values[column] == nil)
      else {
        if overlay.settles == settles { return }
        continue
      }
      if isKey { importing.keys?.remove(object.place, in: self) }
      defer { if isKey { importing.keys?.insert(object.place, in: self) } }
      change.values[column] = value == known && !isRivalled && !isSaid ? nil : value
      if change.isEmptyUpdate, !hasOwnLinks(object) {
        isSet = put(nil, object, ifSettles: settles)
        // Others may have stored something while it was changed here; an import looks at nothing else than its rows.
        if isSet, importing.keys == nil { object.content = .fault(nil) }
      } else if case .attribute = layout.kind, object.status != .clean, value != known {
        log(object.place)
        isSet = overlay.change(ifSettles: settles) { $0.set(value, column, at: object.place) }
      } else {
        isSet = put(change, object, ifSettles: settles)
      }
    }
    notices.change(object.objectID, layout.ownProperty)
  }

  /// The object has unsaved changes, though no column of it has.
  func touch(_ object: ManagedObject) {
    var settles = overlay.settles
    while own(object) == nil, !put(emptyUpdate(of: object), object, ifSettles: settles) {
      settles = overlay.settles
    }
  }

  /// The object has none any more, where nothing is left of them.
  func untouch(_ object: ManagedObject) {
    var settles = overlay.settles
    while let own = own(object), own.isEmptyUpdate, !hasOwnLinks(object),
      !put(nil, object, ifSettles: settles)
    {
      settles = overlay.settles
    }
  }

  /// A change that says nothing yet of a row.
  func emptyUpdate(of object: ManagedObject) -> RowChange {
    var change = RowChange(.updated, object.layout.index, version: object.version)
    if case .row(let row) = object.content {
      change.row = row
    } else if let upper = changeAbove(object.place), upper.kind == .inserted {
      // What is not stored is compared with what it is above.
      let count = layout.tables[object.place.table].columns.count
      let buffer = RowBuffer(columnCount: count, capacity: 1)
      buffer.append(upper.row, changes: upper.values)
      change.row = RowPlace(buffer: buffer, row: 0)
    }
    return change
  }

  /// Whether links in a table of their own are changed that the object owns.
  func hasOwnLinks(_ object: ManagedObject) -> Bool {
    overlay.read { [layout] in $0.hasLinks(of: object.place, object.layout.index, layout) }
  }

  // MARK: - Keeping objects and changes in step

  /// The one place where this context changes what is unsaved of a row.
  ///
  /// - Parameters:
  ///   - change: What is unsaved of it now; nil: nothing.
  ///   - object: The row's object.
  ///   - settles: What `overlay.settles` was when that was looked at which is changed: others may store a
  ///     part of the changes at any moment, and what they were is no truth any more then.
  /// - Returns: Whether it was changed: false where somebody has stored something meanwhile.
  @discardableResult
  func put(_ change: RowChange?, _ object: ManagedObject, ifSettles settles: Int? = nil) -> Bool {
    let place = object.place
    log(place, isDeletion: change?.kind == .deleted)
    let isPut = overlay.change(ifSettles: settles) { [layout] in
      $0.set(change, at: place, layout)
    }
    guard isPut else { return false }
    object.status = change.map { ManagedObject.Status($0.kind) } ?? .clean
    return true
  }

  /// Remembers, while records are open, that something was done to a row.
  func log(_ place: RowKey, isDeletion: Bool = false) {
    if importing.recordCount > 0 { importing.log.append((place, isDeletion)) }
  }

  /// What is unsaved of an object here; an object that does not know of it yet learns it.
  ///
  /// Others may have stored a part of main's changes since main looked: what was taken back meanwhile is
  /// a change of an object that was clean.
  func own(_ object: ManagedObject) -> RowChange? {
    guard object.hasChanges || overlay.settles > 0 && object.status != .gone else { return nil }
    let change = overlay[object.place]
    let isKnown =
      object.status == change.map { ManagedObject.Status($0.kind) }
      && (change?.kind != .updated || change?.version == object.version)
    if !isKnown, change != nil || object.hasChanges { follow(change, object) }
    return change
  }

  /// An object becomes what is unsaved of it; of what was stored meanwhile the row is read again.
  func follow(_ change: RowChange?, _ object: ManagedObject) {
    guard let change else {
      object.status = .clean
      object.content = .fault(nil)
      object.version = 0
      return
    }
    object.status = ManagedObject.Status(change.kind)
    object.layout = layout.entities[Int(change.entity)]
    switch change.kind {
    case .inserted: object.content = .row(change.row ?? emptyRow(of: object.place.table))
    case .updated, .deleted:
      object.content = change.row.map { .row($0) } ?? .fault(nil)
      object.version = change.version
    }
  }

  /// Learns what has become of objects whose changes were changed as a whole.
  func follow(_ places: some Sequence<RowKey>) {
    for place in places {
      guard let object = registered(place), object.status != .gone else { continue }
      if let change = overlay[place] { follow(change, object) } else { _ = own(object) }
    }
  }
}

extension ManagedObject.Status {
  init(_ kind: RowChange.Kind) {
    switch kind {
    case .inserted: self = .inserted
    case .updated: self = .updated
    case .deleted: self = .deleted
    }
  }
}
