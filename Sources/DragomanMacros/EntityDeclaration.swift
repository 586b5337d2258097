import SwiftSyntax

/// A struct with `@Entity`, as far as the expansion needs it.
struct EntityDeclaration {
  /// The struct's name as it is written.
  let spelling: String
  /// `public ` or `package `, or nothing.
  let access: String
  /// The entity's name, a string literal.
  let name: String
  /// The arguments of `EntitySchema` besides the name and the fields, in its order.
  let options: [String]
  /// The former name, a string literal.
  let renamedFrom: String?
  /// The stored properties that are properties of the entity, in declared order: that of the slots.
  let properties: [PropertyDeclaration]
  /// Whether there is `var objectID: ObjectID?`.
  let hasObjectID: Bool
}

/// A stored property that is a property of the entity, as far as the expansion needs it.
struct PropertyDeclaration {
  /// The access of the field: that of the property, which may have a type that is not public.
  let access: String
  /// The name as it is written, in backticks where it is a word of the language.
  let spelling: String
  /// The name in the entity, a string literal.
  let name: String
  /// The value of that literal.
  let text: String
  /// The name of the Swift property.
  let swiftName: String
  /// The arguments of `Field` besides slot, name and path, in its order.
  let options: [String]
  /// What the closure of `Field` sets.
  let settings: [String]
  /// Whether boxing passes the property itself, so that the ids of nested values come back into it.
  let isBoxedInPlace: Bool
  /// Where it stands.
  let node: PatternBindingSyntax
}
