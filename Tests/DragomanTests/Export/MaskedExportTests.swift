import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What a masked export shows of sensitive values: nothing, wherever else they stand.
@Suite("Masked exports") struct MaskedExportTests {
  private func text(
    _ fixture: ImportFixture,
    _ format: ForeignFormat,
    names: ExportStyle.Names? = nil
  ) async throws -> String {
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(path) }
    var request = ExportRequest(entity: "P", format: format, isLossy: true).with {
      $0.masksSensitive = true
    }
    request.style.names = names
    _ = try await Exporter(map: fixture.map, store: fixture.store).run(request, to: .file(path))
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  /// Entities, and a record with the secret, in which "plain" is not sensitive.
  private static let cases: [(String, String)] = [
    (
      "P: { unique: id, attributes: { id: id, a: { from: w, type: json }, s: { from: w.s, sensitive: true }, p: p } }",
      #"{"id":"1","w":{"s":"SECRET","n":"x"},"p":"plain"}"#
    ),
    (
      "P: { unique: id, attributes: { id: id, a: { from: ., type: json }, s: { from: w.s, sensitive: true }, p: p } }",
      #"{"id":"1","w":{"s":"SECRET"},"p":"plain"}"#
    ),
    (
      "P: { unique: id, attributes: { id: id, other: w.s, s: { from: w.s, sensitive: true }, p: p } }",
      #"{"id":"1","w":{"s":"SECRET"},"p":"plain"}"#
    ),
    (
      """
      P: { unique: id, attributes: { id: id, s: { from: q.s, sensitive: true } }, relationships: { q: { entity: Q, kind: toOne } } }
        Q: { unique: p, attributes: { s: s, p: p } }
      """,
      #"{"id":"1","q":{"s":"SECRET","p":"plain"}}"#
    ),
    (
      """
      P: { unique: id, attributes: { id: id, s: { from: "q[0].s", sensitive: true } }, relationships: { q: { entity: Q, kind: toMany } } }
        Q: { unique: p, attributes: { s: s, p: p } }
      """,
      #"{"id":"1","q":[{"s":"SECRET","p":"plain"}]}"#
    ),
    (
      """
      P: { unique: id, attributes: { id: id, s: { from: q.de.s, sensitive: true } }, relationships: { q: { entity: Q, kind: toMany, from: q.* } } }
        Q: { unique: p, attributes: { s: s, p: p, key: $key } }
      """,
      #"{"id":"1","q":{"de":{"s":"SECRET","p":"plain"}}}"#
    ),
    (
      """
      P: { unique: id, attributes: { id: id, p: p, s: { from: r, sensitive: true } }, relationships: { r: { entity: R, kind: toOne, key: { id: r }, onUnresolved: stub } } }
        R: { unique: id, attributes: { id: id } }
      """,
      #"{"id":"1","p":"plain","r":"SECRET"}"#
    ),
    (
      """
      P: { unique: id, attributes: { id: id, a: { from: w, type: json }, p: p }, discriminator: { from: kind, values: { c: C } } }
        C: { parent: P, attributes: { s: { from: w.s, sensitive: true } } }
      """,
      #"{"id":"1","kind":"c","p":"plain","w":{"s":"SECRET"}}"#
    ),
  ]

  @Test("Values around a sensitive one, and others of its place, are masked too", arguments: cases)
  func around(entities: String, record: String) async throws {
    let fixture = try ImportFixture(
      "version: 1\nentities:\n  \(entities)\nsources: { j: { format: json, entity: P } }"
    )
    #expect(try await fixture.run("[\(record)]").counts.inserted == 1)
    for format in [ForeignFormat.json, .ndjson, .csv] {
      let text = try await text(fixture, format)
      #expect(!text.contains("SECRET") && text.contains("•••"), "\(text)")
      #expect(text.contains("plain") || (format == .csv && entities.contains("Q:")), "\(text)")
    }
    let local = try await text(fixture, .json, names: .local)
    #expect(!local.contains("SECRET") && local.contains("plain"), "\(local)")
  }

  @Test("Messages, rejects and diffs do not show a sensitive value in the one around it either")
  func messages() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P: { unique: id, attributes: { id: id, a: { from: w, type: json }, text: { from: w, onInvalid: clear }, s: { from: w.s, sensitive: true }, p: p } }
      sources: { j: { format: json, entity: P } }
      """
    )
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(path) }
    for secret in ["SECRET-1", "SECRET-2"] {
      nonisolated(unsafe) var changes: [ImportChange] = []
      let report = try await fixture.run(#"[{"id":"1","w":{"s":"\#(secret)"},"p":"\#(secret)"}]"#) {
        $0.changes = { changes.append($0) }
        $0.tellsNetChanges = true
        $0.options.rejectsFile = path
      }
      #expect(report.issueSummary == ["value.type 1"])
      let shown = changes.flatMap(\.fields).filter { "\($0)".contains("SECRET") }
      #expect(shown.map(\.attribute.name) == ["p"])
      #expect(report.issues.flatMap(\.examples).allSatisfy { !"\($0)".contains("SECRET") })
    }
    #expect(
      fixture.store.model.entity(named: "P")?.attributes.filter(\.isSensitive).map(\.name) == [
        "a", "text", "s",
      ]
    )
  }

  @Test("What stands inside of a sensitive value says for itself whether it is")
  func inside() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: id, a: { from: w, type: json, sensitive: true }, n: w.n } } }
      sources: { j: { format: json, entity: P } }
      """
    )
    try await fixture.run(#"[{"id":"1","w":{"s":"SECRET","n":"plain"}}]"#)
    let local = try await text(fixture, .json, names: .local)
    #expect(!local.contains("SECRET") && local.contains("plain"), "\(local)")
  }
}
