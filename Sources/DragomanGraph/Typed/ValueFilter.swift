/// A condition on the objects of a Swift type, whose names and types the compiler has checked.
///
///     let rich: ValueFilter<Person> = \.lastName == "Moreau" && \.salary > 100_000
///     let alike: ValueFilter<Person> = .beginsWith(\.lastName, "Mo", .caseInsensitive)
///     let there: ValueFilter<Person> = \.employer.name == "Acme"
///
/// It is a `Filter` with a type: what compares nothing or takes another type of value does not
/// compile.
public struct ValueFilter<Root: EntityValue>: Sendable, Hashable {
  /// The filter.
  public let filter: Filter
  /// What cannot be compared; told when the filter is used.
  let fault: String?

  init(_ filter: Filter, fault: String? = nil) {
    self.filter = filter
    self.fault = fault
  }

  /// A filter in the words of `Filter`, for what has no operator: paths through to-manies, aggregates,
  /// variables.
  public init(_ filter: Filter) { self.init(filter, fault: nil) }

  /// Parses a predicate.
  ///
  /// - Throws: `StoreError.badRequest`, as `Filter(parsing:arguments:)`.
  public init(parsing text: String, arguments: [Filter.Operand] = []) throws {
    self.init(try Filter(parsing: text, arguments: arguments))
  }

  /// The text contains another.
  public static func contains<Value: AttributeValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    _ text: String,
    _ options: Filter.Comparison.Options = []
  ) -> ValueFilter {
    comparison(path, .contains, .value(.string(text)), options)
  }

  /// The text begins with another.
  public static func beginsWith<Value: AttributeValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    _ text: String,
    _ options: Filter.Comparison.Options = []
  ) -> ValueFilter {
    comparison(path, .beginsWith, .value(.string(text)), options)
  }

  /// The text ends with another.
  public static func endsWith<Value: AttributeValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    _ text: String,
    _ options: Filter.Comparison.Options = []
  ) -> ValueFilter {
    comparison(path, .endsWith, .value(.string(text)), options)
  }

  /// The text is equal to another, apart from what the options overlook.
  public static func equal<Value: AttributeValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    _ text: String,
    _ options: Filter.Comparison.Options
  ) -> ValueFilter {
    comparison(path, .equalTo, .value(.string(text)), options)
  }

  /// The value is one of a list.
  public static func isIn<Value: AttributeValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    _ values: some Sequence<Value>
  ) -> ValueFilter {
    compare(path, .in, toAll: values)
  }

  /// The value lies in a range, both ends included.
  public static func between<Value: AttributeValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    _ range: ClosedRange<Value>
  ) -> ValueFilter {
    compare(path, .between, toAll: [range.lowerBound, range.upperBound])
  }

  /// The value lies in a range, both ends included; null does not.
  public static func between<Value: AttributeValue & Comparable>(
    _ path: KeyPath<Root.Fields, Field<Root, Value?>>,
    _ range: ClosedRange<Value>
  ) -> ValueFilter {
    compare(path, .between, toAll: [range.lowerBound, range.upperBound])
  }

  /// The relationship leads to an object.
  public static func leads<Value: RelationshipValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    to id: ObjectID
  ) -> ValueFilter {
    let isToMany = Value.relationshipKind == .toMany
    return ValueFilter(
      .comparison(
        Filter.Comparison(
          .path(Root.fields[keyPath: path].path),
          .equalTo,
          .object(id),
          quantifier: isToMany ? .any : .one
        )
      )
    )
  }

  /// Both conditions.
  public static func && (left: ValueFilter, right: ValueFilter) -> ValueFilter {
    ValueFilter(.and([left.filter, right.filter]), fault: left.fault ?? right.fault)
  }

  /// At least one of the conditions.
  public static func || (left: ValueFilter, right: ValueFilter) -> ValueFilter {
    ValueFilter(.or([left.filter, right.filter]), fault: left.fault ?? right.fault)
  }

  /// The opposite.
  public static prefix func ! (filter: ValueFilter) -> ValueFilter {
    ValueFilter(.not(filter.filter), fault: filter.fault)
  }

  // MARK: - Parts

  private static func comparison<Value>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    _ relation: Filter.Comparison.Relation,
    _ value: Filter.Operand,
    _ options: Filter.Comparison.Options = [],
    fault: String? = nil
  ) -> ValueFilter {
    let left = Filter.Operand.path(Root.fields[keyPath: path].path)
    return ValueFilter(
      .comparison(Filter.Comparison(left, relation, value, options: options)),
      fault: fault
    )
  }

  static func compare<Value: AttributeValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    _ relation: Filter.Comparison.Relation,
    _ value: Value
  ) -> ValueFilter {
    var fault: String?
    let operand = operand(path, value, &fault)
    return comparison(path, relation, operand, fault: fault)
  }

  private static func compare<Value: AttributeValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    _ relation: Filter.Comparison.Relation,
    toAll values: some Sequence<Value>
  ) -> ValueFilter {
    var fault: String?
    let list = values.map { operand(path, $0, &fault) }
    return comparison(path, relation, .list(list), fault: fault)
  }

  private static func operand<Value: AttributeValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    _ value: Value,
    _ fault: inout String?
  ) -> Filter.Operand {
    let field = Root.fields[keyPath: path]
    guard case .attribute(let attribute, _) = field.schemaDefinition.property else { return nil }
    do {
      let stored = try value.stored(as: attribute)
      if attribute.type == .bool, let bool = stored.bool { return .value(.boolean(bool)) }
      return .value(FilterValue(stored))
    } catch {
      // An integer that the attribute has no room for is one that it can be compared with.
      if [.int16, .int32, .int64].contains(attribute.type),
        let integer = value as? any BinaryInteger
      {
        return .value(.number("\(integer)"))
      }
      let mismatch = attribute.isSensitive ? error as? ValueMismatch : nil
      fault =
        "\(Root.schema.name).\(field.schemaName):"
        + " \(mismatch.map { "expected \($0.expected), found another value" } ?? "\(error)")"
      return nil
    }
  }
}

