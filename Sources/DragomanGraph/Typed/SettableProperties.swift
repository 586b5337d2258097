/// Gives `Managed` properties that are set without `try`.
///
///     person.firstName = "Rohan"
///     person.employer = company
///     try context.save()  // tells every property that did not take its value
///
/// What a property does not take leaves it as it was. The save, or the end of the closure, throws that by
/// name, with everything else that is wrong, unless the property was set again by then;
/// `person.set(\.firstName, to: "Rohan")` throws at once. Properties are read with `try`, because what is
/// stored may not fit; Swift has no setter beside a reader that throws, so the setters stand in a protocol
/// of their own, to which nothing else conforms.
public protocol SettableProperties<Value> {
  /// The type.
  associatedtype Value: EntityValue
  /// The live object.
  var live: Managed<Value> { get }
}

extension Managed: SettableProperties {
  /// Itself.
  public var live: Managed<Value> { self }
}

extension SettableProperties {
  /// Sets a property that an attribute holds.
  public subscript<Property: AttributeValue>(
    dynamicMember path: KeyPath<Value.Fields, Field<Value, Property>>
  ) -> Property {
    @available(*, unavailable, message: "reading can fail: write `try`, or `update { … }`")
    get { fatalError("an unavailable accessor") }
    nonmutating set { attempt(path) { try live.set(path, to: newValue) } }
  }

  /// Sets a property that is stored through a pair of functions.
  public subscript<Transform: ValueTransform>(
    dynamicMember path: KeyPath<Value.Fields, Field<Value, Transformed<Transform>>>
  ) -> Transform.Value {
    @available(*, unavailable, message: "reading can fail: write `try`, or `update { … }`")
    get { fatalError("an unavailable accessor") }
    nonmutating set { attempt(path) { try live.set(path, to: newValue) } }
  }

  /// Sets an optional property that is stored through a pair of functions.
  public subscript<Transform: ValueTransform>(
    dynamicMember path: KeyPath<Value.Fields, Field<Value, Transformed<Transform>?>>
  ) -> Transform.Value? {
    @available(*, unavailable, message: "reading can fail: write `try`, or `update { … }`")
    get { fatalError("an unavailable accessor") }
    nonmutating set { attempt(path) { try live.set(path, to: newValue) } }
  }

  /// Makes a relationship lead to other live objects of the same context.
  public subscript<Property: RelationshipValue>(
    dynamicMember path: KeyPath<Value.Fields, Field<Value, Property>>
  ) -> Property.Live {
    @available(*, unavailable, message: "reading can fail: write `try`, or `update { … }`")
    get { fatalError("an unavailable accessor") }
    nonmutating set { attempt(path) { try live.set(path, to: newValue) } }
  }

  private func attempt<Property>(
    _ path: KeyPath<Value.Fields, Field<Value, Property>>,
    _ set: () throws -> Void
  ) {
    live.object.context.attempt(Value.fields[keyPath: path].schemaName, of: live.object, set)
  }
}
