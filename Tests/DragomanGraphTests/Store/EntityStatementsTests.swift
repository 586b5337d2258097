import Testing

@testable import DragomanGraph

@Suite("SQL of a row shape") struct EntityStatementsTests {
  private let slots = [
    Attribute(name: "id", type: .int64, isRequired: true), Attribute(name: "na\"me"),
    Attribute(name: "at", type: .timestamp), Attribute(name: "must", isRequired: true),
  ]

  private func statements(
    _ mode: EntityWriter.Mode = .upsert,
    keys: [[String]] = [["id"]],
    version: Int? = nil
  ) -> EntityStatements {
    let unmapped = Attribute(name: "extra", defaultValue: .text("x"))
    let entity = Entity(
      name: "P",
      table: "people",
      attributes: slots + [unmapped],
      uniqueKeys: keys
    )
    return EntityStatements(
      entity: ModelLayout(Model(entities: [entity])).entities[0],
      slots: slots.map { RowSlot($0) },
      mode: mode,
      version: version
    )
  }

  @Test("A whole shape makes the object or updates what differs")
  func upsert() {
    #expect(
      statements().upsert([0, 1, 3]).sql == """
        INSERT INTO "people" (_pk, _v, "id", "na""me", "must", "extra") \
        VALUES (?1, 1, ?2, ?3, ?4, ?5) ON CONFLICT ("id") DO UPDATE SET \
        "na""me" = excluded."na""me", "must" = excluded."must", _v = _v + 1 \
        WHERE "na""me" IS NOT excluded."na""me" OR "must" IS NOT excluded."must"
        """
    )
    #expect(statements().upsert([0, 1, 3]).constants == [.text("x")])
  }

  @Test("A shape of nothing but the key, and the modes that leave objects alone, do nothing")
  func nothing() {
    for sentence in [
      statements().upsert([0]), statements(.ignore).upsert([0, 1]),
      statements(.insert).upsert([0, 1]),
    ] {
      #expect(sentence.sql.hasSuffix(" ON CONFLICT (\"id\") DO NOTHING"))
    }
    #expect(!statements(keys: []).upsert([0, 1]).sql.contains("CONFLICT"))
  }

  @Test("Replace sets what the row does not give, too")
  func replace() {
    let sql = statements(.replace).upsert([0, 3]).sql
    #expect(sql.contains("\"na\"\"me\" = excluded.\"na\"\"me\""))
    #expect(sql.contains("\"extra\" = excluded.\"extra\""))
  }

  @Test("A shape without a required attribute can only update")
  func update() {
    #expect(statements().missing(from: [0, 1]) == "must")
    #expect(
      statements().update([0, 1]).sql == """
        UPDATE "people" SET "na""me" = ?2, _v = _v + 1 WHERE "id" = ?1 AND ("na""me" IS NOT ?2)
        """
    )
  }

  @Test("A version holds older rows back")
  func version() {
    let sql = statements(version: 2).upsert([0, 1, 2, 3]).sql
    #expect(
      sql.hasSuffix("AND (\"at\" IS NULL OR excluded.\"at\" IS NULL OR excluded.\"at\" >= \"at\")")
    )
    #expect(!statements(version: 2).upsert([0, 1, 3]).sql.contains("\"at\""))
    #expect(
      statements(version: 2).delete([0, 2])?.sql
        == "DELETE FROM \"people\" WHERE \"id\" = ?1 AND (\"at\" IS NULL OR ?2 IS NULL OR ?2 >= \"at\")"
    )
    #expect(statements().delete([1]) == nil)
  }
}
