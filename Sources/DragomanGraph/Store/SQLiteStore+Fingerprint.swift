import Foundation
import GRDB

extension SQLiteStore {
  /// What the file looks like now.
  ///
  /// - Throws: `StoreError`; `.migrated` where the file is gone, `.permission` and `.inputOutput` where
  ///   it cannot be told.
  func fingerprint() throws -> StoreFingerprint {
    var file: FileStatus.Identity?
    if let path {
      guard let status = FileStatus(path) else { throw Self.lost(path, errno) }
      file = status.identity
    }
    return try onWriter { database in
      StoreFingerprint(
        dataVersion: try Int64.fetchOne(database, sql: "PRAGMA data_version") ?? 0,
        schemaVersion: try Int64.fetchOne(database, sql: "PRAGMA schema_version") ?? 0,
        file: file
      )
    }
  }

  /// Why the file cannot be looked at, by the system's error number.
  static func lost(_ path: String, _ code: Int32) -> StoreError {
    switch code {
    case ENOENT, ENOTDIR:
      StoreError(
        .migrated,
        "The database was removed while it was followed.",
        help: "put it back, and begin again",
        path: path
      )
    default:
      StoreError(
        code == EACCES ? .permission : .inputOutput,
        "The database cannot be looked at while it is followed: \(String(cString: strerror(code))).",
        path: path
      )
    }
  }

  /// Refuses a file that cannot be followed any more.
  func check(_ new: StoreFingerprint, against old: StoreFingerprint) throws {
    guard new.file == old.file else {
      throw StoreError(
        .migrated,
        "The database was replaced by another file while it was followed.",
        help: "open it again",
        path: path
      )
    }
    guard new.schemaVersion != old.schemaVersion else { return }
    let stored = try onWriter { try StoredModel($0).layout }
    guard stored.holds(layout) else {
      throw StoreError(
        .migrated,
        "The database was migrated to another model by another process while it was followed.",
        help: "open it again with the new model",
        path: path
      )
    }
  }
}

extension StoreError {
  /// What is told to somebody whose model the store does not have any more.
  static func migrated(at path: String?) -> StoreError {
    StoreError(
      .migrated,
      "The database was migrated to another model since it was opened.",
      help: "open it again with the new model",
      path: path
    )
  }
}

extension ModelLayout {
  /// Whether everything of another layout is here: the same tables, columns, types and links, and no migration since
  /// has given any of it another meaning.
  func holds(_ other: ModelLayout) -> Bool {
    migrations == other.migrations && features.isSuperset(of: other.features)
  }

  /// Whether rows that were made for another layout are whole here, too: no family has got its first
  /// sub-entity, so that its rows say what they are.
  func takesRows(of other: ModelLayout) -> Bool {
    let named = Set(tables.filter(\.hasEntityColumn).map(\.name))
    return holds(other)
      && other.tables.allSatisfy { $0.hasEntityColumn || !named.contains($0.name) }
  }

  private var features: Set<String> {
    var features: Set<String> = []
    for table in tables {
      for column in table.columns {
        let type = column.attribute.map { "\($0.type) \($0.rules.scale ?? -1)" } ?? "link"
        features.insert("\(table.name)\u{0}\(column.name)\u{0}\(type)")
      }
    }
    for link in links {
      if case .joinTable(let table, _) = link.storage { features.insert(table.name) }
    }
    for entity in entities { features.insert("\(entity.table)\u{0}\(entity.name)") }
    return features
  }
}
