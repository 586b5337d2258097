import Foundation

/// Decodes a `Codable` type from a live object: attributes by their names, relationships as nested
/// objects and arrays.
struct ObjectDecoder: Decoder {
  let object: ManagedObject
  var codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]
  /// This value and those around it.
  private let nesting: Nesting<RowKey>

  fileprivate init(
    _ object: ManagedObject,
    _ codingPath: [any CodingKey],
    _ nesting: Nesting<RowKey>
  ) {
    self.object = object
    self.codingPath = codingPath
    self.nesting = nesting
  }

  /// The value of an object: its id, or what decodes itself from it.
  ///
  /// - Throws: `ValueError.cycle` where the value would hold itself.
  static func value<T: Decodable>(
    _ type: T.Type,
    of object: ManagedObject,
    at codingPath: [any CodingKey] = [],
    within outer: Nesting<RowKey> = Nesting()
  ) throws -> T {
    if let id = object.objectID as? T { return id }
    try object.context.fire(object)
    var nesting = outer
    try nesting.enter(
      type,
      object.place,
      entity: object.layout.name,
      number: object.place.key,
      instead: "ObjectID"
    )
    return try T(from: ObjectDecoder(object, codingPath, nesting))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(
      ObjectContainer(object: object, codingPath: codingPath, nesting: nesting)
    )
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw mismatch("an array")
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw mismatch("a single value")
  }

  private func mismatch(_ wanted: String) -> ValueError {
    ValueError(
      .type,
      "\(object.layout.name) is an object, where \(wanted) is decoded.",
      entity: object.layout.name,
      object: object.objectID
    )
  }
}

/// The properties of an object by name.
private struct ObjectContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let object: ManagedObject
  let codingPath: [any CodingKey]
  let nesting: Nesting<RowKey>

  private var layout: EntityLayout { object.layout }

  var allKeys: [Key] { layout.propertyNames.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool {
    layout.property(named: key.stringValue) != nil || key.stringValue == "objectID"
  }

  func decodeNil(forKey key: Key) throws -> Bool {
    switch try property(key) {
    case .attribute(let slot): return try object.value(layout.attributeColumns[slot]) == .null
    case .relationship(let slot):
      let link = layout.relationships[slot]
      return try link.isToOne && object.context.links.targets(of: link, object).isEmpty
    case nil: return false
    }
  }

  /// nil: the object's own id.
  private func property(_ key: Key) throws -> EntityLayout.Property? {
    if let property = layout.property(named: key.stringValue) { return property }
    if key.stringValue == "objectID" { return nil }
    throw ValueError(
      .schema,
      "\(layout.name) has no property \"\(key.stringValue)\".",
      entity: layout.name,
      property: key.stringValue,
      object: object.objectID,
      help: nearest(to: key.stringValue, in: layout.propertyNames).map { "did you mean \"\($0)\"?" }
    )
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    switch try property(key) {
    case .attribute(let slot): return try attribute(type, slot, key)
    case .relationship(let slot):
      let link = layout.relationships[slot]
      let targets = try object.context.links.targets(of: link, object)
      if !link.isToOne {
        return try T(from: ObjectListDecoder(targets, codingPath + [key], nesting))
      }
      guard let target = targets.first else { throw missing(key, "an object") }
      return try ObjectDecoder.value(type, of: target, at: codingPath + [key], within: nesting)
    case nil:
      guard let id = object.objectID as? T else { throw missing(key, "\(type)") }
      return id
    }
  }

  private func attribute<T: Decodable>(_ type: T.Type, _ slot: Int, _ key: Key) throws -> T {
    let attribute = layout.attributes[slot]
    let stored = try object.value(layout.attributeColumns[slot])
    do {
      if let known = type as? any AttributeValue.Type {
        if known.admits(attribute.type), let value = try known.unboxed(stored) as? T {
          return value
        }
        throw stored.withColumn {
          ValueMismatch(expected: "\(type), which \(attribute.type.withArticle) is not", found: $0)
        }
      }
      switch stored {
      case .text(let text) where attribute.type == .json:
        return try JSONDecoder().decode(type, from: Data(text.utf8))
      case .blob(let bytes): return try JSONDecoder().decode(type, from: Data(bytes))
      default: return try T(from: ColumnDecoder(value: stored, codingPath: codingPath + [key]))
      }
    } catch {
      throw table.explained(error, slot, object.objectID)
    }
  }

  private var table: SlotTable {
    SlotTable(
      entity: layout.name,
      names: layout.attributes.map(\.name),
      attributes: layout.attributes
    )
  }

  private func missing(_ key: Key, _ wanted: String) -> ValueError {
    ValueError(
      .null,
      "\(layout.name).\(key.stringValue) takes \(wanted); found null.",
      entity: layout.name,
      property: key.stringValue,
      object: object.objectID,
      help: "make the property an optional"
    )
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type,
    forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    throw unfit(key.stringValue)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw unfit(key.stringValue)
  }

  /// A superclass is a part of its object.
  func superDecoder() throws -> any Decoder { ObjectDecoder(object, codingPath, nesting) }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw unfit(key.stringValue) }

  private func unfit(_ name: String) -> ValueError {
    .ownContainer(layout, name, object.objectID)
  }
}

extension AttributeValue {
  /// The value of a stored one.
  fileprivate static func unboxed(_ value: StoredValue) throws -> Self {
    try value.withColumn { try Self(unboxing: $0) }
  }
}

/// The targets of a to-many.
private struct ObjectListDecoder: Decoder, UnkeyedDecodingContainer {
  private let objects: [ManagedObject]
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]
  private(set) var currentIndex = 0
  private let nesting: Nesting<RowKey>

  init(
    _ objects: [ManagedObject],
    _ codingPath: [any CodingKey],
    _ nesting: Nesting<RowKey>
  ) {
    self.objects = objects
    self.codingPath = codingPath
    self.nesting = nesting
  }

  var count: Int? { objects.count }
  var isAtEnd: Bool { currentIndex == objects.count }

  mutating func decodeNil() -> Bool { false }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type,
        DecodingError.Context(
          codingPath: codingPath,
          debugDescription:
            "the to-many has \(MessageWords.count(objects.count, "object")), and one more is decoded"
        )
      )
    }
    let object = objects[currentIndex]
    currentIndex += 1
    return try ObjectDecoder.value(type, of: object, at: codingPath, within: nesting)
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { self }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw unfit("an object")
  }
  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw unfit("a single value")
  }
  func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    throw unfit("an object")
  }
  func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unfit("an array") }
  func superDecoder() throws -> any Decoder { self }

  private func unfit(_ wanted: String) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(
        codingPath: codingPath,
        debugDescription: "a to-many is an array of objects, where \(wanted) is decoded"
      )
    )
  }
}

/// One stored value, for types that decode themselves from a single value: enumerations.
struct ColumnDecoder: Decoder, SingleValueDecodingContainer {
  let value: StoredValue
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func singleValueContainer() -> any SingleValueDecodingContainer { self }
  func decodeNil() -> Bool { value == .null }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let known = type as? any AttributeValue.Type, let found = try known.unboxed(value) as? T {
      return found
    }
    return try T(from: self)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw unfit("an object")
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unfit("an array") }

  private func unfit(_ wanted: String) -> ValueMismatch {
    value.withColumn { ValueMismatch(expected: wanted, found: $0) }
  }
}
