import Foundation
import GRDB

@testable import Dragoman
@testable import DragomanGraph

/// Every row and link of a store, spelled by keys and not by `_pk`: what "same contents" compares.
func contents(of store: SQLiteStore) throws -> [String] {
  let layout = store.layout
  return try store.read { database in
    var lines: [String] = []
    var names: [String: [Int64: String]] = [:]
    for entity in layout.entities where entity.root == entity.index {
      let identity = layout.entities[entity.root].uniqueKeys.first ?? []
      let columns = identity.map { Schema.quoted($0.column) }.joined(separator: ", ")
      let sql =
        "SELECT _pk\(identity.isEmpty ? "" : ", \(columns)") FROM \(Schema.quoted(entity.table))"
      for row in try Row.fetchAll(database, sql: sql) {
        let key = row.databaseValues.dropFirst().map(text).joined(separator: ",")
        names[entity.table, default: [:]][row[0]] = identity.isEmpty ? "#\(row[0] as Int64)" : key
      }
    }
    let schema = Schema(layout)
    for table in schema.tables {
      let columns = table.columns.filter { $0.name != "_pk" && $0.name != "_v" }
      let list = columns.map { Schema.quoted($0.name) }.joined(separator: ", ")
      var rows: [String] = []
      for row in try Row.fetchAll(database, sql: "SELECT \(list) FROM \(Schema.quoted(table.name))")
      {
        let values = zip(columns, row.databaseValues).map { column, value in
          guard let target = column.references, let key = Int64.fromDatabaseValue(value) else {
            return text(value)
          }
          return names[target]?[key] ?? "dangling"
        }
        rows.append("\(table.name): \(values.joined(separator: "|"))")
      }
      lines += rows.sorted()
    }
    return lines
  }
}

private func text(_ value: DatabaseValue) -> String {
  switch value.storage {
  case .null: "null"
  case .int64(let integer): String(integer)
  case .double(let double): String(double)
  case .string(let text): text
  case .blob(let data): "\(data.count) bytes"
  }
}

extension ImportReport {
  /// The links made, removed and left unresolved: `A.b +2 -1 ?3`.
  var linkSummary: [String] {
    relationships.sorted { $0.key < $1.key }.map { name, counts in
      let parts = [("+", counts.linked), ("-", counts.unlinked), ("?", counts.unresolved)]
      return ([name] + parts.filter { $0.1 > 0 }.map { "\($0.0)\($0.1)" }).joined(separator: " ")
    }
  }

  /// The counts of the entities: `A: 2 inserted, 1 stubs`.
  var entitySummary: [String] {
    entities.sorted { $0.key < $1.key }.map { name, counts in
      let parts = [
        ("inserted", counts.inserted), ("updated", counts.updated),
        ("unchanged", counts.unchanged), ("deleted", counts.deleted), ("stubs", counts.stubs),
      ]
      let text = parts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
      return "\(name): \(text.joined(separator: ", "))"
    }
  }
}
