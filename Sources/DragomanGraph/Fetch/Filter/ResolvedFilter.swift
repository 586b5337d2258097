/// A filter held against a model: every name is a slot, every literal has its type's stored form.
///
/// The SQL (`FilterCompiler`) and the evaluation in memory (`FilterEvaluator`) are written from this
/// one tree, so that they cannot differ in what they take for a name, a type or a literal. It has two
/// truth values: a comparison with null is false, except `!=`.
package indirect enum ResolvedFilter {
  case constant(Bool)
  case and([ResolvedFilter])
  case or([ResolvedFilter])
  case not(ResolvedFilter)
  case comparison(ResolvedComparison)

  /// How many conditions and subqueries stand inside one another.
  var depth: Int {
    switch self {
    case .constant: 0
    case .and(let parts), .or(let parts): 1 + (parts.map(\.depth).max() ?? 0)
    case .not(let part): 1 + part.depth
    case .comparison(let comparison): max(comparison.left.depth, comparison.right?.depth ?? 0)
    }
  }
}

extension ResolvedFilter {
  /// The values that attributes have in every object which satisfies it, by their slots: of types whose equal values are
  /// the same bytes.
  var fixedValues: [(slot: Int, value: StoredValue)] {
    switch self {
    case .and(let parts): parts.flatMap(\.fixedValues)
    case .comparison(let comparison): comparison.fixedValue.map { [$0] } ?? []
    case .constant, .or, .not: []
    }
  }
}

extension ResolvedComparison {
  fileprivate var fixedValue: (slot: Int, value: StoredValue)? {
    guard quantifier == .one, options.isEmpty, case .path(let path) = left.source, path.level == 0,
      path.hops.isEmpty, case .attribute(let slot) = path.end,
      case .compares(.equalTo, let value) = test
    else { return nil }
    switch (left.attribute.type, value) {
    case (.int16, .integer), (.int32, .integer), (.int64, .integer), (.string, .text),
      (.uuid, .text):
      return (slot, value)
    default: return nil
    }
  }

  /// The other side, where that is no literal.
  fileprivate var right: ResolvedExpression? {
    if case .relates(_, let right) = test { right } else { nil }
  }
}

extension ResolvedExpression {
  fileprivate var depth: Int {
    guard case .subquery(let subquery) = source else { return 0 }
    return FilterResolver.subqueryDepth + subquery.condition.depth
  }
}

/// A comparison of a value, or of each of many, with literals or with another value.
package struct ResolvedComparison {
  /// How many values of a to-many path must pass.
  package let quantifier: Filter.Comparison.Quantifier
  /// The left side: one value, or with a quantifier any number.
  package let left: ResolvedExpression
  /// What is folded away of text on both sides; the literals of `test` are folded already.
  package let options: Filter.Comparison.Options
  /// What the left side has to pass.
  package let test: Test

  package enum Test {
    /// `== nil`.
    case isNull
    /// `!= nil`.
    case isPresent
    /// `==`, `!=`, `<`, … with a literal that is not null.
    case compares(Filter.Comparison.Relation, StoredValue)
    /// From the first to the second, both included.
    case between(StoredValue, StoredValue)
    /// One of the values, or null.
    case isOne(of: ValueList, orNull: Bool)
    /// The bytes of the text contain these.
    case contains(String)
    /// The bytes of the text begin with these.
    case begins(String)
    /// `ENDSWITH`, `LIKE`, `MATCHES`: the pattern as written, and compiled.
    case fits(TextTest.Kind, String, TextTest)
    /// `==`, `!=`, `<`, … with another single value; two nulls are equal.
    case relates(Filter.Comparison.Relation, ResolvedExpression)
  }
}

/// The literals of an `IN` list: in order for SQL, as a set for memory.
package struct ValueList {
  let values: [StoredValue]
  let set: Set<StoredValue>

  init(_ values: [StoredValue]) {
    self.values = values
    set = Set(values)
  }
}

/// Something that has a value for each object: what a path leads to, or an aggregate.
package struct ResolvedExpression {
  package enum Source {
    /// The end of a path; through a to-many relationship it is any number of values.
    case path(ResolvedPath)
    /// An aggregate over what a path through to-many relationships leads to.
    case aggregate(FetchColumn.Aggregate, ResolvedPath)
    /// A column of a table's row.
    case column(Int)
    /// An aggregate over those of the objects of a path that satisfy a condition.
    indirect case subquery(ResolvedSubquery)
  }

  /// Where the value comes from.
  package let source: Source
  /// The type of the value and its name in messages; the keys of objects are integers.
  package let attribute: Attribute
  /// The entity (its index) of which the value is an object, if it is one.
  package let object: Int?

  /// Whether the expression is any number of values rather than one.
  package var isMany: Bool {
    if case .path(let path) = source { path.isMany } else { false }
  }
}

/// A subquery with its names looked up.
package struct ResolvedSubquery {
  /// The path to the objects.
  let path: ResolvedPath
  /// What they have to satisfy; paths of level 0 in it begin at one of them.
  let condition: ResolvedFilter
  /// What is taken of those that do.
  let aggregate: FetchColumn.Aggregate
  /// The path from them to the values of the aggregate.
  let value: ResolvedPath
}

/// A path with its names looked up.
package struct ResolvedPath {
  /// One step through a relationship.
  package struct Hop {
    /// The slot of the relationship.
    package let slot: Int
    /// The relationship.
    package let link: RelationshipLayout
  }

  package enum End {
    /// An attribute, by its slot.
    case attribute(Int)
    /// The object itself.
    case object
    /// The name of the object's entity; the names of all, by index.
    case entityName([String])
  }

  /// How many subqueries further out than the place where it stands the path begins.
  var level = 0
  /// The relationships, in order.
  package let hops: [Hop]
  /// The entity at the end.
  package let entity: EntityLayout
  /// What of it.
  package let end: End

  /// Whether it leads through a to-many relationship.
  package var isMany: Bool { hops.contains { !$0.link.isToOne } }
}
