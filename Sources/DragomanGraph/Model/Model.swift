/// The description of everything a store holds: a list of entities.
public struct Model: Sendable, Hashable, Codable {
  /// The entities, in declared order.
  public var entities: [Entity]

  /// Makes a model; `validate()` tells what is wrong with it.
  public init(entities: [Entity] = []) {
    self.entities = entities
  }

  /// The entity of that name, compared byte for byte.
  public func entity(named name: String) -> Entity? {
    entities.first { $0.name.utf8.elementsEqual(name.utf8) }
  }
}
