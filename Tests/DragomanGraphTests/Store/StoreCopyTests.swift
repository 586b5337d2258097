import Foundation
import GRDB
import Testing

@testable import DragomanGraph

/// Copies from file to file: whole, by entities, and what is refused.
@Suite final class StoreCopyTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  /// A company with people and their phones, in a file.
  private func source() throws -> String {
    let stack = try Stack(crm, at: .file(path("source.db")))
    let context = ManagedObjectContext(.background, root: stack.root)
    let company = try context.insert("Company")
    company["name"] = "Acme"
    for number in 1...3 {
      let person = try context.insert("Person")
      person["name"] = .text("Zoe\u{301}\u{0}\(number)")
      person["salary"] = "12.50"
      person[one: "company"] = company
      let phone = try context.insert("Phone")
      phone["number"] = .text("\(number)")
      person[many: "phones"] = [phone]
      let song = try context.insert("Song")
      person[many: "playlist"] = [song, song]
    }
    try context.save()
    // Keys that were used are not used again.
    try context.delete(try context.fetch(FetchRequest("Song"))[2])
    try context.save()
    context.close()
    try stack.close()
    return path("source.db")
  }

  private func rows(_ file: String, _ sql: String) throws -> [Row] {
    try DatabaseQueue(path: file).read { try Row.fetchAll($0, sql: sql) }
  }

  @Test("A copy has every row, the history, and the next keys, and can be opened as its source")
  func whole() throws {
    let source = try source()
    var told: [String] = []
    let copy = try CopyPlace.file(source).copy(to: .file(path("copy.db"))) { table, _ in
      told.append(table)
    }
    #expect(copy.objectCount == 1 + 3 + 3 + 2)
    #expect(copy.leftBehind == [] && told.contains("Person_playlist"))
    let tables = try rows(source, "SELECT name FROM sqlite_master WHERE type = 'table'").map {
      $0["name"] as String
    }
    for table in tables where table != "_dragoman_undo" {
      let sql = "SELECT * FROM \"\(table)\" ORDER BY 1, 2"
      #expect(try rows(path("copy.db"), sql) == rows(source, sql), "\(table)")
    }
    let indexes = "SELECT sql FROM sqlite_master WHERE type = 'index' ORDER BY name"
    #expect(try rows(path("copy.db"), indexes) == rows(source, indexes))
    let stack = try Stack(crm, at: .file(path("copy.db")))
    let context = ManagedObjectContext(.background, root: stack.root)
    defer { context.close() }
    // The song that was deleted had the last key.
    #expect(try context.insert("Song").objectID.primaryKey > 3)
    #expect(try rows(path("copy.db"), "PRAGMA foreign_key_check").isEmpty)
  }

  @Test("Two copies of the same have the same digests, and one changed byte has another one")
  func digests() throws {
    let source = try source()
    let first = try CopyPlace.file(source).copy(to: .file(path("1.db")))
    #expect(try CopyPlace.file(path("1.db")).copy(to: .file(path("2.db"))).tables == first.tables)
    try DatabaseQueue(path: path("1.db")).write {
      try $0.execute(sql: "UPDATE Phone SET number = '1 ' WHERE number = '1'")
    }
    let third = try CopyPlace.file(path("1.db")).copy(to: .file(path("3.db")))
    let others = zip(first.tables, third.tables).filter { $0.digest != $1.digest }
    #expect(others.map(\.0.name) == ["Phone"])
  }

  @Test(
    "Entities are copied with their families and links; what leads elsewhere stays behind, and is told"
  )
  func entities() throws {
    let copy = try CopyPlace.file(try source())
      .copy(to: .file(path("part.db")), entities: ["Person", "Phone"])
    #expect(copy.tables.map(\.name) == ["Person", "Phone", "Person_friends"])
    #expect(
      copy.leftBehind.contains("Person.company") && copy.leftBehind.contains("Person.playlist")
    )
    #expect(!copy.leftBehind.contains("Person.phones"))
    let store = try SQLiteStore(at: .file(path("part.db")))
    #expect(store.model.entities.map(\.name) == ["Person", "Phone"])
    #expect(try rows(path("part.db"), "SELECT count(owner) AS n FROM Phone")[0]["n"] == 3)
    try store.close()
    let books = #expect(throws: StoreError.self) {
      try CopyPlace.file(path("source.db")).copy(to: .file(path("b.db")), entities: ["Book"])
    }
    #expect(books?.code == .badRequest && books?.help == "copy Document")
    let documents = try CopyPlace.file(path("source.db"))
      .copy(to: .file(path("b.db")), entities: ["Document"])
    #expect(documents.tables.map(\.name) == ["Document"])
  }

  @Test("An entity that cannot be without another one is not copied alone")
  func dependent() throws {
    let model = Model(
      entities: [
        Entity(name: "Order", attributes: [Attribute(name: "number")], uniqueKeys: [["number"]]),
        Entity(
          name: "Line",
          attributes: [Attribute(name: "place", type: .int32)],
          relationships: [.toOne("order", "Order")],
          uniqueKeys: [["order", "place"]]
        ),
      ]
    )
    let store = try SQLiteStore(at: .file(path("orders.db")))
    try store.grow(to: model)
    try store.close()
    let error = #expect(throws: StoreError.self) {
      try CopyPlace.file(path("orders.db")).copy(to: .file(path("l.db")), entities: ["Line"])
    }
    #expect(error?.code == .badRequest && error?.message.contains("Line.order") == true)
    #expect(error?.help == "copy Order, too")
    #expect(!FileManager.default.fileExists(atPath: path("l.db")))
    let unknown = #expect(throws: StoreError.self) {
      try CopyPlace.file(path("orders.db")).copy(to: .file(path("l.db")), entities: ["Lin"])
    }
    #expect(unknown?.code == .badRequest && unknown?.help == "did you mean \"Line\"?")
  }

  @Test("A file that is there is not touched, nor is one made of what is not there or not whole")
  func refused() throws {
    let source = try source()
    try Data("mine".utf8).write(to: folder.appending(path: "there.db"))
    for target in ["there.db", "source.db"] {
      let before = try Data(contentsOf: folder.appending(path: target))
      let error = #expect(throws: StoreError.self) {
        try CopyPlace.file(source).copy(to: .file(path(target)))
      }
      #expect(error?.code == .output)
      #expect(try Data(contentsOf: folder.appending(path: target)) == before)
    }
    let missing = #expect(throws: StoreError.self) {
      try CopyPlace.file(path("none.db")).copy(to: .file(path("new.db")))
    }
    #expect(missing?.code == .missing)
    try SQLiteStore(at: .file(path("empty.db"))).close()
    #expect(throws: StoreError.self) {
      try CopyPlace.file(path("empty.db")).copy(to: .file(path("new.db")))
    }
    try DatabaseQueue(path: source).write {
      try $0.execute(sql: "UPDATE Phone SET number = CAST(x'41ff42' AS TEXT) WHERE _pk = 2")
    }
    let text = #expect(throws: StoreError.self) {
      try CopyPlace.file(source).copy(to: .file(path("new.db")))
    }
    #expect(
      text?.code == .damaged && text?.message.contains("Phone.number of the row _pk 2") == true
    )
    try DatabaseQueue(path: source).write {
      try $0.execute(
        sql: "CREATE TABLE _dragoman_run (id INTEGER PRIMARY KEY, state TEXT);"
          + " INSERT INTO _dragoman_run VALUES (1, '{}')"
      )
    }
    let busy = #expect(throws: StoreError.self) {
      try CopyPlace.file(source).copy(to: .file(path("new.db")))
    }
    #expect(busy?.code == .busy && busy?.message.contains("in batches") == true)
    try DatabaseQueue(path: source).write { try $0.execute(sql: "DROP TABLE _dragoman_run") }
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try CopyPlace.file(source).copy(to: .file(path("new.db"))) { _, _ in throw Stop() }
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(left.filter { $0.hasPrefix("new.db") } == [])
  }
}
