/// A Swift type that a relationship can hold: a value or a reference, an optional, an array or a set
/// of these.
public protocol RelationshipValue: Sendable {
  /// The type of the targets' values.
  associatedtype Target: EntityValue
  /// The type that a live object has in its place.
  associatedtype Live
  /// To-one or to-many.
  static var relationshipKind: Relationship.Kind { get }
  /// Whether a to-many keeps its order.
  static var isOrdered: Bool { get }
  /// Whether there must be a target.
  static var isRequired: Bool { get }
  /// Whether the targets are nested values, and no references.
  static var holdsValues: Bool { get }
  /// Unboxes the targets of a relationship.
  init(unboxing links: borrowing UnboxingLinks) throws
  /// Boxes the targets.
  mutating func box(into links: inout BoxingLinks) throws
  /// The live objects of the targets.
  static func live(_ objects: [ManagedObject]) throws -> Live
  /// The objects of live ones.
  static func objects(_ live: Live) -> [ManagedObject]
}

/// A type that a to-one can hold: a value, a reference, or an optional of these.
public protocol ToOneValue: RelationshipValue {}

/// One target of a relationship: a value, or a `Ref` to one.
public protocol RelationshipTarget: ToOneValue {
  /// Unboxes all targets; those that are gone are left out.
  static func targets(of links: borrowing UnboxingLinks) throws -> [Self]
  /// Unboxes the only target; nil where there is none.
  static func target(of links: borrowing UnboxingLinks) throws -> Self?
  /// Boxes this target.
  mutating func link(into links: inout BoxingLinks) throws
  /// The live object of a target.
  static func live(_ object: ManagedObject) throws -> Live
}

extension RelationshipTarget {
  /// To-one.
  public static var relationshipKind: Relationship.Kind { .toOne }
  /// False.
  public static var isOrdered: Bool { false }
  /// True: what is no optional is there.
  public static var isRequired: Bool { true }

  /// Unboxes the only target.
  public init(unboxing links: borrowing UnboxingLinks) throws {
    guard let only = try Self.target(of: links) else {
      throw ValueMismatch(expected: "an object of \(Self.Target.self)", found: .null)
    }
    self = only
  }

  /// Boxes the only target.
  public mutating func box(into links: inout BoxingLinks) throws { try link(into: &links) }

  /// The live object of the only target.
  public static func live(_ objects: [ManagedObject]) throws -> Live {
    guard let only = objects.first else {
      throw ValueMismatch(expected: "an object of \(Self.Target.self)", found: .null)
    }
    return try live(only)
  }
}

extension EntityValue {
  /// True.
  public static var holdsValues: Bool { true }

  /// The nested values.
  public static func targets(of links: borrowing UnboxingLinks) throws -> [Self] {
    try links.values()
  }

  /// The nested value.
  public static func target(of links: borrowing UnboxingLinks) throws -> Self? {
    try links.firstValue()
  }

  /// Saves the nested value, and links it.
  public mutating func link(into links: inout BoxingLinks) throws { try links.add(&self) }

  /// The live object.
  public static func live(_ object: ManagedObject) throws -> Managed<Self> {
    try Managed(object)
  }

  /// The only object.
  public static func objects(_ live: Managed<Self>) -> [ManagedObject] { [live.object] }
}

extension Optional: RelationshipValue, ToOneValue where Wrapped: RelationshipTarget {
  /// As of what is wrapped.
  public typealias Target = Wrapped.Target
  /// As of what is wrapped.
  public typealias Live = Wrapped.Live?
  /// To-one.
  public static var relationshipKind: Relationship.Kind { .toOne }
  /// False.
  public static var isOrdered: Bool { false }
  /// False.
  public static var isRequired: Bool { false }
  /// As of what is wrapped.
  public static var holdsValues: Bool { Wrapped.holdsValues }

  /// Unboxes the only target; nil where there is none.
  public init(unboxing links: borrowing UnboxingLinks) throws {
    self = try Wrapped.target(of: links)
  }

  /// Boxes the only target.
  public mutating func box(into links: inout BoxingLinks) throws {
    guard var target = self else { return }
    try target.link(into: &links)
    self = target
  }

  /// The live object; nil where there is none.
  public static func live(_ objects: [ManagedObject]) throws -> Wrapped.Live? {
    try objects.first.map { try Wrapped.live($0) }
  }

  /// The only object.
  public static func objects(_ live: Wrapped.Live?) -> [ManagedObject] {
    live.map(Wrapped.objects) ?? []
  }
}

extension Array: RelationshipValue where Element: RelationshipTarget {
  /// As of an element.
  public typealias Target = Element.Target
  /// An array of live objects.
  public typealias Live = [Element.Live]
  /// To-many.
  public static var relationshipKind: Relationship.Kind { .toMany }
  /// True.
  public static var isOrdered: Bool { true }
  /// False.
  public static var isRequired: Bool { false }
  /// As of an element.
  public static var holdsValues: Bool { Element.holdsValues }

  /// Unboxes all targets, in order.
  public init(unboxing links: borrowing UnboxingLinks) throws {
    self = try Element.targets(of: links)
  }

  /// Boxes all targets, in order.
  public mutating func box(into links: inout BoxingLinks) throws {
    for index in indices { try self[index].link(into: &links) }
  }

  /// The live objects, in order.
  public static func live(_ objects: [ManagedObject]) throws -> [Element.Live] {
    try objects.map { try Element.live($0) }
  }

  /// The objects, in order.
  public static func objects(_ live: [Element.Live]) -> [ManagedObject] {
    live.flatMap(Element.objects)
  }
}

extension Set: RelationshipValue where Element: RelationshipTarget {
  /// As of an element.
  public typealias Target = Element.Target
  /// An array of live objects, in the order of their ids.
  public typealias Live = [Element.Live]
  /// To-many.
  public static var relationshipKind: Relationship.Kind { .toMany }
  /// False.
  public static var isOrdered: Bool { false }
  /// False.
  public static var isRequired: Bool { false }
  /// As of an element.
  public static var holdsValues: Bool { Element.holdsValues }

  /// Unboxes all targets.
  public init(unboxing links: borrowing UnboxingLinks) throws {
    self = Set(try Element.targets(of: links))
  }

  /// Boxes all targets.
  public mutating func box(into links: inout BoxingLinks) throws {
    var boxed: Set<Element> = []
    for var element in self {
      try element.link(into: &links)
      boxed.insert(element)
    }
    self = boxed
  }

  /// The live objects.
  public static func live(_ objects: [ManagedObject]) throws -> [Element.Live] {
    try objects.map { try Element.live($0) }
  }

  /// The objects, in order.
  public static func objects(_ live: [Element.Live]) -> [ManagedObject] {
    live.flatMap(Element.objects)
  }
}
