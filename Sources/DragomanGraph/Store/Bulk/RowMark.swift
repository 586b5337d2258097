/// What an import says of a row besides its values.
struct RowMark: Sendable, Equatable {
  /// Whether the row becomes one that holds its key only, or a whole one; nil: it stays what it is.
  var isStub: Bool?
  /// Whether the row becomes one of another entity of its family.
  var isSpecialized = false
  /// The references of the row that wait for their target from now on.
  var waits: [WaitingReference] = []
  /// The stored references of the row that do not wait any more.
  var resolved: [WaitingReference] = []

  /// What is said where something is said later.
  func merging(_ later: RowMark) -> RowMark {
    RowMark(
      isStub: later.isStub ?? isStub,
      isSpecialized: isSpecialized || later.isSpecialized,
      waits: waits + later.waits,
      resolved: resolved + later.resolved
    )
  }

  /// Whether nothing is said.
  var isEmpty: Bool { self == RowMark() }
}

/// A reference that waits until its target comes, in the store or in a context.
package struct WaitingReference: Sendable, Hashable {
  /// One part of a key.
  package struct Part: Sendable, Hashable {
    package let name: String
    package let value: StoredValue

    /// Makes a part.
    package init(_ name: String, _ value: StoredValue) {
      self.name = name
      self.value = value
    }
  }

  /// Its number in the store; nil: it is not stored yet.
  package var id: Int64?

  /// The same reference, stored or not.
  func isSame(as other: WaitingReference) -> Bool {
    relationship.utf8.elementsEqual(other.relationship.utf8) && owner == other.owner
      && key == other.key
  }

  /// The relationship, as `Entity.relationship`.
  package let relationship: String
  /// Who refers.
  package let owner: RowKey
  /// The entity that is referred to.
  package let entity: String
  /// The key that nobody has yet.
  package let key: [Part]

  /// Describes a reference that is not stored yet.
  package init(relationship: String, owner: RowKey, entity: String, key: [Part]) {
    self.relationship = relationship
    self.owner = owner
    self.entity = entity
    self.key = key
  }
}
