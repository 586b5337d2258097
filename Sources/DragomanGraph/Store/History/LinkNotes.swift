/// What was noted of tables of links, until it is told together for each object.
struct LinkNotes {
  /// An object by its table and its primary key.
  struct Object: Hashable {
    let table: String
    let key: StoredValue
  }

  private struct Owner: Hashable {
    let object: Object
    let relationship: String
  }

  /// A target at a place of its owner's list; of a list without order the place is null.
  struct Place: Hashable {
    let target: StoredValue
    let position: StoredValue
  }

  struct List {
    let subject: ObservedTable.Subject
    let object: Object
    let owner: [StoredValue]
    /// Whether its targets have an order, and may be there several times.
    let isOrdered: Bool
    /// How often each place was taken less how often it was left: less than zero is what was there,
    /// more is what is there now.
    var places: [Place: Int] = [:]
    /// The targets in the order in which they were noted.
    var targets: [ChangeLog.Target] = []
  }

  private var lists: [List] = []
  private var numbers: [Owner: Int] = [:]
  /// The numbers of each owner's lists.
  private var owners: [Object: [Int]] = [:]
  /// The owners of whose links nothing is to be told any more: they are gone, or it was told with them.
  private var settled: Set<Object> = []

  /// Whether no link was noted.
  var isEmpty: Bool { lists.isEmpty }

  /// Adds a note: the owner's and the target's primary keys, and then their keys.
  mutating func add(
    _ change: Int,
    _ values: [StoredValue],
    of subject: ObservedTable.Subject,
    in table: ObservedTable
  ) {
    let object = Object(table: table.objects, key: values[0])
    let owner = Owner(object: object, relationship: table.name)
    let number = numbers[owner] ?? lists.count
    if number == lists.count {
      numbers[owner] = number
      lists.append(
        List(subject: subject, object: object, owner: values, isOrdered: table.isOrdered)
      )
      owners[object, default: []].append(number)
    }
    let position = table.isOrdered ? values[values.count - 1] : .null
    lists[number].places[Place(target: values[1], position: position), default: 0] += change
    if let link = subject.links.first { lists[number].targets.append(link.target(values)) }
  }

  /// An object is deleted: its links need no telling.
  mutating func drop(_ key: StoredValue, in table: ObservedTable) {
    let object = Object(table: table.objects, key: key)
    if owners[object] != nil { settled.insert(object) }
  }

  /// Takes what changed of an object's links out of what is still to be told.
  mutating func take(_ key: StoredValue, in table: ObservedTable) -> [ChangeLog.Links] {
    let object = Object(table: table.objects, key: key)
    guard let numbers = owners[object] else { return [] }
    settled.insert(object)
    return numbers.compactMap { lists[$0].change }.flatMap(\.links)
  }

  /// A change for each list of links that is another now, or in another order.
  var changes: [ChangeLog.Change] {
    lists.filter { !settled.contains($0.object) }.compactMap(\.change)
  }

  /// The same, of all lists of an object together.
  ///
  /// - Parameter isSorted: Whether they come in the order of the objects' tables and primary keys, and not in that in
  ///   which they were noted.
  /// - Returns: The changes.
  func objects(byKey isSorted: Bool) -> [ChangeLog.Change] {
    var places = Array(lists.indices)
    if isSorted {
      places.sort {
        let (one, other) = (lists[$0].object, lists[$1].object)
        return (one.table, one.key.integer ?? 0) < (other.table, other.key.integer ?? 0)
      }
    }
    return places.compactMap { index in
      let list = lists[index]
      guard !settled.contains(list.object), let numbers = owners[list.object], numbers[0] == index
      else { return nil }
      let changes = numbers.compactMap { lists[$0].change }
      guard let first = changes.first else { return nil }
      return list.subject.adding(changes.dropFirst().flatMap(\.links), to: first)
    }
  }
}

extension LinkNotes.List {
  /// What changed of the links; nil: they are what they were.
  var change: ChangeLog.Change? {
    let (removed, added) = (targets(-1), targets(1))
    // Places that only moved up, or were taken again, are no change.
    if removed.isEmpty, added.isEmpty, order(where: { $0 < 0 }) == order(where: { $0 > 0 }) {
      return nil
    }
    return subject.change(owner, removed: removed, added: added)
  }

  /// The targets that are there more often than before, or with the sign -1 less often, each as often as that.
  private func targets(_ sign: Int) -> [ChangeLog.Target] {
    var counts: [StoredValue: Int] = [:]
    for (place, balance) in places { counts[place.target, default: 0] += balance * sign }
    let known = Dictionary(targets.map { ($0.primaryKey, $0) }) { first, _ in first }
    let candidates = isOrdered ? order { $0 * sign > 0 } : targets.map(\.primaryKey)
    return candidates.compactMap { target in
      guard let count = counts[target], count > 0 else { return nil }
      counts[target] = count - 1
      return known[target]
    }
  }

  /// The targets whose places have such a balance, in their order.
  func order(where isMeant: (Int) -> Bool) -> [StoredValue] {
    places.filter { isMeant($0.value) }.keys
      .sorted { ($0.position.integer ?? 0) < ($1.position.integer ?? 0) }
      .map(\.target)
  }
}
