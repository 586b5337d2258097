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
  /// What is in the whole list, once somebody has asked.
  private var members: Set<Int64>?
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

  /// Whether the change sets the whole list.
  var isList: Bool { whole != nil }

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
        members?.subtract(dropped)
        dropped.removeAll()
      }
      whole?.append(target)
      members?.insert(target)
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

/// One target at a time: nothing that grows with the number of targets is copied.
extension PendingLinks {
  /// What happens to a target.
  enum Change: Sendable {
    case add
    case remove
  }

  /// What undoes a change of one target.
  enum Mark: Sendable {
    /// What was said of the target.
    case target(Int64, addedIn: Int?, isRemoved: Bool, turn: Int, keepsReturns: Bool)
    /// The whole list had that many places, and the target was removed from it or not.
    case place(Int64, count: Int, isDropped: Bool, isMember: Bool, keepsReturns: Bool)
    /// Everything.
    case all(PendingLinks)
  }

  /// Tells two changes apart that did not come from the same steps; cheap to make and to compare.
  struct Signature: Sendable, Equatable {
    let added: Int
    let removed: Int
    let turn: Int
    let places: Int?
    let dropped: Int
    let keepsReturns: Bool
  }

  /// What these are like.
  var signature: Signature {
    Signature(
      added: added.count,
      removed: removed.count,
      turn: turn,
      places: whole?.count,
      dropped: dropped.count,
      keepsReturns: keepsReturns
    )
  }

  /// Adds or removes a target.
  mutating func make(_ change: Change, _ target: Int64, _ keepsReturns: Bool) {
    self.keepsReturns = keepsReturns
    switch change {
    case .add: add(target)
    case .remove: remove(target)
    }
  }

  /// What `restore` needs to take back a change that is about to be made.
  func mark(_ change: Change, _ target: Int64) -> Mark {
    guard let whole else {
      return .target(
        target,
        addedIn: added[target],
        isRemoved: removed.contains(target),
        turn: turn,
        keepsReturns: keepsReturns
      )
    }
    let isDropped = dropped.contains(target)
    // The list is made anew.
    if change == .add, isDropped { return .all(self) }
    return .place(
      target,
      count: whole.count,
      isDropped: isDropped,
      isMember: members?.contains(target) == true,
      keepsReturns: keepsReturns
    )
  }

  /// Takes back the last change.
  mutating func restore(_ mark: Mark) {
    switch mark {
    case .all(let links): self = links
    case .target(let target, let addedIn, let isRemoved, let turn, let keepsReturns):
      added[target] = addedIn
      if isRemoved { removed.insert(target) } else { removed.remove(target) }
      self.turn = turn
      self.keepsReturns = keepsReturns
    case .place(let target, let count, let isDropped, let isMember, let keepsReturns):
      let further = (whole?.count ?? 0) - count
      if further > 0 { whole?.removeLast(further) }
      if !isDropped { dropped.remove(target) }
      if !isMember { members?.remove(target) }
      self.keepsReturns = keepsReturns
    }
  }

  /// Whether the whole list has a target; false where there is none.
  mutating func holds(_ target: Int64) -> Bool {
    guard let whole else { return false }
    if members == nil { members = Set(whole) }
    return members?.contains(target) == true && !dropped.contains(target)
  }
}
