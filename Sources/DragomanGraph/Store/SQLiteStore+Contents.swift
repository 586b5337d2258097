import Foundation
import GRDB

extension SQLiteStore {
  /// What the store holds, counted.
  ///
  /// Reads every table of objects and of links once, so the cost grows with the file.
  ///
  ///     let contents = try store.contents()
  ///     print(contents.entities.map { "\($0.name): \($0.objectCount)" })
  ///
  /// - Parameter exampleCount: How many stubs of each entity, and how many waiting references of
  ///   each relationship are listed; nil for all, which are then all in memory. 5 by default.
  /// - Returns: The counts of one snapshot.
  /// - Throws: `StoreError` where the file cannot be read or is not as its model says.
  public func contents(examples exampleCount: Int? = 5) throws(StoreError) -> StoreContents {
    let layout = layout
    return try read { database in
      try ContentsReader(layout, database).contents(exampleCount)
    }
  }

  /// The objects of an entity, sub-entities included, that hold a key only until their record comes.
  ///
  /// Runs `SELECT … WHERE _stub IS NOT NULL ORDER BY _pk`, where there can be any.
  ///
  ///     for stub in try store.stubs(of: "Order") { print(stub.key.parts.map(\.value)) }
  ///
  /// - Parameters:
  ///   - entity: The entity's name.
  ///   - limit: How many at most; nil for all.
  /// - Returns: The stubs in the order in which they were made.
  /// - Throws: `StoreError`, `.badRequest` for an entity that does not exist, with the nearest name.
  public func stubs(of entity: String, limit: Int? = nil) throws(StoreError) -> [Stub] {
    let layout = layout
    guard let found = layout.entity(named: entity) else {
      let nearest = nearest(to: entity, in: layout.entities.map(\.name))
      throw StoreError(
        .badRequest,
        "The store has no entity \"\(entity)\".",
        help: nearest.map { "did you mean \($0)?" },
        path: path
      )
    }
    return try read { database in
      try ContentsReader(layout, database).stubs(of: found.family, found, limit)
    }
  }

  /// The references that wait until their target comes, in the order in which they came.
  ///
  /// Reads `_dragoman_pending`, and the keys of the owners.
  ///
  /// - Parameters:
  ///   - relationship: A relationship with its entity, `Article.replaces`; nil for all.
  ///   - owner: The object that refers, together with its relationship; nil for all.
  ///   - limit: How many at most; nil for all.
  /// - Returns: The references; empty if there are none, or no such relationship.
  /// - Throws: `StoreError` where the file cannot be read.
  public func pendingReferences(
    of relationship: String? = nil,
    from owner: ObjectID? = nil,
    limit: Int? = nil
  ) throws(StoreError) -> [PendingReference] {
    let layout = layout
    return try read { database in
      try ContentsReader(layout, database)
        .pendingReferences(of: relationship, limit, from: owner?.primaryKey)
    }
  }

  /// The imports into this store, oldest first.
  ///
  /// Reads `_dragoman_imports`.
  /// - Parameter limit: How many of the last ones; nil for all.
  /// - Returns: The entries; empty for a store that nothing was imported into.
  /// - Throws: `StoreError`, `.damaged` for an entry that cannot be read.
  public func history(limit: Int? = nil) throws(StoreError) -> [ImportLedgerEntry] {
    let layout = layout
    return try read { database in try ContentsReader(layout, database).history(limit) }
  }
}
