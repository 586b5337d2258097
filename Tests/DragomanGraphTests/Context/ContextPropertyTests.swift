import Dragoman
import DragomanPostgreSQL
import Foundation
import TestServer
import Testing

@testable import DragomanGraph

/// Random work in contexts against a plain graph in memory, and against the file as another
/// connection reads it.
///
/// `DRAGOMAN_STEPS` asks for more steps than the default, `DRAGOMAN_SEED` for one case again, or for
/// those from one to another (`1-200`). What fails is told with its seed and the fewest steps that
/// still fail, as far as `DRAGOMAN_SECONDS` (30) find them.
@Suite("Contexts, random work")
struct ContextPropertyTests {
  /// One step; its numbers are taken modulo what is there, so that any steps make a case.
  struct Step: CustomStringConvertible {
    enum Kind: Int, CaseIterable {
      case insert, change, link, unlink, list, move, delete
      case save, saveAway, rollback, undo, nested, dropped, write, merge, failedMerge, other
      case late, process, take, importAway, conflict
    }

    let kind: Kind
    let numbers: [Int]

    var description: String { "\(kind)\(numbers.prefix(4))" }

    init(kind: Kind, numbers: [Int]) {
      self.kind = kind
      self.numbers = numbers
    }

    init(_ random: inout SeededNumbers, isInner: Bool = false) {
      let roll = Int.random(in: 0..<100, using: &random)
      let inner: [Kind] = [
        .insert, .insert, .change, .link, .link, .link, .unlink, .list, .move, .take,
      ]
      let outer: [Kind] = [
        .save, .save, .saveAway, .rollback, .undo, .nested, .dropped, .write, .write, .merge,
        .failedMerge, .other, .late, .late, .process, .importAway, .importAway,
        .conflict,
      ]
      if roll < 6 {
        kind = .delete
      } else if roll < 75 || isInner {
        kind = inner[Int.random(in: inner.indices, using: &random)]
      } else {
        kind = outer[Int.random(in: outer.indices, using: &random)]
      }
      numbers = (0..<12).map { _ in Int.random(in: 0..<10_000, using: &random) }
    }

    /// The steps that are done within this one.
    var inner: [Step] {
      var random = SeededNumbers(seed: UInt64(numbers[0] * 10_000 + numbers[1]))
      return (0..<1 + numbers[2] % 4).map { _ in Step(&random, isInner: true) }
    }
  }

  struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  private static func setting(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap(Int.init)
  }
  private static var count: Int { setting("DRAGOMAN_STEPS") ?? 100 }
  private static var seeds: [Int] {
    let asked = ProcessInfo.processInfo.environment["DRAGOMAN_SEED"] ?? "0-9"
    let ends = asked.split(separator: "-").compactMap { Int($0) }
    guard let first = ends.first, let last = ends.last, first <= last else { return [] }
    return Array(first...last)
  }
  private static let rules = Relationship.DeleteRule.allCases

  @MainActor
  @Test(
    "Whatever is done in contexts, they and the file say what a plain graph says",
    arguments: seeds
  )
  func random(seed: Int) async throws { try await search(seed, count: Self.count, nil) }

  @MainActor
  @Test(
    "The same over a server",
    .enabled(if: TestServer.isThere),
    arguments: seeds.prefix(setting("DRAGOMAN_SEED") == nil ? 6 : .max)
  )
  func onServer(seed: Int) async throws {
    try await search(seed, count: Self.setting("DRAGOMAN_STEPS") ?? 60, TestServer.shared)
  }

  @MainActor
  private func search(_ seed: Int, count: Int, _ server: TestServer?) async throws {
    var random = SeededNumbers(seed: UInt64(seed))
    let rule = Self.rules[seed % Self.rules.count]
    let steps = (0..<count).map { _ in Step(&random) }
    guard var fault = try await run(steps, rule, server) else { return }
    var shortest = Array(steps.prefix(fault.step + 1))
    var size = shortest.count / 2
    let end = ContinuousClock.now + .seconds(Self.setting("DRAGOMAN_SECONDS") ?? 30)
    while size > 0, ContinuousClock.now < end {
      var start = 0
      while start < shortest.count, ContinuousClock.now < end {
        var fewer = shortest
        fewer.removeSubrange(start..<min(start + size, fewer.count))
        if let again = try await run(fewer, rule, server) {
          fault = again
          shortest = Array(fewer.prefix(again.step + 1))
        } else {
          start += size
        }
      }
      size /= 2
    }
    Issue.record(
      "DRAGOMAN_SEED=\(seed) \(rule): \(fault.message); steps:\n\(fault.told.joined(separator: "\n"))"
    )
  }

