import GRDB
import TestSupport
import Testing

@testable import DragomanGraph

/// Links that are not saved, of every kind, in every context, when one of their ends goes: each case
/// is done in a plain graph, too, which says what has to come of it.
@Suite struct UnsavedLinkTests {
  enum Place: CaseIterable, Sendable {
    case main, background, nestedInMain, nestedInBackground, merged
  }

  /// What is done; `a` is the owner of the link, `b` and `c` are targets.
  enum Edit: Sendable {
    case link(Int)
    case unlink(Int)
    case list([Int])
    case inverse(Int)
    case delete(Int)
    case change
  }

  /// Each begins with links to the targets of `stored`, and with objects that are stored or new.
  struct Script: Sendable {
    let name: String
    let stored: [Int]
    let edits: [Edit]
    var isNew = false
  }

  /// `0` is the owner, `1` and `2` are targets.
  private static let scripts: [Script] =
    [
      Script(name: "linked, target deleted", stored: [], edits: [.link(1), .delete(1)]),
      Script(name: "linked, owner deleted", stored: [], edits: [.link(1), .delete(0)]),
      Script(name: "linked by the inverse", stored: [], edits: [.inverse(1), .delete(1)]),
      Script(name: "both deleted", stored: [1], edits: [.delete(0), .delete(1)]),
      Script(name: "linked, both deleted", stored: [], edits: [.link(1), .delete(1), .delete(0)]),
      Script(name: "unlinked, owner deleted", stored: [1], edits: [.unlink(1), .delete(0)]),
      Script(name: "unlinked, target deleted", stored: [1], edits: [.unlink(1), .delete(1)]),
      Script(name: "stored, target deleted", stored: [1], edits: [.delete(1)]),
      Script(name: "stored, owner deleted", stored: [1], edits: [.delete(0)]),
      Script(name: "stored, deleted and changed", stored: [1, 2], edits: [.change, .delete(1)]),
      Script(name: "list, one deleted", stored: [], edits: [.list([1, 2]), .delete(1)]),
      Script(name: "list anew, one deleted", stored: [1], edits: [.list([2, 1]), .delete(2)]),
      Script(name: "moved, old deleted", stored: [1], edits: [.list([2]), .delete(1)]),
      Script(name: "moved, owner deleted", stored: [1], edits: [.list([2]), .delete(0)]),
      Script(name: "moved, new deleted", stored: [1], edits: [.list([2]), .delete(2)]),
      Script(name: "linked and unlinked", stored: [], edits: [.link(1), .unlink(1), .delete(1)]),
      Script(name: "unlinked and linked", stored: [1], edits: [.unlink(1), .link(1)]),
      Script(name: "linked twice, unlinked", stored: [1], edits: [.link(1), .unlink(1)]),
    ]

