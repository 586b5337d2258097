import DragomanGraph

/// A to-one that is a column of the entity's own table.
final class LinkColumn {
  /// The relationship's name, and the column's.
  let relationship: String
  let name: String
  /// The value that takes the target's primary key.
  let slot: Int
  /// The values that take the parts of the target's key; empty where the map gives none.
  let key: Range<Int>
  /// The look-up's number in the row.
  let number: Int
  /// Whether it is part of the identity.
  let isIdentity: Bool
  /// Whether no two objects may have the same target.
  let isExclusive: Bool

  init(
    relationship: String,
    name: String,
    slot: Int,
    key: Range<Int>,
    number: Int,
    isIdentity: Bool,
    isExclusive: Bool
  ) {
    self.relationship = relationship
    self.name = name
    self.slot = slot
    self.key = key
    self.number = number
    self.isIdentity = isIdentity
    self.isExclusive = isExclusive
  }
}

/// A unique key that is not the identity: an object may have another one tomorrow.
struct OtherKey {
  /// The values of a row that are parts of it, as far as rows have them.
  let slots: [Int]
  /// How an object is looked up by it; nil where it cannot be: a part is another object.
  let reference: KeyReference?
}

/// Where the objects of one plan go: the writer of their rows, and which value of a row is which
/// link.
///
/// A row has a value for each slot of the plan, and behind them one for each column of links that the
/// table has: the primary key of a target, the parts of its key where the map gives keys, and the
/// places of ordered inverses.
///
/// Large because it answers once what the walker would have to ask of a plan for each row.
final class WalkTarget<Backend: DraftBackend> {
  let plan: EntityPlan
  let writer: Backend.Writer
  /// The to-ones of the table.
  let columns: [LinkColumn]
  /// Those of them that are parts of the key.
  let identity: [LinkColumn]
  /// For each link of the plan, its column; nil where the links are stored elsewhere.
  let columnOfLink: [Int?]
  /// For each link of the plan, its stage; nil where it needs none.
  let stages: [Backend.Stage?]
  /// For each link of the plan, its number in the tally.
  let linkNumbers: [Int]
  /// The keys besides the identity of which rows give a part.
  let otherKeys: [OtherKey]
  /// The number of values of a row.
  let width: Int
  /// Whether rows are nothing but the values of the slots: no links, in either direction.
  let isPlain: Bool
  /// Whether a record may be refused after a part of it was written.
  let isUndoable: Bool
  /// What happens to objects that exist.
  let mode: EntityWriter.Mode
  /// Whether a row may leave the object alone that has its key.
  let mayKeep: Bool
  /// Whether the plan has records for the entity, and records of it nested in others.
  let isShared: Bool
  private let slotOfColumn: [String: Int]
  private let numberOfColumn: [String: Int]

  /// Makes a target.
  ///
  /// - Parameters:
  ///   - plan: The plan of the objects.
  ///   - imports: All plans.
  ///   - mode: What happens to objects that exist.
  ///   - isNested: Whether the objects are nested in others.
  ///   - backend: Where the objects go.
  ///   - tally: What counts the links.
  ///   - stage: The stage of a link.
  /// - Throws: `StoreError` where the store does not have the entity.
  init(
    _ plan: EntityPlan,
    in imports: ImportPlan,
    mode: EntityWriter.Mode,
    isNested: Bool,
    backend: Backend,
    tally: ImportTally,
    stage: (LinkPlan) throws -> Backend.Stage?
  ) throws {
    self.plan = plan
    let (model, layout) = (imports.model, backend.layout)
    guard let entity = layout.entity(named: plan.name) else {
      throw StoreError(.modelConflict, "The store has no entity \(plan.name).")
    }
    let shape = RowShape(plan, entity, in: layout)
    let (slots, columns, slotOfColumn) = (shape.slots, shape.columns, shape.slotOfColumn)
    numberOfColumn = Dictionary(uniqueKeysWithValues: columns.map { ($0.name, $0.number) })
    linkNumbers = plan.links.map {
      tally.number(ofRelationship: "\(model.entities[$0.layout.owner].name).\($0.name)")
    }
    otherKeys = entity.uniqueKeys.dropFirst().compactMap { key in
      let slots = key.compactMap { part in
        plan.slots.firstIndex { $0.attribute.name.utf8.elementsEqual(part.name.utf8) }
          ?? slotOfColumn[part.column]
      }
      if slots.isEmpty { return nil }
      let reference = KeyReference(key, of: entity, in: layout)
      return OtherKey(slots: slots, reference: reference?.isPlain == true ? reference : nil)
    }
    self.columns = columns
    self.identity = columns.filter(\.isIdentity)
    columnOfLink = shape.columnOfLink
    self.slotOfColumn = slotOfColumn
    width = slots.count
    self.mode = mode
    // An object that is there refuses an `insert`, whatever its version is.
    mayKeep = mode == .ignore || (plan.version != nil && mode != .insert)
    isShared = imports.isShared(plan)
    // Others of the family may be held until the end, and these behind them.
    let mayBeHeld = layout.entities.contains {
      $0.root == entity.root && $0.index != entity.index && !$0.relationships.isEmpty
    }
    isPlain =
      Backend.isBulk && !mayBeHeld && slots.count == plan.slots.count && plan.links.isEmpty
      && !isNested
      && !isShared && !backend.namesObjects
    isUndoable =
      !Backend.isBulk
      || plan.links.contains { link in
        // What is unlinked may be protected by a delete rule.
        if case .nested = link.origin { true } else { link.deletesUnlinked }
      } || columns.contains { $0.isIdentity && !$0.key.isEmpty }
    var rows = EntityStatements(entity: entity, slots: slots, mode: mode, version: plan.version)
    if !isPlain { rows.noted = columns.map(\.name) }
    rows.notesFormer = isNested || isShared
    if entity.hasStubColumn {
      rows.completesStubs = isNested && entity.needsMoreThanKey ? .withValues : .always
    }
    writer = try backend.writer(for: rows, isNested: isNested)
    stages = try plan.links.map(stage)
  }

