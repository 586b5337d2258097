import Foundation
import Synchronization
import Testing

@testable import DragomanGraph

/// Saves that fail half-way, saves in open transactions, and who is told of what was saved.
@Suite struct SaveTests {
  private let stack: Stack

  init() throws { stack = try Stack(crm, at: .inMemory) }

  struct Stop: Error {}

  /// What followers of the store were told.
  private final class Told: Sendable {
    private let notices = Mutex<[ChangeNotice]>([])
    var all: [ChangeNotice] { notices.withLock { $0 } }
    func add(_ notice: ChangeNotice) { notices.withLock { $0.append(notice) } }
  }

  enum Fault: CaseIterable {
    /// The second row has a unique key that the first one has.
    case duplicate
    /// SQLite refuses the commit, since a link leads nowhere.
    case dangling
  }

  enum Way: CaseIterable {
    case save
    case saveMain
    case merged
  }

  @MainActor
  @Test(
    "A save that fails half-way leaves everything pending, and the next one works",
    arguments: Fault.allCases,
    Way.allCases
  )
  func halfWay(_ fault: Fault, _ way: Way) async throws {
    let (song, account) = try await stack.write { context in
      try context.insert("Company")["name"] = "Acme"
      let song = try context.insert("Song")
      song["title"] = "a"
      let account = try context.insert("Account")
      account[many: "notes"] = [try context.insert("Note")]
      return (song.objectID, account.objectID)
    }
    let change: @Sendable (ManagedObjectContext) throws -> Void = { context in
      try context.object(with: song)["title"] = "b"
      try context.insert("Song")["title"] = "c"
      switch fault {
      case .duplicate: try context.insert("Company")["name"] = "Acme"
      case .dangling: try context.delete(try context.object(with: account))
      }
    }
    let main = stack.main
    var pending: [String] = []
    switch way {
    case .save, .saveMain:
      try change(main)
      pending = main.overlay.changes.lines
      let code = await failure(of: way, main)
      #expect(code == (fault == .duplicate ? .duplicate : .denied))
    case .merged:
      try await stack.write(until: .merged, change)
      pending = main.overlay.changes.lines
      while stack.backgroundErrors.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
      #expect((stack.backgroundErrors.first as? ContextError)?.code != nil)
    }
    #expect(main.overlay.changes.lines == pending && pending.count == 3)
    #expect(try stack.sql("SELECT title FROM Song") == ["a"])
    switch fault {
    case .duplicate:
      for company in main.insertedObjects where company.entityName == "Company" {
        company["name"] = "Beta"
      }
    case .dangling:
      for note in try main.fetch(FetchRequest("Note")) { try main.delete(note) }
    }
    try main.save()
    #expect(!main.hasChanges)
    #expect(try stack.sql("SELECT title, _v FROM Song ORDER BY 1") == ["b|2", "c|1"])
  }

