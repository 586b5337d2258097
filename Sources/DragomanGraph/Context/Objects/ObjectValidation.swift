/// Checks objects against the rules of their entities.
struct ObjectValidation {
  private let context: ManagedObjectContext
  private var checks = AttributeChecks()

  /// What is wrong, so far.
  var faults: [ObjectFault] { checks.faults }

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Checks an object that is about to be written; only what was set is looked at, except that an
  /// insertion needs all that is required.
  mutating func check(_ object: ManagedObject, _ change: RowChange) throws {
    try checkValues(object, change)
    for link in object.layout.relationships { try check(link, object) }
  }

  /// Checks its values only.
  mutating func checkValues(_ object: ManagedObject, _ change: RowChange) throws {
    let entity = object.layout
    if entity.entity.isAbstract {
      add(object, nil, .abstract, "\(entity.name) is abstract and has no objects of its own.")
    }
    let owner = AttributeChecks.Owner(object)
    for slot in entity.attributes.indices {
      let column = entity.attributeColumns[slot]
      guard change.kind == .inserted || change.values[column] != nil else { continue }
      checks.check(try object.value(column), entity.attributes[slot], owner)
    }
  }

  /// Checks the number of targets of owners whose rows stay the same, and whose links are changed
  /// from the other side; `isMerging`: also of links that are unsaved above.
  mutating func checkCounts(_ changes: ChangeSet, isMerging: Bool) throws {
    var ends = try endsOfLinks(changes)
    if isMerging { ends.formUnion(context.links.endsAbove(changes)) }
    // Objects that differ themselves are checked as a whole.
    try checkCounts(of: ends) { changes[$0] == nil }
  }

  /// Checks the number of targets of owners that are there.
  mutating func checkCounts(
    of ends: Set<LinkKey>,
    where isMeant: (RowKey) -> Bool = { _ in true }
  ) throws {
    for end in ends.sorted(by: { ($0.link, $0.owner) < ($1.link, $1.owner) }) {
      let link = context.layout.links[end.link]
      guard link.relationship.isCounted else { continue }
      let entity = context.layout.entities[link.owner]
      let place = RowKey(table: entity.tableIndex, key: end.owner)
      guard isMeant(place) else { continue }
      let owner = try context.register(place, entity)
      if try context.isAlive(owner) { try check(link, owner) }
    }
  }

  /// The ends that changes may have left with too few targets, or too many, those of the changed objects too.
  ///
  /// A stub has none of what is required.
  func countedEnds(_ changes: ChangeSet) throws -> Set<LinkKey> {
    var ends = try endsOfLinks(changes)
    for (place, change) in changes.sorted where change.kind != .deleted {
      if change.mark?.isStub == true { continue }
      let object = context.enroll(place, change)
      for link in object.layout.relationships where link.relationship.isCounted {
        ends.insert(LinkKey(link: link.id, owner: place.key))
      }
    }
    return ends.filter { context.layout.links[$0.link].relationship.isCounted }
  }

  private func endsOfLinks(_ changes: ChangeSet) throws -> Set<LinkKey> {
    var ends: Set<LinkKey> = []
    for key in Array(changes.touched.keys) + changes.links.targets {
      if let inverse = context.layout.links[key.link].inverse {
        ends.insert(LinkKey(link: inverse, owner: key.owner))
      }
    }
    ends.formUnion(changes.links.owners)
    ends.formUnion(try context.clearedOwners(changes))
    return ends
  }

  /// Checks that no `deny` rule forbids the deletion of an object.
  mutating func checkDeletion(_ object: ManagedObject) throws {
    for link in object.layout.relationships where link.relationship.deleteRule == .deny {
      let targets = try context.links.targets(of: link, object)
      guard let first = targets.first else { continue }
      add(
        object,
        link.name,
        .deny,
        "\(object.layout.name) \(object.place.key) cannot be deleted: its \(link.name)"
          + " \(targets.count == 1 ? "is" : "are") still there"
          + " (\(first.layout.name) \(first.place.key)"
          + "\(targets.count > 1 ? " and \(targets.count - 1) more" : ""))."
      )
    }
  }

  private mutating func check(_ link: RelationshipLayout, _ object: ManagedObject) throws {
    let relationship = link.relationship
    guard relationship.isCounted else { return }
    let count = try context.links.targets(of: link, object).count
    let name = "\(object.layout.name).\(link.name)"
    if relationship.isRequired, count == 0 {
      add(object, link.name, .required, "\(name) is required and leads nowhere.")
    }
    if let most = relationship.maximumCount, count > most {
      let objects = MessageWords.count(most, "object")
      add(object, link.name, .count, "\(name) leads to at most \(objects), not to \(count).")
    }
  }

  private mutating func add(
    _ object: ManagedObject,
    _ property: String?,
    _ rule: ObjectFault.Rule,
    _ message: String
  ) {
    checks.add(AttributeChecks.Owner(object), property, rule, message)
  }
}

extension Relationship {
  /// Whether a rule says how many targets it has.
  var isCounted: Bool { isRequired || maximumCount != nil }
}

extension Attribute {
  /// Orders two values of the attribute: numbers by value, everything else by bytes.
  package func order(_ left: StoredValue, _ right: StoredValue) -> Int {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): return a < b ? -1 : a > b ? 1 : 0
    case (.text(var a), .text(var b)):
      if type == .decimal {
        return a.withUTF8 { a in
          b.withUTF8 { b in
            DecimalText.order(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b))
          }
        }
      }
      if a.utf8.elementsEqual(b.utf8) { return 0 }
      return a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    default:
      guard let a = left.number, let b = right.number else { return 0 }
      return a < b ? -1 : a > b ? 1 : 0
    }
  }
}

extension StoredValue {
  fileprivate var number: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .real(let real): real
    default: nil
    }
  }
}
