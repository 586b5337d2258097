import HashTreeCollections

/// Rows of tables of links that differ from the store; keys name the relationship that owns the table.
///
/// Links without places are single rows, there or not. Where they have places (an order, or repeats)
/// one that changes may move all behind it: then an owner's rows stand here all together.
struct LinkRows: Sendable {
  /// The rows of one owner by their place.
  struct List: Sendable {
    /// The target at each place.
    private(set) var rows: TreeDictionary<Int64, Int64> = [:]
    /// Targets that were there before.
    fileprivate(set) var away: TreeSet<Int64> = []
    /// The place behind the last.
    fileprivate var end: Int64 = 0

    init(_ targets: [Int64]) { for target in targets { append(target) } }

    /// The targets in order.
    var targets: [Int64] { rows.sorted { $0.key < $1.key }.map(\.value) }

    fileprivate mutating func append(_ target: Int64) {
      rows[end] = target
      end += 1
      away.remove(target)
    }

    fileprivate mutating func remove(_ target: Int64, at places: [Int64]) {
      for place in places { rows[place] = nil }
      away.insert(target)
    }

    /// Notes which of those that were there before are not there now.
    fileprivate mutating func replace(_ other: List) {
      away.formUnion(other.rows.values)
      away.formUnion(other.away)
      away.subtract(rows.values)
    }
  }

  /// Rows without places: owner -> target -> whether the link is there.
  private(set) var pairs: TreeDictionary<LinkKey, TreeDictionary<Int64, Bool>> = [:]
  /// Rows with places: owner -> all its rows.
  private(set) var lists: TreeDictionary<LinkKey, List> = [:]
  /// Places among the owners of a target, where the inverse is ordered: target -> owner -> place.
  private(set) var places: TreeDictionary<LinkKey, TreeDictionary<Int64, Int64>> = [:]
  /// target -> owner -> the link's place, or `away`: derived from `pairs` and `lists`.
  private var sources: TreeDictionary<LinkKey, TreeDictionary<Int64, Int64>> = [:]

  private static let away = Int64.min

  /// Whether there are none.
  var isEmpty: Bool { pairs.isEmpty && lists.isEmpty && places.isEmpty }

  /// Whether anything is said of the rows of an owner.
  func has(owner: LinkKey) -> Bool { pairs[owner] != nil || lists[owner] != nil }

  /// Whether anything is said of the rows of a target.
  func has(target: LinkKey) -> Bool { sources[target] != nil || places[target] != nil }

  /// The owners of whose rows anything is said.
  var owners: [LinkKey] { Array(pairs.keys) + Array(lists.keys) }

  /// The targets of whose rows anything is said.
  var targets: [LinkKey] { Array(sources.keys) + places.keys.filter { sources[$0] == nil } }

  /// What is said of one link; nil: nothing.
  func pair(_ owner: LinkKey, _ target: Int64) -> Bool? {
    sources[LinkKey(link: owner.link, owner: target)]?[owner.owner].map { $0 != Self.away }
  }

  /// The owners of a target of whose link something is said, and whether it is there.
  func owners(of target: LinkKey) -> [(owner: Int64, isThere: Bool)] {
    (sources[target] ?? [:]).map { ($0.key, $0.value != Self.away) }
  }

  // MARK: - Changing

  /// Says whether a link without a place is there; nil: as it is stored.
  mutating func set(_ isThere: Bool?, _ owner: LinkKey, _ target: Int64) {
    pairs[owner, default: [:]][target] = isThere
    if pairs[owner]?.isEmpty == true { pairs[owner] = nil }
    setSource(isThere.map { $0 ? 0 : Self.away }, owner, target)
    if isThere != true { setPlace(nil, of: owner.owner, LinkKey(link: owner.link, owner: target)) }
  }

  /// Sets all rows of an owner, those with places; nil: as they are stored.
  mutating func set(_ list: List?, _ owner: LinkKey) {
    var list = list
    if let old = lists[owner] {
      for target in old.rows.values { setSource(nil, owner, target) }
      for target in old.away { setSource(nil, owner, target) }
      list?.replace(old)
    }
    lists[owner] = list
    guard let list else { return }
    for target in list.away { setSource(Self.away, owner, target) }
    for (place, target) in list.rows { setSource(place, owner, target) }
  }

  /// Puts a link behind the others of an owner whose rows stand here.
  mutating func append(_ target: Int64, _ owner: LinkKey) {
    let place = lists[owner]?.end ?? 0
    lists[owner]?.append(target)
    setSource(place, owner, target)
  }

  /// Takes a target out of the rows of an owner that stand here, every time it occurs.
  mutating func remove(_ target: Int64, _ owner: LinkKey, allowsRepeats: Bool) {
    let key = LinkKey(link: owner.link, owner: target)
    var places: [Int64] = []
    if allowsRepeats {
      places = lists[owner]?.rows.filter { $0.value == target }.map(\.key) ?? []
    } else if let place = sources[key]?[owner.owner] {
      places = [place]
    }
    lists[owner]?.remove(target, at: places)
    setSource(Self.away, owner, target)
    setPlace(nil, of: owner.owner, key)
  }