  private struct Fault: Error {
    let step: Int
    let message: String
    let told: [String]
  }

  /// What is said of a run, and what it did.
  struct Told: Error, CustomStringConvertible {
    let description: String
  }

  @MainActor
  private func run(
    _ steps: [Step],
    _ rule: Relationship.DeleteRule,
    _ server: TestServer?
  ) async throws -> Fault? {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let place =
      try server.map { Work.Place.server($0, url: try $0.schema()) }
      ?? .file(folder.appending(path: "net.db").path)
    let work = try Work(place, rule)
    defer { work.close() }
    for (index, step) in steps.enumerated() {
      do {
        try await work.take(step)
        if let told = try work.main.difference(from: work.held) { throw Told(description: told) }
        if let error = work.stack.main.recordedError { throw Told(description: "\(error)") }
        if let told = try work.main.difference(from: work.stack.main) {
          throw Told(description: told)
        }
        try work.hold()
      } catch {
        return Fault(step: index, message: "\(error)", told: work.told)
      }
    }
    return nil
  }

  /// Contexts and what they should say.
  @MainActor
  final class Work {
    let stack: Stack
    let other: Stack
    let place: Place
    var main: PlainGraph
    var stored: PlainGraph
    var told: [String] = []
    /// Main's objects, held from one step to the next.
    var held: [ManagedObject] = []
    /// What was merged is being stored: nobody knows how far.
    var isStoring = false
    /// How often something was imported beside what main has unsaved.
    var importCount: Int64 = 0

    init(_ place: Place, _ rule: Relationship.DeleteRule) throws {
      self.place = place
      switch place {
      case .file(let path):
        stack = try Stack(everyLink(rule), at: .file(path))
        other = try Stack(everyLink(rule), at: .file(path))
      case .server(_, let url):
        stack = try Stack(everyLink(rule), at: .postgreSQL(url))
        other = try Stack(everyLink(rule), at: .postgreSQL(url))
      }
      main = PlainGraph(stack.root.layout)
      stored = main
      for stack in [stack, other] {
        for entity in ["A", "B", "C", "Team"] {
          try stack.mappers.register(ContextPropertyTests.mapper(entity, stack.model))
        }
      }
    }

    func close() {
      try? other.close()
      try? stack.close()
    }

    func take(_ step: Step) async throws {
      told.append("\(step)")
      switch step.kind {
      case .save: try await save(isAway: false, [])
      case .saveAway: try await save(isAway: true, step.inner)
      case .rollback:
        if isStoring { try await save(isAway: false, []) }
        stack.main.rollback()
        main = stored
      case .undo:
        let record = stack.main.records.beginRecord()
        var plain = main
        for inner in step.inner {
          told.append(try Self.edit(inner, stack.main, &plain, stored))
        }
        stack.main.records.undoRecord(record)
      case .nested, .dropped:
        var plain = main
        do {
          plain = try stack.main.nested { [plain, stored] child in
            var plain = plain
            for inner in step.inner { _ = try Self.edit(inner, child, &plain, stored) }
            if let fault = try plain.difference(from: child) { throw Told(description: fault) }
            if step.kind == .dropped { throw CancellationError() }
            return plain
          }
          main = plain
        } catch is CancellationError {
        } catch let error as ContextError where error.code == .invalid || error.code == .denied {
          guard plain.verdict(stored: stored) == .fine else { return }
          try expectFailure(step, error)
        }
      case .write: try await write(step, stack)
      case .other: try await write(step, other)
      case .merge, .failedMerge: try await merge(step)
      case .late: try await late(step)
      case .process: try await process(step)
      case .importAway: try await importAway(step)
      case .conflict: try await conflict(step)
      default: told.append(try Self.edit(step, stack.main, &main, stored))
      }
    }

