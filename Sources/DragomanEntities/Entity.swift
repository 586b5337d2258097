@_exported import DragomanGraph

/// Makes a struct an entity: its stored properties become attributes and relationships.
///
/// The macro writes the conformance to `EntityValue` that one could write by hand: a typed field a
/// property, the description of the entity, unboxing and boxing by slot. With
/// `var objectID: ObjectID?` among the properties it is a `PersistentValue`.
///
///     @Entity struct Person {
///       @Unique var ticketNumber: String
///       var firstName: String?
///       @Attribute(type: .date) var dateOfBirth: Date?
///       @Attribute(range: 0...) var salary: Decimal?
///       var employer: Ref<Company>?
///     }
///
/// - Every property has its type written: the macro sees none that the compiler infers.
/// - A property whose type is an `AttributeValue` is an attribute; optional ones may be null.
/// - A property whose type is an entity, a `Ref` of one, or an array or set of these is a
///   relationship.
/// - An initial value that is a literal or a member such as `.junior` is the attribute's default.
///   What is computed (`UUID()`) is not: each value gets its own.
/// - `@Transient` properties, computed and static ones are not part of the entity.
///
/// The struct stands at file scope or in another type, not in a function, and is not generic.
///
/// - Parameters:
///   - name: The entity's name; the struct's when it is not given. Names are part of the file and
///     therefore written as string literals.
///   - table: The table's name; the entity's when it is not given.
///   - unique: Unique keys over several properties, each a list of their names: they come before
///     those of `@Unique` properties.
///   - indexes: Indexes over several properties, each a list of their names.
///   - parent: The entity whose properties and table this one shares; the struct declares the
///     parent's properties again.
///   - isAbstract: Whether there are objects of sub-entities only.
///   - renamedFrom: The name the entity had before, for migration.
@attached(member, names: named(Fields), named(fields), named(schema), named(box))
@attached(extension, conformances: EntityValue, PersistentValue, names: named(init))
public macro Entity(
  _ name: String? = nil,
  table: String? = nil,
  unique: [[String]] = [],
  indexes: [[String]] = [],
  parent: (any EntityValue.Type)? = nil,
  isAbstract: Bool = false,
  renamedFrom: String? = nil
) = #externalMacro(module: "DragomanMacros", type: "EntityMacro")
