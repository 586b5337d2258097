import DragomanGraph

/// The links of one relationship between objects of a context: every list is stored when it is whole.
///
/// References to objects that are not there yet wait here until the end (`ObjectStage+Finish`).
///
/// Large because it stands for the temporary table of `LinkStage`: each column is a property, and what undoes
/// it, too.
final class ObjectStage: DraftStage {
  /// A target of a list: an object, or the key of one that is not there yet.
  enum Target {
    case object(Int64)
    case key([StoredValue], WaitingPlace)
  }

  let plan: LinkStage.Plan
  let name: String
  unowned let backend: ObjectBackend
  let link: RelationshipLayout
  let owner: EntityLayout
  let target: EntityLayout
  /// The lists with references that wait, by their owner; later ones replace earlier ones.
  var waiting: [Int64: [Target]] = [:]
  /// By owner and key, the record before which the waiting has ended: however many tombstones there are, a list is
  /// looked through once, when it is asked for (`list(of:)`).
  private var ended: [Int64: [[StoredValue]: Int]] = [:]
  /// Whether references of this import wait in the store.
  var hasPending = false
  /// What is known of the references of earlier imports that wait, by their owner.
  private var known: [Int64: [WaitingReference]]?
  /// The owners whose lists are others than those that were kept last.
  private(set) var changed: Set<Int64> = []
  /// By the key of a target, who has waited for it, with the last record that did; nil: nobody has asked yet.
  private var waitingByKey: [[StoredValue]: [Int64: Int]]?
  /// What the record at hand has changed of what waits: what was there before.
  private enum Undo {
    case list(Int64, [Target]?, ended: [[StoredValue]: Int]?)
    case end(Int64, [StoredValue], ended: Int?, waited: Int)
  }
  private var undoes: [Undo] = []
  /// A target that only one object may have: who has it, since when.
  struct Claim {
    let owner: Int64
    let moment: Int
  }
  /// The targets that were linked while others waited for targets; what of them the record at hand changed.
  private var claims: [Int64: Claim] = [:]
  private var claimUndoes: [(target: Int64, claim: Claim?)] = []
  /// By which record, counted from 1, it was said last what an owner waits for.
  private var moments: [Int64: Int] = [:]
  private var moment = 0
  /// The owners whose references of earlier imports the record at hand made forget.
  private var forgottenNow: Set<Int64> = []
  /// The list at hand.
  private var at: (owner: Int64, number: Int)?
  private var listed: [Listed] = []

  private enum Listed {
    case object(Int64)
    case key([StoredValue], LinkStage.ReferencePlace)
  }

  init(_ plan: LinkStage.Plan, of backend: ObjectBackend) {
    self.plan = plan
    self.backend = backend
    link = plan.link
    owner = backend.layout.entities[plan.link.owner]
    target = backend.layout.entities[plan.link.destination]
    name = "\(owner.name).\(plan.link.name)"
  }

  var isWaiting: Bool {
    endLists()
    return !waiting.isEmpty
  }

  func waits(_ owner: Int64) -> Bool { list(of: owner) != nil }

  /// The references of earlier imports that wait, by their owner.
  func adopted() throws -> [Int64: [WaitingReference]] {
    if let known { return known }
    let found = Dictionary(
      grouping: try backend.waitingReferences().filter {
        $0.relationship.utf8.elementsEqual(name.utf8)
      }
    ) { $0.owner.key }
    known = found
    return found
  }

  /// Reads them again when they are asked for.
  func forgetAdopted() { known = nil }

  /// The owners whose lists are others since they were taken last.
  func takeChangedOwners() -> [Int64] {
    endLists()
    defer { changed.removeAll(keepingCapacity: true) }
    return changed.sorted()
  }

  func mark() {
    undoes.removeAll(keepingCapacity: true)
    claimUndoes.removeAll(keepingCapacity: true)
    forgottenNow.removeAll(keepingCapacity: true)
    moment += 1
  }

  func undo() {
    for undo in undoes.reversed() {
      switch undo {
      case .list(let owner, let list, let keys):
        (waiting[owner], ended[owner]) = (list, keys)
        if let list { note(list, of: owner) }
        if backend.keepsWaiting { changed.insert(owner) }
      case .end(let owner, let key, let known, let waited):
        ended[owner]?[key] = known
        note(key, of: owner, waited)
      }
    }
    for (target, claim) in claimUndoes.reversed() { claims[target] = claim }
    backend.forgotten[link.id]?.subtract(forgottenNow)
    mark()
  }

  /// Takes note of who has a target that only one object may have, where others wait for targets.
  private func claim(_ target: Int64, by owner: Int64) {
    guard !waiting.isEmpty, backend.layout.isExclusive(link) else { return }
    claimUndoes.append((target, claims[target]))
    claims[target] = Claim(owner: owner, moment: moment)
  }