  /// The value of a row that goes into a column.
  func slot(ofColumn name: String) -> Int? { slotOfColumn[name] }

  /// The target that a column had before the last row was written.
  func previous(_ column: String) -> Int64? {
    numberOfColumn[column].flatMap { writer.previous($0) }
  }
}

/// The values of a row: those of the slots, then those of the links that the table has columns for.
private struct RowShape {
  private(set) var slots: [RowSlot]
  private(set) var columns: [LinkColumn] = []
  /// For each link of the plan, its column; nil where the links are stored elsewhere.
  private(set) var columnOfLink: [Int?]
  private(set) var slotOfColumn: [String: Int] = [:]

  init(_ plan: EntityPlan, _ entity: EntityLayout, in layout: ModelLayout) {
    slots = plan.slots.map { RowSlot($0.attribute) }
    columnOfLink = plan.links.map { _ in nil }
    for link in entity.relationships {
      if case .column(let name) = link.storage { add(link, name, of: entity, plan, layout) }
    }
    let family = Set(entity.lineage)
    for owner in layout.entities {
      for link in owner.relationships where link.owner == owner.index {
        guard case .inverseColumn(_, let order?) = link.storage, family.contains(link.destination)
        else { continue }
        slotOfColumn[order] = slots.count
        slots.append(RowSlot(name: link.name, column: order, kind: .place))
      }
    }
  }

  private mutating func add(
    _ link: RelationshipLayout,
    _ name: String,
    of entity: EntityLayout,
    _ plan: EntityPlan,
    _ layout: ModelLayout
  ) {
    let (slot, order) = (slots.count, layout.order(of: link))
    slots.append(RowSlot(name: link.name, column: name, kind: .integer, order: order))
    slotOfColumn[name] = slot
    var key = slots.count..<slots.count
    if let mapped = plan.links.firstIndex(where: { $0.name.utf8.elementsEqual(link.name.utf8) }) {
      if let reference = Self.reference(plan.links[mapped], columns.count) {
        for part in reference.columns.indices {
          let kind = RowSlot.Kind.key(reference, part: part)
          slots.append(RowSlot(name: link.name, column: name, kind: kind, order: order))
        }
        key = key.lowerBound..<slots.count
      }
      columnOfLink[mapped] = columns.count
    }
    let target = layout.entities[link.destination]
    let inverse = link.relationship.inverse.flatMap { target.linkSlot(named: $0) }
    columns.append(
      LinkColumn(
        relationship: link.name,
        name: name,
        slot: slot,
        key: key,
        number: columns.count,
        isIdentity: entity.uniqueKeys.first?.contains { $0.column == name } ?? false,
        isExclusive: inverse.map { target.relationships[$0].isToOne } ?? false
      )
    )
  }

  /// How the target of a link is looked up by its key.
  private static func reference(_ link: LinkPlan, _ number: Int) -> RowSlot.Reference? {
    link.reference.map {
      RowSlot.Reference(
        number: number,
        table: $0.entity.table,
        columns: $0.columns,
        entities: $0.entities
      )
    }
  }
}

extension EntityLayout {
  /// Whether the key alone makes no object: a nested record that holds nothing else is a reference then.
  fileprivate var needsMoreThanKey: Bool {
    let key = Set((uniqueKeys.first ?? []).map(\.column))
    return attributes.contains {
      $0.isRequired && $0.defaultValue == nil && !key.contains($0.column)
    }
  }
}

extension ImportPlan {
  /// Whether records of an entity's family come by themselves and nested in others.
  fileprivate func isShared(_ plan: EntityPlan) -> Bool {
    guard sources.contains(where: { $0.entity.layout.root == plan.layout.root }) else {
      return false
    }
    return entities.flatMap(\.links).contains { link in
      if case .nested = link.origin {
        model.entities[link.layout.destination].root == plan.layout.root
      } else {
        false
      }
    }
  }
}
