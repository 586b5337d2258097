import DragomanGraph

/// Which tables records of one plan are loaded into, and what they need besides.
///
/// Records that are about more than one row can be loaded as long as all that they write is in tables which
/// nobody looks anything up in: their own, and those of the records nested in their to-manies. What they refer to
/// by key is in other tables.
final class LoadRule<Backend: DraftBackend> {
  typealias Target = WalkTarget<Backend>

  /// Where their rows go.
  private(set) var targets: [Target] = []
  /// The to-manies whose links are in these rows.
  private(set) var stages: [Backend.Stage] = []
  /// The tables that references are looked up in.
  private(set) var lookUps: Set<String> = []
  private var plans: Set<Int> = []
  /// Whether the loads were begun, as far as the tables are empty.
  private(set) var isOpened = false
  /// When it was found last that nothing is loaded in which references are looked up.
  private var checkedAt = -1

  private let plan: ImportPlan
  private let backend: Backend
  private let target: (_ plan: Int, _ isNested: Bool) throws -> Target

  /// Looks what records of a plan write; nil where they cannot be loaded.
  init?(
    _ index: Int,
    in plan: ImportPlan,
    _ backend: Backend,
    target: @escaping (_ plan: Int, _ isNested: Bool) throws -> Target
  ) throws {
    self.plan = plan
    self.backend = backend
    self.target = target
    // Who waits for a target holds back others, and who asks for objects finds those that are there.
    guard !backend.isObserved, !backend.namesObjects, !plan.needsTargets else { return nil }
    guard try add(index, under: nil) else { return nil }
    let tables = targets.map(\.plan.layout.table)
    guard lookUps.isDisjoint(with: tables) else { return nil }
  }

  /// Adds an entity's own table, and those of what is nested in its to-manies.
  ///
  /// - Parameters:
  ///   - index: The entity's plan.
  ///   - column: The column that refers to the object in which it is nested; nil: it is a record's own object.
  /// - Returns: Whether its rows can be loaded.
  /// - Throws: `StoreError` where the store does not have the entity.
  private func add(_ index: Int, under column: String?) throws -> Bool {
    let entity = plan.entities[index]
    let target = try target(index, column != nil)
    guard plans.insert(index).inserted, !target.isShared,
      column == nil || entity.discriminator == nil, hasPlainKeys(entity, besides: column)
    else { return false }
    targets.append(target)
    for (slot, link) in entity.links.enumerated() {
      switch (link.layout.storage, link.origin) {
      case (.column(let name), .key):
        guard name != column, let place = target.columnOfLink[slot],
          !target.columns[place].isExclusive, addLookUp(of: link)
        else { return false }
      case (.inverseColumn(let name, let order), .nested(let nested, _)):
        guard link.replaces || order == nil, let stage = target.stages[slot],
          try add(nested, under: name)
        else { return false }
        stages.append(stage)
      default: return false
      }
    }
    return true
  }

  /// Whether all unique keys of a table are of attributes, and of the object in which a row is nested.
  private func hasPlainKeys(_ entity: EntityPlan, besides column: String?) -> Bool {
    let table = entity.layout.table
    let family = backend.layout.entities.filter { hasSameBytes($0.table, table) }
    return family.flatMap(\.uniqueKeys).joined().allSatisfy { part in
      if case .attribute = part.property { return true }
      return column.map { hasSameBytes($0, part.column) } ?? false
    }
  }

  private func addLookUp(of link: LinkPlan) -> Bool {
    lookUps.insert(plan.model.entities[link.layout.destination].table)
    return link.reference?.isPlain ?? false
  }

  /// Whether the tables may be loaded, or are.
  ///
  /// All of them: of what is set aside the filters of loaded tables know the keys, and a later record about an
  /// object in another table would come before it.
  var isOpen: Bool { targets.allSatisfy { $0.writer.isLoadable } }

  /// Begins to load what is empty; not within a savepoint.
  func open() throws {
    isOpened = true
    for target in targets { try target.writer.openLoad() }
  }

  /// Whether references are looked up in a table that is loaded.
  func looksUpLoaded() -> Bool {
    guard checkedAt != backend.loadChangeCount else { return false }
    if lookUps.contains(where: { backend.isLoading($0) }) { return true }
    checkedAt = backend.loadChangeCount
    return false
  }
}