  /// Sets the place of an owner among those of a target.
  mutating func setPlace(_ place: Int64?, of owner: Int64, _ target: LinkKey) {
    if place == nil, places[target]?[owner] == nil { return }
    places[target, default: [:]][owner] = place
    if places[target]?.isEmpty == true { places[target] = nil }
  }

  /// Drops what is said of an owner.
  ///
  /// - Parameters:
  ///   - owner: The owner.
  ///   - keepsRemovals: Whether what was unlinked stays so: the owner is stored.
  mutating func forget(owner: LinkKey, keepsRemovals: Bool = false) {
    for (target, isThere) in pairs[owner] ?? [:] where isThere || !keepsRemovals {
      set(nil, owner, target)
    }
    if lists[owner] != nil { set(keepsRemovals ? List([]) : nil, owner) }
  }

  /// Drops what is said of a target.
  ///
  /// - Parameters:
  ///   - target: The target.
  ///   - keepsRemovals: Whether what was unlinked stays so: the target is stored.
  mutating func forget(target: LinkKey, keepsRemovals: Bool = false) {
    for (owner, isThere) in owners(of: target) {
      let key = LinkKey(link: target.link, owner: owner)
      if lists[key] != nil {
        remove(target.owner, key, allowsRepeats: true)
      } else if isThere || !keepsRemovals {
        set(nil, key, target.owner)
      }
    }
    places[target] = nil
  }

  private mutating func setSource(_ place: Int64?, _ owner: LinkKey, _ target: Int64) {
    let key = LinkKey(link: owner.link, owner: target)
    if place == nil {
      sources[key]?[owner.owner] = nil
      if sources[key]?.isEmpty == true { sources[key] = nil }
    } else {
      sources[key, default: [:]][owner.owner] = place
    }
  }
}

extension LinkRows {
  /// Puts another context's rows over these; links of rows that are not stored leave nothing behind.
  ///
  /// - Parameters:
  ///   - upper: The other context's.
  ///   - isNew: Whether the row at an owner's or a target's end is not stored.
  mutating func merge(_ upper: LinkRows, isNew: (LinkKey, Int64) -> Bool) {
    for (owner, targets) in upper.pairs {
      for (target, isThere) in targets {
        set(!isThere && isNew(owner, target) ? nil : isThere, owner, target)
      }
    }
    for (owner, list) in upper.lists { set(list, owner) }
    for (target, owners) in upper.places {
      for (owner, place) in owners { setPlace(place, of: owner, target) }
    }
  }

  /// Forgets what was written: what is still as it was goes, and what was taken back meanwhile is a
  /// change now.
  ///
  /// - Parameters:
  ///   - written: What was written.
  ///   - seen: What these were when it was written.
  mutating func settle(_ written: LinkRows, seen: LinkRows) {
    for (owner, targets) in written.pairs {
      for (target, isThere) in targets {
        let then = seen.pairs[owner]?[target]
        let now = pairs[owner]?[target]
        if now == nil {
          if then != nil { set(!isThere, owner, target) }
        } else if now == then || now == isThere {
          set(nil, owner, target)
        }
      }
    }
    for (owner, list) in written.lists {
      guard let now = lists[owner] else { continue }
      let then = seen.lists[owner]
      if now.targets == then?.targets || now.targets == list.targets {
        set(nil, owner)
      } else if let then {
        // Changed here since: what the other has added comes behind.
        let known = Set(then.targets).union(now.targets)
        for target in list.targets where !known.contains(target) { append(target, owner) }
      }
    }
    for (target, owners) in written.places {
      for owner in owners.keys where places[target]?[owner] == seen.places[target]?[owner] {
        // The place of a link that is not stored yet stays with it.
        if pair(LinkKey(link: target.link, owner: owner), target.owner) == true { continue }
        setPlace(nil, of: owner, target)
      }
    }
  }

  /// The rows of some owners, and the places that some targets give their owners.
  func part(_ isMeant: (LinkKey) -> Bool, _ isTarget: (LinkKey) -> Bool) -> LinkRows {
    var part = LinkRows()
    for (owner, targets) in pairs where isMeant(owner) {
      for (target, isThere) in targets { part.set(isThere, owner, target) }
    }
    for (owner, list) in lists where isMeant(owner) { part.set(list, owner) }
    part.places = places.filter { isTarget($0.key) }
    return part
  }

  /// What of these others say, too.
  func still(_ others: LinkRows) -> LinkRows {
    var part = LinkRows()
    for (owner, targets) in others.pairs {
      for (target, isThere) in targets where pairs[owner]?[target] == isThere {
        part.set(isThere, owner, target)
      }
    }
    for (owner, list) in others.lists {
      if let own = lists[owner], own.targets == list.targets { part.set(own, owner) }
    }
    part.places = others.places.filter { places[$0.key] == $0.value }
    return part
  }
}
