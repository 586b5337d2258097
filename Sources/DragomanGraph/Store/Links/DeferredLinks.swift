/// Staged links that the rows of their targets have already, and the staged owners that were there
/// before: kept in memory, because there is mostly nothing left to store (`LinkStage.hasNothingToStore`).
///
/// As soon as something has to be stored they go to the stage's tables, and what is staged behind them goes
/// there at once.
struct DeferredLinks {
  /// A link to a target by its primary key.
  struct Link {
    let owner: Int64
    let position: Int
    let target: Int64
    /// Whether the record made the link, with the target's row.
    let isFresh: Bool
  }

  private(set) var links: ContiguousArray<Link> = []
  private(set) var owners: ContiguousArray<Int64> = []
  /// Whether they are in the tables.
  private(set) var isStored = false
  /// How many there were at the mark; nil: they were in the tables.
  private var marked: (links: Int, owners: Int)? = (0, 0)
  /// What there was at the mark, and went to the tables behind it.
  private var kept: (links: ContiguousArray<Link>, owners: ContiguousArray<Int64>)?

  mutating func append(_ link: Link) { links.append(link) }
  mutating func append(owner: Int64) { owners.append(owner) }

  /// Says that all of them are in the tables.
  mutating func didStore() {
    if let marked {
      kept = (
        ContiguousArray(links.prefix(marked.links)), ContiguousArray(owners.prefix(marked.owners))
      )
    }
    links.removeAll(keepingCapacity: true)
    owners.removeAll(keepingCapacity: true)
    isStored = true
  }

  /// Remembers what there is.
  mutating func mark() {
    marked = isStored ? nil : (links.count, owners.count)
    kept = nil
  }

  /// Goes back to the mark; the tables have gone back to it, too.
  mutating func undo() {
    guard let marked else { return }
    if let kept {
      (links, owners) = kept
      isStored = false
    } else {
      links.removeLast(max(0, links.count - marked.links))
      owners.removeLast(max(0, owners.count - marked.owners))
    }
  }

  mutating func removeAll() {
    links.removeAll(keepingCapacity: true)
    owners.removeAll(keepingCapacity: true)
    isStored = false
    marked = (0, 0)
    kept = nil
  }
}

extension LinkStage {
  /// Puts what is deferred into the tables.
  func storeDeferred() throws(StoreError) {
    guard !deferred.isStored else { return }
    for owner in deferred.owners { try insert(owner: owner) }
    for link in deferred.links { try insert(link) }
    deferred.didStore()
  }

  /// Whether the rows have all that is staged, and nothing else of the staged owners.
  ///
  /// So it is where every target's row was written with its link, and no owner had another target before.
  func hasNothingToStore() throws(StoreError) -> Bool {
    guard !deferred.isStored, let table, !table.isOwnTable, !staged.hasKeys, !staged.hasUnlinked,
      waitingCount == 0, !(staged.hasOldOwners && (hasPending || !othersWaiting.isEmpty))
    else { return false }
    if table.place != nil {
      guard plan.replaces else { return false }
      guard staged.hasOldOwners else { return !staged.hasUnplaced && !staged.hasGaps }
      // Places of what is new are a matter of the tables.
      if deferred.links.contains(where: \.isFresh) { return false }
    }
    guard staged.hasOldOwners else { return true }
    var lists: [Int64: [Int64]] = [:]
    for owner in deferred.owners { lists[owner] = [] }
    for link in deferred.links { lists[link.owner]?.append(link.target) }
    return try table.place == nil ? holdNothingElse(table, lists) : holdInOrder(table, lists)
  }

  /// Whether each owner's stored targets are of its list.
  private func holdNothingElse(
    _ table: LinkQuery,
    _ lists: [Int64: [Int64]]
  ) throws(StoreError) -> Bool {
    let lists = lists.mapValues { Set($0) }
    var isSame = true
    try forEachStored(of: lists.keys, in: table) { owner, target in
      isSame = lists[owner]?.contains(target) ?? false
      return isSame
    }
    return isSame
  }

  /// Whether each owner's stored targets are its list, in its order.
  private func holdInOrder(
    _ table: LinkQuery,
    _ lists: [Int64: [Int64]]
  ) throws(StoreError) -> Bool {
    var stored: [Int64: [Int64]] = [:]
    for owner in lists.keys { stored[owner] = [] }
    try forEachStored(of: lists.keys, in: table) { owner, target in
      stored[owner]?.append(target)
      return true
    }
    return stored == lists
  }

  /// Runs `SELECT owner, target …` of these owners, as long as the closure says so.
  private func forEachStored(
    of owners: some Sequence<Int64>,
    in table: LinkQuery,
    _ body: (Int64, Int64) -> Bool
  ) throws(StoreError) {
    try StoreError.naming(path) {
      let order =
        table.place.map { " ORDER BY \(table.own), \($0) IS NULL, \($0), \(table.other)" } ?? ""
      let statement = try RawStatement(
        kept: "SELECT \(table.own), \(table.other) FROM \(table.name)"
          + " WHERE \(table.own) IN (SELECT value FROM json_each(?))\(order)",
        in: database
      )
      try statement.bind(list: owners, 1)
      defer { statement.reset() }
      while try statement.step() {
        let row = statement.row
        guard body(row.integer(0), row.integer(1)) else { return }
      }
    }
  }
}
