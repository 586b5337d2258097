/// How the target of a `Ref` is found.
public enum RefAddress: Sendable, Hashable {
  /// By its id.
  case id(ObjectID)
  /// By the values of its unique key, in the order of the key.
  case key([StoredValue])
}

/// A reference to an object: what a value holds in place of a nested value, where the graph has
/// cycles or the target is large.
///
///     struct Employee { var employer: Ref<Company> }
///     func company(of employee: Employee) throws -> Company? {
///       try context.value(of: employee.employer)
///     }
///
/// A reference is an id or the unique key of its target; what is unboxed is always an id. It reads
/// nothing until it is resolved.
public struct Ref<Target: EntityValue>: RelationshipTarget, Hashable {
  /// How the target is found.
  public let address: RefAddress

  /// The id; nil for a reference by key.
  public var id: ObjectID? { if case .id(let id) = address { id } else { nil } }

  /// A reference to an object.
  public init(_ id: ObjectID) { address = .id(id) }

  /// A reference as it was unboxed.
  init(_ address: RefAddress) { self.address = address }

  /// A reference by the target's unique key; its object must exist when the owner is saved.
  ///
  /// - Parameter key: The values of the key, in its order, as they are stored.
  public init(key: StoredValue...) { address = .key(key) }

  /// A reference to the object of a value; nil where the value was never saved.
  public init?(_ value: Target) where Target: PersistentValue {
    guard let id = value.objectID else { return nil }
    address = .id(id)
  }

  /// A live object.
  public typealias Live = Managed<Target>
  /// False.
  public static var holdsValues: Bool { false }

  /// The ids of the targets.
  public static func targets(of links: borrowing UnboxingLinks) throws -> [Ref<Target>] {
    links.addresses.map { Ref($0) }
  }

  /// The id of the only target.
  public static func target(of links: borrowing UnboxingLinks) throws -> Ref<Target>? {
    links.firstAddress.map { Ref($0) }
  }

  /// Links the object that is referred to.
  public mutating func link(into links: inout BoxingLinks) throws { try links.add(self) }

  /// The live object.
  public static func live(_ object: ManagedObject) throws -> Managed<Target> {
    try Managed(object)
  }

  /// The only object.
  public static func objects(_ live: Managed<Target>) -> [ManagedObject] { [live.object] }
}
