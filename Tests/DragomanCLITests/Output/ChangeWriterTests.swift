import Dragoman
import DragomanGraph
import Testing

@testable import DragomanCLI

@Suite struct ChangeWriterTests {
  private static let id = Attribute(name: "id", type: .int64)
  private static let key = [ImportChange.Value(id, .integer(7))]
  private static let updated = ImportChange(
    .updated,
    entity: "Person",
    key: key,
    fields: [
      .init(Attribute(name: "city"), old: .text("Bergen"), new: .null),
      .init(Attribute(name: "pay", type: .decimal), old: .text("1.50"), new: .text("2")),
      .init(
        Attribute(name: "seen", type: .timestamp),
        old: .null,
        new: .text("2026-11-21 08:00:00")
      ),
      .init(
        Attribute(name: "pin").with { $0.isSensitive = true },
        old: .text(ImportChange.mask),
        new: .null
      ),
      .init(Attribute(name: "note"), old: .text("a\n\u{1B}[2J"), new: .text("\"")),
    ],
    origin: Origin(file: "p.csv", line: 3, column: 1, byte: 40, record: 2)
  )

  @Test("Text has a line an object and a line a value; stored text cannot move the cursor")
  func text() {
    let lines = [
      "~ Person 7", #"    city  "Bergen" → null"#, "    pay   1.50 → 2",
      "    seen  null → 2026-11-21T08:00:00Z", "    pin   ••• → null",
      #"    note  "a\n\u{1b}[2J" → """"#, "",
    ]
    #expect(ChangeWriter.text(Self.updated) == lines.joined(separator: "\n"))
  }

  @Test("NDJSON has one object a line, typed, with the place of the record")
  func ndjson() throws {
    let output = OutputBuffer(descriptor: nil)
    let writer = ChangeWriter(.ndjson, to: output)
    try writer.write(Self.updated)
    #expect(
      String(decoding: output.bytes, as: UTF8.self)
        == #"{"change":"updated","entity":"Person","key":{"id":7},"attributes":{"#
        + #""city":{"old":"Bergen","new":null},"pay":{"old":1.50,"new":2},"#
        + #""seen":{"old":null,"new":"2026-11-21T08:00:00Z"},"pin":{"old":"•••","new":null},"#
        + #""note":{"old":"a\n\u001b[2J","new":"\""}},"file":"p.csv","line":3}"# + "\n"
    )
    #expect(writer.count == 1)
  }

  @Test("Links are told by the keys of their targets")
  func links() {
    let code = Attribute(name: "code")
    func target(_ id: Int64) -> [ImportChange.Value] {
      [.init(Self.id, .integer(id)), .init(code, .text("x"))]
    }
    let change = ImportChange(
      .updated,
      entity: "P",
      key: Self.key,
      fields: [],
      links: [
        .init("boss", isToOne: true, removed: [target(1)], added: [target(2)]),
        .init("company", isToOne: true, removed: [target(1)]),
        .init("friends", isToOne: false, removed: [target(3), target(4)], added: [target(5)]),
        .init("teams", isToOne: false),
      ]
    )
    let lines = [
      "~ P 7", #"    boss     1/"x" → 2/"x""#, #"    company  1/"x" → null"#,
      #"    friends  - 3/"x", 4/"x" + 5/"x""#, "    teams    in another order", "",
    ]
    #expect(ChangeWriter.text(change) == lines.joined(separator: "\n"))
    #expect(
      ChangeJSON.text(change)
        == #"{"change":"updated","entity":"P","key":{"id":7},"attributes":{},"relationships":{"#
        + #""boss":{"old":{"id":1,"code":"x"},"new":{"id":2,"code":"x"}},"#
        + #""company":{"old":{"id":1,"code":"x"},"new":null},"#
        + #""friends":{"removed":[{"id":3,"code":"x"},{"id":4,"code":"x"}],"added":[{"id":5,"code":"x"}]},"#
        + #""teams":{"removed":[],"added":[]}}}"#
    )
    let new = ImportChange(
      .inserted,
      entity: "P",
      key: Self.key,
      fields: [],
      links: [.init("boss", isToOne: true, added: [target(2)])]
    )
    #expect(ChangeWriter.text(new) == "+ P 7\n    boss  2/\"x\"\n")
  }

  @Test("New and deleted objects have one side only")
  func sides() {
    let name = Attribute(name: "name")
    let inserted = ImportChange(
      .inserted,
      entity: "P",
      key: [],
      fields: [.init(name, old: nil, new: .text("Ada"))]
    )
    #expect(ChangeWriter.text(inserted) == "+ P\n    name  \"Ada\"\n")
    var other = ImportChange(.updated, entity: "Q", key: Self.key, fields: [])
    other.formerEntity = "P"
    #expect(ChangeWriter.text(other) == "~ Q 7 (was P)\n")
    #expect(
      ChangeJSON.text(other)
        == #"{"change":"updated","entity":"Q","formerEntity":"P","key":{"id":7},"attributes":{}}"#
    )
    let pruned = ImportChange(.pruned, entity: "P", key: Self.key, fields: [])
    #expect(ChangeWriter.text(pruned) == "- P 7 (not in the feed)\n")
    #expect(
      ChangeJSON.text(pruned)
        == #"{"change":"pruned","entity":"P","key":{"id":7},"attributes":{}}"#
    )
  }
}
