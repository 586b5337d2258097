import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What hooks may do, and what becomes of it where their record is rejected.
@Suite struct HookTests {
  private let stack: Stack

  init() throws { stack = try Stack(MapperFixture.model, at: .inMemory) }

  private struct Refused: Error {}

  /// Registers a mapper of people with a hook.
  private func register(_ hook: @escaping PostImportHook) throws {
    try stack.mappers.register(
      Mapper(for: "Person", in: MapperFixture.model, uniqueKey: ["ticketNumber"]) {
        Map("ticket_number", to: "ticketNumber")
        Map("first_name", to: "firstName")
      }.with { $0.postImport = hook }
    )
  }

  private static let jane: ForeignValue = ["ticket_number": "A1", "first_name": "Jane"]
  private static let john: ForeignValue = ["ticket_number": "A2", "first_name": "John"]

  enum Saving: CaseIterable {
    case own
    case nested
  }

  @Test("A hook cannot save: what it would write could not be undone", arguments: Saving.allCases)
  func saving(_ saving: Saving) async throws {
    try register { _, person in
      guard person["firstName"] == "Jane" else { return }
      switch saving {
      case .own: try person.context.save()
      case .nested:
        try person.context.nested { child in
          try child.insert("Note")["text"] = "lost"
          try child.save()
        }
      }
    }
    let imported = try await stack.import([Self.jane, Self.john], into: "Person")
    #expect(imported.report.summary == "read 2, inserted 1, rejected 1")
    #expect(imported.report.issueSummary == ["record.hook 1"])
    try await stack.write { context in
      let records = try context.import([Self.jane, Self.john], into: "Person")
      #expect(records.report.summary == "read 2, unchanged 1, rejected 1")
      try context.save()
    }
    #expect(try sql(stack.store, "SELECT firstName FROM Person") == ["John"])
    #expect(try sql(stack.store, "SELECT count(*) FROM Note") == ["0"])
  }

  @Test("What a hook changed is undone with its record, whatever was changed before and by whom")
  func undoing() async throws {
    try await stack.write { context in
      let person = try context.insert("Person")
      person["ticketNumber"] = "A1"
      person["firstName"] = "Jane"
      try context.insert("Note")["text"] = "kept"
    }
    try register { _, person in
      let context = person.context
      // The record itself has changed nothing so far.
      let acme: ForeignRecord = ["id": 1, "name": "Acme"]
      person[one: "employer"] = try context.import(acme, into: "Company")
      person["lastName"] = "Doe"
      try context.nested { child in
        try child.insert("Note")["text"] = "lost"
        for note in try child.fetch(FetchRequest("Note")) where note["text"] == "kept" {
          note["stars"] = 5
        }
      }
      throw Refused()
    }
    let imported = try await stack.import([Self.jane], into: "Person")
    #expect(imported.report.summary == "read 1, rejected 1")
    #expect(try sql(stack.store, "SELECT lastName, employer, _v FROM Person") == ["null|null|1"])
    #expect(try sql(stack.store, "SELECT text, stars FROM Note") == ["kept|null"])
    #expect(try sql(stack.store, "SELECT count(*) FROM Company") == ["0"])
    try await stack.write { context in
      let note = try #require(try context.fetchOne(FetchRequest("Note")))
      let imported = try context.import([Self.jane], into: "Person")
      #expect(imported.report.summary == "read 1, rejected 1")
      #expect(note["stars"] == .null && !context.hasChanges)
    }
  }

  @Test("What a hook imports in a nested context is found by the records behind it")
  func nestedImport() async throws {
    try register { _, person in
      let id = try person.context.nested { child in
        let acme: ForeignRecord = ["id": 1, "name": "Acme"]
        return try child.import(acme, into: "Company").objectID
      }
      person[one: "employer"] = try person.context.object(with: id)
      let known = try person.context.import([["id": 1]], into: "Company")
      #expect(known.ids == [id])
    }
    let imported = try await stack.import([Self.jane, Self.john], into: "Person")
    #expect(imported.report.summary == "read 2, inserted 2")
    #expect(try sql(stack.store, "SELECT count(*) FROM Company") == ["1"])
  }

