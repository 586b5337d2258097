import TestSupport

@testable import DragomanGraph

/// A random model, random objects of it, and random requests that fit it.
struct RandomGraph {
  var random: SplitMix
  private(set) var graph: ObjectGraph
  /// The variables of the subqueries that are being written.
  private var variables: [(name: String, entity: EntityLayout)] = []
  private var layout: ModelLayout { graph.layout }

  init(seed: UInt64) throws {
    random = SplitMix(state: seed)
    graph = ObjectGraph(Model())
    graph = ObjectGraph(model())
    try fill()
  }

  // MARK: The model

  private mutating func model() -> Model {
    var entities: [Entity] = []
    for index in 0..<Int.random(in: 2...4, using: &random) {
      var attributes = (0..<Int.random(in: 2...5, using: &random)).map {
        attribute("a\(index)\($0)")
      }
      // Of every type at least one somewhere near, so that paths find partners to compare.
      attributes.append(Attribute(name: "s\(index)"))
      attributes.append(Attribute(name: "n\(index)", type: .int64))
      attributes.append(Attribute(name: "d\(index)", type: .decimal))
      let parent = index > 0 && chance(3) ? entities.randomElement(using: &random)?.name : nil
      entities.append(
        Entity(
          name: ["E\(index)", "It's \"\(index)\"", "Gr\u{F6}\u{DF}e \(index)"].randomElement(
            using: &random
          )
            ?? "",
          attributes: attributes,
          parent: parent
        )
      )
    }
    for index in 0..<Int.random(in: 2...6, using: &random) {
      let owner = Int.random(in: entities.indices, using: &random)
      let target = Int.random(in: entities.indices, using: &random)
      addRelationship("r\(index)", owner, target, &entities)
    }
    return Model(entities: entities)
  }

