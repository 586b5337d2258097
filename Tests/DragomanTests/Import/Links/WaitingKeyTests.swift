import DragomanGraph
import Synchronization
import TestSupport
import Testing

@testable import Dragoman

/// Keys that wait for their target, within an import and from one to the next, are kept to the last bit.
@Suite struct WaitingKeyTests {
  private static func map(_ type: String, _ policy: String, name: String = "code") -> String {
    """
    version: 1
    entities:
      P:
        unique: id
        attributes: { id: { from: id, type: int32 } }
        relationships:
          boss: { entity: B, kind: toOne, key: { '\(name)': boss }, onUnresolved: \(policy) }
      B: { unique: '\(name)', attributes: { '\(name)': { from: code, type: \(type) }, title: title } }
    sources:
      p: { format: json, entity: P, records: p }
      b: { format: json, entity: B, records: b }
    """
  }

  private func links(_ fixture: ImportFixture) throws -> [String] {
    try fixture.rows("P", ["id", "boss.title"])
  }

  @Test("A key with NUL is not the key in front of it", arguments: ["clear", "pending", "stub"])
  func nul(policy: String) async throws {
    let fixture = try ImportFixture(Self.map("string", policy))
    try await fixture.run(#"{"p":[{"id":1,"boss":"A\u0000B"}],"b":[{"code":"A","title":"a"}]}"#)
    #expect(try links(fixture) == ["1|null"])
    let codes = try fixture.rows("B", ["code"])
    #expect(codes == (policy == "stub" ? ["A", "A\u{0}B"] : ["A"]))
    try await fixture.run(#"{"b":[{"code":"A\u0000B","title":"ab"}]}"#)
    #expect(try links(fixture) == [policy == "clear" ? "1|null" : "1|ab"])
  }

  @Test("References by doubles and by bytes meet their targets in a later import")
  func exactKeys() async throws {
    var random = SplitMix(state: Seeds.seed())
    let numbers = (1...300).map { _ in Double.random(in: -1e9...1e9, using: &random) / 7 }
    let doubles = try ImportFixture(Self.map("double", "pending"))
    let owners = numbers.enumerated().map { #"{"id":\#($0),"boss":\#($1)}"# }
    try await doubles.run("{\"p\":[\(owners.joined(separator: ","))]}")
    #expect(try doubles.store.pendingReferences().count == numbers.count)
    let targets = numbers.map { #"{"code":\#($0),"title":"\#($0)"}"# }
    let report = try await doubles.run("{\"b\":[\(targets.joined(separator: ","))]}")
    #expect(report.counts.rejected == 0)
    #expect(try links(doubles) == numbers.enumerated().map { "\($0)|\($1)" })

    let bytes = try ImportFixture(Self.map("data", "pending"))
    try await bytes.run(#"{"p":[{"id":1,"boss":"AAEC/w=="}]}"#)
    #expect(try links(bytes) == ["1|null"])
    try await bytes.run(#"{"b":[{"code":"AAEC/w==","title":"b"}]}"#)
    #expect(try links(bytes) == ["1|b"])
  }

  @Test(
    "The name of a key's attribute may hold anything",
    arguments: ["a\"b", "a\\b", "a.b", "a$[0]"]
  )
  func names(name: String) async throws {
    let fixture = try ImportFixture(Self.map("string", "pending", name: name))
    try await fixture.run(#"{"p":[{"id":1,"boss":"Z"}]}"#)
    try await fixture.run(#"{"p":[{"id":2,"boss":"Y"}]}"#)
    try await fixture.run(#"{"b":[{"code":"Z","title":"z"},{"code":"Y","title":"y"}]}"#)
    #expect(try links(fixture) == ["1|z", "2|y"])
  }

  @Test("What waits gets the new form of its key with a migration")
  func migration() async throws {
    let fixture = try ImportFixture(Self.map("date", "pending"))
    try await fixture.run(#"{"p":[{"id":1,"boss":"2020-01-01"},{"id":2}]}"#)
    let later = try ImportFixture(Self.map("timestamp", "pending"), in: fixture.store)
    try fixture.store.migrate(to: later.map.model())
    try await later.run(#"{"b":[{"code":"2020-01-01T00:00:00","title":"new year"}]}"#)
    #expect(try links(later) == ["1|new year", "2|null"])
  }

  @Test("Changes behind a NUL are told", arguments: [false, true])
  func changes(tellsNet: Bool) async throws {
    let fixture = try ImportFixture(Self.map("string", "pending"))
    try await fixture.run(#"{"b":[{"code":"A\u0000B","title":"t\u0000u"}]}"#)
    let told = Mutex<[ImportChange]>([])
    try await fixture.run(#"{"b":[{"code":"A\u0000B","title":"t\u0000v"}]}"#) {
      $0.tellsNetChanges = tellsNet
      $0.changes = { change in told.withLock { $0.append(change) } }
    }
    let changes = told.withLock { $0 }
    #expect(changes.map(\.kind) == [.updated])
    #expect(changes.first?.key.map(\.value) == [.text("A\u{0}B")])
    #expect(changes.first?.fields.map(\.old) == [.text("t\u{0}u")])
    #expect(changes.first?.fields.map(\.new) == [.text("t\u{0}v")])
  }
}