    /// A child that refuses its changes has to have a reason.
    private func expectFailure(_ step: Step, _ error: ContextError) throws {
      var plain = main
      let context = ManagedObjectContext(.background, root: stack.root)
      defer { context.close() }
      for inner in step.inner { _ = try Self.edit(inner, context, &plain, stored) }
      if plain.verdict(stored: stored) == .fine { throw error }
    }

    func save(isAway: Bool, _ later: [Step]) async throws {
      let verdict = main.verdict(stored: stored)
      let before = main
      do {
        if isAway {
          let stack = stack
          let save = Task { @MainActor in try await stack.saveMain() }
          // It has taken what it writes once it waits for another thread.
          await Task.yield()
          for step in later where verdict == .fine {
            told.append("meanwhile " + (try Self.edit(step, stack.main, &main, before.saved())))
          }
          try await save.value
        } else {
          try stack.main.save()
        }
        guard verdict == .fine else { throw Told(description: "saved, not \(verdict)") }
        stored = before.saved()
        if later.isEmpty || !isAway { main = stored } else { main = merge(main, before) }
        isStoring = false
        try checkFile()
      } catch let error as ContextError {
        guard verdict == .fails(error.code) else { throw error }
        if let fault = try main.difference(from: stack.main) {
          throw Told(description: "after \(error.code): \(fault)")
        }
        stack.main.rollback()
        if isStoring { throw Told(description: "what was merged cannot be stored: \(error)") }
        main = stored
      }
    }

    /// What was deleted before the save is gone by now.
    private func merge(_ now: PlainGraph, _ before: PlainGraph) -> PlainGraph {
      var merged = now
      for id in before.dead.keys {
        merged.dead[id] = nil
        for link in merged.lists.keys {
          merged.lists[link]?[id] = nil
          for owner in merged.lists[link]?.keys.map({ $0 }) ?? [] {
            merged.lists[link]?[owner]?.removeAll { $0 == id }
          }
        }
      }
      return merged
    }

    /// Another context writes: anything, where main has nothing unsaved, else new objects.
    private func write(_ step: Step, _ stack: Stack) async throws {
      if isStoring { try await save(isAway: false, []) }
      let isBusy = self.stack.main.hasChanges
      let steps = step.inner
      let stored = stored
      // Main may have links of it that are not stored: they go with it.
      let gone = isBusy && stack === self.stack && step.numbers[3] % 2 == 0 ? lonely(step) : nil
      // A child sees them, and a rule that denies counts them.
      let isDenied =
        gone.map { id in
          main.links(of: id).contains {
            $0.relationship.deleteRule == .deny && !main.targets($0, id).isEmpty
          }
        } ?? false
      do {
        let (plain, said) = try await stack.write { context in
          var plain = stored
          var said: [String] = []
          if let gone {
            try context.delete(context.object(with: gone))
            plain.delete(gone, stored: stored)
            said.append("delete \(gone) elsewhere")
          } else if isBusy {
            let made = try context.insert("A")
            Self.begin(made, 7, &plain)
            let kid = try context.insert("C")
            Self.begin(kid, 8, &plain)
            for name in ["kids", "tags", "path", "clubs", "ranks", "tops"] {
              try made.add(kid, to: name)
              let slot = made.layout.linkSlot(named: name) ?? 0
              plain.connect(made.layout.relationships[slot], made.objectID, kid.objectID)
            }
          } else {
            for step in steps { said.append(try Self.edit(step, context, &plain, stored)) }
            if let fault = try plain.difference(from: context) { throw Told(description: fault) }
          }
          return (plain, said)
        }
        told += said
        guard plain.verdict(stored: stored) == .fine, !isDenied else {
          throw Told(
            description:
              "written, not \(isDenied ? .fails(.denied) : plain.verdict(stored: stored))"
          )
        }
        self.stored = plain.saved()
        if let gone {
          main.remove(gone)
        } else if isBusy {
          for (id, row) in plain.rows where stored.rows[id] == nil {
            main.rows[id] = row
            for link in plain.links(of: id) {
              main.lists[link.id, default: [:]][id] = plain.lists[link.id]?[id]
            }
          }
        } else {
          main = self.stored
        }
      } catch let error as ContextError where error.code == .denied && isDenied {
        told.append("delete elsewhere denied")
      } catch let error as ContextError {
        var plain = stored
        let context = ManagedObjectContext(.background, root: self.stack.root)
        defer { context.close() }
        for step in steps { _ = try Self.edit(step, context, &plain, stored) }
        guard plain.verdict(stored: stored) == .fails(error.code) else { throw error }
      }
      if stack === other { self.stack.storeDidChange() }
      await settle()
      try checkFile()
    }

