import DragomanGraph

/// Targets of which the identity is written, inside of others or by the map's word.
///
/// An import reads them as records of their entity: what they lack is missing, and a policy may say what happens then.
extension ExportPlanner {
  /// What a record of the identity alone changes of its object.
  struct Missed {
    /// The names of attributes.
    var attributes: Set<[UInt8]> = []
    /// The names of relationships, with what an import does to them.
    var relationships: [[UInt8]: String] = [:]
  }

  /// The attributes that are written of a reference: its identity, its name, and what is missed.
  func referenceAttributes(of visit: Visit) -> [AttributeMap] {
    let name = visit.isNamed ? nameAttribute(of: visit.map) : nil
    return attributes(of: visit.map).filter {
      isKey($0.name, of: visit) || name.map { [name = $0.name] in hasSameBytes($0, name) } == true
        || visit.missed.attributes.contains(Array($0.name.utf8))
    }
  }

  /// Its relationships: those of the identity, and what is missed and leads further by keys.
  func referenceRelationships(of visit: Visit) -> [RelationshipMap] {
    map.lineage(of: visit.map).reversed().flatMap(\.relationships).filter {
      isKey($0.name, of: visit)
        || ($0.key != nil && visit.missed.relationships[Array($0.name.utf8)] != nil)
    }
  }

  /// Takes note of the relationships of a reference that are missed and have no end.
  ///
  /// It is a notice and no loss: whether any object has targets there, only the objects know.
  mutating func noteReferences(of visit: Visit) {
    for relationship in map.lineage(of: visit.map).reversed().flatMap(\.relationships) {
      guard relationship.key == nil, !isKey(relationship.name, of: visit),
        let fate = visit.missed.relationships[Array(relationship.name.utf8)],
        form(of: relationship, visit) != nil
      else { continue }
      note(
        "\(visit.map.name).\(relationship.name): inside of others only the key is written, and an import \(fate)"
      )
    }
  }

  /// What a record of the identity alone changes.
  ///
  /// Where it changes anything, an object that needs more than its key is not known by the key alone: what it needs is
  /// written, too.
  func missed(of entity: EntityMap, _ layout: EntityLayout) -> Missed {
    var missed = Missed()
    if isLocal { return missed }
    let lineage = map.lineage(of: entity)
    for (depth, owner) in lineage.enumerated() {
      func fate(_ policies: ValuePolicies) -> String? {
        if entity.overwriteExisting == false { return "makes them without" }
        return self.fate(of: policies, in: lineage[...depth])
      }
      for attribute in owner.attributes
      where fate(attribute.policies) != nil || isReadFromKey(attribute, lineage, layout) {
        missed.attributes.insert(Array(attribute.name.utf8))
      }
      for relationship in owner.relationships {
        missed.relationships[Array(relationship.name.utf8)] = fate(relationship.policies)
      }
    }
    if missed.attributes.isEmpty, missed.relationships.isEmpty { return missed }
    for attribute in layout.attributes
    where attribute.isRequired && attribute.defaultValue == nil {
      missed.attributes.insert(Array(attribute.name.utf8))
    }
    return missed
  }

  /// What an import does with what records lack, by the policies of it; nil: nothing.
  func fate(of policies: ValuePolicies, in lineage: ArraySlice<EntityMap>) -> String? {
    switch map.policies(policies, of: lineage).onMissing {
    case .keep: nil
    case .clear, .default: "takes away what they have"
    case .reject: "rejects the record"
    }
  }

  /// Whether something that is not in the key is read where the key stands: another one of its paths leads there, or it
  /// is what the key is a part of.
  private func isReadFromKey(
    _ attribute: AttributeMap,
    _ lineage: [EntityMap],
    _ layout: EntityLayout
  ) -> Bool {
    let key = (layout.uniqueKeys.first ?? []).map(\.name)
    func isInKey(_ name: String) -> Bool { key.contains { hasSameBytes($0, name) } }
    if isInKey(attribute.name) || attribute.compute != nil { return false }
    let places = lineage.flatMap(\.attributes).filter { isInKey($0.name) }
      .compactMap { readingPaths($0.from, $0.name, of: lineage[0]).first { $0.root == .record } }
    return readingPaths(attribute.from, attribute.name, of: lineage[0]).contains { path in
      path.root == .record && places.contains { path.meets($0.steps) }
    }
  }
}
