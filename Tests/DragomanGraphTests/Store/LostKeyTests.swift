import Testing

@testable import DragomanGraph

/// Files in which somebody has dropped the index of a unique key.
@Suite("Unique keys whose indexes were dropped") struct LostKeyTests {
  private static let model = Model(entities: [
    Entity(
      name: "P",
      attributes: [Attribute(name: "id", type: .int32), Attribute(name: "mail", type: .string)],
      uniqueKeys: [["id"], ["mail"]]
    )
  ])
  private static let index =
    "SELECT \"unique\" FROM pragma_index_list('P') WHERE name = 'P_unique_mail'"
  private static let step = "Make the index of the unique key [mail] of P again: it is gone."

  /// A store without the index of `mail`.
  private func store(_ statements: String...) throws -> SQLiteStore {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: Self.model)
    try store.execute(["DROP INDEX P_unique_mail"] + statements)
    return store
  }

  @Test("Growing and migrating make the index again", arguments: [true, false])
  func remade(byMigration: Bool) throws {
    let store = try store("INSERT INTO P (_pk, _v, id, mail) VALUES (1, 1, 1, 'a')")
    #expect(try store.migration(to: Self.model).steps.map(\.sentence) == [Self.step])
    if byMigration {
      #expect(try store.migrate(to: Self.model).steps.map(\.sentence) == [Self.step])
    } else {
      try store.grow(to: Self.model)
    }
    #expect(try store.texts(Self.index) == ["1"])
    #expect(try store.migration(to: Self.model).isEmpty)
  }

  @Test("Objects that share the values of the key are told")
  func duplicates() throws {
    let store = try store("INSERT INTO P (_pk, _v, id, mail) VALUES (1, 1, 1, 'a'), (2, 1, 2, 'a')")
    let told = "[mail] cannot be a unique key of P: 2 objects share their values"
    let faults = try store.migration(to: Self.model).faults
    #expect(faults.count == 1 && faults.first?.hasPrefix(told) == true)
    for change in [{ try store.grow(to: Self.model) }, { _ = try store.migrate(to: Self.model) }] {
      let error = #expect(throws: StoreError.self) { try change() }
      #expect(error?.code == .modelConflict && error?.message.hasPrefix(told) == true)
    }
  }

  @Test(
    "An index of the name that is another one is told",
    arguments: ["INDEX P_unique_mail ON P (mail)", "UNIQUE INDEX P_unique_mail ON P (id, mail)"]
  )
  func others(index: String) throws {
    let store = try store("CREATE \(index)")
    let error = #expect(throws: StoreError.self) { try store.grow(to: Self.model) }
    #expect(error?.code == .modelConflict)
    #expect(
      error?.message.hasPrefix("The index P_unique_mail, which Dragoman did not make, has the name")
        == true
    )
  }
}