    private func merge(_ step: Step) async throws {
      // What main cannot store keeps what is merged from being stored, too.
      if main.verdict(stored: stored) != .fine { try await save(isAway: false, []) }
      let (plain, stored) = (main, stored)
      do {
        main = try await stack.write(until: .merged) { context in
          var plain = plain
          let said = try step.inner.map { try Self.edit($0, context, &plain, stored) }
          if let fault = try plain.difference(from: context) {
            throw Told(description: "\(fault), in a child after \(said)")
          }
          // Links that noAction leaves are refused by the commit, when they are merged already.
          let isRefused =
            plain.verdict(stored: stored) == .fails(.denied)
            && plain.layout.links.contains { $0.relationship.deleteRule == .noAction }
          if step.kind == .failedMerge || isRefused { throw CancellationError() }
          return plain
        }
        isStoring = true
        // This comes behind what stores the merged.
        try await save(isAway: true, [])
      } catch is CancellationError {
      } catch let error as ContextError where error.code == .invalid || error.code == .denied {
        try expectFailure(step, error)
      }
    }

    /// Holds what there is.
    func hold() throws { held = try main.rows.keys.map { try stack.main.object(with: $0) } }

    /// A stored object whose number main has not changed.
    func free(_ step: Step, _ entity: String? = nil) -> ObjectID? {
      let names = entity.map { [$0] } ?? ["A", "B", "Team"]
      let ids = names.flatMap(stored.ids).filter {
        main.rows[$0] != nil && main.rows[$0]?.n == stored.rows[$0]?.n
      }
      return ids.isEmpty ? nil : ids[step.numbers[5] % ids.count]
    }

    /// A stored object without stored links, of whose values main has changed nothing.
    private func lonely(_ step: Step) -> ObjectID? {
      guard let id = free(step), let entity = stack.root.layout.entity(named: id.entity),
        stored.links(of: id).allSatisfy({ stored.targets($0, id).isEmpty }),
        !stored.lists.values.contains(where: { $0.values.contains { $0.contains(id) } })
      else { return nil }
      let place = RowKey(table: entity.tableIndex, key: id.primaryKey)
      let columns = stack.root.layout.linkColumns[entity.tableIndex]
      return stack.main.overlay[place].map { $0.isUpdateOfLinks(columns) } ?? true ? id : nil
    }

    private func set(_ n: Int64, of id: ObjectID) {
      stored.rows[id]?.n = n
      main.rows[id]?.n = n
    }

    /// A child that begins before a change of main's and is saved after it.
    private func late(_ step: Step) async throws {
      if isStoring { try await save(isAway: false, []) }
      let child = ManagedObjectContext(.background, root: stack.root)
      defer { child.close() }
      if let fault = try main.difference(from: child) { throw Told(description: "late: \(fault)") }
      let known = try main.rows.keys.map { try child.object(with: $0) }
      for inner in step.inner { told.append(try Self.edit(inner, stack.main, &main, stored)) }
      if step.numbers[4] % 3 == 0, main.verdict(stored: stored) == .fine {
        try await save(isAway: false, [])
        told.append("saved above")
      }
      if let fault = try main.difference(from: known) { throw Told(description: "late: \(fault)") }
      guard let id = free(step) else { return }
      let n = Int64(step.numbers[6] % 90)
      try child.object(with: id)["n"] = .integer(n)
      do {
        try child.save()
        told.append("late \(id).n = \(n)")
        set(n, of: id)
      } catch let error as ContextError where error.code == .invalid {
        // The object's links may be too many for now.
      }
      await settle()
      try checkFile()
    }

