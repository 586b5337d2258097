/// The place of an object: its table and its `_pk`.
package struct RowKey: Sendable, Hashable {
  /// The table, as an index into the layout's tables.
  package let table: Int
  /// The row's `_pk`.
  package let key: Int64

  /// Makes a key.
  package init(table: Int, key: Int64) {
    self.table = table
    self.key = key
  }
}

/// One end of the links of a relationship: the relationship's number and the owner's `_pk`.
package struct LinkKey: Sendable, Hashable {
  /// The relationship's number in the layout.
  package let link: Int
  /// The owner's `_pk`.
  package let owner: Int64

  /// Makes a key.
  package init(link: Int, owner: Int64) {
    self.link = link
    self.owner = owner
  }
}

/// Unsaved changes of a context: a value that can be passed between threads.
///
/// A save writes one; main publishes one so that children see its unsaved changes.
struct PendingChanges: Sendable {
  /// The objects that were inserted, changed or deleted.
  var objects: [RowKey: PendingObject] = [:]
  /// The to-many relationships that were changed.
  var links: [LinkKey: PendingLinks] = [:]

  /// Whether there are none.
  var isEmpty: Bool { objects.isEmpty && links.isEmpty }

  /// What these say of the objects and lists that others change.
  ///
  /// A link that is a column of its target goes with the target.
  func part(_ others: PendingChanges, _ layout: ModelLayout) -> PendingChanges {
    var part = PendingChanges()
    part.objects = objects.filter { others.objects[$0.key] != nil }
    for (key, links) in links where others.links[key] != nil {
      part.links[key] = links
      let link = layout.links[key.link]
      guard case .inverseColumn = link.storage else { continue }
      let table = layout.entities[link.destination].tableIndex
      part.links[key] = links.only { part.objects[RowKey(table: table, key: $0)] != nil }
    }
    return part
  }

  /// What of these was wanted earlier and is as it was then: what was changed since is left out.
  ///
  /// An insertion is whole: its values are those of then, its links, which must lead somewhere, those
  /// of now.
  func left(of wanted: PendingChanges, _ layout: ModelLayout) -> PendingChanges {
    var left = PendingChanges()
    for (place, then) in wanted.objects {
      guard var now = objects[place], (now.kind == .deleted) == (then.kind == .deleted) else {
        continue
      }
      if now.kind == .inserted {
        let columns = layout.tables[place.table].columns
        now.values.merge(then.values) { now, _ in now }
        for (column, value) in then.values {
          if case .link = columns[column].kind { continue }
          now.values[column] = value
        }
      } else {
        now.values = then.values.filter { now.values[$0.key] == $0.value }
      }
      left.objects[place] = now
    }
    for (key, then) in wanted.links {
      if let now = links[key] { left.links[key] = then.stillIn(now) }
    }
    return left.isEmpty ? PendingChanges() : left
  }
}

/// One changed object.
struct PendingObject: Sendable {
  /// What happened to it.
  enum Kind: Sendable {
    case inserted
    case updated
    case deleted
  }

  /// What happened to it.
  var kind: Kind
  /// Its entity, as an index into the layout's entities.
  var entity: Int
  /// Its version when it was read; 0 for one that is not stored.
  var version: Int64
  /// The values set, by column; of an inserted object all that are not null.
  var values: [Int: StoredValue]
  /// What the columns held when they were read, for the ones that `values` has.
  var base: [Int: StoredValue]
  /// Where the values lie that `values` does not have: the row as it was imported or read.
  var row: RowPlace?
  /// What an import says of it besides its values.
  var mark: RowMark?
}

/// A row in a buffer.
struct RowPlace: Sendable {
  let buffer: RowBuffer
  private let number: Int32

  init(buffer: RowBuffer, row: Int) {
    self.buffer = buffer
    number = Int32(row)
  }

  /// The row's number; every object has one, so it is kept small.
  var row: Int { Int(number) }

  /// The value of a column, its text copied out.
  func stored(_ column: Int) -> StoredValue { buffer.stored(row, column) }
}