  @MainActor @Test("An error that ends the import undoes the record at hand and leaves no log")
  func ending() throws {
    let stack = stack
    try register { _, person in
      guard person["firstName"] == "John" else { return }
      try stack.close()
    }
    let main = stack.main
    let error = #expect(throws: ContextError.self) {
      try main.import([Self.jane, Self.john, ["ticket_number": "A3"]], into: "Person")
    }
    #expect(error?.code == .stackClosed)
    #expect(main.importing.recordCount == 0)
    #expect(main.insertedObjects.map { $0["firstName"] } == ["Jane", "John"])
  }

  @Test("What a property recorded before an import is thrown, and is no record's fault")
  func recorded() async throws {
    try await stack.write { context in
      let note = try context.insert("Note")
      note["text"] = "a"
      note["typo"] = 1
      let error = #expect(throws: ContextError.self) {
        try context.import([["text": "b"]], into: "Note")
      }
      #expect(error?.code == .unknownProperty)
      #expect(context.importing.recordCount == 0)
      #expect(context.insertedObjects.map { $0["text"] } == ["a"])
    }
  }

  @MainActor @Test("Observers are not told of objects that a rejected record made or deleted")
  func notices() async throws {
    let main = stack.main
    let old = try main.insert("Note")
    try main.save()
    let draft = try main.insert("Note")
    draft["text"] = "draft"
    try register { _, person in
      guard person["firstName"] == "Jane" else { return }
      for note in try person.context.fetch(FetchRequest("Note")) {
        try person.context.delete(note)
      }
      throw Refused()
    }
    var notices = main.changes().makeAsyncIterator()
    draft["text"] = "later"
    try main.import([Self.jane, Self.john], into: "Person")
    let john = try main.fetch(FetchRequest("Person")).map(\.objectID)
    let notice = await notices.next()
    #expect(notice?.deleted == [])
    #expect(notice?.inserted.isSuperset(of: john) == true)
    #expect(notice?.inserted.subtracting(john).isSubset(of: [draft.objectID]) == true)
    #expect(!old.isDeleted && !draft.isDeleted)
  }

  @Test("A hook that imports leaves alone what the import around it has looked up")
  func probes() async throws {
    try register { _, person in
      let acme: ForeignRecord = ["id": 1, "name": "Acme"]
      person[one: "employer"] = try person.context.import(acme, into: "Company")
      #expect(person.context.importing.probed.values.map(\.count).max() == 2)
    }
    for summary in ["read 2, inserted 2", "read 2, unchanged 2"] {
      let imported = try await stack.import([Self.jane, Self.john], into: "Person")
      #expect(imported.report.summary == summary)
    }
  }

  @Test("What a hook sets is checked, and rejects its record")
  func checked() async throws {
    try register { _, person in
      if person["firstName"] == "Jane" { person["kind"] = "c" } else { person["kind"] = "a" }
    }
    let imported = try await stack.import([Self.jane, Self.john], into: "Person")
    #expect(imported.report.summary == "read 2, inserted 1, rejected 1")
    #expect(imported.report.issueSummary == ["record.hook 1"])
    #expect(try sql(stack.store, "SELECT firstName, kind FROM Person") == ["John|a"])
  }

  enum Dropping: CaseIterable {
    case rollback
    case refresh
  }

  @Test(
    "A hook cannot drop what is unsaved: the records before it would go, too",
    arguments: Dropping.allCases
  )
  func dropping(_ dropping: Dropping) async throws {
    try register { _, person in
      guard person["firstName"] == "John" else { return }
      switch dropping {
      case .rollback: person.context.rollback()
      case .refresh:
        let jane = try person.context.fetchOne(
          FetchRequest("Person", filter: .where("firstName", .equalTo, "Jane"))
        )
        if let jane { person.context.refresh(jane) }
      }
    }
    try await stack.write { context in
      try context.insert("Person")["ticketNumber"] = "A1"
    }
    let imported = try await stack.import([Self.jane, Self.john], into: "Person")
    #expect(imported.report.summary == "read 2, updated 1, rejected 1")
    #expect(try sql(stack.store, "SELECT firstName FROM Person") == ["Jane"])
    let issue = imported.report.issues.first?.examples.first
    #expect(issue?.code == .recordHook)
    #expect(issue?.message.contains("save.importing: Unsaved changes cannot be dropped") == true)
  }

  @Test("A hook finds by key what is unsaved, whatever the records before it have changed")
  func finding() async throws {
    try register { record, person in
      let context = person.context
      func find(_ ticket: String, _ more: Filter = .constant(true)) throws -> ManagedObject? {
        let byKey = Filter.where("ticketNumber", .equalTo, .value(.string(ticket)))
        return try context.fetchOne(FetchRequest("Person", filter: .and([more, byKey]), limit: 2))
      }
      let ticket = record["ticket_number"]?.string ?? ""
      #expect(try find(ticket) === person)
      let name = UUID().uuidString
      person["lastName"] = .text(name)
      #expect(try find(ticket) === person)
      #expect(try find(ticket, .where("lastName", .equalTo, .value(.string(name)))) === person)
      #expect(try find(ticket, .where("lastName", .notEqualTo, .value(.string(name)))) == nil)
      #expect(try find("A9") == nil)
      guard person["firstName"] == "John", let jane = try find("A1") else { return }
      #expect(try find("A1", .where("firstName", .equalTo, "Jane")) === jane)
      #expect(try find("A1", .where("firstName", .equalTo, "John")) == nil)
      jane["ticketNumber"] = "A3"
      #expect(try find("A1") == nil)
      #expect(try find("A3") === jane)
      try context.delete(jane)
      #expect(try find("A3") == nil)
    }
    for _ in 0..<2 {
      let imported = try await stack.import([Self.jane, Self.john], into: "Person")
      #expect(imported.report.issues.isEmpty, "\(imported.report.issues)")
      #expect(try sql(stack.store, "SELECT firstName FROM Person") == ["John"])
    }
  }

  @Test("A hook may have read again what nobody has changed")
  func refreshing() async throws {
    try register { _, person in person.context.refreshAll() }
    let imported = try await stack.import([Self.jane, Self.john], into: "Person")
    #expect(imported.report.summary == "read 2, inserted 2")
    #expect(try sql(stack.store, "SELECT count(*) FROM Person") == ["2"])
  }

  @Test("A hook may drop what a context of its own has")
  func droppingOwn() async throws {
    try register { _, person in
      try person.context.nested { child in
        _ = try child.insert("Note")
        child.rollback()
      }
    }
    let imported = try await stack.import([Self.jane], into: "Person")
    #expect(imported.report.summary == "read 1, inserted 1")
    #expect(try sql(stack.store, "SELECT count(*) FROM Note") == ["0"])
  }

  @Test("An object that its hook deletes is counted as deleted")
  func deletingOwn() async throws {
    try register { _, person in
      if person["firstName"] == "Jane" { try person.context.delete(person) }
    }
    let imported = try await stack.import([Self.jane, Self.john], into: "Person")
    #expect(imported.report.summary == "read 2, inserted 1, deleted 1")
    #expect(imported.ids.count == 1)
    #expect(try sql(stack.store, "SELECT firstName FROM Person") == ["John"])
  }

  @Test(
    "A key that a hook takes from another object rejects its record",
    arguments: ["A1", "A2", "A3"]
  )
  func takingKeys(of ticket: String) async throws {
    try await stack.write { context in
      try context.insert("Person")["ticketNumber"] = "A1"
    }
    try register { _, person in
      if person["firstName"] == "John" { person["ticketNumber"] = .text(ticket) }
    }
    let bob: ForeignValue = ["ticket_number": "A4", "first_name": "Bob"]
    let jane: ForeignValue = ["ticket_number": "A3", "first_name": "Jane"]
    let imported = try await stack.import([jane, Self.john, bob], into: "Person")
    let isFree = ticket == "A2"
    #expect(
      imported.report.summary == (isFree ? "read 3, inserted 3" : "read 3, inserted 2, rejected 1")
    )
    #expect(imported.report.issueSummary == (isFree ? [] : ["key.duplicate 1"]))
  }

  @Test(
    "Hooks that import for ever reject a record, in nested contexts, too",
    arguments: [true, false]
  )
  func recursion(isNested: Bool) async throws {
    try register { record, person in
      let next = ["ticket_number": "A\(person.objectID.primaryKey)"] as ForeignRecord
      guard isNested else {
        try person.context.import(next, into: "Person")
        return
      }
      try person.context.nested { child in _ = try child.import(next, into: "Person") }
    }
    let imported = try await stack.import([["ticket_number": "A0"]], into: "Person")
    #expect(imported.report.summary == "read 1, rejected 1")
    let message = imported.report.issues.first?.examples.first?.message
    #expect(message?.contains("more than 100 levels deep") == true)
    #expect(try sql(stack.store, "SELECT count(*) FROM Person") == ["0"])
  }

  private struct Worded: LocalizedError {
    let errorDescription: String?
  }

  @Test(
    "An error of a hook is told in its words, with one full stop",
    arguments: ["not today", "not today."]
  )
  func words(_ words: String) async throws {
    try register { _, _ in throw Worded(errorDescription: words) }
    try await stack.write { context in
      let imported = try context.import([Self.jane], into: "Person")
      #expect(
        imported.report.issues.first?.examples.first?.message
          == "The hook of Person refused the record: not today."
      )
      let error = #expect(throws: ImportError.self) {
        try context.import(["ticket_number": "A1"] as ForeignRecord, into: "Person")
      }
      #expect(
        error?.message
          == "The record was rejected: [record.hook] The hook of Person refused the record: not today."
      )
    }
  }

  @Test("What a hook did wrong besides what it throws is no fault of the record behind it")
  func recordedBesides() async throws {
    try register { _, person in
      guard person["firstName"] == "Jane" else { return }
      person["typo"] = 1
      throw Refused()
    }
    let imported = try await stack.import([Self.jane, Self.john], into: "Person")
    #expect(imported.report.summary == "read 2, inserted 1, rejected 1")
  }
}
