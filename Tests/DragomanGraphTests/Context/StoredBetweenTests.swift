import Foundation
import Testing

@testable import DragomanGraph

/// Another thread stores what main has unsaved between two looks of main: behind what main reads of the store, and
/// before it looks at its changes.
@MainActor
@Suite struct StoredBetweenTests {
  private let store: BusyStore
  private let main: ManagedObjectContext

  init() throws {
    let opening = try SQLiteStore.open(crm, at: .inMemory, onConflict: .error)
    store = BusyStore(opening.store)
    main = ManagedObjectContext(.main, root: try RootContext(store, attachments: Attachments()))
  }

  /// Stores what main has unsaved, as another thread does, behind the next read of the store.
  private func storeBehindNextRead() {
    let root = main.root
    store.afterNextRead = { try Self.storeAway(root) }
  }

  private nonisolated static func storeAway(_ root: RootContext) throws -> Bool {
    root.main.setAway(root.main.changes)
    return try root.commitAway(.error, isNew: true)
  }

  /// Main learns of it at its next turn.
  private func learn() {
    store.takesNothing = true
    main.settling.takeNews()
  }

  private func count(_ table: String, where condition: String = "1") throws -> Int64 {
    try store.base.read { database in
      let statement = try RawStatement(
        "SELECT count(*) FROM \(table) WHERE \(condition)",
        in: database
      )
      var count: Int64 = -1
      try statement.forEachRow { count = $0.integer(0) }
      return count
    }
  }

  @Test(
    "An unlink finds the link that is stored meanwhile",
    arguments: [
      ("skills", "Skill"), ("playlist", "Song"), ("phones", "Phone"), ("friends", "Person"),
    ]
  )
  func unlinked(_ link: String, _ entity: String) throws {
    let owner = try main.insert("Person")
    let target = try main.insert(entity)
    if entity == "Phone" { target["number"] = "1" }
    try main.save()
    owner[many: link] = [target]
    // What is stored is read anew.
    main.refresh(owner, keepingChanges: true)
    storeBehindNextRead()
    owner[many: link] = []
    #expect(!store.takesNothing, "nothing was read")
    #expect(owner[many: link].isEmpty)
    learn()
    #expect(owner[many: link].isEmpty)
    try main.save()
    #expect(owner[many: link].isEmpty && !main.hasChanges)
    if entity == "Phone" {
      #expect(try count("Phone", where: "owner IS NOT NULL") == 0)
    } else {
      #expect(try count("Person_\(link)") == 0)
    }
  }

  @Test(
    "A child sees, and takes away, what main has linked and another thread stores meanwhile",
    arguments: [
      ("skills", "Skill"), ("playlist", "Song"), ("phones", "Phone"), ("friends", "Person"),
    ],
    [true, false]
  )
  func below(_ link: (name: String, entity: String), unlinks: Bool) throws {
    let owner = try main.insert("Person")
    let target = try main.insert(link.entity)
    if link.entity == "Phone" { target["number"] = "1" }
    try main.save()
    owner[many: link.name] = [target]
    let child = ManagedObjectContext(.background, root: main.root)
    defer { child.close() }
    let seen = try child.object(with: owner.objectID)
    storeBehindNextRead()
    if unlinks {
      seen[many: link.name] = []
    } else {
      #expect(seen[many: link.name].map(\.objectID) == [target.objectID])
    }
    #expect(!store.takesNothing, "nothing was read")
    learn()
    #expect(seen[many: link.name].count == (unlinks ? 0 : 1))
    try child.save()
    let table = link.entity == "Phone" ? "Phone" : "Person_\(link.name)"
    let condition = link.entity == "Phone" ? "owner IS NOT NULL" : "1"
    let rowCount: Int64 = unlinks ? 0 : link.name == "friends" ? 2 : 1
    #expect(try count(table, where: condition) == rowCount)
  }