/// Equal; with nil: is null.
public func == <Root: EntityValue, Value: AttributeValue>(
  path: KeyPath<Root.Fields, Field<Root, Value>>,
  value: Value
) -> ValueFilter<Root> {
  .compare(path, .equalTo, value)
}

/// Not equal; with nil: is not null.
public func != <Root: EntityValue, Value: AttributeValue>(
  path: KeyPath<Root.Fields, Field<Root, Value>>,
  value: Value
) -> ValueFilter<Root> {
  .compare(path, .notEqualTo, value)
}

/// Smaller.
public func < <Root: EntityValue, Value: AttributeValue>(
  path: KeyPath<Root.Fields, Field<Root, Value>>,
  value: Value
) -> ValueFilter<Root> {
  .compare(path, .lessThan, value)
}

/// Not greater.
public func <= <Root: EntityValue, Value: AttributeValue>(
  path: KeyPath<Root.Fields, Field<Root, Value>>,
  value: Value
) -> ValueFilter<Root> {
  .compare(path, .lessThanOrEqualTo, value)
}

/// Greater.
public func > <Root: EntityValue, Value: AttributeValue>(
  path: KeyPath<Root.Fields, Field<Root, Value>>,
  value: Value
) -> ValueFilter<Root> {
  .compare(path, .greaterThan, value)
}

/// Not smaller.
public func >= <Root: EntityValue, Value: AttributeValue>(
  path: KeyPath<Root.Fields, Field<Root, Value>>,
  value: Value
) -> ValueFilter<Root> {
  .compare(path, .greaterThanOrEqualTo, value)
}

/// A sort key on a property of a Swift type.
///
///     try context.query(Person.self, sort: [.ascending(\.employer.name), .descending(\.salary)])
public struct ValueSort<Root: EntityValue>: Sendable, Hashable {
  /// The sort key.
  public let key: SortKey

  /// A sort key in the words of `SortKey`, for aggregates.
  public init(_ key: SortKey) { self.key = key }

  /// Small values first.
  public static func ascending<Value: AttributeValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    _ options: SortKey.Options = []
  ) -> ValueSort {
    ValueSort(SortKey(Root.fields[keyPath: path].schemaName, options: options))
  }

  /// Large values first.
  public static func descending<Value: AttributeValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>,
    _ options: SortKey.Options = []
  ) -> ValueSort {
    ValueSort(SortKey(Root.fields[keyPath: path].schemaName, ascending: false, options: options))
  }
}
