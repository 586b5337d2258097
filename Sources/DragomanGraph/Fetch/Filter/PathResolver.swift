/// Looks up the names of paths: in an entity of a model, or among the columns of a table.
struct PathResolver {
  enum Ground {
    case entity(EntityLayout)
    /// Names and what they stand for; a name may occur twice, the first one counts.
    case columns([(name: String, expression: ResolvedExpression)])
  }

  let layout: ModelLayout
  let ground: Ground

  /// The expression of a path as a sort key or column spells it: a name first, then its dots.
  func expression(_ text: String) throws(StoreError) -> ResolvedExpression {
    if case .entity(let entity) = ground, entity.property(named: text) == nil, text.contains(".") {
      let steps = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      return try expression(FilterPath(steps: steps))
    }
    return try expression(FilterPath(steps: [text]))
  }

  /// The expression of a path.
  ///
  /// - Throws: `StoreError.Code.badRequest` that names the nearest property.
  func expression(_ path: FilterPath) throws(StoreError) -> ResolvedExpression {
    switch ground {
    case .entity(let entity): try expression(path, from: entity)
    case .columns(let columns): try expression(path, among: columns)
    }
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
    throw StoreError(
      .badRequest,
      "The rows of this fetch have no column \"\(name)\".",
      help: Self.help(name, columns.map(\.name))
    )
  }

  // MARK: Entities

  private func expression(
    _ path: FilterPath,
    from entity: EntityLayout
  ) throws(StoreError) -> ResolvedExpression {
    guard let first = path.steps.first else {
      throw StoreError(.badRequest, "A path of the fetch is empty.")
    }
    var walk = Walk(layout: layout, entity: entity, text: path.text)
    var rest = path.steps[...]
    if entity.property(named: first) == nil, first.uppercased() == "SELF" { rest.removeFirst() }
    while let step = rest.popFirst() {
      if step.hasPrefix("@") {
        return try walk.operation(step, rest)
      }
      if case .attribute(let slot) = try walk.property(step, isLast: rest.isEmpty) {
        return walk.attribute(slot)
      }
    }
    return walk.object()
  }

  /// A path on its way.
  private struct Walk {
    let layout: ModelLayout
    var entity: EntityLayout
    let text: String
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
          help: known.isEmpty ? nil : PathResolver.help(name, known)
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
        throw StoreError(
          .badRequest,
          "The path \(text) has an unknown step \"\(name)\".",
          help: "there are @count, @sum, @avg, @min, @max and @entity"
        )
      }
      guard hops.contains(where: { !$0.link.isToOne }) else {
        throw StoreError(
          .badRequest,
          "\(name) wants a to-many relationship in front of it; \(text) has none."
        )
      }
      if aggregate == .count {
        guard steps.isEmpty else {
          throw StoreError(.badRequest, "The path \(text) cannot go on behind @count.")
        }
        return expression(
          .aggregate(.count, path(.object)),
          Attribute(name: text, type: .int64)
        )
      }
      var rest = steps
      while let step = rest.popFirst() {
        guard case .attribute(let slot) = try property(step, isLast: rest.isEmpty) else { continue }
        let attribute = try aggregate.attribute(of: entity.attributes[slot], named: text)
        return expression(.aggregate(aggregate, path(.attribute(slot))), attribute)
      }
      throw StoreError(.badRequest, "\(name) wants an attribute behind it: \(text).name.")
    }

    private func path(_ end: ResolvedPath.End) -> ResolvedPath {
      ResolvedPath(hops: hops, entity: entity, end: end)
    }

    private func expression(
      _ source: ResolvedExpression.Source,
      _ attribute: Attribute,
      _ object: Int? = nil
    ) -> ResolvedExpression {
      ResolvedExpression(source: source, attribute: attribute, object: object)
    }
  }

  private static func help(_ name: String, _ known: [String]) -> String {
    nearest(to: name, in: known).map { "did you mean \"\($0)\"?" }
      ?? "it has \(known.prefix(20).joined(separator: ", "))\(known.count > 20 ? ", …" : "")"
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
