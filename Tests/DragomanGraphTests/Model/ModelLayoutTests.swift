import GRDB
import Testing

@testable import DragomanGraph

@Suite struct ModelLayoutTests {
  /// People with a company, phones in order, skills, and two kinds of documents.
  static let model = Model(
    entities: [
      Entity(name: "Company", table: "companies", attributes: [Attribute(name: "name")]),
      Entity(
        name: "Phone",
        attributes: [Attribute(name: "kind"), Attribute(name: "number")],
        uniqueKeys: [["owner", "kind"]]
      ),
      Entity(
        name: "Person",
        attributes: [Attribute(name: "id", type: .int64)],
        relationships: [
          .toOne("company", "Company", inverse: "employees"),
          .toOne("manager", "Person"),
          .toMany("phones", "Phone", inverse: "owner", isOrdered: true, deleteRule: .cascade),
          .toMany("skills", "Skill"),
          .toMany("friends", "Person", inverse: "friends"),
          .toMany("favourites", "Document", inverse: "fans", isOrdered: true),
        ],
        uniqueKeys: [["id"]]
      ),
      Entity(name: "Skill", attributes: [Attribute(name: "name")]),
      Entity(
        name: "Document",
        attributes: [Attribute(name: "title")],
        relationships: [.toMany("fans", "Person", inverse: "favourites")],
        isAbstract: true
      ),
      Entity(name: "Book", attributes: [Attribute(name: "isbn")], parent: "Document"),
      Entity(
        name: "Comic",
        attributes: [Attribute(name: "artist")],
        uniqueKeys: [["title", "artist"]],
        parent: "Book"
      ),
    ]
  )

  @Test("Every relationship has its place in the file, as docs/file.md says")
  func schema() {
    let schema = Schema(ModelLayout(Self.model))
    #expect(
      schema.additions(to: Schema(ModelLayout(Model())))
        + schema.newIndexes(than: Schema(ModelLayout(Model()))).map(\.sql) == [
          "CREATE TABLE \"companies\" (_pk INTEGER PRIMARY KEY, _v INTEGER, \"name\" TEXT)",
          "CREATE TABLE \"Phone\" (_pk INTEGER PRIMARY KEY, _v INTEGER, \"kind\" TEXT, \"number\" TEXT, \"owner\" INTEGER REFERENCES \"Person\" (_pk) DEFERRABLE INITIALLY DEFERRED, \"_phones_order\" INTEGER)",
          "CREATE TABLE \"Person\" (_pk INTEGER PRIMARY KEY, _v INTEGER, \"id\" INTEGER, \"company\" INTEGER REFERENCES \"companies\" (_pk) DEFERRABLE INITIALLY DEFERRED, \"manager\" INTEGER REFERENCES \"Person\" (_pk) DEFERRABLE INITIALLY DEFERRED)",
          "CREATE TABLE \"Skill\" (_pk INTEGER PRIMARY KEY, _v INTEGER, \"name\" TEXT)",
          "CREATE TABLE \"Document\" (_pk INTEGER PRIMARY KEY, _v INTEGER, _entity TEXT, \"title\" TEXT, \"isbn\" TEXT, \"artist\" TEXT)",
          "CREATE TABLE \"Person_skills\" (owner INTEGER REFERENCES \"Person\" (_pk) DEFERRABLE INITIALLY DEFERRED, target INTEGER REFERENCES \"Skill\" (_pk) DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY (\"owner\", \"target\")) WITHOUT ROWID",
          "CREATE TABLE \"Person_friends\" (owner INTEGER REFERENCES \"Person\" (_pk) DEFERRABLE INITIALLY DEFERRED, target INTEGER REFERENCES \"Person\" (_pk) DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY (\"owner\", \"target\")) WITHOUT ROWID",
          "CREATE TABLE \"Person_favourites\" (owner INTEGER REFERENCES \"Person\" (_pk) DEFERRABLE INITIALLY DEFERRED, position INTEGER, target INTEGER REFERENCES \"Document\" (_pk) DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY (\"owner\", \"position\")) WITHOUT ROWID",
          "CREATE UNIQUE INDEX \"Phone_unique_owner_kind\" ON \"Phone\" (\"owner\", \"kind\")",
          "CREATE UNIQUE INDEX \"Person_unique_id\" ON \"Person\" (\"id\")",
          "CREATE INDEX \"Person_company\" ON \"Person\" (\"company\")",
          "CREATE INDEX \"Person_manager\" ON \"Person\" (\"manager\")",
          "CREATE UNIQUE INDEX \"Document_unique_title_artist\" ON \"Document\" (\"title\", \"artist\")",
          "CREATE INDEX \"Person_skills_target\" ON \"Person_skills\" (\"target\")",
          "CREATE INDEX \"Person_friends_target\" ON \"Person_friends\" (\"target\")",
          "CREATE INDEX \"Person_favourites_target\" ON \"Person_favourites\" (\"target\")",
        ]
    )
  }

  @Test("A sub-entity has what its ancestors have, in the table of the root")
  func inheritance() throws {
    let layout = ModelLayout(Self.model)
    let comic = try #require(layout.entity(named: "Comic"))
    #expect(comic.attributes.map(\.name) == ["title", "isbn", "artist"])
    #expect(comic.relationships.map(\.name) == ["fans"])
    #expect(comic.table == "Document")
    #expect(comic.lineage == [6, 5, 4])
    #expect(layout.entity(named: "Document")?.family == [4, 5, 6])
    #expect(comic.uniqueKeys.map { $0.map(\.column) } == [["title", "artist"]])
  }

  @Test("An inverse that one side names exists on the other side too")
  func inverses() throws {
    let model = Self.model.completingInverses()
    #expect(model.validate() == [])
    #expect(
      model.entities[0].relationships == [.toMany("employees", "Person", inverse: "company")]
    )
    #expect(model.entities[1].relationships == [.toOne("owner", "Person", inverse: "phones")])
    #expect(model.completingInverses() == model)
  }

  @Test("A file grows from objects without links to a family with links")
  func growth() throws {
    let store = try SQLiteStore(at: .inMemory)
    let first = Entity(name: "Document", attributes: [Attribute(name: "title")])
    try store.grow(to: Model(entities: [first]))
    try store.write { session in
      try session.database.execute(
        sql: "INSERT INTO Document (_pk, _v, title) VALUES (1, 1, 'a')"
      )
    }
    try store.grow(to: Self.model)
    let rows = try store.read { database in
      try String.fetchAll(database, sql: "SELECT _entity FROM Document")
    }
    #expect(rows == ["Document"])
    #expect(Set(store.model.entities) == Set(Self.model.completingInverses().entities))
    try store.grow(to: Self.model)
  }
}
