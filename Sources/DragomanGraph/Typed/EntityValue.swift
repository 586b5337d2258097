/// A Swift type whose values are objects of an entity: unboxed from rows and boxed into them, by
/// slot.
///
/// The type describes its entity once; from that come the model, typed filters, sort keys and maps,
/// and the live object `Managed<Person>`:
///
///     extension Person: EntityValue {
///       struct Fields: Sendable {
///         let ticketNumber = Field(0, "ticketNumber", \Person.ticketNumber, isUnique: true)
///         let firstName = Field(1, "firstName", \Person.firstName)
///       }
///       static let fields = Fields()
///       static let schema = EntitySchema<Person>("Person", [fields.ticketNumber, fields.firstName])
///       init(from row: borrowing UnboxingRow) throws {
///         ticketNumber = try row[Self.fields.ticketNumber]
///         firstName = try row[Self.fields.firstName]
///       }
///     }
///
/// `@Entity` writes the same. A value finds its object by the entity's unique key; one that has
/// none, and no `objectID` either (`PersistentValue`), is a new object each time it is saved.
public protocol EntityValue: RelationshipTarget where Target == Self {
  /// One `Field` a stored property, with the name of the property.
  associatedtype Fields: Sendable
  /// The fields; a `static let`, since every value reads its slots from it.
  static var fields: Fields { get }
  /// The entity, and which slot is which property; a `static let`.
  static var schema: EntitySchema<Self> { get }
  /// Unboxes a row.
  ///
  /// - Throws: `ValueError` where a column does not fit its property.
  init(from row: borrowing UnboxingRow) throws
  /// Boxes the value; it is mutating so that nested values get their ids.
  ///
  /// By default it goes through the key paths of the fields.
  /// - Throws: `ValueError` where a property does not fit its attribute.
  mutating func box(into row: inout BoxingRow) throws
  /// What `objectID` is of a `PersistentValue`; nil of others, which forget what is set.
  ///
  /// There is a default for both; types need not have it.
  var storedID: ObjectID? { get set }
}

extension EntityValue {
  /// The description of the entity, with the names of the entities that it leads to.
  public static var entity: Entity { schema.entity }

  static var schemaName: String { schema.name }

  /// Nil.
  public var storedID: ObjectID? {
    get { nil }
    set {}
  }

  /// Boxes every field of the schema through its key path.
  public mutating func box(into row: inout BoxingRow) throws {
    for definition in Self.schema.definitions { try definition.box(&self, &row) }
  }
}

/// A value that knows its object: saving writes the id, deleting clears it.
public protocol PersistentValue: EntityValue {
  /// The id of the value's object; nil: it was never saved, or it was deleted.
  var objectID: ObjectID? { get set }
}

extension PersistentValue {
  /// `objectID`.
  public var storedID: ObjectID? {
    get { objectID }
    set { objectID = newValue }
  }
}

extension Model {
  /// The model of Swift types.
  ///
  ///     let stack = try Stack(Model(Person.self, Company.self), at: .file("staff.db"))
  public init(_ types: any EntityValue.Type...) {
    self.init(entities: types.map { $0.entity })
  }
}
