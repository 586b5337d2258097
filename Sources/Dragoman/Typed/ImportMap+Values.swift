import DragomanGraph

/// One rule of a map that is derived from a Swift type: where a property stands in foreign records.
///
///     let map = try ImportMap(
///       for: Person.self,
///       [
///         .map("ticket_number", to: \.ticketNumber),
///         .map("salary", to: \.salary, numbers: NumberFormat(locale: "en_US")),
///         .nested("phones", to: \.phones),
///       ]
///     )
///
/// Names and types are checked by the compiler: a path to what is no property does not compile.
public struct ValueRule<Root: EntityValue>: Sendable {
  let part: MapperPart
  /// The path of a relationship, as it was written.
  fileprivate let foreign: String?

  private init(_ part: MapperPart, foreign: String? = nil) {
    self.part = part
    self.foreign = foreign
  }

  /// The paths of one attribute, and how it is converted.
  ///
  /// The options mean what they mean to `Map`.
  public static func map<Value: AttributeValue>(
    _ foreign: String...,
    to path: KeyPath<Root.Fields, Field<Root, Value>>,
    dates: [String]? = nil,
    numbers: NumberFormat? = nil,
    format: ValueFormat = ValueFormat(),
    isExported: Bool = true,
    policies: ValuePolicies = ValuePolicies()
  ) -> ValueRule {
    let local = Root.fields[keyPath: path].schemaName
    var map = Map(local, to: local, dates: dates, numbers: numbers, format: format)
    if !foreign.isEmpty { map.foreign = foreign }
    map.isExported = isExported
    map.policies = policies
    return ValueRule(.attribute(map))
  }

  /// The path of nested records that become the targets of a relationship, by the map of their type.
  public static func nested<Value: RelationshipValue>(
    _ foreign: String,
    to path: KeyPath<Root.Fields, Field<Root, Value>>,
    assign: RelationshipMap.Assignment? = nil,
    onUnlink: RelationshipMap.Unlinked? = nil,
    policies: ValuePolicies = ValuePolicies()
  ) -> ValueRule {
    var map = relationship(path)
    map.from = ForeignPaths()
    map.assign = assign
    map.onUnlink = onUnlink
    map.policies = policies
    return ValueRule(.relationship(map), foreign: foreign)
  }

  /// The path of plain keys by which the targets of a relationship are found.
  ///
  /// - Parameters:
  ///   - foreign: The path of the key, or of an array of keys.
  ///   - path: The relationship; its type's entity has a unique key of one attribute.
  ///   - split: What cuts a string into several keys.
  ///   - assign: What a to-many does with the targets it had before.
  ///   - onUnresolved: What becomes of keys that no object has.
  ///   - policies: What happens to missing and null.
  /// - Returns: The rule.
  public static func keys<Value: RelationshipValue>(
    _ foreign: String,
    to path: KeyPath<Root.Fields, Field<Root, Value>>,
    split: String? = nil,
    assign: RelationshipMap.Assignment? = nil,
    onUnresolved: UnresolvedPolicy? = nil,
    policies: ValuePolicies = ValuePolicies()
  ) -> ValueRule {
    var map = relationship(path)
    let key = Value.Target.identity ?? []
    map.key = Dictionary(
      uniqueKeysWithValues: key.map { ($0, .path(ForeignPaths(), split: split)) }
    )
    map.assign = assign
    map.onUnresolved = onUnresolved
    map.policies = policies
    return ValueRule(.relationship(map), foreign: foreign)
  }

  private static func relationship<Value: RelationshipValue>(
    _ path: KeyPath<Root.Fields, Field<Root, Value>>
  ) -> RelationshipMap {
    RelationshipMap(
      name: Root.fields[keyPath: path].schemaName,
      entity: Value.Target.entity.name,
      kind: Value.relationshipKind
    )
  }
}

extension ImportMap {
  /// The map of a Swift type, for feeds in every format that the rules' paths fit.
  ///
  /// Properties without a rule are read under their own names; the entities that the type leads to
  /// are read by their names, too, unless `others` has a map of them. The policies are those of map
  /// files: missing values stay, null clears, an invalid value rejects the record.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - others: Maps of the types that it leads to.
  ///   - policies: What happens to missing, null and invalid values.
  ///   - rulesOnly: Whether properties without a rule are left out.
  ///   - rules: The rules, in the order in which values are exported.
  /// - Throws: All faults of the map together.
  public init<Root: EntityValue>(
    for type: Root.Type,
    others: [ImportMap] = [],
    policies: ValuePolicies = ValuePolicies(),
    rulesOnly: Bool = false,
    _ rules: [ValueRule<Root>] = []
  ) throws(MapFaults) {
    let model = Model(entities: Root.reachableEntities).completingInverses()
    var builder = try MapperBuilder(entity: Root.schema.name, model: model)
    var named: Set<[UInt8]> = []
    for rule in rules {
      builder.add(rule.part, foreign: rule.foreign)
      named.insert(Array(rule.part.name.utf8))
    }
    if !rulesOnly, let entity = model.entity(named: Root.schema.name) {
      for attribute in model.allAttributes(of: entity)
      where !named.contains(Array(attribute.name.utf8)) {
        builder.add(.attribute(Map(attribute.name, to: attribute.name)))
      }
    }
    builder.map.policies = policies
    var entities = [try builder.checked()]
    for entity in model.entities where !entity.name.utf8.elementsEqual(Root.schema.name.utf8) {
      let known = others.lazy.compactMap { $0.entity(named: entity.name) }.first
      entities.append(known ?? DefaultMaps.map(of: entity, in: model, isWhole: false))
    }
    self.init(
      name: Root.schema.name,
      entities: entities,
      sources: [
        SourceMap(name: Root.schema.name, format: .json, entity: Root.schema.name),
        SourceMap(name: "\(Root.schema.name) as CSV", format: .csv, entity: Root.schema.name),
      ]
    )
    let faults = validate()
    guard faults.isEmpty else { throw MapFaults(faults) }
  }
}

extension MapperPart {
  /// The property that the line is for.
  fileprivate var name: String {
    switch self {
    case .attribute(let map): map.local
    case .relationship(let map): map.name
    }
  }
}
