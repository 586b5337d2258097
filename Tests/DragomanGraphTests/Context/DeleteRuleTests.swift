import GRDB
import Testing

@testable import DragomanGraph

/// Deletions by contexts and deletions straight in the store do the same.
@MainActor
@Suite struct DeleteRuleTests {
  /// What is deleted of a link.
  enum Ends: CaseIterable, Sendable {
    case owner, target, both
  }

  @Test(
    "A delete rule means the same to contexts and to deletions straight in the store",
    arguments: Relationship.DeleteRule.allCases,
    Ends.allCases
  )
  func same(rule: Relationship.DeleteRule, ends: Ends) async throws {
    let layout = ModelLayout(everyLink(rule).completingInverses())
    for entity in layout.entities where entity.name != "Team" {
      for link in entity.relationships where layout.entities[link.destination].name != "Team" {
        let byContext = try await delete(link, of: entity, rule, ends, isDirect: false)
        let direct = try await delete(link, of: entity, rule, ends, isDirect: true)
        #expect(byContext == direct, "\(entity.name).\(link.name)")
      }
    }
  }

  @Test("A deletion clears links that others have made since the context looked")
  func linkedSince() async throws {
    let stack = try Stack(crm, at: .inMemory)
    try await stack.write { try $0.insert("Company")["name"] = "acme" }
    try stack.main.delete(stack.main.object(with: id("Company", 1)))
    try stack.elsewhere("INSERT INTO Person (_pk, _v, company) VALUES (9001, 1, 1)")
    try stack.main.save()
    #expect(try stack.sql("SELECT company IS NULL FROM Person") == ["1"])
    #expect(try stack.sql("SELECT count(*) FROM Company") == ["0"])
  }

  @Test("noAction leaves links in tables of their own, too", arguments: [false, true])
  func leaves(isDirect: Bool) async throws {
    let layout = ModelLayout(everyLink(.noAction).completingInverses())
    let entity = try #require(layout.entity(named: "A"))
    for name in ["clubs", "tags", "path", "friends"] {
      let link = entity.relationships[try #require(entity.linkSlot(named: name))]
      let refused = try await delete(link, of: entity, .noAction, .owner, isDirect: isDirect)
      #expect(refused.first == "refused", "\(name)")
      let whole = try await delete(link, of: entity, .noAction, .both, isDirect: isDirect)
      #expect(whole == ["deleted"], "\(name)")
    }
  }

  /// Links two objects and deletes one of them, or both; what is left then.
  private func delete(
    _ link: RelationshipLayout,
    of entity: EntityLayout,
    _ rule: Relationship.DeleteRule,
    _ ends: Ends,
    isDirect: Bool
  ) async throws -> [String] {
    let stack = try Stack(everyLink(rule), at: .inMemory)
    let layout = stack.root.layout
    let (name, target) = (entity.name, layout.entities[link.destination].name)
    let ids = try await stack.write { context in
      let objects = [try context.insert(name), try context.insert(target)]
      try context.links.assign([objects[1]], to: link, objects[0])
      return objects.map(\.objectID)
    }
    let doomed = ends == .owner ? [ids[0]] : ends == .target ? [ids[1]] : ids
    var told = "deleted"
    do {
      if isDirect {
        try stack.store.write { session in
          try session.begin()
          let deleter = try session.deleter()
          for id in doomed {
            try deleter.mark(id.primaryKey, of: #require(layout.entity(named: id.entity)))
          }
          if try deleter.delete().denied != nil { throw CancellationError() }
          try session.commit()
        }
      } else {
        try await stack.write { context in
          for id in doomed {
            // A cascade may have taken it along.
            if let object = try context.existingObject(with: id) { try context.delete(object) }
          }
        }
      }
    } catch let error as ContextError where !isDirect && error.code == .denied {
      told = "refused"
    } catch  where isDirect {
      told = "refused"
    }
    return try [told] + rows(stack)
  }

  /// Everything that is stored, but versions, keys of nobody and places.
  private func rows(_ stack: Stack) throws -> [String] {
    let layout = stack.root.layout
    var rows: [String] = []
    for table in layout.tables {
      let columns = table.columns.map(\.name).filter { !$0.hasPrefix("_") }
      let list = (["_pk"] + columns).map { "\"\($0)\"" }.joined(separator: ", ")
      rows += try stack.sql("SELECT \(list) FROM \"\(table.name)\"").map { "\(table.name) \($0)" }
    }
    for link in layout.links {
      guard case .joinTable(let join, isOwner: true) = link.storage else { continue }
      rows += try stack.sql("SELECT owner, target FROM \"\(join.name)\"").map {
        "\(join.name) \($0)"
      }
    }
    return rows
  }
}
