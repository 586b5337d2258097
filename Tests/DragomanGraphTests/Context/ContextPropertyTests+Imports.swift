import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Imports and merge policies as steps of the random work.
extension ContextPropertyTests {
  /// A record, and what a plain graph makes of it.
  struct Record {
    let entity: String
    let key: Int64
    /// What `n` becomes; over 100: the record is rejected; nil: it says nothing of it.
    var n: Int64?
    /// A relationship that it gives, and the targets' objects.
    var link: (RelationshipLayout, [ObjectID])?

    /// Anything of one or two objects, existing or new; `isStored`: what counts is not checked.
    static func records(
      _ numbers: [Int],
      _ plain: PlainGraph,
      isStored: Bool
    ) -> [Record] {
      let entity = numbers[0] % 2 == 0 ? "A" : "B"
      let known = plain.ids(entity)
      return (0..<1 + numbers[1] % 3).map { index in
        let seed = numbers[index + 2]
        let isNew = known.isEmpty || seed % 4 == 0
        let id = isNew ? nil : known[seed % known.count]
        let key = id.flatMap { plain.rows[$0]?.k } ?? Int64(1_000_000 + numbers[5] * 10 + index)
        var record = Record(entity: entity, key: key)
        if isNew || seed % 3 > 0 { record.n = Int64(seed / 7 % 100) + (seed % 23 == 0 ? 200 : 0) }
        let links = plain.layout.entity(named: entity)?.relationships ?? []
        let link = links[numbers[index + 6] % links.count]
        let targets = plain.ids(plain.layout.entities[link.destination].name)
        let counts = ["team", "pairs", "mates"].contains(link.name)
        if !targets.isEmpty, !counts || !isStored {
          let count = link.isToOne ? min(numbers[9] % 4, 1) : numbers[9] % 4
          let ids = (0..<count).map { targets[(numbers[10] + $0 * numbers[11]) % targets.count] }
          record.link = (link, ids)
        }
        return record
      }
    }

    var isRejected: Bool { n.map { $0 > 100 } ?? false }

    func value(_ plain: PlainGraph) -> ForeignValue {
      var members: ForeignRecord = ["k": .integer(key)]
      if let n { members["n"] = .integer(n) }
      if let (link, ids) = link {
        let keys = ids.map { ForeignValue.integer(plain.rows[$0]?.k ?? 0) }
        members[link.name] = link.isToOne ? keys.first ?? .null : .array(keys)
      }
      return .object(members)
    }

    /// Does to a plain graph what the record says; `find` gives the object of a key that was imported.
    func apply(to plain: inout PlainGraph, _ find: (String, Int64) throws -> ObjectID?) throws {
      if isRejected { return }
      let known = plain.ids(entity).first { plain.rows[$0]?.k == key }
      guard let id = try known ?? find(entity, key) else {
        throw ContextPropertyTests.Told(description: "\(entity) \(key) was not imported")
      }
      if known == nil {
        let index = plain.layout.entity(named: entity)?.index ?? 0
        plain.rows[id] = PlainGraph.Row(entity: index, n: n ?? 0, k: key)
      } else if let n {
        plain.rows[id]?.n = n
      }
      if let (link, ids) = link { plain.assign(ids, link, id) }
    }

    var told: String {
      let link = link.map { " \($0.0.name) \($0.1.map(\.primaryKey))" }
      return "\(entity) \(key) n \(n.map { "\($0)" } ?? "-")\(link ?? "")"
    }
  }

  /// The mapper of an entity: all relationships by key.
  static func mapper(_ entity: String, _ model: Model) throws -> Mapper {
    let path = { (name: String) in
      ForeignPaths(json: [ForeignPath(steps: [.member(name, namespace: nil)], text: name)])
    }
    return try Mapper(
      for: entity,
      in: model,
      ignoreNullValueOverwrites: true,
      policies: ValuePolicies(onNull: .clear, onInvalid: .reject)
    ) {
      Map("k", to: "k")
      Map("n", to: "n")
      for link in model.entity(named: entity)?.relationships ?? [] {
        RelationshipMap(
          name: link.name,
          entity: link.destination,
          kind: link.kind,
          key: ["k": .path(path(link.name), split: nil)],
          inverse: link.inverse
        ).with {
          $0.isOrdered = link.isOrdered
          $0.allowsRepeats = link.allowsRepeats
          $0.onDelete = link.deleteRule
        }
      }
    }
  }

