/// Looks up the names of paths: in an entity of a model, or among the columns of a table.
struct PathResolver {
  enum Ground {
    case entity(EntityLayout)
    /// Names and what they stand for; a name may occur twice, the first one counts.
    case columns([(name: String, expression: ResolvedExpression)])
  }

  let layout: ModelLayout
  let ground: Ground
  /// The variables of the subqueries around the place, the outermost first, and what they stand for.
  private(set) var variables: [(name: String, entity: EntityLayout)] = []

  init(layout: ModelLayout, ground: Ground) {
    self.layout = layout
    self.ground = ground
  }

  /// The same inside of a subquery.
  func inside(of variable: String, _ entity: EntityLayout) -> PathResolver {
    var paths = self
    paths.variables.append((variable, entity))
    return paths
  }

  /// The expression of a path as a sort key or column spells it: a name first, then its dots.
  func expression(_ text: String) throws(StoreError) -> ResolvedExpression {
    try expression(FilterPath(steps: steps(of: text)))
  }

  /// The steps of a path as a sort key or column spells it.
  func steps(of text: String) -> [String] {
    switch ground {
    case .columns: return [text]
    case .entity(let entity):
      if entity.property(named: text) != nil { return [text] }
      return PathSpelling.steps(text) ?? text.parts(at: ".")
    }
  }

  /// The expression of a path.
  ///
  /// - Throws: `StoreError.Code.badRequest` that names the nearest property.
  func expression(_ path: FilterPath) throws(StoreError) -> ResolvedExpression {
    if let variable = path.variable {
      guard
        let place = variables.lastIndex(where: { $0.name.utf8.elementsEqual(variable.utf8) })
      else {
        throw StoreError(
          .badRequest,
          "The path \(path.text) begins at a variable that no subquery around it has.",
          help: Self.help("$" + variable, variables.map { "$" + $0.name }, "there is")
        )
      }
      return try expression(path, from: variables[place].entity, variables.count - 1 - place)
    }
    switch ground {
    case .entity(let entity): return try expression(path, from: entity, variables.count)
    case .columns(let columns): return try expression(path, among: columns)
    }
  }

  /// An aggregate of a path that begins at the objects of a subquery.
  ///
  /// - Parameters:
  ///   - aggregate: Which.
  ///   - steps: The path's steps; none for the count of objects.
  ///   - entity: The entity of the objects.
  ///   - text: What messages call it.
  /// - Returns: The path, and the attribute that the aggregate is.
  /// - Throws: `StoreError.Code.badRequest` for a name that there is not, or a value that has no such aggregate.
  func aggregate(
    _ aggregate: FetchColumn.Aggregate,
    of steps: [String],
    from entity: EntityLayout,
    named text: String
  ) throws(StoreError) -> (path: ResolvedPath, attribute: Attribute) {
    var walk = Walk(layout: layout, entity: entity, text: text)
    return try walk.aggregate(aggregate, steps[...])
  }

  // MARK: Columns

