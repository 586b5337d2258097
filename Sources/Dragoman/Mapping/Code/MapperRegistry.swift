import DragomanGraph
import Synchronization

/// The mappers of one stack, by entity.
///
/// There is no registry that all share: every stack has its own, and several live side by side.
/// Safe to use from several threads.
public final class MapperRegistry: Sendable {
  /// The model whose entities are mapped.
  public let model: Model
  private let mappers = Mutex<[[UInt8]: Mapper]>([:])

  /// Makes an empty registry: every entity has its default mapper.
  public init(model: Model) {
    self.model = model
  }

  /// Registers a mapper for its entity; it replaces an earlier one.
  ///
  /// A unique key that the model does not have is made in the store, with an index, before the next
  /// import into the stack; that says which objects are in its way.
  /// - Throws: That the registry's model does not have the entity, with the nearest name.
  public func register(_ mapper: Mapper) throws(MapFaults) {
    _ = try MapperBuilder.find(mapper.name, in: model)
    mappers.withLock { $0[Array(mapper.name.utf8)] = mapper }
  }

  /// Registers the mapper that a type declares.
  ///
  /// - Throws: All faults of the mapper together.
  public func register<Type: Mappable>(_ type: Type.Type) throws(MapFaults) {
    try register(try Mapper(type, in: model))
  }

  /// Forgets the mapper of an entity, which then has its nearest ancestor's or its default one.
  public func removeMapper(for name: String) {
    _ = mappers.withLock { $0.removeValue(forKey: Array(name.utf8)) }
  }

  /// The mapper that is registered for the entity itself.
  public func registeredMapper(for name: String) -> Mapper? {
    mappers.withLock { $0[Array(name.utf8)] }
  }

  /// The mapper of an entity: its own, or the one of its nearest ancestor that has one, or the
  /// default mapper.
  ///
  /// - Throws: That the model does not have the entity, with the nearest name.
  public func mapper(for name: String) throws(MapFaults) -> Mapper {
    let entity = try MapperBuilder.find(name, in: model)
    for candidate in [entity] + model.ancestors(of: entity) {
      guard let mapper = registeredMapper(for: candidate.name) else { continue }
      return candidate.name.utf8.elementsEqual(name.utf8) ? mapper : mapper.applied(to: entity)
    }
    return try Mapper.default(for: name, in: model)
  }

  /// The unique keys of the registered mappers.
  var keys: [DeclaredKey] {
    mappers.withLock { mappers in
      mappers.values.filter { !$0.uniqueKey.isEmpty }
        .map { DeclaredKey(entity: $0.name, properties: $0.uniqueKey) }
    }.sorted { $0.entity < $1.entity }
  }

  /// An entity's mapper as a map, in which the targets of its relationships have their mappers, too.
  ///
  /// - Throws: That the model does not have the entity, with the nearest name.
  func importMap(for name: String) throws(MapFaults) -> (map: ImportMap, code: ImportCode) {
    let mapper = try mapper(for: name)
    let target = { (name: String) -> Mapper? in
      do throws(MapFaults) { return try self.mapper(for: name) } catch { return nil }
    }
    return (mapper.importMap(target), mapper.importCode(target))
  }
}