  /// Imports into a context; what it imported is unsaved there.
  static func take(
    _ numbers: [Int],
    _ context: ManagedObjectContext,
    _ plain: inout PlainGraph
  ) throws -> String {
    let records = Record.records(numbers, plain, isStored: false)
    let imported = try context.import(records.map { $0.value(plain) }, into: records[0].entity)
    guard imported.report.counts.rejected == records.filter(\.isRejected).count else {
      throw ContextPropertyTests.Told(description: "rejected: \(imported.report.issues)")
    }
    for record in records {
      try record.apply(to: &plain) { entity, key in
        let filter = Filter.where("k", .equalTo, .value(.number("\(key)")))
        return try context.fetchOne(FetchRequest(entity, filter: filter))?.objectID
      }
    }
    return "import \(records.map(\.told))"
  }
}

extension ContextPropertyTests.Work {
  /// An import in the background, into objects or straight into the store: anything, where main has
  /// nothing unsaved, else new objects, and values that main has not changed.
  func importAway(_ step: ContextPropertyTests.Step) async throws {
    if isStoring { try await save(isAway: false, []) }
    var records: [ContextPropertyTests.Record]
    if stack.main.hasChanges {
      importCount += 1
      let entity = step.numbers[0] % 2 == 0 ? "A" : "B"
      records = [ContextPropertyTests.Record(entity: entity, key: 3_000_000 + importCount, n: 5)]
      // What main has changed of an object is shown with what it read then, until it is saved.
      if let id = free(step, entity), let key = stored.rows[id]?.k, !isChanged(id) {
        records.append(
          ContextPropertyTests.Record(entity: entity, key: key, n: Int64(step.numbers[6] % 90))
        )
      }
    } else {
      records = ContextPropertyTests.Record.records(step.numbers, main, isStored: true)
    }
    let (entity, values) = (records[0].entity, records.map { $0.value(main) })
    let isDirect = step.numbers[7] % 2 == 0
    told.append("\(isDirect ? "direct" : "background") import \(records.map(\.told))")
    if isDirect {
      let (map, _) = try stack.mappers.importMap(for: entity)
      _ = try await stack.import(ImportRequest([.records(values)]), by: map)
    } else {
      _ = try await stack.import(values, into: entity)
    }
    let find = { [place, stack] (entity: String, key: Int64) in
      let found = try place.first("SELECT _pk FROM \(place.name(of: entity)) WHERE k = \(key)")
      _ = stack
      return found.map { ObjectID(entity: entity, primaryKey: $0) }
    }
    for record in records where !record.isRejected {
      let made = try find(entity, record.key)
      try record.apply(to: &stored) { _, _ in made }
      try record.apply(to: &main) { _, _ in made }
    }
    await settle()
    try checkFile()
  }

  private func isChanged(_ id: ObjectID) -> Bool {
    guard let entity = stack.root.layout.entity(named: id.entity) else { return false }
    return stack.main.overlay[RowKey(table: entity.tableIndex, key: id.primaryKey)] != nil
  }

