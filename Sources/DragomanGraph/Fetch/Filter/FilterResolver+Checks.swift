/// What cannot be compared so.
extension FilterResolver {
  /// Refuses a pattern with SQL's wildcard in place of `*` and `?`: it is a text that nobody has.
  ///
  /// Who means that very text writes `\%`.
  func checkWildcards(
    of pattern: String,
    _ comparison: Filter.Comparison
  ) throws(StoreError) {
    guard pattern.replacing("\\%", with: "").contains("%"),
      !pattern.contains(where: { "*?".contains($0) })
    else { return }
    throw StoreError(
      .badRequest,
      "LIKE has the wildcards * and ?; in \"\(pattern)\" there is neither.",
      help: "write LIKE \"\(pattern.replacing("%", with: "*"))\", or == for the very text"
    ).at(2, of: comparison.places)
  }

  func checkQuantifier(
    _ comparison: Filter.Comparison,
    _ left: ResolvedExpression
  ) throws(StoreError) {
    switch (comparison.quantifier, left.isMany) {
    case (.one, false), (.any, true), (.all, true), (.none, true): return
    case (.one, true):
      throw StoreError(
        .badRequest,
        "\(left.attribute.name) leads to many values where one is compared.",
        help: "put ANY, ALL or NONE in front, or compare its @count"
      ).at(0, of: comparison.places)
    case (_, false):
      throw StoreError(
        .badRequest,
        "\(comparison.quantifier.rawValue) wants a path through a to-many relationship; "
          + "\(left.attribute.name) leads to one value."
      ).at(0, of: comparison.places)
    }
  }

  func checkKinds(
    _ left: ResolvedExpression,
    _ right: ResolvedExpression
  ) throws(StoreError) {
    let entities = paths.layout.entities
    switch (left.object, right.object) {
    case (nil, nil) where left.attribute.type.compares(with: right.attribute.type): return
    case (.some(let a), .some(let b)) where entities[a].root == entities[b].root: return
    default:
      throw StoreError(
        .badRequest,
        "\(left.attribute.name) (\(kind(left))) and \(right.attribute.name) (\(kind(right))) cannot be "
          + "compared with one another."
      )
    }
  }

  func checkOptions(
    _ comparison: Filter.Comparison,
    of expression: ResolvedExpression
  ) throws(StoreError) {
    guard
      comparison.options.isEmpty || expression.object == nil && expression.attribute.type.isTextual
    else {
      throw StoreError(
        .badRequest,
        "[c] and [d] want a text attribute; \(expression.attribute.name) is "
          + "\(withArticle(expression))."
      )
    }
  }

  func checkOrder(
    _ relation: Filter.Comparison.Relation,
    of expression: ResolvedExpression
  ) throws(StoreError) {
    guard expression.object == nil, expression.attribute.type.isOrdered else {
      throw StoreError(
        .badRequest,
        "\(relation.rawValue) wants an order; \(expression.attribute.name) is "
          + "\(withArticle(expression)), which has none."
      )
    }
  }

  private func kind(_ expression: ResolvedExpression) -> String {
    expression.object.map { paths.layout.entities[$0].name } ?? expression.attribute.type.rawValue
  }

  func withArticle(_ expression: ResolvedExpression) -> String {
    expression.object == nil ? expression.attribute.type.withArticle : "an object"
  }
}
