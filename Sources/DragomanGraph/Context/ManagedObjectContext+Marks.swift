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
    if let known = marks[place]?.isStub ?? beneath(place)?.mark?.isStub { return known }
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
    let object = try insert(entity, .row(emptyRow(of: entity.tableIndex)))
    for (slot, attribute) in entity.attributes.enumerated() {
      if let value = attribute.defaultValue {
        object.changes[entity.attributeColumns[slot]] = value
      }
    }
    for (column, value) in values { object.changes[column] = value }
    keyIndex?.insert(object)
    mark(object) { $0.isStub = true }
    return object
  }

  /// A record has completed a stub.
  package func completeStub(_ object: ManagedObject) { mark(object) { $0.isStub = false } }

  /// An object that was known by a more general entity becomes one of a more special one.
  package func specialize(_ object: ManagedObject, to entity: EntityLayout) {
    undoLog?.steps.append(.layout(object, object.layout))
    object.layout = entity
    mark(object) { $0.isSpecialized = true }
  }

  /// The references that wait, stored or not.
  ///
  /// Runs `SELECT` over `_dragoman_pending`.
  package func waitingReferences() throws -> [WaitingReference] {
    let resolved = Set(marks.values.flatMap(\.resolved).map(\.id))
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
    return stored.filter { !resolved.contains($0.id) } + marks.values.flatMap(\.waits)
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

  private func mark(_ object: ManagedObject, _ change: (inout RowMark) -> Void) {
    guard !object.isDeleted else { return }
    let place = object.place
    undoLog?.steps.append(.mark(place, marks[place]))
    change(&marks[place, default: RowMark()])
    undoLog?.steps.append(.status(object, object.status))
    tryFire(object)
    if marks[place]?.isEmpty == true {
      // What was said is taken back: there is nothing to store any more.
      marks[place] = nil
      if object.status == .updated, object.changes.isEmpty, !hasOwnLinks(object) {
        object.status = .clean
        changed[place] = nil
      }
    } else {
      touch(object)
    }
    publish(object)
  }
}
