/// A foreign record in memory: members in their order.
///
///     var record: ForeignRecord = ["id": 7, "name": "Ada"]
///     record["name"] = "Ada Lovelace"  // in its place
///     record["born"] = "1815-12-10"  // behind the others
///
/// Names compare by their UTF-8 bytes. A name may stand twice, as it may in JSON; lookups find the
/// first, and an import refuses the value as repeated.
public struct ForeignRecord: Sendable, Hashable {
  /// One member: its name and its value.
  public struct Member: Sendable, Hashable {
    /// The name.
    public var key: String
    /// The value.
    public var value: ForeignValue

    /// Makes a member.
    public init(key: String, value: ForeignValue) {
      self.key = key
      self.value = value
    }

    /// Compares the name's bytes and the value.
    public static func == (left: Member, right: Member) -> Bool {
      left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(bytesOf: key)
      hasher.combine(value)
    }
  }

  /// The members in their order.
  public var members: [Member]

  /// Makes a record of members.
  public init(_ members: [Member] = []) {
    self.members = members
  }

  /// Makes a record of names and values, in their order.
  public init(_ members: some Sequence<(String, ForeignValue)>) {
    self.members = members.map { Member(key: $0.0, value: $0.1) }
  }

  /// The names, in the order of the members.
  public var keys: [String] { members.map(\.key) }

  /// The value of the first member of that name; nil: there is none, which is not null.
  ///
  /// Setting it replaces the first member in its place or appends one; nil removes all of the name.
  /// O(members).
  public subscript(key: String) -> ForeignValue? {
    get { members.first { $0.key.utf8.elementsEqual(key.utf8) }?.value }
    set {
      guard let newValue else {
        members.removeAll { $0.key.utf8.elementsEqual(key.utf8) }
        return
      }
      if let index = members.firstIndex(where: { $0.key.utf8.elementsEqual(key.utf8) }) {
        members[index].value = newValue
      } else {
        members.append(Member(key: key, value: newValue))
      }
    }
  }
}

extension ForeignRecord: ExpressibleByDictionaryLiteral {
  /// Makes a record with the members in the order in which they are written.
  public init(dictionaryLiteral elements: (String, ForeignValue)...) {
    self.init(elements)
  }
}

extension ForeignRecord: CustomStringConvertible {
  /// The record as JSON text, on one line.
  public var description: String { ForeignValue.object(self).json }
}
