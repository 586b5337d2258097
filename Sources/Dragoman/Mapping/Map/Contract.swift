import DragomanGraph

/// What may change between two feeds of an entity, and what becomes of an import where it does.
///
/// An import is compared with the last one by the same map that came to its end: docs/drift.md.
public struct Contract: Sendable, Hashable {
  /// What becomes of keys that nothing reads and that no earlier feed had.
  public enum KeyRule: String, Sendable, Hashable, Codable, CaseIterable {
    /// They become attributes.
    case evolve
    /// The import fails before anything is written.
    case freeze
    /// They are left out, and only counted.
    case discard
    /// They are left out, and told.
    case report
  }

  /// What becomes of keys whose values are of another kind than before, or that are gone.
  public enum Rule: String, Sendable, Hashable, Codable, CaseIterable {
    /// The import fails before anything is written.
    case freeze
    /// What the attribute cannot take is left out, and only counted.
    case discard
    /// It is told.
    case report
  }

  /// Keys that nothing reads and that no earlier feed had.
  public var newKeys: KeyRule
  /// Mapped keys that have values of a kind that they did not have before.
  public var changedTypes: Rule
  /// Mapped keys that the last feed had and this one has not.
  public var vanishedKeys: Rule

  /// Makes a contract; what is not said is only told.
  public init(
    newKeys: KeyRule = .report,
    changedTypes: Rule = .report,
    vanishedKeys: Rule = .report
  ) {
    self.newKeys = newKeys
    self.changedTypes = changedTypes
    self.vanishedKeys = vanishedKeys
  }

  /// One word for all of it: what cannot evolve is told.
  init(_ word: KeyRule) {
    let rule = Rule(rawValue: word.rawValue) ?? .report
    self.init(newKeys: word, changedTypes: rule, vanishedKeys: rule)
  }

  /// One rule for all of it.
  init(_ rule: Rule) {
    self.init(KeyRule(rawValue: rule.rawValue) ?? .report)
  }

  /// The word that says all of it, where there is one.
  var word: KeyRule? { KeyRule.allCases.first { Contract($0) == self } }
}

/// What an attribute says for itself of its entity's contract; nil leaves it to the entity.
public struct AttributeContract: Sendable, Hashable {
  /// Values of a kind that there was not before.
  public var changedTypes: Contract.Rule?
  /// No value where the last feed had some.
  public var vanishedKeys: Contract.Rule?

  /// Makes a contract.
  public init(changedTypes: Contract.Rule? = nil, vanishedKeys: Contract.Rule? = nil) {
    self.changedTypes = changedTypes
    self.vanishedKeys = vanishedKeys
  }
}

extension ImportMap {
  /// Whether feeds are held to what earlier ones were.
  var hasContract: Bool {
    entities.contains { entity in
      entity.contract != nil || entity.attributes.contains { $0.contract != nil }
    }
  }

  /// What holds for an attribute or a relationship, by the entity that declares it.
  func contract(of property: String, in entity: EntityMap) -> AttributeContract {
    let own = entity.attribute(named: property)?.contract
    let shared = contract(of: entity)
    return AttributeContract(
      changedTypes: own?.changedTypes ?? shared?.changedTypes,
      vanishedKeys: own?.vanishedKeys ?? shared?.vanishedKeys
    )
  }

  /// What holds for the records of an entity: its own word, or that of the entity that it inherits from.
  func contract(of entity: EntityMap) -> Contract? {
    lineage(of: entity).lazy.compactMap(\.contract).first
  }

  /// The map with what `discard` says of values that attributes and relationships cannot take: they are left out
  /// without a word where the change is counted, unless the attribute or the relationship says otherwise.
  func discardingChangedTypes(
    counted: [(entity: String, name: String)]
  ) -> ImportMap {
    var map = self
    for (place, entity) in entities.enumerated() {
      func discard(_ name: String, _ policies: inout ValuePolicies) {
        guard policies.onInvalid == nil,
          contract(of: name, in: entity).changedTypes == .discard
        else { return }
        policies.onInvalid = .keep
        let isCounted = counted.contains { change in
          hasSameBytes(change.entity, entity.name) && hasSameBytes(change.name, name)
        }
        if isCounted { policies.ignoreOptionalNullValues = true }
      }
      for (number, attribute) in entity.attributes.enumerated() {
        discard(attribute.name, &map.entities[place].attributes[number].policies)
      }
      for (number, relationship) in entity.relationships.enumerated() {
        discard(relationship.name, &map.entities[place].relationships[number].policies)
      }
    }
    return map
  }
}
