/// What a context does before its changes are written: it checks them, and completes what follows from
/// them.
struct SaveChecks {
  let context: ManagedObjectContext

  private var layout: ModelLayout { context.layout }

  /// What follows from the changes: links to deleted objects, places in ordered lists.
  func complete() throws {
    try clearLinksToDeleted()
    try setPlaces()
  }

  /// Checks everything and completes what follows from it; `isSaving`: what goes along is checked, too.
  func run(isSaving: Bool = true) throws {
    // What has lost the row that it is compared with gets it anew, if it is there.
    for (place, change) in context.overlay.changes.sorted where change.kind == .updated {
      if change.row == nil { _ = try context.isAlive(context.enroll(place, change)) }
    }
    var denials = ObjectValidation(context)
    for (place, change) in context.overlay.changes.sorted where change.kind == .deleted {
      // What is not stored goes with its links.
      if context.changeAbove(place)?.kind == .inserted { continue }
      try denials.checkDeletion(context.enroll(place, change))
    }
    if denials.faults.isEmpty { try complete() }
    var validation = ObjectValidation(context)
    let changes = context.overlay.changes
    // What is unsaved above and goes along is stored, too.
    let rows = (isSaving ? context.root.withDependencies(changes, context.upper) : changes).sorted
    context.visitCount += rows.count
    // A stub has none of the values that are required.
    for (place, change) in rows where change.kind != .deleted && change.mark?.isStub != true {
      try validation.check(context.enroll(place, change), change)
    }
    try validation.checkCounts(changes, isMerging: !isSaving)
    let broken = validation.faults
    let faults = broken + denials.faults
    guard !faults.isEmpty else { return }
    throw ContextError(broken.isEmpty ? .denied : .invalid, faults)
  }

  /// The places in ordered lists that something came to or went from are 0, 1, ….
  private func setPlaces() throws {
    let changes = context.overlay.changes
    for key in changes.touched.keys {
      guard let list = layout.inverse(of: layout.links[key.link]), list.isListed else { continue }
      try setPlaces(of: list, key.owner)
    }
    for key in changes.links.targets {
      guard let list = layout.inverse(of: layout.links[key.link]), list.relationship.isOrdered,
        case .joinTable(_, isOwner: false) = list.storage
      else { continue }
      try setPlaces(of: list, key.owner)
    }
  }

  private func setPlaces(of list: RelationshipLayout, _ key: Int64) throws {
    let entity = layout.entities[list.owner]
    let place = RowKey(table: entity.tableIndex, key: key)
    guard !context.isDeleted(place) else { return }
    let owner = try context.register(place, entity)
    try context.links.setPlaces(context.links.targetKeys(of: list, owner), of: list, owner)
  }

  /// A link that is not stored and leads to an object that is deleted in the same save is none.
  private func clearLinksToDeleted() throws {
    let changes = context.overlay.changes
    let deleted = changes.sorted.filter { $0.change.kind == .deleted }.map(\.place)
    guard !deleted.isEmpty else { return }
    for place in deleted {
      context.didClear(context.overlay.change { [layout] in $0.dropLinks(of: place, layout) })
    }
    // What is stored and has no inverse to clear it is cleared by the save, or here, with the rest of
    // its row.
    for (place, change) in context.overlay.changes.sorted where change.kind == .updated {
      for column in layout.linkColumns[place.table] where change.values[column.column] == nil {
        let link = layout.links[column.link]
        guard link.inverse == nil, let key = change.base(column.column).integer else { continue }
        let target = RowKey(table: layout.entities[link.destination].tableIndex, key: key)
        if changes.deletes(target) {
          try context.set(.null, column: column.column, of: context.enroll(place, change))
        }
      }
    }
  }
}
