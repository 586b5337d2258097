import DragomanGraph

extension Field where Value: RelationshipValue {
  /// Makes the field of a relationship whose property has an initial value.
  ///
  /// `@Entity` sees `var phones: [Phone] = []` and cannot know that a `Phone` is an entity. The initial
  /// value of an attribute is its default; that of a relationship matters to new Swift values only, so
  /// nothing is made of it here.
  ///
  /// - Parameters:
  ///   - slot: The place among the fields.
  ///   - name: The relationship's name.
  ///   - path: The property.
  ///   - isUnique: Whether the to-one is a unique key.
  ///   - initialValue: Not used, not even evaluated.
  public init(
    _ slot: Int,
    _ name: String,
    _ path: any KeyPath<Root, Value> & Sendable,
    isUnique: Bool = false,
    default initialValue: @autoclosure () -> Value
  ) {
    self.init(slot, name, path, isUnique: isUnique)
  }
}

extension Field {
  /// What the compiler says where a property has a type that the store does not know.
  ///
  /// It cannot be called.
  @available(
    *,
    unavailable,
    message: """
      this type is neither an attribute's nor an entity's: say AttributeValue of an enum, CodableValue of \
      a Codable struct, or mark the property with @Attribute(codable: true), @Attribute(by:) or \
      @Transient
      """
  )
  public init(
    _ slot: Int,
    _ name: String,
    _ path: any KeyPath<Root, Value> & Sendable,
    isUnique: Bool = false,
    default initialValue: @autoclosure () -> Value? = nil
  ) {
    preconditionFailure(name)
  }
}
