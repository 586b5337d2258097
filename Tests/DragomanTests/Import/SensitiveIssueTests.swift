import Foundation
import Synchronization
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What reports, rejects files and diffs show of values: sensitive ones masked, keys on one line.
@Suite("Values in reports") struct SensitiveIssueTests {
  private static let claims = """
    version: 1
    entities:
      Claim:
        unique: id
        attributes: { id: id }
        relationships:
          person: { entity: Person, kind: toOne, key: { ssn: ssn } }
          people: { entity: Person, kind: toMany, key: { ssn: "ssns[*].n", country: country } }
          whole: { entity: Whole, kind: toOne, from: whole }
      Person:
        unique: [ssn]
        attributes: { ssn: { from: ssn, sensitive: true }, country: country }
      Whole: { unique: n, attributes: { n: { from: ".", sensitive: true } } }
    sources: { j: { format: json, entity: Claim } }
    """

  @Test(
    "A value in place of a sensitive key is masked",
    arguments: [
      #"{"id":"1","ssn":["111-22-3333"]}"#, #"{"id":"1","ssn":{"n":"111-22-3333"}}"#,
      #"{"id":"1","ssn":"111-22-3333","ssn":"4"}"#, #"{"id":"1","whole":["111-22-3333"]}"#,
    ]
  )
  func keys(record: String) async throws {
    let yaml = Self.claims.replacing(/[ ]+people: .*\n/, with: "")
    let fixture = try ImportFixture(yaml)
    let report = try await fixture.run("[\(record)]")
    #expect(report.counts.rejected == 1)
    #expect(report.issues.first?.examples.first?.value == "•••")
  }

  @Test("An unknown word of a sensitive discriminator is masked")
  func discriminator() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P: { unique: id, attributes: { id: id, kind: { from: kind, sensitive: true } }, discriminator: { from: kind, values: { a: Q } } }
        Q: { parent: P, attributes: { x: x } }
      sources: { j: { format: json, entity: P } }
      """
    )
    let report = try await fixture.run(#"[{"id":"1","kind":"SECRET-KIND"}]"#)
    #expect(report.issues.first?.examples.first?.value == "•••")
  }

  @Test("Values read from the place of a sensitive one are sensitive, wherever it is named from")
  func places() throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          Person:
            unique: id
            attributes: { id: id, ssn: { from: ssn, sensitive: true }, plain: plain }
            relationships:
              phones: { entity: Phone, kind: toMany, from: phones }
              acct: { entity: Acct, kind: toOne, key: { no: { attribute: ssn } }, onUnresolved: stub }
          Phone: { unique: n, attributes: { n: n, owner: $parent.ssn, other: $parent.plain } }
          Acct: { unique: no, attributes: { no: no, copy: no, name: name } }
          Doc: { unique: id, attributes: { id: id, k: { from: $root.secret, sensitive: true }, k2: $root.secret } }
          Car:
            unique: id
            attributes: { id: id, owner: owner, seen: seen }
            relationships: { wheels: { entity: Wheel, kind: toMany, from: wheels } }
          Wheel: { unique: n, attributes: { n: n, o: { from: $parent.owner, sensitive: true } } }
          Bill: { unique: id, attributes: { id: id, payer: payer }, relationships: { by: { entity: Payer, kind: toOne, key: { p: payer } } } }
          Payer: { unique: p, attributes: { p: { from: p, sensitive: true } } }
        sources: { p: { format: json, entity: Person, records: /p }, d: { format: json, entity: Doc, records: /d } }
        """
    )
    let marked = map.markingSensitive().entities.flatMap { entity in
      entity.attributes.filter(\.isSensitive).map { "\(entity.name).\($0.name)" }
    }
    #expect(
      marked == [
        "Person.ssn", "Phone.owner", "Acct.no", "Acct.copy", "Doc.k", "Doc.k2",
        "Car.owner", "Wheel.o", "Bill.payer", "Payer.p",
      ]
    )
  }

  @Test("A key in a report is one short line")
  func key() async throws {
    let fixture = try ImportFixture(
      "version: 1\nentities: { P: { unique: id, attributes: { id: id, n: { type: int32 } } } }"
    )
    let long = String(repeating: "x", count: 100_000)
    let report = try await fixture.run(
      #"[{"id":"1\u001b[31mRED\nerror[store.damaged]: forged\u202e\u2028\#(long)","n":"q"}]"#
    )
    let key = try #require(report.issues.first?.examples.first?.key)
    #expect(key.hasPrefix("1␛[31mRED␊error[store.damaged]: forged"))
    #expect(key.unicodeScalars.count < 120)
    #expect(
      key.unicodeScalars.allSatisfy { $0.value >= 0x20 && ![0x202E, 0x2028].contains($0.value) }
    )
  }

  @Test("A record of XML stands in the rejects file as its text, whatever it is")
  func nilRecord() async throws {
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(path) }
    let fixture = try ImportFixture(attributes: "n: n")
    let record = "<p id='1' xsi:nil='true'/>"
    try await fixture.run(
      "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>\(record)</r>"
    ) { $0.options.rejectsFile = path }
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains(#","record":"\#(record)","source":"xml""#), "\(text)")
  }
}