  @MainActor
  @Test(
    "Main may save again, or change more, while its changes are being stored",
    arguments: ["merged", "saveMain"],
    ["save", "change", "return", "rollback"]
  )
  func savesAtOnce(_ first: String, _ then: String) async throws {
    let main = stack.main
    let song = try main.insert("Song")
    let place = song.objectID
    song["title"] = "0"
    try main.save()
    for round in 1...30 {
      let before = try #require(try stack.sql("SELECT title FROM Song").first)
      let (early, late) = ("\(round) early", then == "return" ? before : "\(round) late")
      let storing: Task<Void, any Error>
      if first == "merged" {
        try await stack.write(until: .merged) { try $0.object(with: place)["title"] = .text(early) }
        storing = Task {}
      } else {
        song["title"] = .text(early)
        storing = Task { try await stack.saveMain() }
      }
      // Every third round the background gets a head start.
      if round % 3 == 0 { try await Task.sleep(for: .milliseconds(1)) }
      if then != "rollback" { song["title"] = .text(late) }
      if then == "save" { try main.save() }
      if then == "rollback" { main.rollback() }
      try await storing.value
      // What runs in the background still is stored, and told, before a write that comes later.
      try await stack.write { _ = try $0.insert("Note") }
      try await Task.sleep(for: .milliseconds(2))
      #expect(stack.backgroundErrors.isEmpty)
      let stored = try #require(try stack.sql("SELECT title FROM Song").first)
      switch then {
      case "save": #expect(stored == late && song["title"] == .text(late))
      case "change", "return":
        // What main changes after a merge is not stored with it.
        if first == "merged" { #expect(stored == early || stored == before) }
        #expect(song["title"] == .text(late))
        try main.save()
        #expect(try stack.sql("SELECT title FROM Song") == [late])
      default: #expect(song["title"] == .text(stored))
      }
      #expect(!main.hasChanges && stack.root.main.changes.isEmpty)
    }
  }

  @MainActor
  @Test(
    "Links that main changes while others of it are being stored are as main has them",
    arguments: ["merged", "saveMain"],
    [("skills", "Skill", "return"), ("skills", "Skill", "more"), ("skills", "Skill", "delete")]
      + [("playlist", "Song", "return"), ("playlist", "Song", "more")]
  )
  func linksAtOnce(_ first: String, _ link: (name: String, entity: String, then: String))
    async throws
  {
    let main = stack.main
    let owner = try main.insert("Person")
    owner["name"] = "owner"
    let place = owner.objectID
    try main.save()
    for round in 1...20 {
      var tasks: [Task<Void, any Error>] = []
      let target: ManagedObject
      if first == "merged" {
        let id = try await stack.write(until: .merged) { context in
          let target = try context.insert(link.entity)
          try context.object(with: place)[many: link.name] = [target]
          return target.objectID
        }
        target = try main.object(with: id)
      } else {
        target = try main.insert(link.entity)
        owner[many: link.name] = [target]
        tasks.append(Task { try await stack.saveMain() })
      }
      if round % 3 == 0 { try await Task.sleep(for: .milliseconds(1)) }
      var wanted: [ObjectID] = []
      switch link.then {
      case "return": owner[many: link.name] = []
      case "delete": try main.delete(target)
      default:
        let other = try main.insert(link.entity)
        owner[many: link.name] = [target, other]
        wanted = [target.objectID, other.objectID]
      }
      for _ in 0..<2 { tasks.append(Task { try await stack.saveMain() }) }
      for task in tasks { try await task.value }
      #expect(!main.hasChanges && stack.root.main.changes.isEmpty && stack.backgroundErrors.isEmpty)
      #expect(owner[many: link.name].map(\.objectID) == wanted, "\(round)")
      let links = try stack.sql("SELECT target FROM Person_\(link.name) ORDER BY 1")
      #expect(links == wanted.map { "\($0.primaryKey)" }, "\(round)")
      if link.then == "delete" { #expect(try stack.sql("SELECT _pk FROM \(link.entity)") == []) }
      owner[many: link.name] = []
      try main.save()
      #expect(try stack.sql("SELECT target FROM Person_\(link.name)") == [])
    }
  }

  @MainActor
  @Test("What main inserted may be changed by a child, referred to and deleted while it is stored")
  func insertedAndAway() async throws {
    let main = stack.main
    for round in 1...20 {
      let company = try main.insert("Company")
      company["name"] = .text("\(round)")
      let place = company.objectID
      let person = try main.insert("Person")
      person["name"] = "stored"
      try main.save()
      person["name"] = "changed"
      let saving = Task { try await stack.saveMain() }
      if round % 2 == 0 { try await Task.sleep(for: .milliseconds(1)) }
      let song = try main.insert("Song")
      let away = Task { try await stack.saveMain() }
      async let other: Void = stack.write { context in
        let employee = try context.insert("Person")
        employee[one: "company"] = try context.object(with: place)
        try context.object(with: place)["name"] = .text("\(round) child")
      }
      try main.delete(person)
      if round % 3 == 0 { try main.delete(song) }
      try await saving.value
      try await away.value
      try await other
      try main.save()
      await Task { @MainActor in }.value
      #expect(company["name"] == .text("\(round) child"))
      #expect(try stack.sql("SELECT name FROM Person WHERE company IS NULL") == [])
      try main.deleteAll(FetchRequest("Song"))
      try main.save()
      #expect(!main.hasChanges && stack.root.main.changes.isEmpty)
      #expect(try stack.sql("SELECT _pk FROM Song") == [])
    }
  }

  @MainActor
  @Test("What others change besides is no conflict of main with itself")
  func noConflict() async throws {
    let main = stack.main
    let person = try main.insert("Person")
    let place = person.objectID
    person["name"] = "0"
    try main.save()
    for round in 1...10 {
      person["name"] = .text("\(round) early")
      let first = Task { try await stack.saveMain() }
      if round % 2 == 0 { try await Task.sleep(for: .milliseconds(1)) }
      person["name"] = .text("\(round) late")
      async let other: Void = stack.write { try $0.object(with: place)["age"] = 5 }
      let second = Task { try await stack.saveMain() }
      try await first.value
      try await second.value
      try await other
      #expect(try stack.sql("SELECT name FROM Person") == ["\(round) late"])
    }
  }

  @MainActor private func failure(
    of way: Way,
    _ main: ManagedObjectContext
  ) async -> ContextError.Code? {
    do {
      if way == .save { try main.save() } else { try await stack.saveMain() }
      return nil
    } catch {
      return (error as? ContextError)?.code
    }
  }

  @MainActor @Test("A save in an open transaction is told after the commit, or never")
  func openTransaction() async throws {
    let main = stack.main
    let company = try main.insert("Company")
    company["name"] = "Acme"
    let acme = company.objectID
    let told = Told()
    let number = stack.root.followers.add(take: { told.add($0) }, end: { _ in })
    defer { stack.root.followers.remove(number) }
    let hire: @Sendable (ManagedObjectContext) throws -> ObjectID = { context in
      let person = try context.insert("Person")
      person[one: "company"] = try context.object(with: acme)
      try context.save()
      #expect(told.all.isEmpty)
      return person.objectID
    }
    await #expect(throws: Stop.self) {
      try await stack.writeInOneTransaction { context in
        _ = try hire(context)
        throw Stop()
      }
    }
    for _ in 0..<20 { await Task.yield() }
    #expect(company.isInserted && told.all.isEmpty)
    #expect(try stack.sql("SELECT count(*) FROM Company") == ["0"])
    let person = try await stack.writeInOneTransaction { try hire($0) }
    #expect(told.all == [ChangeNotice(inserted: [acme, person])])
    while company.isInserted { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try stack.sql("SELECT name FROM Company") == ["Acme"])
    try main.save()
    #expect(try stack.sql("SELECT name, _v FROM Company") == ["Acme|1"])
  }

  @MainActor @Test("Main is told once of what its own child has saved")
  func ownChild() async throws {
    let main = stack.main
    var notices = main.changes().makeAsyncIterator()
    let saved = try main.nestedSave { try $0.insert("Song") }
    #expect(await notices.next() == ChangeNotice(inserted: [saved]))
    // What was told twice would come with the next change.
    for _ in 0..<20 { await Task.yield() }
    let other = try main.insert("Song")
    #expect(await notices.next() == ChangeNotice(inserted: [other.objectID]))
  }

  @MainActor @Test("A context that has ended lets its unsaved objects, and the store, go")
  func release() async throws {
    weak var main: ManagedObjectContext?
    weak var root: RootContext?
    do {
      let stack = try Stack(crm, at: .inMemory)
      main = stack.main
      root = stack.root
      try stack.main.insert("Song")["title"] = "a"
      try stack.reset()
      #expect(try stack.main.count(FetchRequest("Song")) == 0)
    }
    try await wait { main == nil && root == nil }
    #expect(main == nil && root == nil)
  }

  @MainActor @Test("Children see main's unsaved changes of stored objects, however they look")
  func unsavedUpdates() async throws {
    let main = stack.main
    let song = try main.insert("Song")
    song["title"] = "a"
    let person = try main.insert("Person")
    person[many: "playlist"] = [song]
    let company = try main.insert("Company")
    company["name"] = "Acme"
    person[one: "company"] = company
    try main.save()
    song["title"] = "b"
    company["name"] = "Beta"
    let id = song.objectID
    try await stack.read { context in
      let wanted = FetchRequest("Song", sortKeys: [SortKey("title")])
      #expect(try context.dictionaries(wanted) == [["title": "b"]])
      let byPath = FetchRequest("Person", filter: try Filter(parsing: "company.name == 'Beta'"))
      #expect(try context.count(byPath) == 1)
      let shown = FetchRequest("Person", columns: ["company.name"])
      #expect(try context.dictionaries(shown) == [["company.name": "Beta"]])
    }
    try await stack.read { context in
      let held = try context.object(with: id)
      var plain = FetchRequest("Song")
      plain.includesPendingChanges = false
      #expect(try context.fetch(plain).map { $0["title"] } == ["b"])
      #expect(held["title"] == "b")
    }
  }

  @MainActor @Test("What was changed elsewhere is read again in batches")
  func batches() async throws {
    try await stack.write { context in
      for _ in 0..<1200 { _ = try context.insert("Song") }
    }
    let main = stack.main
    func sizes(_ objects: [ManagedObject]) -> [Int] {
      objects.map { if case .fault(let batch) = $0.content { batch?.keys.count ?? 1 } else { 0 } }
    }
    let objects = try main.fetch(FetchRequest("Song"))
    try await stack.write { context in
      for song in try context.fetch(FetchRequest("Song")) { song["title"] = "b" }
    }
    while objects.contains(where: { !$0.isFault }) { try await Task.sleep(for: .milliseconds(1)) }
    #expect(Set(sizes(objects)) == [500, 200])
    #expect(objects.allSatisfy { $0["title"] == "b" })
    let store = try stack.store
    try store.write { session in
      try session.begin()
      try session.database.execute(sql: "UPDATE Song SET title = 'c', _v = _v + 1")
      try session.commit()
    }
    stack.storeDidChange()
    while objects.contains(where: { !$0.isFault }) { try await Task.sleep(for: .milliseconds(1)) }
    #expect(Set(sizes(objects)) == [500, 200])
    #expect(objects.allSatisfy { $0["title"] == "c" })
  }

  @Test("A slice behind every row has no rows, with unsaved objects as without")
  func slice() async throws {
    try await stack.read { context in
      _ = try context.insert("Song")
      for request in [
        FetchRequest("Song", limit: 1, offset: .max), FetchRequest("Song", limit: .max, offset: 1),
      ] {
        #expect(try context.fetch(request).isEmpty)
      }
    }
  }

  @Test("A model that grew in a transaction is the old one when that is rolled back")
  func growth() throws {
    let store = try stack.store
    var grown = crm
    grown.entities.append(Entity(name: "Album", attributes: [Attribute(name: "title")]))
    try store.write { session in
      try session.begin()
      try session.grow(to: grown)
      #expect(session.layout.entity(named: "Album") != nil)
      session.rollbackIfOpen()
      #expect(session.layout.entity(named: "Album") == nil)
      try session.begin()
      try session.commit()
      #expect(session.committed.layout.entity(named: "Album") == nil)
    }
    #expect(store.layout.entity(named: "Album") == nil)
  }
}

extension SaveTests {
  @MainActor
  @Test("The message of a conflict shows no sensitive values")
  func secrets() async throws {
    let secret = Attribute(name: "ssn").with { $0.isSensitive = true }
    let stack = try Stack(Model(entities: [Entity(name: "P", attributes: [secret])]), at: .inMemory)
    let person = try stack.main.insert("P")
    person["ssn"] = "base-1"
    try stack.main.save()
    let id = person.objectID
    person["ssn"] = "mine-3"
    try await stack.write { try $0.object(with: id)["ssn"] = "other-2" }
    let error = #expect(throws: ContextError.self) { try stack.main.save() }
    #expect(error?.code == .conflict)
    #expect(error?.message.contains("read •••, here •••, in ") == true, "\(error?.message ?? "")")
    #expect(error?.conflicts.map(\.isSensitive) == [true])
    #expect(error?.conflicts.map(\.base) == ["base-1"])
  }
}

extension ManagedObjectContext {
  /// Stores an object by a child of this context, as saving a value does.
  fileprivate func nestedSave(
    _ body: (ManagedObjectContext) throws -> ManagedObject
  ) throws -> ObjectID {
    try inChild { try body($0).objectID }
  }
}

extension ChangeSet {
  /// The changes as lines that can be compared.
  fileprivate var lines: [String] {
    let rows = sorted.map { place, change in
      let values = change.values.sorted { $0.key < $1.key }
      return "\(place.table)/\(place.key) \(change.kind) \(change.version) \(values)"
    }
    let links = self.links.pairs.map { "\($0.key) \($0.value)" }
    return (rows + links).sorted()
  }
}