  private mutating func addRelationship(
    _ name: String,
    _ owner: Int,
    _ target: Int,
    _ entities: inout [Entity]
  ) {
    let back = "\(name)b"
    let destination = entities[target].name
    func add(_ relationship: Relationship, to place: Int) {
      entities[place].relationships.append(relationship)
    }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: add(.toOne(name, destination), to: owner)
    case 1:
      add(.toOne(name, destination, inverse: back), to: owner)
      add(.toMany(back, entities[owner].name, inverse: name), to: target)
    case 2:
      add(.toOne(name, destination, inverse: back), to: owner)
      add(.toOne(back, entities[owner].name, inverse: name), to: target)
    case 3: add(.toMany(name, destination), to: owner)
    case 4:
      add(.toMany(name, destination, isOrdered: true).with { $0.allowsRepeats = true }, to: owner)
    case 5:
      add(.toMany(name, destination, inverse: back, isOrdered: chance(2)), to: owner)
      add(.toMany(back, entities[owner].name, inverse: name), to: target)
    case 6: add(.toMany(name, entities[owner].name, inverse: name), to: owner)
    default: add(.toOne(name, entities[owner].name, inverse: name), to: owner)
    }
  }

  private mutating func attribute(_ name: String) -> Attribute {
    let type = AttributeType.allCases.randomElement(using: &random) ?? .string
    return Attribute(
      name: name,
      type: type,
      isIndexed: chance(3),
      allowedValues: type == .enum ? Values.words : nil,
      rules: AttributeRules(scale: type == .decimal && chance(2) ? 3 : nil)
    ).with { if chance(4) { $0.column = "the \"\(name)\"" } }
  }

  // MARK: The objects

  private mutating func fill() throws {
    for entity in layout.entities {
      for _ in 0..<Int.random(in: 0...9, using: &random) {
        let object = try graph.add(entity.name)
        for (slot, attribute) in entity.attributes.enumerated() where !chance(5) {
          object.values[slot] = Values.stored(attribute, &random)
        }
      }
    }
    for owner in graph.objects {
      for link in owner.entity.relationships {
        let family = layout.entities[link.destination].family
        let targets = graph.objects.filter { family.contains($0.entity.index) }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
          if let target = targets.randomElement(using: &random) {
            graph.link(owner, link.name, target)
          }
        }
      }
    }
  }

  // MARK: The requests

  mutating func request() -> FetchRequest {
    let entity = layout.entities.randomElement(using: &random) ?? layout.entities[0]
    var request = FetchRequest(
      entity.name,
      filter: chance(6) ? nil : filter(entity, depth: 2)
    ).with { $0.includesSubentities = !chance(4) }
    if chance(3) { request.limit = Int.random(in: 0...6, using: &random) }
    if chance(4) { request.offset = Int.random(in: 0...4, using: &random) }
    if chance(4) {
      addTable(to: &request, entity)
    } else {
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        let path = singlePath(entity)
        request.sortKeys.append(sortKey(path.text, path.type))
      }
      if chance(2) {
        request.columns = unique((0..<3).map { _ in FetchColumn(singlePath(entity).text) })
      }
    }
    return request
  }

  private mutating func addTable(to request: inout FetchRequest, _ entity: EntityLayout) {
    let groups = (0..<Int.random(in: 0...2, using: &random)).map { _ in singlePath(entity) }
    var columns = groups.filter { _ in chance(2) }.map { FetchColumn($0.text) }
    var types: [String: AttributeType] = [:]
    for group in groups { types[group.text] = group.type }
    for index in 0..<Int.random(in: 1...3, using: &random) {
      let path = singlePath(entity)
      let isNumber = ValueSum.Kind(path.type) != nil
      var aggregates: [FetchColumn.Aggregate] = [.count]
      if path.type.isOrdered { aggregates += [.min, .max] }
      if isNumber { aggregates += [.sum, .average, .sum, .average] }
      let aggregate = aggregates.randomElement(using: &random) ?? .count
      let isRowCount = aggregate == .count && chance(2)
      let column = FetchColumn(isRowCount ? "" : path.text, aggregate: aggregate, as: "x\(index)")
      columns.append(column)
      if aggregate == .count { types[column.name] = .int64 }
    }
    request.isDistinct = chance(3)
    if request.isDistinct, chance(2) {
      columns = groups.map { FetchColumn($0.text) }
      if columns.isEmpty { columns = [FetchColumn(singlePath(entity).text)] }
    } else {
      request.groupBy = groups.map(\.text)
    }
    request.columns = unique(columns)
    let names = (request.columns ?? []).map(\.name)
    for (name, type) in types.sorted(by: { $0.key < $1.key }) where names.contains(name) {
      if chance(3) { request.sortKeys.append(sortKey(name, type)) }
      if type == .int64, chance(3) {
        let relation: Filter.Comparison.Relation = chance(2) ? .greaterThan : .notEqualTo
        request.having = .comparison(
          .init(.path(FilterPath(steps: [name])), relation, .value(.number("1")))
        )
      }
    }
  }

  private func unique(_ columns: [FetchColumn]) -> [FetchColumn] {
    var seen: Set<String> = []
    return columns.filter { seen.insert($0.name).inserted }
  }

  private mutating func sortKey(_ text: String, _ type: AttributeType) -> SortKey {
    let options = SortKey.Options(
      rawValue: type.isTextual ? Int.random(in: 0...7, using: &random) : 0
    )
    return SortKey(text, ascending: chance(2), options: options)
  }

  private mutating func filter(_ entity: EntityLayout, depth: Int) -> Filter {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
    case 6: .not(filter(entity, depth: depth - 1))
    case 7: .and([filter(entity, depth: depth - 1), filter(entity, depth: depth - 1)])
    case 8: .or([filter(entity, depth: depth - 1), filter(entity, depth: depth - 1)])
    default: .comparison(comparison(entity, depth: depth))
    }
  }

  /// Some of the objects behind a path, and a number of them.
  private mutating func subquery(
    _ entity: EntityLayout,
    depth: Int
  ) -> (FilterSubquery, Attribute)? {
    for _ in 0..<20 {
      let path = self.path(entity)
      guard path.isMany, path.attribute == nil else { continue }
      let target = layout.entities[path.entity]
      let name = "v\(variables.count)"
      variables.append((name, target))
      let condition = filter(entity, depth: depth - 1)
      variables.removeLast()
      let attribute = target.attributes.randomElement(using: &random) ?? target.attributes[0]
      var names: [FetchColumn.Aggregate] = [.count, .count]
      if attribute.type.isOrdered { names += [.min, .max] }
      if ValueSum.Kind(attribute.type) != nil { names += [.sum, .average] }
      let aggregate = names.randomElement(using: &random) ?? .count
      guard let result = try? aggregate.attribute(of: attribute, named: "") else { continue }
      let value = aggregate == .count ? [] : [attribute.name]
      return (
        FilterSubquery(path.operand, name, condition, aggregate: aggregate, of: value), result
      )
    }
    return nil
  }

  // MARK: Paths

  private struct Path {
    var steps: [String]
    var isMany: Bool
    /// The attribute at the end, or what stands for it; nil: an object of `family`.
    var attribute: Attribute?
    var root = 0
    var entity = 0
    var variable: String?
    var text: String { steps.joined(separator: ".") }
    var operand: FilterPath { FilterPath(steps: steps, from: variable) }
    var type: AttributeType { attribute?.type ?? .int64 }
  }

  /// A path to one attribute (of an object or an aggregate).
  private mutating func singlePath(_ entity: EntityLayout) -> Path {
    for _ in 0..<50 {
      let path = path(entity)
      if !path.isMany, path.attribute != nil { return path }
    }
    return Path(steps: [entity.attributes[0].name], isMany: false, attribute: entity.attributes[0])
  }

  private mutating func path(_ start: EntityLayout) -> Path {
    var entity = start
    var path = Path(steps: [], isMany: false)
    if !variables.isEmpty, !chance(4) {
      let place =
        chance(3) ? Int.random(in: variables.indices, using: &random) : variables.count - 1
      path.variable = variables[place].name
      entity = variables[place].entity
    } else if chance(10) {
      path.steps = ["SELF"]
    }
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      guard let link = entity.relationships.randomElement(using: &random) else { break }
      path.steps.append(link.name)
      if !link.isToOne { path.isMany = true }
      entity = layout.entities[link.destination]
    }
    path.root = entity.root
    path.entity = entity.index
    if path.isMany, chance(3) {
      let attribute = entity.attributes.randomElement(using: &random) ?? entity.attributes[0]
      var names: [FetchColumn.Aggregate] = [.count]
      if attribute.type.isOrdered { names += [.min, .max] }
      if ValueSum.Kind(attribute.type) != nil { names += [.sum, .average] }
      let aggregate = names.randomElement(using: &random) ?? .count
      path.steps.append("@" + aggregate.rawValue)
      if aggregate != .count { path.steps.append(attribute.name) }
      path.isMany = false
      path.attribute = try? aggregate.attribute(of: attribute, named: "")
      return path
    }
    if chance(12) {
      path.steps.append("@entity")
      path.attribute = Attribute(
        name: "",
        type: .enum,
        allowedValues: entity.family.map { layout.entities[$0].name }
      )
    } else if path.steps.isEmpty && path.variable == nil || !chance(5) {
      let attribute = entity.attributes.randomElement(using: &random) ?? entity.attributes[0]
      path.steps.append(attribute.name)
      path.attribute = attribute
    }
    return path
  }

  private mutating func comparison(_ entity: EntityLayout, depth: Int) -> Filter.Comparison {
    var path = path(entity)
    var left = Filter.Operand.path(path.operand)
    if depth > 0, chance(4), let (subquery, attribute) = subquery(entity, depth: depth) {
      left = .subquery(subquery)
      path = Path(steps: [], isMany: false, attribute: attribute)
    }
    let quantifier: Filter.Comparison.Quantifier =
      path.isMany ? [.any, .all, .none].randomElement(using: &random) ?? .any : .one
    guard let attribute = path.attribute else {
      return objectComparison(left, path, quantifier, entity)
    }
    let isText = attribute.type.isTextual
    let options = Filter.Comparison.Options(
      rawValue: isText && chance(2) ? Int.random(in: 0...3, using: &random) : 0
    )
    var relations: [Filter.Comparison.Relation] = [.equalTo, .equalTo, .notEqualTo, .in]
    if attribute.type.isOrdered {
      relations += [.lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between]
    }
    let plain = relations
    if isText { relations += [.contains, .beginsWith, .endsWith, .like, .matches] }
    let relation = relations.randomElement(using: &random) ?? .equalTo
    if plain.contains(relation), relation != .in, relation != .between, chance(2) {
      for _ in 0..<20 {
        let other = self.path(entity)
        guard !other.isMany, let partner = other.attribute,
          attribute.type.compares(with: partner.type)
        else { continue }
        let right = Filter.Operand.path(other.operand)
        return .init(left, relation, right, options: options, quantifier: quantifier)
      }
    }
    let right: Filter.Operand
    switch relation {
    case .between:
      right = .list((0..<2).map { _ in .value(Values.literal(attribute, &random)) })
    case .in:
      let count = Int.random(in: 0...3, using: &random)
      right = .list(
        (0..<count).map { _ in .value(chance(4) ? .null : Values.literal(attribute, &random)) }
      )
    case .equalTo, .notEqualTo:
      right = .value(chance(4) ? .null : Values.literal(attribute, &random))
    case .contains, .beginsWith, .endsWith, .like, .matches:
      let patterns = Values.texts + (relation == .like ? ["?", "*a*", "??*", "\\*"] : [])
      let text = (relation == .matches ? Values.patterns : patterns).randomElement(using: &random)
      right = .value(.string(text ?? ""))
    default: right = .value(Values.literal(attribute, &random))
    }
    return .init(left, relation, right, options: options, quantifier: quantifier)
  }

  private mutating func objectComparison(
    _ left: Filter.Operand,
    _ path: Path,
    _ quantifier: Filter.Comparison.Quantifier,
    _ entity: EntityLayout
  ) -> Filter.Comparison {
    let root = layout.entities[path.root].name
    func id(_ random: inout SplitMix) -> Filter.Operand {
      .object(ObjectID(entity: root, primaryKey: Int64.random(in: 1...8, using: &random)))
    }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .init(left, chance(2) ? .equalTo : .notEqualTo, nil, quantifier: quantifier)
    case 1:
      let right = Filter.Operand.list([id(&random), id(&random), chance(3) ? nil : id(&random)])
      return .init(left, .in, right, quantifier: quantifier)
    case 2:
      for _ in 0..<20 {
        let other = self.path(entity)
        guard !other.isMany, other.attribute == nil, other.root == path.root else { continue }
        let right = Filter.Operand.path(other.operand)
        return .init(left, chance(2) ? .equalTo : .notEqualTo, right, quantifier: quantifier)
      }
      return .init(left, .equalTo, id(&random), quantifier: quantifier)
    case 3 where path.isMany:
      return chance(2) ? .init(left, .contains, id(&random)) : .init(id(&random), .in, left)
    default:
      return .init(left, chance(2) ? .equalTo : .notEqualTo, id(&random), quantifier: quantifier)
    }
  }

  private mutating func chance(_ count: Int) -> Bool {
    Int.random(in: 0..<count, using: &random) == 0
  }
}
