import Foundation
import GRDB

/// What an import says of objects besides their values: stubs, sub-entities, references that wait.
///
/// All of it is unsaved like the values are, and is undone, merged and stored with them.
extension ManagedObjectContext {
  /// The object at a place, which may turn out not to exist.
  package func object(at place: RowKey) throws -> ManagedObject {
    try register(place, layout.entities[layout.tables[place.table].root])
  }

  /// Whether an object holds its key only.
  ///
  /// Runs `SELECT _stub … WHERE _pk = ?` for a stored one.
  package func isStub(_ object: ManagedObject) throws -> Bool {
    guard object.layout.hasStubColumn else { return false }
    let place = object.place
    if let known = overlay[place]?.mark?.isStub ?? changeAbove(place)?.mark?.isStub { return known }
    if object.status == .inserted { return false }
    let table = Schema.quoted(layout.tables[place.table].name)
    return try read { database in
      try Bool.fetchOne(
        database.cachedStatement(sql: "SELECT _stub IS NOT NULL FROM \(table) WHERE _pk = ?"),
        arguments: [place.key]
      ) ?? false
    }
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
    return try insert(entity, change)
  }

  /// A record has completed a stub.
  package func completeStub(_ object: ManagedObject) { mark(object) { $0.isStub = false } }

  /// An object that was known by a more general entity becomes one of a more special one.
  package func specialize(_ object: ManagedObject, to entity: EntityLayout) {
    object.layout = entity
    mark(object) { $0.isSpecialized = true }
  }

  /// The references that wait, stored or not.
  ///
  /// Runs `SELECT` over `_dragoman_pending`.
  package func waitingReferences() throws -> [WaitingReference] {
    let marks = overlay.read { changes in changes.marked.compactMap { changes[$0]?.mark } }
    let resolved = Set(marks.flatMap(\.resolved).map(\.id))
    let stored = try read { database -> [WaitingReference] in
      let isAny = "SELECT EXISTS (SELECT 1 FROM \(PendingReference.table))"
      guard try Bool.fetchOne(database.cachedStatement(sql: isAny)) == true else { return [] }
      try PendingReference.check(database)
      let rows = try Row.fetchAll(
        database,
        sql:
          "SELECT id, owner, relationship, entity, key FROM \(PendingReference.table) ORDER BY id"
      )
      return try rows.compactMap { row -> WaitingReference? in
        let place = PendingReference.table
        let name: String = try row.stored(2, of: place)
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, let owner = layout.entity(named: parts[0]) else { return nil }
        let text: String = try row.stored(4, of: place)
        let values = try Row.fetchAll(
          database.cachedStatement(sql: "SELECT key, value FROM json_each(?)"),
          arguments: [text]
        )
        var reference = WaitingReference(
          relationship: name,
          owner: RowKey(table: owner.tableIndex, key: try row.stored(1, of: place)),
          entity: try row.stored(3, of: place),
          key: try values.map { value in
            let name: String = try value.stored(0, of: place)
            return WaitingReference.Part(name, LinkStage.stored(Array(value.databaseValues)[1]))
          }
        )
        reference.id = try row.stored(0, of: place)
        return reference
      }
    }
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

  private func mark(_ object: ManagedObject, _ say: (inout RowMark) -> Void) {
    guard !object.isDeleted else { return }
    let layout = object.layout
    var isPut = false
    while !isPut {
      let settles = overlay.settles
      tryFire(object)
      var change = own(object) ?? emptyUpdate(of: object)
      var mark = change.mark ?? RowMark()
      say(&mark)
      change.mark = mark.isEmpty ? nil : mark
      change.entity = Int32(layout.index)
      object.layout = layout
      // Where what was said is taken back, there may be nothing to store any more.
      let isOver = change.isEmptyUpdate && !hasOwnLinks(object)
      isPut = put(isOver ? nil : change, object, ifSettles: settles)
    }
  }
}
