import Foundation

/// What a `Codable` type says of one object of an entity, before the object is found.
final class EncodedObject {
  let entity: EntityLayout
  /// The model.
  let layout: ModelLayout
  /// The id that the type itself gives, as `objectID`.
  private(set) var id: ObjectID?
  /// The values of attributes, by slot.
  private(set) var values: [Int: StoredValue] = [:]
  /// The targets of relationships, by link slot.
  private(set) var targets: [Int: [Target]] = [:]

  /// A target.
  enum Target {
    /// A nested value.
    case object(EncodedObject)
    /// The id of one.
    case id(ObjectID)
  }

  init(_ entity: EntityLayout, _ layout: ModelLayout) {
    self.entity = entity
    self.layout = layout
  }

  /// Takes what an encoder gives for a key; null where it is nil.
  func set<T: Encodable>(_ value: T?, _ key: any CodingKey) throws {
    switch entity.property(named: key.stringValue) {
    case .attribute(let slot): values[slot] = try stored(value, slot)
    case .relationship(let slot):
      let link = entity.relationships[slot]
      let encoder = TargetEncoder(layout.entities[link.destination], layout)
      if let value {
        if let id = value as? ObjectID {
          encoder.targets.append(.id(id))
        } else {
          try value.encode(to: encoder)
        }
      }
      targets[slot] = encoder.targets
    case nil:
      if key.stringValue == "objectID" {
        if let given = value as? ObjectID { id = given }
        return
      }
      throw ValueError(
        .schema,
        "\(entity.name) has no property \"\(key.stringValue)\".",
        entity: entity.name,
        property: key.stringValue,
        help: nearest(to: key.stringValue, in: entity.propertyNames)
          .map { "did you mean \"\($0)\"?" }
      )
    }
  }

  private func stored<T: Encodable>(_ value: T?, _ slot: Int) throws -> StoredValue {
    guard let value else { return .null }
    let attribute = entity.attributes[slot]
    do {
      if let known = value as? any AttributeValue {
        guard Swift.type(of: known).admits(attribute.type) else {
          throw ValueMismatch(expected: attribute.type.withArticle, beyond: "\(T.self)")
        }
        return try known.stored(as: attribute)
      }
      if attribute.type == .json || attribute.type == .data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(value)
        return attribute.type == .data
          ? .blob(Array(data)) : .text(String(decoding: data, as: UTF8.self))
      }
      let encoder = ColumnEncoder(attribute)
      try value.encode(to: encoder)
      return encoder.value
    } catch {
      let table = SlotTable(
        entity: entity.name,
        names: entity.attributes.map(\.name),
        attributes: entity.attributes
      )
      throw table.explained(error, slot, nil)
    }
  }
}

/// Encodes an object, or the objects of a relationship.
final class TargetEncoder: Encoder {
  private let entity: EntityLayout
  private let layout: ModelLayout
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]
  /// What was encoded.
  fileprivate(set) var targets: [EncodedObject.Target] = []

  init(_ entity: EntityLayout, _ layout: ModelLayout) {
    self.entity = entity
    self.layout = layout
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let node = EncodedObject(entity, layout)
    targets.append(.object(node))
    return KeyedEncodingContainer(ObjectEncodingContainer(node: node))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { TargetListContainer(self) }
  func singleValueContainer() -> any SingleValueEncodingContainer { TargetListContainer(self) }

  fileprivate func add(_ value: some Encodable) throws {
    if let id = value as? ObjectID {
      targets.append(.id(id))
    } else {
      try value.encode(to: self)
    }
  }
}

/// The elements of a to-many, or the only target of a to-one.
private struct TargetListContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
  private let encoder: TargetEncoder
  let codingPath: [any CodingKey] = []

  init(_ encoder: TargetEncoder) { self.encoder = encoder }

  var count: Int { encoder.targets.count }

  func encodeNil() {}
  func encode<T: Encodable>(_ value: T) throws { try encoder.add(value) }
  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    encoder.container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { encoder }
}

/// The properties of an object: what is nil is null, and is not left out.
private struct ObjectEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodedObject
  let codingPath: [any CodingKey] = []

  func encodeNil(forKey key: Key) throws { try node.set(String?.none, key) }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    try node.set(value, key)
  }
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try node.set(value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try node.set(value, key) }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type,
    forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    // What is encoded by hand into a container of its own is no property.
    KeyedEncodingContainer(ObjectEncodingContainer<NestedKey>(node: node))
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    TargetListContainer(TargetEncoder(node.entity, node.layout))
  }
  func superEncoder() -> any Encoder { TargetEncoder(node.entity, node.layout) }
  func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}

/// One value, of types that encode themselves as a single value: enumerations.
private final class ColumnEncoder: Encoder, SingleValueEncodingContainer {
  private let attribute: Attribute
  private(set) var value = StoredValue.null
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  init(_ attribute: Attribute) { self.attribute = attribute }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
  func encodeNil() { value = .null }

  func encode<T: Encodable>(_ value: T) throws {
    guard let known = value as? any AttributeValue else { return try value.encode(to: self) }
    self.value = try known.stored(as: attribute)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Refusing(attribute: attribute))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingList(attribute: attribute) }
}

/// Refuses what an attribute that is no JSON cannot hold.
private struct Refusing<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let attribute: Attribute
  let codingPath: [any CodingKey] = []

  private var refusal: ValueMismatch {
    ValueMismatch(expected: attribute.type.withArticle, beyond: "a structured value")
  }

  func encodeNil(forKey key: Key) throws { throw refusal }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw refusal }
  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type,
    forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    KeyedEncodingContainer(Refusing<NestedKey>(attribute: attribute))
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    RefusingList(attribute: attribute)
  }
  func superEncoder() -> any Encoder { ColumnEncoder(attribute) }
  func superEncoder(forKey key: Key) -> any Encoder { ColumnEncoder(attribute) }
}

/// Refuses lists.
private struct RefusingList: UnkeyedEncodingContainer {
  let attribute: Attribute
  let codingPath: [any CodingKey] = []
  let count = 0

  private var refusal: ValueMismatch {
    ValueMismatch(expected: attribute.type.withArticle, beyond: "a list")
  }

  func encodeNil() throws { throw refusal }
  func encode<T: Encodable>(_ value: T) throws { throw refusal }
  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Refusing<Key>(attribute: attribute))
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { ColumnEncoder(attribute) }
}