  /// Whether a target that an owner waited for is another's by a later record.
  func isTaken(_ target: Int64, from owner: Int64) -> Bool {
    claims[target].map { $0.owner != owner && $0.moment > moments[owner, default: 0] } ?? false
  }

  private func set(_ list: [Target]?, of owner: Int64) {
    guard list != nil || waiting[owner] != nil else { return }
    replace(list, of: owner)
    moments[owner] = moment
    if let list { note(list, of: owner) }
  }

  private func replace(_ list: [Target]?, of owner: Int64) {
    undoes.append(.list(owner, waiting[owner], ended: ended.removeValue(forKey: owner)))
    waiting[owner] = list
    if backend.keepsWaiting { changed.insert(owner) }
  }

  private func note(_ list: [Target], of owner: Int64) {
    for case .key(let values, let place) in list { note(values, of: owner, place.ordinal) }
  }

  private func note(_ key: [StoredValue], of owner: Int64, _ ordinal: Int) {
    let last = max(ordinal, waitingByKey?[key]?[owner] ?? ordinal)
    waitingByKey?[key, default: [:]][owner] = last
  }

  func endWaiting(for key: [StoredValue], before ordinal: Int) {
    if waitingByKey == nil {
      waitingByKey = [:]
      for (owner, list) in waiting { note(list, of: owner) }
    }
    // Each is looked at once, however many tombstones there are of the key.
    for (owner, waited) in waitingByKey?.removeValue(forKey: key) ?? [:] {
      if waited >= ordinal { note(key, of: owner, waited) }
      let known = ended[owner]?[key]
      guard waiting[owner] != nil, known ?? .min < ordinal else { continue }
      undoes.append(.end(owner, key, ended: known, waited: waited))
      ended[owner, default: [:]][key] = ordinal
    }
  }

  /// What an owner waits for, without what it waits for no more.
  func list(of owner: Int64) -> [Target]? {
    guard let keys = ended[owner], let list = waiting[owner] else { return waiting[owner] }
    let rest = list.filter { target in
      guard case .key(let values, let place) = target else { return true }
      return place.ordinal >= keys[values, default: .min]
    }
    if rest.count == list.count {
      // It named others by then.
      ended[owner] = nil
    } else {
      replace(rest.contains { if case .key = $0 { true } else { false } } ? rest : nil, of: owner)
    }
    return waiting[owner]
  }

  /// Takes out of all lists what their owners wait for no more.
  func endLists() {
    for owner in Array(ended.keys) { _ = list(of: owner) }
  }

  // MARK: - To-ones

  func wait(
    _ owner: Int64,
    key: RowValues,
    arena: UnsafeRawPointer,
    at place: WaitingPlace
  ) throws {
    set([.key(Self.stored(key, arena), place)], of: owner)
  }

  func forgetTarget(of owner: Int64) throws {
    set(nil, of: owner)
    backend.others.say(name, owner)
    guard try adopted()[owner] != nil,
      backend.forgotten[link.id, default: []].insert(owner).inserted
    else { return }
    forgottenNow.insert(owner)
    for reference in try adopted()[owner] ?? [] {
      try backend.context.records.forget(reference)
    }
  }

  /// Whether references of earlier imports do not wait any more, by whichever key.
  func isForgotten(_ owner: Int64) -> Bool {
    backend.forgotten[link.id]?.contains(owner) ?? false
  }

  private static func stored(
    _ key: RowValues,
    _ arena: UnsafeRawPointer
  ) -> [StoredValue] {
    key.map { $0.stored(in: UnsafeRawBufferPointer(start: arena, count: .max)) }
  }

  // MARK: - Lists

  func begin(
    _ owner: Int64,
    isNew: Bool,
    number: Int,
    list: some Collection<LinkStage.Listed>
  ) throws {
    at = (owner, number)
    listed.removeAll(keepingCapacity: true)
  }

  func add(_ owner: Int64, position: Int, target: Int64, _ standing: LinkStage.Standing) throws {
    listed.append(.object(target))
    if link.isToOne { claim(target, by: owner) }
  }

  func add(
    _ owner: Int64,
    position: Int,
    key: RowValues,
    arena: UnsafeRawPointer,
    at place: LinkStage.ReferencePlace
  ) throws {
    listed.append(.key(Self.stored(key, arena), place))
  }

