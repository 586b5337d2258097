import Foundation
import GRDB

@testable import DragomanGraph

/// An object of an `ObjectGraph`: what a filter is held against in memory.
final class GraphObject: FilterSubject {
  let entity: EntityLayout
  let objectID: ObjectID
  var values: [StoredValue]
  var links: [[GraphObject]]

  init(_ entity: EntityLayout, _ key: Int64) {
    self.entity = entity
    objectID = ObjectID(entity: entity.rootName, primaryKey: key)
    values = Array(repeating: .null, count: entity.attributes.count)
    links = Array(repeating: [], count: entity.relationships.count)
  }

  var entityIndex: Int { entity.index }
  func attribute(_ slot: Int) -> StoredValue { values[slot] }
  func toOne(_ link: Int) -> GraphObject? { links[link].first }
  func toMany(_ link: Int) -> [GraphObject] { links[link] }
}

/// Objects with links in memory, and the same in a store, written with plain SQL.
final class ObjectGraph {
  let layout: ModelLayout
  private(set) var objects: [GraphObject] = []
  private var nextKey: [Int: Int64] = [:]

  init(_ model: Model) { layout = ModelLayout(model) }

  /// Adds an object; values by the names of the attributes.
  @discardableResult
  func add(_ entity: String, _ values: [String: StoredValue] = [:]) throws -> GraphObject {
    let entity = try layout.requireEntity(entity)
    let key = nextKey[entity.root, default: 1]
    nextKey[entity.root] = key + 1
    let object = GraphObject(entity, key)
    for (name, value) in values {
      guard let slot = entity.attributeSlot(named: name) else {
        throw StoreError(.badRequest, "no attribute \(name)")
      }
      object.values[slot] = value
    }
    objects.append(object)
    return object
  }

  /// Links two objects on both sides; does nothing where a to-one is taken or a set has the object.
  func link(_ owner: GraphObject, _ name: String, _ target: GraphObject) {
    guard let slot = owner.entity.linkSlot(named: name) else { return }
    let relationship = owner.entity.relationships[slot].relationship
    let inverse = relationship.inverse.flatMap { target.entity.linkSlot(named: $0) }
    if relationship.kind == .toOne, !owner.links[slot].isEmpty { return }
    if !relationship.allowsRepeats, owner.links[slot].contains(where: { $0 === target }) { return }
    if let inverse {
      let back = target.entity.relationships[inverse]
      if back.isToOne, !target.links[inverse].isEmpty { return }
      owner.links[slot].append(target)
      if !(owner === target && slot == inverse) { target.links[inverse].append(owner) }
    } else {
      owner.links[slot].append(target)
    }
  }

  /// A store in memory with the same objects and links.
  func store() throws -> SQLiteStore {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: layout.model)
    try store.write { session in
      try session.begin()
      for object in objects { try Self.insert(object, session.database) }
      try session.commit()
    }
    return store
  }

  /// The objects of a request's family, in the order of their ids.
  func family(of entity: String) throws -> [GraphObject] {
    let root = try layout.requireEntity(entity).root
    return objects.filter { $0.entity.root == root }
  }

  private static func insert(_ object: GraphObject, _ database: Database) throws {
    let entity = object.entity
    let key = object.objectID.primaryKey.databaseValue
    var columns: [(name: String, value: DatabaseValue)] = [("_pk", key), ("_v", 1.databaseValue)]
    if entity.hasEntityColumn { columns.append(("_entity", entity.name.databaseValue)) }
    for (attribute, value) in zip(entity.attributes, object.values) {
      columns.append((attribute.column, databaseValue(value)))
    }
    for (slot, link) in entity.relationships.enumerated() {
      let targets = object.links[slot]
      switch link.storage {
      case .column(let column):
        if let target = targets.first {
          columns.append((column, target.objectID.primaryKey.databaseValue))
        }
      case .inverseColumn: break
      case .joinTable(let join, isOwner: true):
        for (position, target) in targets.enumerated() {
          try database.execute(
            sql: "INSERT INTO \(Schema.quoted(join.name)) (owner, target"
              + "\(join.hasPosition ? ", position" : "")) VALUES (?, ?\(join.hasPosition ? ", ?" : ""))",
            arguments: StatementArguments(
              [key, target.objectID.primaryKey.databaseValue]
                + (join.hasPosition ? [position.databaseValue] : [])
            )
          )
        }
      case .joinTable: break
      }
    }
    // Texts as bytes, because GRDB binds a text only up to its first NUL.
    let places = columns.map { column in
      entity.attributes.contains { $0.column == column.name && $0.type.columnType == "TEXT" }
        ? "CAST(? AS TEXT)" : "?"
    }
    try database.execute(
      sql: "INSERT INTO \(Schema.quoted(entity.table)) "
        + "(\(columns.map { Schema.quoted($0.name) }.joined(separator: ", "))) VALUES "
        + "(\(places.joined(separator: ", ")))",
      arguments: StatementArguments(columns.map(\.value))
    )
  }

  private static func databaseValue(_ value: StoredValue) -> DatabaseValue {
    switch value {
    case .null: .null
    case .integer(let integer): integer.databaseValue
    case .real(let real): real.databaseValue
    case .text(let text): Data(text.utf8).databaseValue
    case .blob(let bytes): Data(bytes).databaseValue
    }
  }
}
