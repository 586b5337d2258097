import Dragoman
import DragomanGraph
import Foundation
import Testing

/// Runs the code of docs/objects.md, from importing to the end.
@MainActor @Suite struct ObjectsImportTests {
  private let stack: Stack
  /// What the code prints.
  private final class Printed {
    var lines: [String] = []
  }
  private let printed = Printed()

  init() throws { stack = try Stack(staff, at: .inMemory) }

  private func print(_ line: Any) { printed.lines.append("\(line)") }

  @Test("A mapper is registered, an array imported, objects exported")
  func mapper() async throws {
    // docs: begin mapper
    let mapper = try Mapper(for: "Person", in: staff, ignoreNullValueOverwrites: true) {
      Map("ticket_number", to: "ticketNumber")
      Map("first_name", to: "firstName")
      Map("name.last", to: "lastName").or("last_name")  // the first path that is there
      Map("salary", to: "salary", numbers: NumberFormat(locale: "en_US"))
      Map("dob", to: "dateOfBirth", dates: ["dd.MM.yyyy"])
    }
    try stack.mappers.register(mapper)
    // docs: end

    // docs: begin import
    let records: [ForeignValue] = [
      ["ticket_number": "A14", "first_name": "Rohan", "last_name": "Panchal", "salary": "118,000"],
      ["ticket_number": "A15", "name": ["last": "Smith"], "dob": "10.12.1985"],
      ["ticket_number": "A16", "last_name": nil],
    ]
    let imported = try await stack.import(records, into: "Person")
    print("\(imported.ids.count) objects")
    for group in imported.report.issues {
      for issue in group.examples { print("\(issue.code.rawValue): \(issue.message)") }
    }

    // The same for callers on the main actor, who get main's objects.
    let people = try await stack.importObjects(records, into: "Person")
    print("\(people.count) people")
    // docs: end
    try checkOutput(3)
    #expect(imported.report.counts.inserted == 2 && imported.report.counts.rejected == 1)

    // docs: begin context-import
    try await stack.write { context in
      let smith: ForeignRecord = ["ticket_number": "A15", "salary": "101,000"]
      let person = try context.import(smith, into: "Person")  // unsaved until the context is saved
      try context.apply(["first_name": "Zoë"], to: person)
    }
    // docs: end

    // docs: begin export
    let main = stack.main
    let everybody = try main.fetch(FetchRequest("Person", sortKeys: [SortKey("lastName")]))
    for record in try main.export(everybody) { print(record) }
    let style = ExportStyle(shape: .flat, nulls: .write)
    let flat = try main.export(everybody[1], ExportRequest(style: style))
    print(flat)
    // docs: end
    try checkOutput(4)
  }

  // docs: begin mappable
  enum Person: Mappable {
    static var maps: [MapperPart] {
      Map("ticket_number", to: "ticketNumber")
      Map("last_name", to: "lastName")
    }
    static var postImport: PostImportHook? {
      { record, person in
        guard let employer = record["employer"]?.string else { return }
        person[one: "company"] = try person.context.import(
          ["name": .string(employer)],
          into: "Company"
        )
      }
    }
    static var postExport: PostExportHook? {
      { person, record in
        guard case .text(let employer)? = person[one: "company"]?["name"] else { return }
        record["employer"] = .string(employer)
      }
    }
  }
  // docs: end

