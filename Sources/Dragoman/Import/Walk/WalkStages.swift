import DragomanGraph

/// Which links are stored together, and with which others they share a place.
final class WalkStages<Backend: DraftBackend> {
  typealias Stage = Backend.Stage

  private let backend: Backend
  /// The stages by `Entity.relationship`.
  private var stages: [String: Stage] = [:]
  /// What becomes of references by stage that nobody has.
  private var policies: [String: UnresolvedPolicy] = [:]
  /// The stages in the order in which they are flushed.
  private(set) var all: [Stage] = []
  /// Stages of the plan at hand whose links other rows write as well: never left full from record to record.
  private(set) var crossed: [Stage] = []
  /// Stages of the plan at hand that are stored with each record: what they unlink is to be deleted, and that
  /// may be forbidden, or other records may be about it.
  private(set) var own: [Stage] = []

  init(_ backend: Backend) { self.backend = backend }

  /// Looks what the links of a plan have in common; their stages are there.
  func prepare(for plan: ImportPlan) {
    own = deleting(in: plan)
    crossed = crossed(in: plan) + own
  }

  /// The stage of a link; nil where the row says everything.
  func stage(of link: LinkPlan, in plan: ImportPlan) throws -> Stage? {
    let owner = plan.model.entities[link.layout.owner]
    let name = "\(owner.name).\(link.name)"
    if let known = stages[name] { return known }
    let key = link.reference?.columns
    if case .column = link.layout.storage, key == nil, !isExclusive(link, plan.model) { return nil }
    let made = try backend.stage(
      LinkStage.Plan(
        link: link.layout,
        key: key ?? [],
        replaces: link.replaces || link.isToOne,
        deletesUnlinked: link.deletesUnlinked,
        mayEndEarly: key != nil && link.endsWithTombstones
      )
    )
    stages[name] = made
    all = stages.values.sorted { $0.plan.link.id < $1.plan.link.id }
    policies[name] = link.onUnresolved
    return made
  }

  private func isExclusive(_ link: LinkPlan, _ model: ModelLayout) -> Bool {
    let target = model.entities[link.layout.destination]
    guard let name = link.layout.relationship.inverse, let slot = target.linkSlot(named: name)
    else {
      return false
    }
    return target.relationships[slot].isToOne
  }

  /// The stages whose links other links of the plan write as well: the other side of a table of
  /// links, or a to-one whose column a to-many's stage fills.
  private func crossed(in plan: ImportPlan) -> [Stage] {
    var uses: [RelationshipLayout.Place: Int] = [:]
    var stagesByPlace: [RelationshipLayout.Place: [Stage]] = [:]
    for link in Set(plan.entities.flatMap { $0.links.map(\.layout) }) {
      let place = link.place
      uses[place, default: 0] += link.isSymmetric ? 2 : 1
      if let stage = stages["\(plan.model.entities[link.owner].name).\(link.name)"] {
        stagesByPlace[place, default: []].append(stage)
      }
    }
    // In the order in which all are flushed: what is counted depends on it.
    return uses.filter { $0.value > 1 }.flatMap { stagesByPlace[$0.key] ?? [] }
      .sorted { $0.plan.link.id < $1.plan.link.id }
  }

  /// The stages of to-manies that delete what they unlink, unless nothing but the owner's own list can
  /// be about it.
  private func deleting(in plan: ImportPlan) -> [Stage] {
    let links = plan.entities.flatMap(\.links)
    let deleting = links.filter { link in
      guard link.deletesUnlinked, !link.isToOne else { return false }
      if case .inverseColumn = link.layout.storage, case .nested = link.origin {
        let root = plan.model.entities[link.layout.destination].root
        return backend.layout.mayDeny(root)
          || plan.sources.contains { $0.entity.layout.root == root }
          || links.contains {
            $0.layout != link.layout && plan.model.entities[$0.layout.destination].root == root
          }
      }
      return true
    }
    let names = deleting.map { "\(plan.model.entities[$0.layout.owner].name).\($0.name)" }
    return Set(names).sorted().compactMap { stages[$0] }
  }

  /// Ends the waiting of the records before one for whom that one deletes: a stub of it would be gone, too.
  ///
  /// - Parameters:
  ///   - entity: The entity of the tombstone.
  ///   - ordinal: Its number in the import.
  ///   - key: The identity that it gives, as references have it.
  /// - Throws: What the store throws.
  func endWaiting(
    for entity: EntityLayout,
    before ordinal: Int,
    _ key: () -> [StoredValue]?
  ) throws {
    let waiting = all.filter { stage in
      let target = stage.plan.link.destination
      return stage.plan.mayEndEarly
        && (entity.family.contains(target) || entity.lineage.contains(target))
    }
    guard !waiting.isEmpty, let key = key() else { return }
    let names = entity.uniqueKeys.first?.map { Array($0.name.utf8) }
    for stage in waiting where stage.plan.key.map({ Array($0.name.utf8) }) == names {
      try stage.endWaiting(for: key, before: ordinal)
    }
  }

  /// What becomes of references of a stage that nobody has.
  func policy(of stage: Stage) -> UnresolvedPolicy {
    policies[stage.name] ?? .pending
  }

  /// Stages for references that wait from earlier imports by other maps, or by another key.
  func pending() throws -> [Stage] {
    try backend.pendingRelationships().compactMap { name, key in
      guard let link = backend.layout.relationship(named: name) else { return nil }
      let names = { (parts: [String]) in Set(parts.map { Array($0.utf8) }) }
      if let known = stages[name], names(known.plan.key.map(\.name)) == names(key) { return nil }
      let target = backend.layout.entities[link.destination]
      let columns = key.compactMap { name in
        target.uniqueKeys.joined().first { $0.name.utf8.elementsEqual(name.utf8) }
          .flatMap { KeyColumn($0, of: target, in: backend.layout) }
      }
      guard columns.count == key.count else { return nil }
      return try backend.stage(
        LinkStage.Plan(link: link, key: columns, replaces: false, deletesUnlinked: false)
      )
    }
  }
}

extension RelationshipLayout {
  /// Where links are stored, seen from neither side.
  enum Place: Hashable {
    case column(entity: Int, String)
    case table(String)
  }

  /// Where the links are stored.
  var place: Place {
    switch storage {
    case .column(let column): .column(entity: owner, column)
    case .inverseColumn(let column, _): .column(entity: destination, column)
    case .joinTable(let join, _): .table(join.name)
    }
  }
}
