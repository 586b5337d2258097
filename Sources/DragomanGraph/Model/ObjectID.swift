/// The permanent identity of one stored object: its family of entities and its row's `_pk`.
///
/// Sub-entities share the table and the ids of their root entity, so an id carries the root's name:
/// a `Book` that is a sub-entity of `Document` has an id such as `Document/12`. Ids are reserved before
/// insertion, never reused and safe to pass between threads.
public struct ObjectID: Sendable, Hashable, Codable {
  /// The name of the root of the object's entity: the ancestor without a parent.
  public let entity: String
  /// The row's primary key, 1 or more.
  public let primaryKey: Int64

  /// Makes the id of an existing row.
  public init(entity: String, primaryKey: Int64) {
    self.entity = entity
    self.primaryKey = primaryKey
  }

  /// Compares the bytes of the name, and the key.
  public static func == (left: ObjectID, right: ObjectID) -> Bool {
    left.primaryKey == right.primaryKey && left.entity.utf8.elementsEqual(right.entity.utf8)
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(primaryKey)
    hasher.combine(NameKey(entity))
  }
}

extension ObjectID {
  private static let prefix = "dragoman:///"

  /// The id as a URI, `dragoman:///Person/12`.
  ///
  /// Bytes of the name other than ASCII letters, digits and `-._~` are percent-encoded (RFC 3986,
  /// section 2.3), so that every name, slashes and both Unicode normal forms included, comes back.
  public var uri: String {
    var text = Self.prefix
    for byte in entity.utf8 {
      if Self.isUnreserved(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        text += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
      }
    }
    return text + "/\(primaryKey)"
  }

  /// Reads what `uri` writes; whether there is such an object is not looked up.
  ///
  /// - Throws: `StoreError.Code.badRequest` if the text is no such URI.
  public init(uri: String) throws(StoreError) {
    guard let id = Self.parse(uri) else {
      throw StoreError(
        .badRequest,
        "\"\(uri.prefix(80))\" is no object id.",
        help: "an id is written dragoman:///Entity/number"
      )
    }
    self = id
  }

  private static func parse(_ uri: String) -> ObjectID? {
    guard uri.utf8.starts(with: prefix.utf8) else { return nil }
    let parts = uri.utf8.dropFirst(prefix.utf8.count).split(
      separator: UInt8(ascii: "/"),
      omittingEmptySubsequences: false
    )
    guard parts.count == 2, let first = parts[1].first, (0x31...0x39).contains(first),
      let key = Int64(String(decoding: parts[1], as: UTF8.self))
    else { return nil }
    var name: [UInt8] = []
    var rest = parts[0][...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        guard let high = rest.popFirst().flatMap(hexadecimal),
          let low = rest.popFirst().flatMap(hexadecimal)
        else { return nil }
        name.append(high << 4 | low)
      } else {
        guard isUnreserved(byte) else { return nil }
        name.append(byte)
      }
    }
    guard !name.isEmpty, let entity = String(validating: name, as: UTF8.self) else { return nil }
    return ObjectID(entity: entity, primaryKey: key)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
    default: false
    }
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
  }
}
