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

/// Changes of one to-many relationship of one object.
///
/// Adding and removing cost O(1); the list is put in order when it is asked for.
struct PendingLinks: Sendable {
  /// Targets that were added, with the turn in which they were.
  private var added: [Int64: Int] = [:]
  private var turn = 0
  /// Targets that were removed.
  private(set) var removed: Set<Int64> = []
  /// The whole list, where the order counts; the others then say nothing.
  private var whole: [Int64]?
  /// What was removed from the whole list and is still in it.
  private var dropped: Set<Int64> = []
  /// Whether what is taken back stays a change, since what it takes back is being stored.
  var keepsReturns = false

  /// Makes an empty change.
  init() {}

  /// Makes a change that sets the whole list.
  init(list: [Int64]) { whole = list }

  /// Whether nothing is changed.
  var isEmpty: Bool { added.isEmpty && removed.isEmpty && whole == nil }

  /// The whole list, where the change sets it.
  var list: [Int64]? {
    guard let whole else { return nil }
    return dropped.isEmpty ? whole : whole.filter { !dropped.contains($0) }
  }

  /// The targets that were added, in order.
  var addedKeys: [Int64] { added.sorted { $0.value < $1.value }.map(\.key) }

  /// The targets after the changes.
  func applied(to base: [Int64]) -> [Int64] {
    if let list { return list }
    if isEmpty { return base }
    var kept = removed.isEmpty ? base : base.filter { !removed.contains($0) }
    if !added.isEmpty {
      let known = Set(kept)
      kept += addedKeys.filter { !known.contains($0) }
    }
    return kept
  }

  /// Adds a target.
  mutating func add(_ target: Int64) {
    if whole != nil {
      if dropped.contains(target) {
        whole = list
        dropped.removeAll()
      }
      whole?.append(target)
    } else if removed.remove(target) == nil || keepsReturns, added[target] == nil {
      turn += 1
      added[target] = turn
    }
  }

  /// Removes a target, every time it occurs.
  mutating func remove(_ target: Int64) {
    if whole != nil {
      dropped.insert(target)
    } else if added.removeValue(forKey: target) == nil || keepsReturns {
      removed.insert(target)
    }
  }

  /// The same for some of the targets; whole lists stay whole.
  func only(_ isMeant: (Int64) -> Bool) -> PendingLinks {
    guard whole == nil else { return self }
    var part = self
    part.added = added.filter { isMeant($0.key) }
    part.removed = removed.filter(isMeant)
    return part
  }

  /// What of these is still said by others; of whole lists nothing, unless they are the same.
  func stillIn(_ others: PendingLinks) -> PendingLinks {
    if let list { return list == others.list ? self : PendingLinks() }
    var left = self
    left.added = added.filter { others.added[$0.key] != nil }
    left.removed = removed.intersection(others.removed)
    return left
  }

  /// Forgets what was stored of these.
  mutating func settle(_ stored: PendingLinks) {
    if let list {
      if list == stored.list { self = PendingLinks() }
      return
    }
    for target in stored.added.keys { added[target] = nil }
    removed.subtract(stored.removed)
  }

  /// Forgets what a child that saw these changes has stored, but for some targets.
  ///
  /// - Parameters:
  ///   - stored: What the child has changed.
  ///   - seen: The whole list as it was when the child stored its own; nil: as it is.
  ///   - isPending: The targets that stay as they are.
  mutating func settle(_ stored: PendingLinks, seen: [Int64]?, except isPending: (Int64) -> Bool) {
    guard let wanted = stored.list else {
      for target in stored.removed where !isPending(target) {
        if whole == nil { forget(target) } else { remove(target) }
      }
      for target in stored.addedKeys where !isPending(target) {
        if whole == nil { forget(target) } else { add(target) }
      }
      return
    }
    guard let list, let seen, list != seen else {
      self = PendingLinks()
      return
    }
    // Changed here since: what the child has added comes behind.
    let known = Set(seen).union(list)
    self = PendingLinks(list: list + wanted.filter { !known.contains($0) })
  }

  /// Drops what is said of a target.
  mutating func forget(_ target: Int64) {
    added[target] = nil
    removed.remove(target)
  }

  /// Takes over the changes that a child made on top of these.
  mutating func absorb(_ upper: PendingLinks) {
    if let list = upper.list {
      self = PendingLinks(list: list)
      return
    }
    for target in upper.removed { remove(target) }
    for target in upper.addedKeys { add(target) }
  }
}