  @Test("A type that declares its mapper, with hooks; others have the default mapper")
  func mappable() async throws {
    // docs: begin register
    try stack.mappers.register(Person.self)
    try await stack.import(
      [["ticket_number": "A14", "last_name": "Panchal", "employer": "Acme"]],
      into: "Person"
    )
    // Nothing is registered for Company: foreign names are the attributes' names.
    try await stack.import([["name": "Acme", "city": "Bergen"]], into: "Company")
    // docs: end
    let person = try #require(try stack.main.fetchOne(FetchRequest("Person")))
    #expect(person[one: "company"]?["city"] == "Bergen")
    #expect(
      try stack.main.export(person)
        == ["ticket_number": "A14", "last_name": "Panchal", "employer": "Acme"]
    )
  }

  @Test("Notices of changes")
  func notices() async throws {
    let stack = stack
    // docs: begin notices
    let changes = stack.changes()  // from now on
    let id = try await stack.write { context in
      let person = try context.insert("Person")
      person["lastName"] = "Panchal"
      return person.objectID
    }
    try await stack.write { try $0.object(with: id)["firstName"] = "Rohan" }
    for await notice in changes {
      print(
        "\(notice.inserted.count) inserted, \(notice.updated.values.map { $0.sorted() }) updated"
      )
      if !notice.updated.isEmpty { break }
    }
    // docs: end
    try checkOutput(5)
  }

  @Test("A file that contradicts the model is migrated when it is opened")
  func migration() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "staff.db").path
    try Stack(staff, at: .file(path)).close()
    // docs: begin migration
    var next = staff
    next.entities[1].attributes[2] = Attribute(
      name: "surname",
      isRequired: true,
      isIndexed: true
    ).with { $0.renamedFrom = "lastName" }
    let stack = try Stack(next, at: .file(path), onConflict: .migrate)
    if let migration = stack.migration { print(migration) }
    if let recreation = stack.recreation { print(recreation) }  // only with onConflict: .recreate
    // docs: end
    try checkOutput(6)
    try stack.close()
  }

  @Test("What Vokoder's README shows")
  func vokoder() async throws {
    let array: [[String: Any]] = [
      ["ticketNumber": "A14", "firstName": "Rohan", "lastName": "Smith"],
      ["ticketNumber": "A15", "firstName": "Ada", "lastName": "Smith"],
    ]
    // vokoder: begin
    let ids = try await stack.import(ForeignValue.records(array), into: "Person").ids
    let people = try await stack.importObjects(ForeignValue.records(array), into: "Person")
    let main = stack.main
    let smiths = Filter.where("lastName", .equalTo, "Smith")
    let all = try main.fetch(FetchRequest("Person", filter: smiths))
    let sorted = try main.fetch(
      FetchRequest("Person", filter: smiths, sortKeys: [SortKey("firstName")])
    )
    let person = try main.insert("Person")
    person["lastName"] = "Panchal"
    try main.save()
    try await stack.saveMain()
    try main.delete(person)
    try main.save()
    let records = try main.export(all)
    try stack.reset()
    // vokoder: end
    #expect(people.map(\.objectID) == ids && all.count == 2 && records.count == 2)
    #expect(sorted.map { $0["firstName"] } == ["Ada", "Rohan"])
  }

  @Test("Every Swift column of the table for Vokoder's users is code that is run here")
  func table() throws {
    let folder = "Tests/DragomanTests/Documentation/"
    let code = try ["ObjectsContextTests.swift", "ObjectsImportTests.swift"]
      .map { try DocumentFile(path: folder + $0).lines().joined() }
      .joined().replacing(" ", with: "")
    let rows = try DocumentFile(path: "docs/objects.md").lines().filter {
      $0.hasPrefix("| ") && $0.contains("`VOK") || $0.contains("vok_")
    }
    #expect(rows.count > 10)
    for row in rows {
      let column = row.split(separator: " | ").last.map(String.init) ?? ""
      for span in column.matches(of: /`([^`]+)`/) {
        let text = String(span.output.1)
        let isRun = code.contains(text.replacing(" ", with: ""))
        #expect(isRun, "\(text) is in no test")
      }
    }
  }

  /// Holds what was printed to a block of the document.
  private func checkOutput(_ block: Int) throws {
    let blocks = try DocumentFile(path: "docs/objects.md").blocks(in: "text")
    let printed = printed.lines.joined(separator: "\n")
    let written = try #require(blocks.indices.contains(block) ? blocks[block] : nil)
    #expect(printed == written)
    self.printed.lines = []
  }
}
