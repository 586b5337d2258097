import Foundation
import GRDB

@testable import DragomanGraph

/// A company with people, phones in order, skills, friends, and a family of documents.
let crm = Model(
  entities: [
    Entity(
      name: "Company",
      attributes: [Attribute(name: "name", isRequired: true), Attribute(name: "city")],
      relationships: [.toMany("employees", "Person", inverse: "company")],
      uniqueKeys: [["name"]]
    ),
    Entity(
      name: "Person",
      attributes: [
        Attribute(name: "ticket"), Attribute(name: "name"),
        Attribute(
          name: "age",
          type: .int16,
          rules: AttributeRules(minimum: .integer(0), maximum: .integer(150))
        ),
        Attribute(name: "born", type: .date),
        Attribute(name: "salary", type: .decimal, rules: AttributeRules(scale: 2)),
        Attribute(name: "active", type: .bool, defaultValue: .integer(1)),
        Attribute(
          name: "code",
          rules: AttributeRules(minimumLength: 2, maximumLength: 4, pattern: "[a-z]+")
        ),
        Attribute(name: "level", type: .enum, allowedValues: ["low", "high"]),
      ],
      relationships: [
        .toOne("company", "Company", inverse: "employees"),
        .toOne("manager", "Person"),
        .toOne("desk", "Desk", inverse: "user"),
        .toMany("phones", "Phone", inverse: "owner", isOrdered: true, deleteRule: .cascade),
        .toMany("skills", "Skill", inverse: "people"),
        .toMany("friends", "Person", inverse: "friends"),
        .toMany("playlist", "Song", isOrdered: true).with { $0.allowsRepeats = true },
      ],
      uniqueKeys: [["ticket"]]
    ),
    Entity(
      name: "Phone",
      attributes: [Attribute(name: "number", isRequired: true)],
      relationships: [.toOne("owner", "Person", inverse: "phones")]
    ),
    Entity(
      name: "Skill",
      attributes: [Attribute(name: "name")],
      relationships: [.toMany("people", "Person", inverse: "skills")]
    ),
    Entity(name: "Song", attributes: [Attribute(name: "title")]),
    Entity(
      name: "Desk",
      attributes: [Attribute(name: "number", type: .int32)],
      relationships: [.toOne("user", "Person", inverse: "desk")]
    ),
    Entity(
      name: "Document",
      attributes: [Attribute(name: "title")],
      relationships: [.toOne("author", "Person", deleteRule: .nullify)],
      isAbstract: true
    ),
    Entity(name: "Book", attributes: [Attribute(name: "isbn")], parent: "Document"),
    Entity(
      name: "Film",
      attributes: [Attribute(name: "minutes", type: .int32)],
      parent: "Document"
    ),
    Entity(
      name: "Account",
      attributes: [Attribute(name: "number")],
      relationships: [
        .toMany("entries", "Entry", inverse: "account", deleteRule: .deny),
        .toMany("notes", "Note", inverse: "account", deleteRule: .noAction),
      ]
    ),
    Entity(
      name: "Entry",
      attributes: [Attribute(name: "amount", type: .decimal)],
      relationships: [.toOne("account", "Account", inverse: "entries")]
    ),
    Entity(
      name: "Note",
      attributes: [Attribute(name: "text")],
      relationships: [.toOne("account", "Account", inverse: "notes")]
    ),
  ]
)

extension Stack {
  /// Rows of a query, joined by bars: what the file holds, past all contexts.
  func sql(_ query: String) throws -> [String] {
    try store.read { database in
      try Row.fetchAll(database, sql: query).map { row in
        row.databaseValues.map { $0.isNull ? "-" : "\($0)" }.joined(separator: "|")
          .replacing("\"", with: "")
      }
    }
  }
}

extension Stack {
  /// Another process changes the file.
  func elsewhere(_ sentences: String...) throws {
    try store.write { session in
      try session.begin()
      for sql in sentences { try session.database.execute(sql: sql) }
      try session.commit()
    }
  }
}

/// The id of an object.
func id(_ entity: String, _ key: Int64) -> ObjectID { ObjectID(entity: entity, primaryKey: key) }

/// The error that a closure throws, as a ContextError.
func contextError<T>(_ body: () throws -> T) -> ContextError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error as? ContextError
  }
}

/// The code of the error that a closure throws; nil: it throws none.
func contextCode<T>(_ body: () throws -> T) -> ContextError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? ContextError)?.code
  }
}

/// The code of the error that a closure throws; nil: it throws none.
func contextCode<T: Sendable>(
  _ body: @Sendable () async throws -> T
) async -> ContextError.Code? {
  do {
    _ = try await body()
    return nil
  } catch {
    return (error as? ContextError)?.code
  }
}