  private func expression(
    _ path: FilterPath,
    among columns: [(name: String, expression: ResolvedExpression)]
  ) throws(StoreError) -> ResolvedExpression {
    let name = path.text
    if let place = columns.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
      return columns[place].expression
    }
    var known: [String] = []
    for column in columns where !known.contains(where: { hasSameBytes($0, column.name) }) {
      known.append(column.name)
    }
    throw StoreError(
      .badRequest,
      "The rows of this fetch have no column \"\(name)\".",
      help: Self.help(name, known)
    )
  }

  // MARK: Entities

  private func expression(
    _ path: FilterPath,
    from entity: EntityLayout,
    _ level: Int
  ) throws(StoreError) -> ResolvedExpression {
    var walk = Walk(layout: layout, entity: entity, text: path.text, level: level)
    var rest = path.steps[...]
    if let first = path.steps.first {
      if path.variable == nil, entity.property(named: first) == nil, first.uppercased() == "SELF" {
        rest.removeFirst()
      }
    } else if path.variable == nil {
      throw StoreError(.badRequest, "A path of the fetch is empty.")
    }
    while let step = rest.popFirst() {
      do throws(StoreError) {
        if step.hasPrefix("@"), walk.entity.property(named: step) == nil {
          return try walk.operation(step, rest)
        }
        if case .attribute(let slot) = try walk.property(step, isLast: rest.isEmpty) {
          return walk.attribute(slot)
        }
      } catch {
        throw corrected(error, path, entity)
          .at(walk.place ?? rest.startIndex - 1, of: path.places)
      }
    }
    return walk.object()
  }

  /// The error, and what may have been forgotten: the variable in front of a name, or the quotes around one
  /// with dots.
  private func corrected(
    _ error: StoreError,
    _ path: FilterPath,
    _ entity: EntityLayout
  ) -> StoreError {
    let name = path.steps.joined(separator: ".")
    if path.steps.count > 1, entity.property(named: name) != nil {
      let meant = (path.variable.map { "$\($0)." } ?? "") + PathSpelling.step(name)
      return StoreError(error.code, error.message, help: "the name with dots is written \(meant)")
    }
    guard path.variable == nil, let inner = variables.last, let first = path.steps.first,
      inner.entity.property(named: first) != nil
    else { return error }
    return StoreError(
      error.code,
      error.message,
      help: "did you mean \"$\(inner.name).\(path.text)\"?"
    )
  }

  /// A path on its way.
  private struct Walk {
    let layout: ModelLayout
    var entity: EntityLayout
    let text: String
    var level = 0
    /// The step behind an aggregate that was looked at last.
    var place: Int?
    var hops: [ResolvedPath.Hop] = []

    /// Takes one step; an attribute must be the last.
    mutating func property(
      _ name: String,
      isLast: Bool
    ) throws(StoreError) -> EntityLayout.Property {
      guard let property = entity.property(named: name) else {
        let known =
          isLast ? entity.propertyNames : entity.relationships.map(\.name)
        throw StoreError(
          .badRequest,
          "The entity \(entity.name) has no \(isLast ? "attribute" : "relationship") \"\(name)\".",
          help: PathResolver.help(name, known)
        )
      }
      switch property {
      case .attribute(let slot):
        guard isLast else {
          throw StoreError(
            .badRequest,
            "The path \(text) cannot go on behind \(name), which is "
              + "\(entity.attributes[slot].type.withArticle)."
          )
        }
      case .relationship(let slot):
        let link = entity.relationships[slot]
        hops.append(ResolvedPath.Hop(slot: slot, link: link))
        entity = layout.entities[link.destination]
      }
      return property
    }

    func attribute(_ slot: Int) -> ResolvedExpression {
      var attribute = entity.attributes[slot]
      attribute.name = text
      return expression(.path(path(.attribute(slot))), attribute)
    }

    func object() -> ResolvedExpression {
      expression(.path(path(.object)), Attribute(name: text, type: .int64), entity.index)
    }

    /// `@entity`, `@count`, or an aggregate and its attribute.
    mutating func operation(
      _ name: String,
      _ steps: ArraySlice<String>
    ) throws(StoreError) -> ResolvedExpression {
      if name == "@entity", steps.isEmpty {
        let names = entity.family.map { layout.entities[$0].name }
        return expression(
          .path(path(.entityName(layout.entities.map(\.name)))),
          Attribute(name: text, type: .enum, allowedValues: names)
        )
      }
      guard let aggregate = FetchColumn.Aggregate(rawValue: String(name.dropFirst())) else {
        let known = FetchColumn.Aggregate.allCases.map(\.rawValue) + ["entity"]
        throw StoreError(
          .badRequest,
          "The path \(text) has an unknown step \"\(name)\".",
          help: nearest(to: String(name.dropFirst()), in: known).map { "did you mean @\($0)?" }
            ?? "there are @count, @sum, @avg, @min, @max and @entity"
        )
      }
      guard hops.contains(where: { !$0.link.isToOne }) else {
        throw StoreError(
          .badRequest,
          "\(name) wants a to-many relationship in front of it; \(text) has none."
        )
      }
      let found = try self.aggregate(aggregate, steps)
      return expression(.aggregate(aggregate, found.path), found.attribute)
    }

    /// The way on to the values of an aggregate, and what it is of them.
    mutating func aggregate(
      _ aggregate: FetchColumn.Aggregate,
      _ steps: ArraySlice<String>
    ) throws(StoreError) -> (path: ResolvedPath, attribute: Attribute) {
      if aggregate == .count {
        guard steps.isEmpty else {
          throw StoreError(.badRequest, "The path \(text) cannot go on behind @count.")
        }
        return (path(.object), Attribute(name: text, type: .int64))
      }
      var rest = steps
      while let step = rest.popFirst() {
        place = rest.startIndex - 1
        guard case .attribute(let slot) = try property(step, isLast: rest.isEmpty) else { continue }
        let attribute = try aggregate.attribute(of: entity.attributes[slot], named: text)
        return (path(.attribute(slot)), attribute)
      }
      throw StoreError(
        .badRequest,
        "@\(aggregate.rawValue) wants an attribute behind it: \(text).name."
      )
    }

    private func path(_ end: ResolvedPath.End) -> ResolvedPath {
      ResolvedPath(level: level, hops: hops, entity: entity, end: end)
    }

    private func expression(
      _ source: ResolvedExpression.Source,
      _ attribute: Attribute,
      _ object: Int? = nil
    ) -> ResolvedExpression {
      ResolvedExpression(source: source, attribute: attribute, object: object)
    }
  }

  private static func help(
    _ name: String,
    _ known: [String],
    _ verb: String = "it has"
  ) -> String? {
    if known.isEmpty { return nil }
    return nearest(to: name, in: known).map { "did you mean \"\($0)\"?" }
      ?? "\(verb) \(known.prefix(20).joined(separator: ", "))\(known.count > 20 ? ", …" : "")"
  }
}

extension FetchColumn.Aggregate {
  /// What the aggregate of an attribute is: its type, under another name.
  ///
  /// - Throws: `StoreError.Code.badRequest` if the attribute cannot be added up or has no order.
  func attribute(of attribute: Attribute, named name: String) throws(StoreError) -> Attribute {
    switch self {
    case .count: return Attribute(name: name, type: .int64)
    case .min, .max:
      guard attribute.type.isOrdered else {
        throw StoreError(
          .badRequest,
          "\(rawValue) wants an order; \(attribute.name) is \(attribute.type.withArticle), which has "
            + "none."
        )
      }
      var result = attribute
      result.name = name
      return result
    case .sum, .average:
      guard let kind = ValueSum.Kind(attribute.type) else {
        throw StoreError(
          .badRequest,
          "\(rawValue) wants a number; \(attribute.name) is \(attribute.type.withArticle)."
        )
      }
      let type: AttributeType =
        switch kind {
        case .decimal: .decimal
        case .integer: self == .sum ? .int64 : .double
        case .real: .double
        }
      var result = Attribute(name: name, type: type)
      if kind == .decimal && self == .sum { result.rules.scale = attribute.rules.scale }
      result.isSensitive = attribute.isSensitive
      return result
    }
  }
}
