import Foundation

extension Model {
  /// Reads a model as a store keeps it, in `_dragoman_model`.
  ///
  /// The store may be a stranger's, or damaged: what nobody could work with is refused here. Rules that a newer
  /// version has made are not asked for.
  ///
  /// - Throws: `StoreError`, `.damaged`.
  init(stored text: String) throws(StoreError) {
    do {
      self = try JSONDecoder().decode(Model.self, from: Data(text.utf8))
    } catch {
      throw StoreError(.damaged, "The model in _dragoman_model cannot be read: \(error).")
    }
    if let fault = structureFault {
      throw StoreError(.damaged, "The model in _dragoman_model is faulty: \(fault)")
    }
  }

  /// Why no tables can be told from the model, a sentence; nil: they can.
  private var structureFault: String? {
    var names: Set<NameKey> = []
    for entity in entities {
      guard names.insert(NameKey(entity.name)).inserted else {
        return "There are two entities \(entity.name)."
      }
      if let parent = entity.parent, self.entity(named: parent) == nil {
        return "\(entity.name) has a parent \(parent), which there is not."
      }
      let ancestors = ancestors(of: entity)
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
      where self.entity(named: relationship.destination) == nil {
        return
          "\(entity.name).\(relationship.name) leads to \(relationship.destination), which there is not."
      }
    }
    return nil
  }
}