  /// Every kind of link has every script in a seventh of the places and rules, and in all of them where seeds are drawn.
  @MainActor
  @Test(
    "A save after links and deletions does what a plain graph says",
    arguments: Relationship.DeleteRule.allCases,
    Place.allCases
  )
  func scripts(rule: Relationship.DeleteRule, place: Place) async throws {
    let stack = try Stack(everyLink(rule), at: .inMemory)
    let layout = stack.root.layout
    let turn =
      try #require(Relationship.DeleteRule.allCases.firstIndex(of: rule))
      + #require(Place.allCases.firstIndex(of: place))
    for (linkNumber, link) in layout.links.enumerated()
    where layout.entities[link.owner].name != "Team" {
      guard layout.entities[link.destination].name != "Team" else { continue }
      for (scriptNumber, script) in Self.scripts.enumerated()
      where Seeds.areDrawn || (turn + linkNumber + scriptNumber).isMultiple(of: 7) {
        for isNew in [false, true] where script.stored.isEmpty || !isNew {
          var script = script
          script.isNew = isNew
          let fault = try await run(script, link, place, stack)
          let owner = layout.entities[link.owner].name
          #expect(
            fault == nil,
            "\(fault ?? ""): \(owner).\(link.name), \(script.name), new: \(isNew)"
          )
        }
      }
    }
  }

  @MainActor
  private func run(
    _ script: Script,
    _ link: RelationshipLayout,
    _ place: Place,
    _ stack: Stack
  ) async throws -> String? {
    var stored = PlainGraph(stack.root.layout)
    var ids: [ObjectID] = []
    if !script.isNew {
      (stored, ids) = try await stack.write { [stored] context in
        var plain = stored
        let ids = try Self.make(link, context, &plain)
        for target in script.stored {
          try Self.edit(.link(target), link, ids, context, &plain, stored)
        }
        return (plain, ids)
      }
      await Task { @MainActor in }.value
    }
    let work: @Sendable (ManagedObjectContext) throws -> PlainGraph = { [stored, ids] context in
      var plain = stored
      let ids = ids.isEmpty ? try Self.make(link, context, &plain) : ids
      for edit in script.edits { try Self.edit(edit, link, ids, context, &plain, stored) }
      return plain
    }
    let expected = try Self.expected(work, stack, stored)
    do {
      let plain: PlainGraph
      switch place {
      case .main:
        plain = try work(stack.main)
        try stack.main.save()
      case .background: plain = try await stack.write(work)
      case .nestedInMain:
        plain = try stack.main.nested(work)
        try stack.main.save()
      case .nestedInBackground: plain = try await stack.write { try $0.nested(work) }
      case .merged:
        plain = try await stack.write(until: .merged, work)
        try stack.main.save()
      }
      guard expected == .fine else { return "saved, not \(expected)" }
      await Task { @MainActor in }.value
      let saved = plain.saved()
      if let fault = try Self.part(saved, stack) { return fault }
      return try await stack.read { try Self.links(saved, $0) }
    } catch let error as ContextError {
      stack.main.rollback()
      return expected == .fails(error.code) ? nil : "\(error), not \(expected)"
    }
  }

  private static func expected(
    _ work: (ManagedObjectContext) throws -> PlainGraph,
    _ stack: Stack,
    _ stored: PlainGraph
  ) throws -> PlainGraph.Verdict {
    let context = ManagedObjectContext(.background, root: stack.root)
    defer { context.close() }
    return try work(context).verdict(stored: stored)
  }

  @MainActor
  private static func part(_ plain: PlainGraph, _ stack: Stack) throws -> String? {
    try links(plain, stack.main).map { "main: \($0)" }
  }

  /// What a context says otherwise of the objects of a case.
  private static func links(_ plain: PlainGraph, _ context: ManagedObjectContext) throws -> String?
  {
    for id in plain.rows.keys {
      guard let object = try context.existingObject(with: id) else { return "\(id) is not there" }
      for link in plain.links(of: id) {
        let known = try context.links.targets(of: link, object).map(\.objectID)
        let wanted = plain.targets(link, id)
        let isSame = link.isListed ? known == wanted : Set(known) == Set(wanted)
        if !isSame || known.count != wanted.count {
          return "\(id).\(link.name): \(known.map(\.primaryKey)), not \(wanted.map(\.primaryKey))"
        }
      }
    }
    return nil
  }

  private static func make(
    _ link: RelationshipLayout,
    _ context: ManagedObjectContext,
    _ plain: inout PlainGraph
  ) throws -> [ObjectID] {
    let layout = plain.layout
    let destination = layout.entities[link.destination].name
    return try [layout.entities[link.owner].name, destination, destination].map { name in
      let object = try context.insert(name)
      object["n"] = 1
      plain.rows[object.objectID] = PlainGraph.Row(entity: object.layout.index, n: 1)
      return object.objectID
    }
  }

  private static func edit(
    _ edit: Edit,
    _ link: RelationshipLayout,
    _ ids: [ObjectID],
    _ context: ManagedObjectContext,
    _ plain: inout PlainGraph,
    _ stored: PlainGraph
  ) throws {
    let owner = try context.object(with: ids[0])
    switch edit {
    case .change:
      owner["n"] = 2
      plain.rows[ids[0]]?.n = 2
    case .delete(let number):
      // A cascade may have taken it along.
      guard plain.rows[ids[number]] != nil else { return }
      try context.delete(context.object(with: ids[number]))
      plain.delete(ids[number], stored: stored)
    case .link(let number):
      try context.links.connect(link, owner, context.object(with: ids[number]))
      plain.connect(link, ids[0], ids[number])
    case .inverse(let number):
      guard let inverse = plain.layout.inverse(of: link) else { return }
      try context.links.connect(inverse, context.object(with: ids[number]), owner)
      plain.connect(inverse, ids[number], ids[0])
    case .unlink(let number):
      try context.links.disconnect(link, owner, context.object(with: ids[number]))
      plain.disconnect(link, ids[0], ids[number])
    case .list(let numbers):
      let list = link.isToOne ? Array(numbers.suffix(1)) : numbers
      try context.links.assign(list.map { try context.object(with: ids[$0]) }, to: link, owner)
      plain.assign(list.map { ids[$0] }, link, ids[0])
    }
  }
}
