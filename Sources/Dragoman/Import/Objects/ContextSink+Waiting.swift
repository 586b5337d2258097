import DragomanGraph

/// A reference to an object that was not there when its record came.
struct WaitingLink {
  /// Whose reference, by which relationship.
  struct Place: Hashable {
    let owner: ObjectID
    let link: Int
  }

  /// One target: an object, or the key of one that is not there yet and where it stands.
  enum Target {
    case object(ObjectID)
    case key([StoredValue], Origin)
  }

  let place: Place
  let plan: LinkPlan
  let entity: String
  let key: [EntityLayout.KeyPart]
  var targets: [Target]
  let origin: Origin
  /// Whether the owner was counted as unchanged, and then whether as a record of its own.
  var isUnchangedTop: Bool?

  /// The order in which references are given up, the same in every run.
  var order: (Int, Int, Int64) { (origin.record ?? 0, place.link, place.owner.primaryKey) }

  /// The targets with those that a later record joins.
  ///
  /// The later record's first target may be the last one that the list had by then; it says nothing
  /// new where the targets have it.
  func joined(by later: [Target]) -> [Target] {
    guard case .object(let first)? = later.first else { return targets + later }
    let isKnown = targets.contains { target in
      if case .object(let id) = target { id == first } else { false }
    }
    return targets + (isKnown ? Array(later.dropFirst()) : later)
  }
}

/// References that wait for the end of an import into a context.
extension ContextSink {
  func forgetWaiting(_ object: ManagedObject, _ link: RelationshipLayout) {
    let place = WaitingLink.Place(owner: object.objectID, link: link.id)
    waitingOfRecord[place] = nil
    forgottenOfRecord.append(place)
  }

  func wait(
    _ object: ManagedObject,
    _ relationship: RelationshipLayout,
    _ link: LinkPlan,
    _ targets: [WaitingLink.Target],
    _ origin: Origin
  ) {
    guard let key = link.referenceParts(in: context.layout) else { return }
    let place = WaitingLink.Place(owner: object.objectID, link: relationship.id)
    waitingOfRecord[place, default: []].append(
      WaitingLink(
        place: place,
        plan: link,
        entity: object.entityName,
        key: key,
        targets: targets,
        origin: origin
      )
    )
  }

  /// Where a node of the record at hand stands.
  func origin(of node: UInt32, in batch: DraftBatch) -> Origin {
    batch.records.origin(at: batch.records.nodes[Int(node)].origin, record: counts.read)
  }

  /// Links what waited to the objects that came; what is still not there is reported.
  ///
  /// - Parameter plan: The plans, for the targets of their relationships.
  /// - Throws: What reading or linking the objects throws.
  func finish(_ plan: ImportPlan) throws {
    var recounted: Set<ObjectID> = []
    var issues: [(record: Int, link: Int, issue: ImportIssue)] = []
    for link in waiting.values.sorted(by: { $0.order < $1.order }) {
      let owner = try context.object(with: link.place.owner)
      guard !owner.isDeleted,
        let entity = plan.entities.first(where: { $0.name.utf8.elementsEqual(link.entity.utf8) })
      else { continue }
      let destination = context.layout.entities[link.plan.layout.destination]
      let relationship = context.layout.links[link.place.link]
      let former = try context.targets(of: relationship, owner)
      var resolved: [Resolved] = []
      for target in link.targets {
        switch target {
        case .object(let id):
          let object = try context.object(with: id)
          resolved.append(Resolved(object: object, isLate: false))
        case .key(let values, let origin):
          if let object = try find(destination, link.key, values) {
            resolved.append(Resolved(object: object, isLate: true))
          } else {
            let issue = unresolved(values, link, origin, destination.name)
            issues.append((origin.record ?? 0, link.place.link, issue))
          }
        }
      }
      let target = try target(of: entity)
      if relationship.isToOne {
        let found = resolved.map(\.object)
        guard former.first !== found.first else { continue }
        try context.assign(found, to: relationship, owner)
        tally(link.plan, target, linked: found.count, unlinked: former.count)
      } else {
        let wanted = list(resolved, link, former)
        let isChanged = try assign(wanted, to: relationship, owner, former, link.plan, target)
        guard isChanged else { continue }
      }
      if let isTop = link.isUnchangedTop, recounted.insert(link.place.owner).inserted {
        recountUnchanged(of: entity.name, isTop: isTop)
      }
    }
    waiting.removeAll()
    // In the order of the records that have them; within one record and relationship as they stand.
    for (_, entry) in issues.enumerated().sorted(by: {
      ($0.element.record, $0.element.link, $0.offset)
        < ($1.element.record, $1.element.link, $1.offset)
    }) {
      self.issues.add(entry.issue)
    }
  }

  /// A list with those of its targets that came late.
  ///
  /// Where the record gives the whole list, they stand where it has them, and what came to the list
  /// by other ways stands behind; what left it since does not come back. What is joined comes behind
  /// what stands before it in its record, or behind what the list had then.
  private func list(
    _ resolved: [Resolved],
    _ link: WaitingLink,
    _ former: [ManagedObject]
  ) -> [ManagedObject] {
    if link.plan.replaces {
      if link.plan.layout.relationship.allowsRepeats { return resolved.map(\.object) }
      let isThere = Set(former.map(\.objectID))
      let named = Set(resolved.map(\.object.objectID))
      return resolved.filter { $0.isLate || isThere.contains($0.object.objectID) }.map(\.object)
        + former.filter { !named.contains($0.objectID) }
    }
    let late = Set(resolved.filter(\.isLate).map(\.object.objectID))
    let others = former.filter { !late.contains($0.objectID) }
    let isThere = Set(others.map(\.objectID))
    var behind: [ObjectID?: [ManagedObject]] = [:]
    var last: ObjectID?
    for target in resolved {
      if target.isLate {
        behind[last, default: []].append(target.object)
      } else if isThere.contains(target.object.objectID) {
        last = target.object.objectID
      }
    }
    return (behind[nil] ?? []) + others.flatMap { [$0] + (behind[$0.objectID] ?? []) }
  }

  /// A target of a reference that waited, or of one in the same list.
  private struct Resolved {
    let object: ManagedObject
    /// Whether it was not there when its record came.
    let isLate: Bool
  }

  /// What a record joins to a list, behind the last target that the list has.
  func joined(
    _ wanted: [WaitingLink.Target],
    to former: [ManagedObject]
  ) -> [WaitingLink.Target] {
    let old = Set(former.map(\.objectID))
    let added = wanted.filter { target in
      if case .object(let id) = target { !old.contains(id) } else { true }
    }
    return (former.last.map { [.object($0.objectID)] } ?? []) + added
  }

  /// Counts a reference that nobody has.
  private func unresolved(
    _ values: [StoredValue],
    _ link: WaitingLink,
    _ origin: Origin,
    _ destination: String
  ) -> ImportIssue {
    let name = "\(link.entity).\(link.plan.name)"
    let target = context.layout.entities[link.plan.layout.destination]
    let key = link.key.compactMap { KeyColumn($0, of: target, in: context.layout) }
    relationships[name, default: .init()].unresolved += 1
    return ImportIssue(
      code: .linkUnresolved,
      entity: link.entity,
      attribute: link.plan.name,
      origin: origin,
      path: nil,
      value: key.isSensitive ? ForeignText.mask : values.map(\.text).joined(separator: ", "),
      message: "\(name) names a \(destination) that nobody is.",
      tried: [],
      map: nil,
      help: "import the missing object too, or say `onUnresolved: stub` or `pending`",
      key: nil,
      isReject: false
    )
  }
}
