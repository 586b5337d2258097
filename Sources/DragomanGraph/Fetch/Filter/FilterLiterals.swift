/// The literals of one comparison, as the type of its other side reads them.
struct FilterLiterals {
  let expression: ResolvedExpression
  private let comparison: Filter.Comparison
  private let layout: ModelLayout

  init(_ comparison: Filter.Comparison, _ expression: ResolvedExpression, _ layout: ModelLayout) {
    self.comparison = comparison
    self.expression = expression
    self.layout = layout
  }

  func resolved(_ operand: Filter.Operand) throws(StoreError) -> Filter.Operand {
    if case .variable(let name) = operand {
      throw StoreError(
        .badRequest,
        "The variable $\(name) of the predicate has no value.",
        help: "give it one: `substituting([\"\(name)\": …])`"
      ).at(2, of: comparison.places)
    }
    return operand
  }

  func value(_ operand: Filter.Operand) throws(StoreError) -> StoredValue {
    do throws(StoreError) {
      return try stored(operand)
    } catch {
      throw error.at(2, of: comparison.places)
    }
  }

  private func stored(_ operand: Filter.Operand) throws(StoreError) -> StoredValue {
    guard case .value(let literal) = try resolved(operand) else {
      throw StoreError(
        .badRequest,
        "\(expression.attribute.name) is compared with a list where one value fits."
      )
    }
    if let entity = expression.object { return try key(literal, layout.entities[entity]) }
    if !comparison.options.isEmpty, case .string(let text) = literal {
      return .text(TextFold.fold(text, comparison.options))
    }
    return try expression.attribute.stored(literal)
  }

  /// Where a number stands among the integers, if the other side is one; nil for all else.
  func integerPlace(_ operand: Filter.Operand) -> IntegerPlace? {
    guard expression.object == nil, case .value(let literal) = operand else { return nil }
    return expression.attribute.integerPlace(of: literal)
  }

  func present(_ operand: Filter.Operand) throws(StoreError) -> StoredValue {
    let value = try value(operand)
    guard value != .null else {
      throw StoreError(
        .badRequest,
        "\(comparison.relation.rawValue) cannot compare \(expression.attribute.name) with nil.",
        help: "nil goes with == and != only"
      ).at(2, of: comparison.places)
    }
    return value
  }

  func elements(_ operand: Filter.Operand) throws(StoreError) -> [Filter.Operand] {
    guard case .list(let elements) = try resolved(operand) else {
      throw StoreError(.badRequest, "\(comparison.relation.rawValue) wants a list, {a, b}.")
        .at(2, of: comparison.places)
    }
    return elements
  }

  /// The primary key of an object, given as its id or the id's URI.
  private func key(_ literal: FilterValue, _ entity: EntityLayout) throws(StoreError) -> StoredValue
  {
    let id: ObjectID
    switch literal {
    case .null: return .null
    case .objectID(let given): id = given
    case .string(let uri): id = try ObjectID(uri: uri)
    default:
      throw StoreError(
        .badRequest,
        "\(expression.attribute.name) is compared with \(literal.summary), but it wants an object.",
        help: entity.attributes.first.map {
          "compare an attribute of it, \(expression.attribute.name).\($0.name), or give an object id"
        } ?? "give an object id"
      )
    }
    guard id.entity.utf8.elementsEqual(entity.rootName.utf8) else {
      throw StoreError(
        .badRequest,
        "\(expression.attribute.name) is compared with \(id.uri), but its objects have ids of "
          + "\(entity.rootName)."
      )
    }
    return .integer(id.primaryKey)
  }
}
