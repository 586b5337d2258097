import DragomanGraph
import Foundation
import Synchronization
import Testing

@testable import Dragoman

@Suite("What is sensitive stays so") struct SensitiveStoreTests {
  private static func map(_ rules: String) -> String {
    """
    version: 1
    entities:
      P: { unique: k, attributes: { k: k, ssn: { type: string\(rules) } } }
    sources: { s: { format: json, entity: P } }
    """
  }

  private func store() async throws -> SQLiteStore {
    let fixture = try ImportFixture(Self.map(", sensitive: true"))
    _ = try await fixture.run(#"[{"k":"a","ssn":"SEKRET-1"}]"#)
    return fixture.store
  }

  @Test("A second map that does not say so shows nothing", arguments: [false, true])
  func second(isDryRun: Bool) async throws {
    let store = try await store()
    let other = try ImportMap(yaml: Self.map(""))
    var request = ImportRequest([.bytes(Array(#"[{"k":"a","ssn":"SEKRET-2"}]"#.utf8), name: "f")])
    request.isDryRun = isDryRun
    let found = Mutex("")
    request.changes = { change in found.withLock { $0 += "\(change)" } }
    let report = try await Importer(map: other, store: store).run(request)
    #expect(report.counts.updated == 1)
    let text = found.withLock { $0 }
    #expect(text.contains(ImportChange.mask) && !text.contains("SEKRET"))
    #expect(store.model.entity(named: "P")?.attribute(named: "ssn")?.isSensitive == true)
  }

  @Test("A later map makes it so; only a migration takes it back, and says it")
  func migration() async throws {
    let fixture = try ImportFixture(Self.map(""))
    _ = try await fixture.run(#"[{"k":"a","ssn":"x"}]"#)
    let masked = try ImportMap(yaml: Self.map(", sensitive: true"))
    _ = try await Importer(map: masked, store: fixture.store)
      .run(ImportRequest([.bytes(Array("[]".utf8), name: "f")]))
    #expect(fixture.store.model.entity(named: "P")?.attribute(named: "ssn")?.isSensitive == true)
    let plan = try fixture.store.migrate(to: fixture.map.model())
    #expect(
      plan.steps.map(\.sentence).contains(
        "Show the values of P.ssn, masked until now, in messages, reports and the console."
      )
    )
    #expect(fixture.store.model.entity(named: "P")?.attribute(named: "ssn")?.isSensitive == false)
  }
}