  func flush(
    origin: (LinkStage.ReferencePlace) -> WaitingPlace
  ) throws -> LinkStage.Outcome {
    var result = LinkStage.Outcome()
    guard let (key, number) = at else { return result }
    at = nil
    // A to-one that is a column was set with the row; one that its inverse stores is a list of one.
    if link.isToOne, link.isStoredByOwner {
      // Another object has had the target, and has it no more.
      result.unlinked = backend.moved.removeValue(forKey: link.id) ?? 0
      return result
    }
    let object = try backend.object(key, of: owner)
    let former = try backend.context.links.targets(of: link, object)
    var wanted: [Target] = []
    var found: [ManagedObject] = []
    var isWaiting = false
    var seen: Set<Int64> = []
    for target in listed {
      switch target {
      case .object(let key):
        // Where a to-many holds no target twice, the first place counts.
        guard allowsRepeats || seen.insert(key).inserted else { continue }
        wanted.append(.object(key))
        found.append(try backend.object(key, of: self.target))
      case .key(let values, let place):
        if let known = try find(values) {
          guard allowsRepeats || seen.insert(known.place.key).inserted else { continue }
          wanted.append(.object(known.place.key))
          found.append(known)
        } else {
          wanted.append(.key(values, origin(place)))
          isWaiting = true
        }
      }
    }
    let replaced = plan.replaces ? list(of: key) ?? [] : []
    let taken = try taken(replaced, from: key)
    // What is joined to a list does not take back what earlier records joined.
    if plan.replaces { try forgetTarget(of: key) }
    let earlier = list(of: key) ?? []
    if isWaiting {
      wait(for: wanted, former, key)
      result.waiting = [LinkStage.Owner(key: key, number: number)]
    }
    if !plan.replaces {
      // What is there stays, and stays where it is.
      let old = Set(former.map(\.place.key))
      found = former + found.filter { !old.contains($0.place.key) }
      // Who comes now for whom an earlier record waited gets the place that was kept.
      if link.relationship.isOrdered, !earlier.isEmpty {
        let isListed = Set(found.map(\.place.key))
        found = joined(
          try resolved(earlier, of: key).filter { isListed.contains($0.object.place.key) },
          found
        )
      }
    }
    for target in found { claim(target.place.key, by: key) }
    let change = try assign(found, to: object, former)
    result.linked = change.linked
    result.unlinked = change.unlinked
    if link.isToOne, let inverse = backend.layout.inverse(of: link) {
      // What the owner had before a nested object took its place.
      result.unlinked += backend.moved.removeValue(forKey: inverse.id) ?? 0
    }
    let between = try linkedBetween(replaced, taken, former, found)
    result.add(between: Array(repeating: key, count: between))
    if change.isChanged || between > 0 {
      result.changed = [LinkStage.Owner(key: key, number: number)]
    }
    if try !change.gone.isEmpty || lacks(anyOf: replaced, found) { result.lost = [key] }
    if plan.deletesUnlinked { result.gone = change.gone }
    return result
  }

  /// How many references of an earlier record that are replaced were links in between: their targets are there, or were
  /// taken by others.
  private func linkedBetween(
    _ replaced: [Target],
    _ taken: Set<Int64>,
    _ former: [ManagedObject],
    _ found: [ManagedObject]
  ) throws -> Int {
    var keys: Set<Int64> = []
    for case .key(let values, let place) in replaced where place.ordinal > 0 {
      if let key = try find(values)?.place.key { keys.insert(key) }
    }
    return keys.subtracting((former + found).map(\.place.key)).union(taken).count
  }

  /// Whether the list at hand, whose targets were found so far, lacks a reference with which an earlier record waits.
  private func lacks(anyOf earlier: [Target], _ found: [ManagedObject]) throws -> Bool {
    if earlier.isEmpty { return false }
    var named: Set<[StoredValue]> = []
    for case .key(let values, _) in listed { named.insert(values) }
    let objects = Set(found.map(\.place.key))
    for case .key(let values, _) in earlier where !named.contains(values) {
      // It may be nested in the record by now.
      guard let object = try find(values), objects.contains(object.place.key) else { return true }
    }
    return false
  }

  private func wait(for wanted: [Target], _ former: [ManagedObject], _ owner: Int64) {
    guard !plan.replaces else { return set(wanted, of: owner) }
    let old = Set(former.map(\.place.key))
    var joined = wanted.filter { target in
      if case .object(let key) = target { !old.contains(key) } else { true }
    }
    if let last = former.last { joined.insert(.object(last.place.key), at: 0) }
    // The first target may be the last one that the list had by then; it says nothing new where the
    // earlier references have it.
    if let earlier = list(of: owner) {
      let isKnown = earlier.contains { target in
        if case .object(let key) = target { key == former.last?.place.key } else { false }
      }
      joined = earlier + joined.dropFirst(isKnown ? 1 : 0)
    }
    set(joined, of: owner)
  }

  func withoutOwner(among keys: [Int64]) throws -> [Int64] {
    guard let inverse = backend.layout.inverse(of: link) else { return keys }
    return try keys.filter { key in
      try backend.context.links.targets(of: inverse, backend.object(key, of: target)).isEmpty
    }
  }

  func find(_ values: [StoredValue]) throws -> ManagedObject? {
    try backend.find(target, plan.key.map(\.name), values)
  }
}
