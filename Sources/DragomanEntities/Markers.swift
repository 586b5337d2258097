import DragomanGraph

/// Makes a property of an `@Entity` struct a unique key.
///
/// The first unique key identifies a value: saving it finds its object by the key, through an index.
@attached(peer)
public macro Unique() = #externalMacro(module: "DragomanMacros", type: "PropertyMarkerMacro")

/// Says more of an attribute than its Swift type does.
///
/// Limits are checked when a value is saved, not when it is made.
///
/// - Parameters:
///   - name: The name in the entity; the property's when it is not given.
///   - type: The type in the store, where the Swift type has several: `.date` for the midnights of a
///     `Date`, say.
///   - isRequired: Whether null is refused; unless it is given, what is not optional is required.
///   - isIndexed: Whether the column has an index of its own.
///   - column: The column's name; the attribute's when it is not given.
///   - scale: Digits after the point, of a `Decimal`.
///   - oneOf: The texts that are admitted.
///   - range: The smallest and the largest value admitted: `0...100`, `0...` or `...100`.
///   - length: How many Unicode scalars a text may have, written in the same ways.
///   - pattern: A regular expression that a text matches as a whole.
///   - isSensitive: Whether values are masked in messages.
///   - renamedFrom: The name the attribute had before, for migration.
@attached(peer)
public macro Attribute(
  name: String? = nil,
  type: AttributeType? = nil,
  isRequired: Bool? = nil,
  isIndexed: Bool = false,
  column: String? = nil,
  scale: Int? = nil,
  oneOf: [String]? = nil,
  range: (any RangeExpression)? = nil,
  length: (any RangeExpression<Int>)? = nil,
  pattern: String? = nil,
  isSensitive: Bool = false,
  renamedFrom: String? = nil
) = #externalMacro(module: "DragomanMacros", type: "PropertyMarkerMacro")

/// Says how the values of a property become values of the store, and back.
///
///     @Attribute(by: ColorText.self) var color: Color
///
/// - Parameters:
///   - transform: The declared pair of functions.
///   - type: The type in the store, where what the functions make of a value has several.
///   - name: The name in the entity; the property's when it is not given.
///   - isRequired: Whether null is refused; unless it is given, what is not optional is required.
///   - isIndexed: Whether the column has an index of its own.
///   - column: The column's name; the attribute's when it is not given.
///   - isSensitive: Whether values are masked in messages.
///   - renamedFrom: The name the attribute had before, for migration.
@attached(peer)
public macro Attribute(
  by transform: any ValueTransform.Type,
  type: AttributeType? = nil,
  name: String? = nil,
  isRequired: Bool? = nil,
  isIndexed: Bool = false,
  column: String? = nil,
  isSensitive: Bool = false,
  renamedFrom: String? = nil
) = #externalMacro(module: "DragomanMacros", type: "PropertyMarkerMacro")

/// Stores a property whose type is `Codable` as JSON.
///
/// For types of somebody else, and for dictionaries; one's own say `struct Address: CodableValue`
/// instead and need no marker.
///
/// - Parameters:
///   - isCodable: `true`.
///   - type: `.data` for the bytes of the JSON in place of its text.
///   - name: The name in the entity; the property's when it is not given.
///   - isRequired: Whether null is refused; unless it is given, what is not optional is required.
///   - column: The column's name; the attribute's when it is not given.
///   - isSensitive: Whether values are masked in messages.
///   - renamedFrom: The name the attribute had before, for migration.
@attached(peer)
public macro Attribute(
  codable isCodable: Bool,
  type: AttributeType? = nil,
  name: String? = nil,
  isRequired: Bool? = nil,
  column: String? = nil,
  isSensitive: Bool = false,
  renamedFrom: String? = nil
) = #externalMacro(module: "DragomanMacros", type: "PropertyMarkerMacro")

/// Says more of a relationship than its Swift type does.
///
/// Lists of references must say what leads back, or `inverse: nil`: links that are seen from both
/// sides are stored in another way than those that are seen from one.
///
///     @Relationship(inverse: "employer", deleteRule: .cascade) var staff: [Ref<Person>]
///
/// - Parameters:
///   - inverse: The name of the destination's relationship that leads back; nil where none does.
///   - deleteRule: What becomes of the targets when the owner is deleted.
///   - isOrdered: Whether a list keeps its order; arrays do unless told otherwise.
///   - allowsRepeats: Whether a list may hold an object more than once.
///   - isRequired: Whether there must be a target; unless it is given, a to-one that is not optional
///     is required.
///   - maximumCount: How many targets there may be.
///   - name: The name in the entity; the property's when it is not given.
///   - renamedFrom: The name the relationship had before, for migration.
@attached(peer)
public macro Relationship(
  inverse: String? = nil,
  deleteRule: Relationship.DeleteRule = .nullify,
  isOrdered: Bool? = nil,
  allowsRepeats: Bool = false,
  isRequired: Bool? = nil,
  maximumCount: Int? = nil,
  name: String? = nil,
  renamedFrom: String? = nil
) = #externalMacro(module: "DragomanMacros", type: "PropertyMarkerMacro")

/// Keeps a stored property out of the entity.
///
/// A value that comes from the store has the property's initial value there.
@attached(peer)
public macro Transient() = #externalMacro(module: "DragomanMacros", type: "PropertyMarkerMacro")
