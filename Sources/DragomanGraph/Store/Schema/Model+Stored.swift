import Foundation

extension ModelLayout {
  /// Reads a model as a store keeps it, in `_dragoman_model`.
  ///
  /// The store may be a stranger's, or damaged: what nobody could work with is refused here. Rules that a newer
  /// version has made are not asked for.
  ///
  /// - Throws: `StoreError`, `.damaged`.
  convenience init(stored text: String) throws(StoreError) {
    let stored: StoredText
    do {
      stored = try JSONDecoder().decode(StoredText.self, from: Data(text.utf8))
    } catch {
      throw StoreError(.damaged, "The model in _dragoman_model cannot be read: \(error).")
    }
    if let fault = stored.structureFault {
      throw StoreError(.damaged, "The model in _dragoman_model is faulty: \(fault)")
    }
    self.init(stored.model, migrations: stored.migrations)
  }

  /// The model as a store keeps it.
  ///
  /// - Throws: What `JSONEncoder` throws.
  func storedText() throws -> String {
    try JSONDocument.text(StoredText(model: model, migrations: migrations))
  }
}

/// The JSON of `_dragoman_model`: the members of the model, and beside them `migrations`, where there were any.
private struct StoredText: Codable {
  let model: Model
  let migrations: Int

  private enum CodingKeys: CodingKey {
    case migrations
  }

  init(model: Model, migrations: Int) {
    self.model = model
    self.migrations = migrations
  }

  init(from decoder: any Decoder) throws {
    model = try Model(from: decoder)
    let members = try decoder.container(keyedBy: CodingKeys.self)
    migrations = try members.decodeIfPresent(Int.self, forKey: .migrations) ?? 0
  }

  func encode(to encoder: any Encoder) throws {
    try model.encode(to: encoder)
    guard migrations != 0 else { return }
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(migrations, forKey: .migrations)
  }
}

extension StoredText {
  /// Why no tables can be told from the model, a sentence; nil: they can.
  fileprivate var structureFault: String? {
    var names: Set<NameKey> = []
    for entity in model.entities {
      guard names.insert(NameKey(entity.name)).inserted else {
        return "There are two entities \(entity.name)."
      }
      if let parent = entity.parent, model.entity(named: parent) == nil {
        return "\(entity.name) has a parent \(parent), which there is not."
      }
      let ancestors = model.ancestors(of: entity)
      if ancestors.contains(where: { hasSameBytes($0.name, entity.name) }) {
        return "\(entity.name) is its own ancestor."
      }
      guard ancestors.count <= Model.maximumAncestorCount else {
        return "\(entity.name) has more than \(Model.maximumAncestorCount) ancestors."
      }
      var properties: Set<NameKey> = []
      for owner in [entity] + ancestors {
        for name in owner.attributes.map(\.name) + owner.relationships.map(\.name)
        where !properties.insert(NameKey(name)).inserted {
          return "\(entity.name) has two properties \(name)."
        }
      }
      for relationship in entity.relationships
      where model.entity(named: relationship.destination) == nil {
        return
          "\(entity.name).\(relationship.name) leads to \(relationship.destination), which there is not."
      }
    }
    return nil
  }
}
