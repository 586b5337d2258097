import HashTreeCollections

/// Rows of tables of links that differ from the store; keys name the relationship that owns the table.
///
/// Links without places are single rows, there or not. Where they have places (an order, or repeats)
/// one that changes may move all behind it: then an owner's rows stand here all together.
struct LinkRows: Sendable {
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

  /// The targets to which links came or from which they went, or that have put them in order.
  var targets: Set<LinkKey> {
    var targets = Set(places.keys)
    for (owner, rows) in pairs {
      for target in rows.keys { targets.insert(LinkKey(link: owner.link, owner: target)) }
    }
    for (owner, list) in lists {
      for target in list.changed { targets.insert(LinkKey(link: owner.link, owner: target)) }
    }
    return targets
  }

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
    let (end, known) = (lists[owner]?.end ?? 0, place(of: target, owner))
    lists[owner]?.append(target, besides: known)
    setSource(end, owner, target)
  }

  /// Takes a target out of the rows of an owner that stand here, every time it occurs.
  mutating func remove(_ target: Int64, _ owner: LinkKey) {
    let known = place(of: target, owner)
    lists[owner]?.remove(target, at: known)
    setSource(Self.away, owner, target)
    setPlace(nil, of: owner.owner, LinkKey(link: owner.link, owner: target))
  }

  /// A place of a target in the rows of an owner that stand here.
  private func place(of target: Int64, _ owner: LinkKey) -> Int64? {
    sources[LinkKey(link: owner.link, owner: target)]?[owner.owner].flatMap {
      $0 == Self.away ? nil : $0
    }
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
  ///   - leavesStored: Whether what was in a list and is not unlinked stays there.
  mutating func forget(
    owner: LinkKey,
    keepsRemovals: Bool = false,
    leavesStored: Bool = false
  ) {
    for (target, isThere) in pairs[owner] ?? [:] where isThere || !keepsRemovals {
      set(nil, owner, target)
    }
    if let list = lists[owner] {
      let there = leavesStored ? Set(list.rows.values) : []
      let left = list.moved(to: list.base.filter(there.contains), over: list.base)
      set(keepsRemovals ? left : nil, owner)
    }
  }

  /// Drops what is said of a target.
  ///
  /// - Parameters:
  ///   - target: The target.
  ///   - keepsRemovals: Whether what was unlinked stays so: the target is stored.
  ///   - leavesStored: Whether it stays in lists where it was and is not unlinked.
  mutating func forget(
    target: LinkKey,
    keepsRemovals: Bool = false,
    leavesStored: Bool = false
  ) {
    for (owner, isThere) in owners(of: target) {
      let key = LinkKey(link: target.link, owner: owner)
      if let list = lists[key] {
        if !leavesStored || !list.base.contains(target.owner) { remove(target.owner, key) }
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
    for (owner, list) in upper.lists {
      let own = lists[owner]
      set(own.map { $0.with(list) } ?? list, owner)
    }
    for (target, owners) in upper.places {
      for (owner, place) in owners { setPlace(place, of: owner, target) }
    }
  }

  /// Forgets what was written: what is still as it was goes, and what was taken back meanwhile is a
  /// change now.
  ///
  /// - Parameters:
  ///   - written: What was written.
  ///   - outcome: What the store made of it.
  ///   - seen: What these were when it was written.
  ///   - isOwn: Whether it is these that were written.
  ///   - yields: Whether what was written was said over these.
  mutating func settle(
    _ written: LinkRows,
    _ outcome: SaveOutcome,
    seen: LinkRows,
    isOwn: Bool,
    yields: Bool
  ) {
    for (owner, targets) in written.pairs {
      for (target, isThere) in targets {
        let then = seen.pairs[owner]?[target]
        let now = pairs[owner]?[target]
        if now == nil {
          if isOwn, then != nil { set(!isThere, owner, target) }
        } else if now == isThere {
          set(nil, owner, target)
        } else if now == then {
          // What was linked anyway says nothing of a link that is taken away here.
          let isKnown = outcome.known[owner]?.contains(target) == true
          if isOwn || yields || !isKnown { set(nil, owner, target) }
        }
      }
    }
    for (owner, stored) in outcome.lists {
      let then = seen.lists[owner]
      // Dropped since: what was there before is a change of what is stored by now.
      let taken = isOwn ? then.map { $0.moved(to: $0.base, over: $0.base) } : nil
      guard var left = lists[owner] ?? taken else { continue }
      if isOwn, let then {
        left = left.rebased(on: then.targets)
      } else if let upper = written.lists[owner] {
        left = left.with(upper).rebased(on: upper.over(left.base).targets)
      }
      let targets = left.over(stored).targets
      set(nil, owner)
      if targets != stored { set(left.moved(to: targets, over: stored), owner) }
    }
    for (target, owners) in written.places {
      for (owner, place) in owners {
        let now = places[target]?[owner]
        guard now == place || (isOwn || yields) && now == seen.places[target]?[owner] else {
          continue
        }
        // The place of a link that is not stored yet stays with it.
        if pair(LinkKey(link: target.link, owner: owner), target.owner) == true { continue }
        setPlace(nil, of: owner, target)
      }
    }
  }

  /// What is said of the links, the lists and the order that others speak of, too.
  ///
  /// - Parameters:
  ///   - others: The others.
  ///   - isWhole: Whether all of such a list is meant, or what the others have changed of it.
  /// - Returns: That part.
  func part(of others: LinkRows, isWhole: Bool) -> LinkRows {
    var part = LinkRows()
    for (owner, targets) in others.pairs {
      for target in targets.keys { part.set(pairs[owner]?[target], owner, target) }
    }
    for (owner, list) in others.lists {
      guard let own = lists[owner] else { continue }
      let changed = own.moved(to: list.over(own.base).targets, over: own.base)
      part.set(isWhole ? own : changed, owner)
    }
    let targets = others.targets
    part.places = places.filter { targets.contains($0.key) }
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
      guard let own = lists[owner] else { continue }
      let targets = own.targets
      if targets == list.targets {
        part.set(own, owner)
      } else if list.isHeld(by: targets) {
        part.set(list, owner)
      }
    }
    part.places = others.places.filter { places[$0.key] == $0.value }
    return part
  }
}