  @Test("A deletion that is stored while a child reads is settled behind the read")
  func deletedWithinRead() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).db").path
    defer {
      for file in [path, path + "-wal", path + "-shm"] {
        try? FileManager.default.removeItem(atPath: file)
      }
    }
    // In a file others write while one reads.
    let opening = try SQLiteStore.open(crm, at: .file(path), onConflict: .error)
    let store = BusyStore(opening.store)
    let root = try RootContext(store, attachments: Attachments())
    let main = ManagedObjectContext(.main, root: root)
    let songs = try (0..<3).map { _ in try main.insert("Song") }
    try main.save()
    try main.delete(songs[0])
    let child = ManagedObjectContext(.background, root: root)
    defer { child.close() }
    store.inNextRead = { _ = try Self.storeAway(root) }
    let seen = try child.fetch(FetchRequest("Song"))
    #expect(store.inNextRead == nil && child.recordedError == nil)
    seen.last?["title"] = "new"
    try child.save()
    #expect(try child.existingObject(with: songs[0].objectID) == nil)
    #expect(child.isDeleted(songs[0].place))
    main.settling.takeNews()
    #expect(songs[0].isDeleted && songs[2]["title"] == "new")
  }

  @Test("A value that is taken back while it is stored is taken back")
  func cleared() throws {
    let song = try main.insert("Song")
    try main.save()
    song["title"] = "new"
    main.refresh(song, keepingChanges: true)
    storeBehindNextRead()
    song["title"] = .null
    #expect(song["title"] == .null)
    learn()
    #expect(song["title"] == .null)
    try main.save()
    #expect(try count("Song", where: "title IS NULL") == 1)
  }

  @Test("A filter through relationships finds what is stored meanwhile")
  func fetched() throws {
    let company = try main.insert("Company")
    company["name"] = "Acme"
    try main.save()
    let person = try main.insert("Person")
    person[one: "company"] = company
    let filter = try Filter(parsing: "company.name == 'Acme'")
    storeBehindNextRead()
    #expect(
      try main.fetch(FetchRequest("Person", filter: filter)).map(\.objectID) == [person.objectID]
    )
    learn()
  }

  @Test(
    "Whatever main does while its changes are stored, the store has it in the end",
    arguments: 0..<40
  )
  func random(seed: Int) throws {
    var random = ContextPropertyTests.SeededNumbers(seed: UInt64(seed))
    let links = [
      ("skills", "Skill"), ("playlist", "Song"), ("friends", "Person"), ("phones", "Phone"),
    ]
    let owners = try (0..<3).map { _ in try main.insert("Person") }
    var targets: [String: [ManagedObject]] = ["Person": owners]
    for (_, entity) in links where entity != "Person" {
      targets[entity] = try (0..<3).map { number in
        let target = try main.insert(entity)
        if entity == "Phone" { target["number"] = .text("\(number)") }
        return target
      }
    }
    try main.save()
    var lists: [[String: [ObjectID]]] = owners.map { _ in [:] }
    var names: [StoredValue] = owners.map { _ in .null }
    var told: [String] = []
    for step in 0..<60 {
      let index = Int.random(in: 0..<3, using: &random)
      let owner = owners[index]
      let (link, entity) = links[Int.random(in: 0..<4, using: &random)]
      let target = targets[entity]?[Int.random(in: 0..<3, using: &random)] ?? owner
      if Int.random(in: 0..<3, using: &random) > 0 { storeBehindNextRead() }
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        told.append("\(index).name = \(step)")
        names[index] = .text("\(step)")
        owner["name"] = names[index]
      case 1:
        told.append("\(index).name = null")
        names[index] = .null
        owner["name"] = .null
      case 2:
        told.append("refresh \(index)")
        main.refresh(owner, keepingChanges: true)
      case 3:
        told.append("\(index).\(link) = []")
        for id in lists[index][link] ?? [] { unlink(id, from: owner, link, owners, &lists) }
        owner[many: link] = []
      default:
        told.append("\(index).\(link) += \(target.objectID)")
        let known = owner[many: link]
        guard !known.contains(where: { $0 === target }) else { break }
        owner[many: link] = known + [target]
        if link == "phones" {
          for other in owners { unlink(target.objectID, from: other, link, owners, &lists) }
        }
        lists[index][link, default: []].append(target.objectID)
        if link == "friends", target !== owner,
          let other = owners.firstIndex(where: { $0 === target })
        {
          lists[other][link, default: []].append(owner.objectID)
        }
      }
      for (index, owner) in owners.enumerated() {
        for (link, _) in links {
          let (has, wanted) = (owner[many: link].map(\.objectID), lists[index][link] ?? [])
          let isOrdered = link == "playlist" || link == "phones"
          let isSame = isOrdered ? has == wanted : Set(has) == Set(wanted)
          try #require(isSame, "\(index).\(link): \(has), not \(wanted), after \(told)")
        }
        try #require(owner["name"] == names[index], "\(index).name after \(told)")
      }
      if Int.random(in: 0..<2, using: &random) == 0 { learn() }
      if Int.random(in: 0..<12, using: &random) == 0 { try main.save() }
    }
    learn()
    store.afterNextRead = nil
    try main.save()
    #expect(!main.hasChanges)
    main.refreshAll()
    for (index, owner) in owners.enumerated() {
      #expect(owner["name"] == names[index], "\(told)")
      for (link, _) in links {
        #expect(Set(owner[many: link].map(\.objectID)) == Set(lists[index][link] ?? []), "\(told)")
      }
    }
  }

  private func unlink(
    _ id: ObjectID,
    from owner: ManagedObject,
    _ link: String,
    _ owners: [ManagedObject],
    _ lists: inout [[String: [ObjectID]]]
  ) {
    for (index, other) in owners.enumerated() {
      if other === owner { lists[index][link]?.removeAll { $0 == id } }
      if link == "friends", other.objectID == id {
        lists[index][link]?.removeAll { $0 == owner.objectID }
      }
    }
  }
}
