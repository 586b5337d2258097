import GRDB
import Testing

@testable import DragomanGraph

/// Rows of links as docs/file.md lays them out, written by hand, and who leads to whom by them.
@Suite struct LinkQueryTests {
  private static let model = Model(
    entities: [
      Entity(
        name: "A",
        attributes: [Attribute(name: "id", type: .int64)],
        relationships: [
          .toOne("one", "B", inverse: "many"),
          .toMany("ordered", "B", inverse: "owner", isOrdered: true),
          .toMany("tags", "B"),
          .toMany("list", "B", inverse: "lists", isOrdered: true).with { $0.allowsRepeats = true },
          .toMany("friends", "A", inverse: "friends"),
        ]
      ),
      Entity(
        name: "B",
        attributes: [Attribute(name: "id", type: .int64)],
        relationships: [.toMany("lists", "A", inverse: "list", isOrdered: true)]
      ),
    ]
  )

  private static let rows = """
    INSERT INTO A (_pk, _v, "one") VALUES (1, 1, 10), (2, 1, 10), (3, 1, NULL);
    INSERT INTO B (_pk, _v, "owner", _ordered_order)
      VALUES (10, 1, 1, 1), (11, 1, 1, 0), (12, 1, 1, NULL), (13, 1, NULL, 2);
    INSERT INTO A_tags (owner, target) VALUES (1, 12), (1, 10), (2, 10);
    INSERT INTO A_list (owner, position, target, inverse_position)
      VALUES (1, 0, 11, 5), (1, 1, 10, NULL), (1, 2, 11, 5), (2, 0, 11, 1);
    INSERT INTO A_friends (owner, target) VALUES (1, 2), (2, 1);
    """

  @Test(
    "Whatever the storage is, every owner has its targets in order",
    arguments: [
      ("A.one", [1: [10], 2: [10]], 2),
      ("B.many", [10: [1, 2]], 2),
      ("A.ordered", [1: [11, 10, 12]], 3),
      ("B.owner", [10: [1], 11: [1], 12: [1]], 3),
      ("A.tags", [1: [10, 12], 2: [10]], 3),
      ("A.list", [1: [11, 10, 11], 2: [11]], 4),
      ("B.lists", [10: [1], 11: [2, 1]], 4),
      ("A.friends", [1: [2], 2: [1]], 2),
    ] as [(String, [Int64: [Int64]], Int)]
  )
  func targets(name: String, wanted: [Int64: [Int64]], count: Int) throws {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: Self.model)
    try store.write { session in
      try session.begin()
      try session.database.execute(sql: Self.rows)
      try session.commit()
    }
    let link = try #require(
      store.layout.links.first { "\(store.layout.entities[$0.owner].name).\($0.name)" == name }
    )
    let owners: [Int64] = name.hasPrefix("A") ? [1, 2, 3] : [10, 11, 12, 13]
    try store.withSnapshot { snapshot in
      #expect(try snapshot.targets(of: link, owners).mapValues(\.keys) == wanted)
      for owner in owners {
        // One key is asked for by another statement.
        #expect(try snapshot.targets(of: link, [owner])[owner]?.keys == wanted[owner])
        let among = try snapshot.targets(of: link, owner, among: [1, 2, 10, 11])
        #expect(among == Set(wanted[owner] ?? []).intersection([1, 2, 10, 11]))
      }
      let links = LinkQuery(link, in: store.layout)
      #expect(try Int.fetchOne(snapshot.database, sql: links.countSQL) == count)
    }
  }
}
