import GRDB
import Testing

@testable import DragomanGraph

@Suite struct ChangeLogTests {
  private static let model = Model(
    entities: [
      Entity(
        name: "Person",
        attributes: [Attribute(name: "id", type: .int64), Attribute(name: "na\"me")],
        uniqueKeys: [["id"]]
      ),
      Entity(
        name: "Sailor",
        attributes: [Attribute(name: "ship").with { $0.column = "vessel" }],
        parent: "Person"
      ),
      Entity(name: "Port", attributes: [Attribute(name: "depth", type: .double)]),
    ]
  )

  private static func text(_ value: StoredValue?) -> String {
    switch value {
    case nil: "-"
    case .null: "null"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): text
    case .blob(let bytes): "\(bytes)"
    }
  }

  /// What a transaction did, as text: `Person id: null > 1`.
  private func changes(_ store: SQLiteStore, _ statements: [String]) throws -> [String] {
    try store.write { session in
      try session.begin()
      try session.grow(to: Self.model)
      let log = try session.changeLog()
      var found: [String] = []
      for statement in statements {
        try session.database.execute(sql: statement)
        try log.drain { change in
          let values = change.attributes.indices.map { index in
            "\(change.attributes[index].name): \(Self.text(change.old?[index]))"
              + " > \(Self.text(change.new?[index]))"
          }
          found.append(
            "\(change.entity)\(change.keys.first ?? []) " + values.joined(separator: ", ")
          )
        }
      }
      try session.commit()
      return found
    }
  }

  @Test("Each row is told with all attributes of its entity, before and after")
  func rows() throws {
    let store = try SQLiteStore(at: .inMemory)
    let found = try changes(
      store,
      [
        "INSERT INTO Person (_entity, id, \"na\"\"me\") VALUES ('Person', 1, 'Ada')",
        "INSERT INTO Person (_entity, id, vessel) VALUES ('Sailor', 2, 'Fram')",
        "INSERT INTO Port (depth) VALUES (2.5)",
        "UPDATE Person SET \"na\"\"me\" = 'x'",
        "UPDATE Port SET depth = 2.5 WHERE 0",
        "DELETE FROM Person",
      ]
    )
    #expect(
      found == [
        "Person[\"id\"] id: - > 1, na\"me: - > Ada",
        "Sailor[\"id\"] id: - > 2, na\"me: - > null, ship: - > Fram",
        "Port[] depth: - > 2.5",
        "Person[\"id\"] id: 1 > 1, na\"me: Ada > x",
        "Sailor[\"id\"] id: 2 > 2, na\"me: null > x, ship: Fram > Fram",
        "Person[\"id\"] id: 1 > -, na\"me: x > -",
        "Sailor[\"id\"] id: 2 > -, na\"me: x > -, ship: Fram > -",
      ]
    )
    let left = try store.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_temp_master")
    }
    #expect(left == 0)
  }

  @Test("After a transaction that failed nothing is observed any more")
  func failure() throws {
    struct Broken: Error {}
    let store = try SQLiteStore(at: .inMemory)
    #expect(throws: Broken.self) {
      try store.write { session in
        try session.begin()
        try session.grow(to: Self.model)
        _ = try session.changeLog()
        try session.commit()
        try session.begin()
        throw Broken()
      }
    }
    #expect(
      try changes(store, ["INSERT INTO Port (depth) VALUES (1)"]) == ["Port[] depth: - > 1.0"]
    )
  }
}
