/// The part of a model that a copy is about: entities with all that share their tables, and what links them.
struct CopySelection {
  /// The model without the rest.
  let model: Model
  /// The relationships that are not in it, as `Entity.relationship`.
  let leftBehind: [String]

  /// - Parameters:
  ///   - names: The entities; empty for all.
  ///   - layout: What the source holds.
  /// - Throws: `StoreError`, `.badRequest`, for an entity that is not there, and for one that cannot be without
  ///   another one that is not named.
  init(of names: [String], in layout: ModelLayout) throws(StoreError) {
    var roots: Set<Int> = []
    for name in names {
      guard let entity = layout.entity(named: name) else {
        throw StoreError(
          .badRequest,
          "There is no entity \"\(name)\".",
          help: nearest(to: name, in: layout.entities.map(\.name)).map { "did you mean \"\($0)\"?" }
        )
      }
      guard entity.root == entity.index else {
        throw StoreError(
          .badRequest,
          "\(name) is a kind of \(entity.rootName), whose objects are in one table: they are copied together.",
          help: "copy \(entity.rootName)"
        )
      }
      roots.insert(entity.root)
    }
    guard !names.isEmpty else {
      (model, leftBehind) = (layout.model, [])
      return
    }
    var leftBehind: [String] = []
    var entities: [Entity] = []
    for entity in layout.entities where roots.contains(entity.root) {
      var kept = entity.entity
      let away = entity.relationships.filter {
        $0.owner == entity.index && !roots.contains(layout.entities[$0.destination].root)
      }
      for link in away {
        try Self.checkIsFree(link, of: entity, in: layout)
        leftBehind.append("\(entity.name).\(link.name)")
      }
      kept.relationships.removeAll { known in away.contains { hasSameBytes($0.name, known.name) } }
      entities.append(kept)
    }
    var model = layout.model
    model.entities = entities
    (self.model, self.leftBehind) = (model, leftBehind)
  }

  private static func checkIsFree(
    _ link: RelationshipLayout,
    of entity: EntityLayout,
    in layout: ModelLayout
  ) throws(StoreError) {
    let target = layout.entities[link.destination].name
    let uses = entity.entity.uniqueKeys + entity.entity.indexes
    let isUsed = uses.contains { $0.contains { hasSameBytes($0, link.name) } }
    guard link.relationship.isRequired || isUsed else { return }
    throw StoreError(
      .badRequest,
      "\(entity.name) cannot be copied without \(target): \(entity.name).\(link.name)"
        + (isUsed ? " is part of a key or an index." : " is required."),
      help: "copy \(target), too"
    )
  }
}
