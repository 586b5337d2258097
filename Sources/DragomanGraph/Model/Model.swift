/// The description of everything a store holds: a list of entities.
public struct Model: Sendable, Hashable, Codable {
  /// The entities, in declared order.
  public var entities: [Entity]

  /// Makes a model; `validate()` tells what is wrong with it.
  ///
  /// Defaults and limits are taken over as the store holds values of their attributes: `0` of a
  /// decimal with scale 2 is `"0.00"`.
  public init(entities: [Entity] = []) {
    self.entities = entities.map { entity in
      var entity = entity
      entity.attributes = entity.attributes.map(\.canonical)
      return entity
    }
  }

  /// The entity of that name, compared byte for byte.
  public func entity(named name: String) -> Entity? {
    entities.first { $0.name.utf8.elementsEqual(name.utf8) }
  }
}