  /// Main and another process change the same object, which nobody else links or unlinks; main saves
  /// by one of the policies.
  func conflict(_ step: ContextPropertyTests.Step) async throws {
    if isStoring { try await save(isAway: false, []) }
    guard main.verdict(stored: stored) == .fine, let id = free(step),
      let entity = stack.root.layout.entity(named: id.entity)
    else { return }
    if isChanged(id) { return }
    let links = main.links(of: id)
    let isAlone = links.allSatisfy {
      main.targets($0, id).isEmpty && stored.targets($0, id).isEmpty
    }
    guard links.allSatisfy({ main.lists[$0.id]?[id] ?? [] == stored.lists[$0.id]?[id] ?? [] })
    else { return }
    let (ours, theirs) = (Int64(step.numbers[6] % 90), Int64(90 + step.numbers[6] % 7))
    let object = try stack.main.object(with: id)
    // What the other one writes must differ, too: a value that stays as it was is no conflict.
    guard object["n"] != .integer(ours), object["n"] != .integer(theirs) else { return }
    object["n"] = .integer(ours)
    let isGone = isAlone && step.numbers[7] % 2 == 0 && entity.name != "Team"
    let sql =
      isGone
      ? "DELETE FROM \(place.name(of: entity.table)) WHERE _pk = \(id.primaryKey)"
      : "UPDATE \(place.name(of: entity.table)) SET n = \(theirs), _v = _v + 1 WHERE _pk = \(id.primaryKey)"
    try place.run(sql)
    let policies: [MergePolicy] = [.error, .storeTrumps, .objectTrumps, .overwrite, .rollback]
    var policy = policies[step.numbers[8] % policies.count]
    told.append("conflict \(id) gone \(isGone), \(policy)")
    main.rows[id]?.n = ours
    if policy == .error {
      do {
        try stack.main.save()
        throw ContextPropertyTests.Told(description: "saved in spite of a conflict")
      } catch let error as ContextError where error.code == .conflict {
        if let fault = try main.difference(from: stack.main) {
          throw ContextPropertyTests.Told(description: fault)
        }
      }
      policy = .objectTrumps
    }
    stack.main.mergePolicy = policy
    defer { stack.main.mergePolicy = .error }
    try stack.main.save()
    if policy == .storeTrumps || policy == .rollback {
      if isGone { main.rows[id] = nil } else { main.rows[id]?.n = theirs }
    }
    main = main.saved()
    stored = main
    try checkFile()
  }
}

/// What the random work has found of imports into contexts.
@MainActor
@Suite struct ContextImportLinkTests {
  @Test(
    "Each relationship is imported by key from either side",
    arguments: [false, true],
    ["A", "B"]
  )
  func eachLink(isDirect: Bool, entity: String) async throws {
    let plan = try #require(everyLink(.nullify).completingInverses().entity(named: entity))
    for link in plan.relationships where link.destination != "Team" {
      let stack = try Stack(everyLink(.nullify), at: .inMemory)
      for name in ["A", "B", "C", "Team"] {
        try stack.mappers.register(ContextPropertyTests.mapper(name, stack.model))
      }
      try await stack.write { try $0.insert(link.destination)["k"] = 1 }
      let target: ForeignValue = link.kind == .toOne ? .integer(1) : .array([.integer(1)])
      let records: [ForeignValue] = [.object(["k": .integer(7), link.name: target])]
      if isDirect {
        let (map, _) = try stack.mappers.importMap(for: entity)
        _ = try await stack.import(ImportRequest([.records(records)]), by: map)
      } else {
        try await stack.import(records, into: entity)
      }
      let targets = try await stack.read { context in
        let filter = Filter.where("k", .equalTo, .value(.number("7")))
        let object = try #require(try context.fetchOne(FetchRequest(entity, filter: filter)))
        let slot = try #require(object.layout.linkSlot(named: link.name))
        return try context.links.targets(of: object.layout.relationships[slot], object)
          .map { $0["k"] }
      }
      #expect(targets == [.integer(1)], "\(link.name)")
    }
  }

  @Test("A hook that deletes its object does not end the import")
  func deletingHook() async throws {
    let stack = try Stack(crm, at: .inMemory)
    try stack.mappers.register(
      Mapper(for: "Person", in: crm) {
        Map("ticket", to: "ticket")
        Map("name", to: "name")
      }.with {
        $0.postImport = { record, person in
          if record["name"]?.string == "b" { try person.context.delete(person) }
        }
      }
    )
    let records: [ForeignValue] = ["a", "b", "c"].map {
      .object(["ticket": .string($0), "name": .string($0)])
    }
    for round in 0..<2 {
      let imported = try await stack.import(records, into: "Person")
      #expect(imported.report.counts.rejected == 0, "\(round) \(imported.report.issues)")
      #expect(try stack.sql("SELECT name FROM Person ORDER BY name") == ["a", "c"])
    }
  }
}
