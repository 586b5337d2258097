import Foundation

/// What contracts know of earlier feeds (`_dragoman_contracts`) follows the names of entities and properties.
struct ContractNames {
  private typealias Members = [String: Any]

  private let plan: MigrationPlan

  init(_ plan: MigrationPlan) { self.plan = plan }

  /// Writes the new names in the place of the old ones; what belonged to an entity that goes is forgotten.
  ///
  /// Runs `SELECT` and `UPDATE`, of the few rows that are kept, where a name has changed.
  ///
  /// - Throws: `StoreError`.
  func rename(_ sql: any SharedSQL) throws(StoreError) {
    guard changesNames, try sql.hasTable(ContractTable.name) else { return }
    let rows = try sql.values(["run", "seen", "evolved"], "FROM \(ContractTable.name)", [])
    for row in rows {
      try sql.run(
        "UPDATE \(ContractTable.name) SET seen = ?1, evolved = ?2 WHERE run = ?3",
        [rewritten(row[1], seen), rewritten(row[2], evolved), row[0]]
      )
    }
  }

  private var changesNames: Bool {
    plan.old.entities.contains { entity in
      let name = newName(of: entity)
      return name.map { !hasSameBytes($0, entity.name) } ?? true
        || (entity.attributes.map(\.name) + entity.relationships.map(\.name)).contains {
          !hasSameBytes(newName(of: $0, in: entity), $0)
        }
    }
  }

  /// A text of JSON with other names; what is none is left for who reads it.
  private func rewritten(_ value: StoredValue, _ change: (Any) -> Any) -> StoredValue {
    guard case .text(let text) = value,
      let known = try? JSONSerialization.jsonObject(with: Data(text.utf8)),
      let data = try? JSONSerialization.data(
        withJSONObject: change(known),
        options: [.sortedKeys, .withoutEscapingSlashes]
      )
    else { return value }
    return .text(String(decoding: data, as: UTF8.self))
  }

  /// `{"entities": [{"name": …, "properties": [{"name": …}, …]}, …]}`.
  private func seen(_ value: Any) -> Any {
    guard var whole = value as? Members, let entities = whole["entities"] as? [Members] else {
      return value
    }
    whole["entities"] = entities.compactMap { known -> Members? in
      guard let name = known["name"] as? String, let entity = plan.old.entity(named: name) else {
        return known
      }
      guard let newName = newName(of: entity) else { return nil }
      var renamed = known
      renamed["name"] = newName
      if let properties = known["properties"] as? [Members] {
        renamed["properties"] = properties.map { property in
          guard let name = property["name"] as? String else { return property }
          return property.merging(["name": self.newName(of: name, in: entity)]) { $1 }
        }
      }
      return renamed
    }
    return whole
  }

  /// `[{"entity": …, "name": …}, …]`.
  private func evolved(_ value: Any) -> Any {
    guard let attributes = value as? [Members] else { return value }
    return attributes.compactMap { known -> Members? in
      guard let name = known["entity"] as? String, let entity = plan.old.entity(named: name) else {
        return known
      }
      return newName(of: entity).map { newName in known.merging(["entity": newName]) { $1 } }
    }
  }

  private func newName(of entity: EntityLayout) -> String? {
    plan.match.successor(ofEntity: entity.index).map { plan.new.entities[$0].name }
  }

  /// The new name of a property of an entity, or of one of its ancestors; the old one where it is gone.
  private func newName(of name: String, in entity: EntityLayout) -> String {
    for index in entity.lineage {
      let owner = plan.old.entities[index].entity
      if let property = owner.attributes.firstIndex(where: { hasSameBytes($0.name, name) }),
        let place = plan.match.successor(ofAttribute: .init(entity: index, property: property))
      {
        return plan.new.entities[place.entity].entity.attributes[property: place].name
      }
      if let property = owner.relationships.firstIndex(where: { hasSameBytes($0.name, name) }),
        let place = plan.match.successor(ofRelationship: .init(entity: index, property: property))
      {
        return plan.new.entities[place.entity].entity.relationships[property: place].name
      }
    }
    return name
  }
}
