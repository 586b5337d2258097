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
  /// The relationships whose targets the type gives as ids, by link slot.
  private(set) var references: Set<Int> = []
  /// How many objects this one is in.
  private let depth: Int

  /// A target.
  enum Target {
    /// A nested value.
    case object(EncodedObject)
    /// The id of one.
    case id(ObjectID)

    /// The id, where the type gives it.
    var id: ObjectID? {
      switch self {
      case .object(let object): object.id
      case .id(let id): id
      }
    }
  }

  init(_ entity: EntityLayout, _ layout: ModelLayout, depth: Int = 0) {
    self.entity = entity
    self.layout = layout
    self.depth = depth
  }

  /// Takes what an encoder gives for a key; null where it is nil.
  func set<T: Encodable>(_ value: T?, _ key: any CodingKey) throws {
    switch entity.property(named: key.stringValue) {
    case .attribute(let slot): values[slot] = try stored(value, slot)
    case .relationship(let slot):
      let link = entity.relationships[slot]
      guard depth < ValueError.maximumDepth else {
        throw ValueError.tooDeep(entity.name, instead: "ObjectID")
      }
      let encoder = TargetEncoder(
        layout.entities[link.destination],
        layout,
        of: (entity.name, link.name),
        depth: depth + 1
      )
      if let value { try encoder.add(value) }
      targets[slot] = encoder.targets
      if T.self is any References.Type { references.insert(slot) }
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
        return attribute.type == .data
          ? .blob(try JSONDocument.bytes(value)) : .text(try JSONDocument.text(value))
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
  private(set) var targets: [EncodedObject.Target] = []
  /// What the value at hand has begun: a class and its superclass may open a container each.
  private var begun: EncodedObject?
  /// The relationship whose targets these are.
  private let owner: (entity: String, property: String)?
  private let depth: Int

  init(
    _ entity: EntityLayout,
    _ layout: ModelLayout,
    of owner: (entity: String, property: String)? = nil,
    depth: Int = 0
  ) {
    self.entity = entity
    self.layout = layout
    self.owner = owner
    self.depth = depth
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let node = begun ?? begin()
    begun = node
    return KeyedEncodingContainer(ObjectEncodingContainer(node: node))
  }

  /// Begins another object.
  fileprivate func begin() -> EncodedObject {
    let node = EncodedObject(entity, layout, depth: depth)
    targets.append(.object(node))
    return node
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { TargetListContainer(self) }
  func singleValueContainer() -> any SingleValueEncodingContainer { TargetListContainer(self) }

  fileprivate func add<T: Encodable>(_ value: T) throws {
    if let id = value as? ObjectID {
      targets.append(.id(id))
    } else if value.isScalar {
      // A scalar hands itself to the encoder again, without an end.
      throw ValueError(
        .type,
        owner.map {
          "\($0.entity).\($0.property) leads to objects of \(entity.name), and \(T.self) is none."
        } ?? "\(T.self) is no object of \(entity.name).",
        entity: owner?.entity ?? entity.name,
        property: owner?.property
      )
    } else {
      let around = begun
      begun = nil
      defer { begun = around }
      try value.encode(to: self)
    }
  }
}

extension Encodable {
  /// Whether the value is one of those that all others are made of.
  fileprivate var isScalar: Bool { self is String || self is Bool || self is any Numeric }
}

/// A type of properties that give targets by their ids.
private protocol References {}
extension ObjectID: References {}
extension Array: References where Element == ObjectID {}
extension Set: References where Element == ObjectID {}

/// The elements of a to-many, or the only target of a to-one.
private struct TargetListContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
  private let encoder: TargetEncoder
  let codingPath: [any CodingKey] = []

  init(_ encoder: TargetEncoder) { self.encoder = encoder }

  var count: Int { encoder.targets.count }

  func encodeNil() {}
  func encode<T: Encodable>(_ value: T) throws { try encoder.add(value) }
  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(ObjectEncodingContainer(node: encoder.begin()))
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
    keyedBy keyType: NestedKey.Type,
    forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    refusing(key).container(keyedBy: keyType)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { refusing(key) }
  func superEncoder() -> any Encoder { PartEncoder(node: node) }
  func superEncoder(forKey key: Key) -> any Encoder { refusing(key) }

  private func refusing(_ key: Key) -> RefusingEncoder {
    RefusingEncoder(refusal: ValueError.ownContainer(node.entity, key.stringValue))
  }
}

/// Encodes more properties of an object: those of a superclass.
private struct PartEncoder: Encoder {
  let node: EncodedObject
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  private var refusing: RefusingEncoder {
    RefusingEncoder(refusal: ValueError.ownContainer(node.entity, "super"))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(ObjectEncodingContainer(node: node))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { refusing }
  func singleValueContainer() -> any SingleValueEncodingContainer { refusing }
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
    refusing("a structured value").container(keyedBy: type)
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { refusing("a list") }

  private func refusing(_ what: String) -> RefusingEncoder {
    RefusingEncoder(
      refusal: ValueMismatch(expected: attribute.type.withArticle, beyond: what)
    )
  }
}

/// Refuses what an object or an attribute cannot hold: everything that is encoded into it throws.
private struct RefusingEncoder: Encoder, SingleValueEncodingContainer, UnkeyedEncodingContainer {
  let refusal: any Error
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]
  let count = 0

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RefusingContainer<Key>(refusal: refusal))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() throws { throw refusal }
  func encode<T: Encodable>(_ value: T) throws { throw refusal }
  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { self }
}

/// Refuses members.
private struct RefusingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let refusal: any Error
  let codingPath: [any CodingKey] = []

  private var encoder: RefusingEncoder { RefusingEncoder(refusal: refusal) }

  func encodeNil(forKey key: Key) throws { throw refusal }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw refusal }
  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type,
    forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder.container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder }
  func superEncoder() -> any Encoder { encoder }
  func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

extension ValueError {
  /// A container of its own that a type opens by hand, for what is no property of the entity.
  static func ownContainer(
    _ entity: EntityLayout,
    _ property: String,
    _ object: ObjectID? = nil
  ) -> ValueError {
    ValueError(
      .schema,
      "\(entity.name).\(property) is a container of its own, which no object has.",
      entity: entity.name,
      property: property,
      object: object,
      help:
        "code a nested type in its place: of an attribute it is JSON, of a relationship an object"
    )
  }
}