    /// Another process writes a row that main has not changed.
    private func process(_ step: Step) async throws {
      if isStoring { try await save(isAway: false, []) }
      guard let id = free(step), let entity = stack.root.layout.entity(named: id.entity),
        stack.main.overlay[RowKey(table: entity.tableIndex, key: id.primaryKey)] == nil
      else { return }
      let n = Int64(step.numbers[6] % 90)
      try place.run(
        "UPDATE \(place.name(of: entity.table)) SET n = \(n), _v = _v + 1 WHERE _pk = \(id.primaryKey)"
      )
      told.append("process \(id).n = \(n)")
      set(n, of: id)
      stack.storeDidChange()
      await settle()
    }

    /// What was sent to main is there when this has had its turn behind it.
    func settle() async { await Task { @MainActor in }.value }

    func checkFile() throws {
      if let fault = try place.difference(from: stored) { throw Told(description: fault) }
    }

    /// A new object gets its values.
    private nonisolated static func begin(
      _ object: ManagedObject,
      _ n: Int64,
      _ plain: inout PlainGraph
    ) {
      let key = object.objectID.primaryKey
      object["n"] = .integer(n)
      object["k"] = .integer(key)
      plain.rows[object.objectID] = PlainGraph.Row(entity: object.layout.index, n: n, k: key)
    }

    /// Does one step in a context and in the plain graph; what was done.
    nonisolated static func edit(
      _ step: Step,
      _ context: ManagedObjectContext,
      _ plain: inout PlainGraph,
      _ stored: PlainGraph
    ) throws -> String {
      let numbers = step.numbers
      if step.kind == .take { return try ContextPropertyTests.take(numbers, context, &plain) }
      let ids = plain.ids("A") + plain.ids("B") + plain.ids("Team")
      if step.kind == .insert || ids.isEmpty {
        let name = ["A", "B", "C", "A", "B", "Team"][numbers[0] % 6]
        let object = try context.insert(name)
        begin(object, Int64(numbers[1] % 100), &plain)
        if name == "Team" {
          let member = try context.insert("A")
          begin(member, 1, &plain)
          try object.add(member, to: "members")
          plain.connect(object.layout.relationships[0], object.objectID, member.objectID)
        }
        return "insert \(object.objectID)"
      }
      let id = ids[numbers[0] % ids.count]
      let object = try context.object(with: id)
      switch step.kind {
      case .change:
        let n = Int64(numbers[1] % 101) + (numbers[2] % 40 == 0 ? 9 : 0)
        object["n"] = .integer(n)
        plain.rows[id]?.n = n
        return "\(id).n = \(n)"
      case .delete:
        try context.delete(object)
        plain.delete(id, stored: stored)
        return "delete \(id)"
      default: break
      }
      let links = plain.links(of: id)
      let link = links[numbers[1] % links.count]
      let targets = plain.ids(plain.layout.entities[link.destination].name)
      let known = plain.targets(link, id)
      switch step.kind {
      case .unlink:
        guard !known.isEmpty else { return "" }
        let target = known[numbers[2] % known.count]
        plain.disconnect(link, id, target)
        if link.isToOne {
          try object.setTarget(nil, of: link.name)
        } else {
          try object.remove(context.object(with: target), from: link.name)
        }
        return "unlink \(id).\(link.name) \(target.primaryKey)"
      case .move:
        guard link.isListed, known.count > 1 else { return "" }
        var list = known
        list.swapAt(numbers[2] % list.count, numbers[3] % list.count)
        try object.setTargets(context.objects(with: list), of: link.name)
        plain.assign(list, link, id)
        return "order \(id).\(link.name) \(list.map(\.primaryKey))"
      case .list where !link.isToOne:
        guard !targets.isEmpty else { return "" }
        let list = (0..<numbers[2] % 5).map { targets[numbers[$0 + 3] % targets.count] }
        try object.setTargets(context.objects(with: list), of: link.name)
        plain.assign(list, link, id)
        return "list \(id).\(link.name) \(list.map(\.primaryKey))"
      default:
        guard !targets.isEmpty else { return "" }
        let target = targets[numbers[2] % targets.count]
        if link.isToOne {
          try object.setTarget(context.object(with: target), of: link.name)
        } else {
          try object.add(context.object(with: target), to: link.name)
        }
        plain.connect(link, id, target)
        return "link \(id).\(link.name) \(target.primaryKey)"
      }
    }
  }
}
