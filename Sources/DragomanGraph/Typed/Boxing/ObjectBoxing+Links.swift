/// Finds the targets of to-ones that are part of the unique key, before the object can be found;
/// writes nothing.
final class KeyLinks: LinkBoxing {
  private let binding: ValueBinding
  private let buffer: BoxingBuffer
  private let objects: ObjectBoxing
  /// Whether there are relationships that a second turn has to box.
  private(set) var isNeeded = false

  init(_ binding: ValueBinding, _ buffer: BoxingBuffer, _ objects: ObjectBoxing) {
    self.binding = binding
    self.buffer = buffer
    self.objects = objects
  }

  override func link<Value: RelationshipValue>(
    _ slot: Int,
    _ value: inout Value,
    keepsIDs: Bool
  ) throws {
    isNeeded = true
    guard binding.keySlots?.contains(slot) == true else { return }
    let targets = KeyTargets(objects)
    var links = BoxingLinks(targets)
    var copy = value
    try copy.box(into: &links)
    buffer.set(targets.key.map { .integer($0) } ?? .null, slot)
  }

  /// The links are set by the second turn, which keeps the other side in step.
  func clear() {
    for slot in binding.keySlots ?? [] {
      if case .link = binding.slots[slot] { buffer.set(.absent, slot) }
    }
  }
}

/// Boxes the relationships of an object.
final class ObjectLinks: LinkBoxing {
  private let binding: ValueBinding
  private let object: ManagedObject
  private let context: ManagedObjectContext
  private let objects: ObjectBoxing

  init(
    _ binding: ValueBinding,
    _ object: ManagedObject,
    _ context: ManagedObjectContext,
    _ objects: ObjectBoxing
  ) {
    self.binding = binding
    self.object = object
    self.context = context
    self.objects = objects
  }

  override func link<Value: RelationshipValue>(
    _ slot: Int,
    _ value: inout Value,
    keepsIDs: Bool
  ) throws {
    guard case .link(let link) = binding.slots[slot] else { return }
    let before = try context.links.targets(of: link.layout, object)
    // Values that cannot know their object take over former targets of other values.
    var free = before[...]
    let taken = link.holdsValues && !before.isEmpty ? try value.knownKeys() : []
    let targets = ObjectTargets(objects) { [table = before.first?.place.table] binding in
      guard binding.keySlots == nil, binding.entity.tableIndex == table else { return nil }
      while let next = free.popFirst() {
        if !taken.contains(next.place.key) { return next }
      }
      return nil
    }
    targets.keepsIDs = keepsIDs
    var links = BoxingLinks(targets)
    try value.box(into: &links)
    try context.links.assign(targets.objects, to: link.layout, object)
    guard link.holdsValues, link.layout.relationship.deleteRule == .cascade else { return }
    let kept = Set(targets.objects.map(\.place.key))
    for target in before where !kept.contains(target.place.key) { objects.leave(target) }
  }
}

/// Finds or makes the objects of targets.
private final class ObjectTargets: LinkTargets {
  private let boxing: ObjectBoxing
  private let former: (ValueBinding) -> ManagedObject?
  private(set) var objects: [ManagedObject] = []
  /// Whether values that know their object get its id.
  var keepsIDs = true

  init(_ boxing: ObjectBoxing, former: @escaping (ValueBinding) -> ManagedObject?) {
    self.boxing = boxing
    self.former = former
  }

  override func add<Value: EntityValue>(_ value: inout Value) throws {
    let knowsObject = keepsIDs && Value.self is any PersistentValue.Type
    objects.append(try boxing.box(&value, over: knowsObject ? nil : former))
  }

  override func add<Value: EntityValue>(_ reference: Ref<Value>) throws {
    objects.append(try boxing.target(of: reference))
  }
}

/// Finds the object of a target that is part of a unique key: what has none finds nothing.
private final class KeyTargets: LinkTargets {
  private let boxing: ObjectBoxing
  private(set) var key: Int64?

  init(_ boxing: ObjectBoxing) { self.boxing = boxing }

  override func add<Value: EntityValue>(_ value: inout Value) throws {
    key = try boxing.find(value)?.place.key
  }

  override func add<Value: EntityValue>(_ reference: Ref<Value>) throws {
    key = try boxing.find(reference)?.place.key
  }
}

/// Tells which objects the targets of a relationship are known to be by their ids.
private final class KnownTargets: LinkTargets {
  private(set) var keys: Set<Int64> = []

  override func add<Value: EntityValue>(_ value: inout Value) throws {
    if let id = value.storedID { keys.insert(id.primaryKey) }
  }
}

extension RelationshipValue {
  /// The keys of the objects that these values have by their ids.
  fileprivate func knownKeys() throws -> Set<Int64> {
    let targets = KnownTargets()
    var links = BoxingLinks(targets)
    var copy = self
    try copy.box(into: &links)
    return targets.keys
  }
}
