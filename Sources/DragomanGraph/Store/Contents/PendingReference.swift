import GRDB

/// A reference that waits in the store until its target comes, a row of `_dragoman_pending`.
///
/// Maps keep such references by `onUnresolved: pending`; the import that brings the target links it.
public struct PendingReference: Sendable, Hashable {
  /// The object that refers.
  public let owner: ObjectID
  /// What the owner is known by; empty where it is gone, or its entity has no unique key.
  public let ownerKey: ObjectKey
  /// The relationship with its entity: `Article.replaces`.
  public let relationship: String
  /// The entity that is referred to.
  public let target: String
  /// The key that nobody has yet.
  public let key: ObjectKey
}

extension PendingReference {
  /// The table of them.
  static let table = "_dragoman_pending"

  /// Refuses a table whose rows are not as they are written: whoever reads them follows names and
  /// looks into JSON.
  ///
  /// Reads the table once.
  /// - Throws: `StoreError`, `.damaged`, with the first such row.
  static func check(_ database: Database) throws {
    let isWhole =
      "typeof(owner) = 'integer' AND typeof(relationship) = 'text' AND typeof(entity) = 'text'"
      + " AND CASE WHEN typeof(key) = 'text' AND json_valid(key) THEN json_type(key) = 'object' END"
    let found = try database.storedValue(
      "SELECT id FROM \(table) WHERE (\(isWhole)) IS NOT TRUE LIMIT 1",
      of: table,
      as: Int64.self
    )
    guard let found else { return }
    throw StoreError(
      .damaged,
      "The row \(found) of \(table) is no reference that waits: owner is an integer, relationship and"
        + " entity are texts, key is a JSON object.",
      help: "restore a backup, or delete the row"
    )
  }
}
