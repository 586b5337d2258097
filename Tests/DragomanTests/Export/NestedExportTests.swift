import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Entities that stand inside of themselves.
@Suite("Exports of entities inside of themselves") struct NestedExportTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The entities, the records being those of `Root`.
    let entities: String
    var format = ForeignFormat.json
    let feed: String
    /// What the export holds.
    let expected: String
  }

  private static let comments = """
    Root: { unique: id, attributes: { id: id }, relationships: { c: { entity: Comment, kind: toMany, ordered: true } } }
    Comment: { unique: id, attributes: { id: id, text: text }, relationships: { c: { entity: Comment, kind: toMany, ordered: true } } }
    """

  private static let cases = [
    Case(
      testDescription: "a tree of lists",
      entities: comments,
      feed:
        #"[{"id":"p","c":[{"id":"1","text":"a","c":[{"id":"2","text":"b","c":[{"id":"3","text":"c","c":[]}]}]}]}]"#,
      expected:
        #""c":[{"id":"1","text":"a","c":[{"id":"2","text":"b","c":[{"id":"3","text":"c","c":[]}]}]}]"#
    ),
    Case(
      testDescription: "a tree of elements",
      entities: comments,
      format: .xml,
      feed:
        "<r><t><id>p</id><c><id>1</id><text>a</text><c><id>2</id><text>b</text><c><id>3</id><text>c</text></c></c></c></t></r>",
      expected:
        "<c><id>1</id><text>a</text><c><id>2</id><text>b</text><c><id>3</id><text>c</text></c></c></c>"
    ),
    Case(
      testDescription: "a circle, which ends with a key",
      entities: comments,
      feed:
        #"[{"id":"p","c":[{"id":"1","text":"a","c":[{"id":"2","text":"b","c":[{"id":"1"}]}]}]}]"#,
      expected: #""c":[{"id":"1","text":"a","c":[{"id":"2","text":"b","c":[{"id":"1"}]}]}]"#
    ),
    Case(
      testDescription:
        "an object with several others around it, which is whole where it is nearest",
      entities: comments,
      feed:
        #"[{"id":"p","c":[{"id":"1","text":"a","c":[{"id":"2","text":"b","c":[{"id":"3"}]}]},{"id":"4","text":"d","c":[{"id":"3","text":"c"}]}]}]"#,
      expected: #"{"id":"2","text":"b","c":[{"id":"3"}]}"#
    ),
    Case(
      testDescription: "sub-entities",
      entities: """
        Root: { unique: id, attributes: { id: id }, relationships: { blocks: { entity: Block, kind: toMany, ordered: true } } }
        Block: { unique: id, attributes: { id: id }, discriminator: { from: kind, values: { text: Text, group: Group } } }
        Text: { parent: Block, attributes: { text: text } }
        Group: { parent: Block, relationships: { items: { entity: Block, kind: toMany, ordered: true } } }
        """,
      feed:
        #"[{"id":"p","blocks":[{"id":"1","kind":"group","items":[{"id":"2","kind":"group","items":[{"id":"3","kind":"text","text":"deep"}]}]}]}]"#,
      expected: #"{"id":"3","text":"deep","kind":"text"}"#
    ),
    Case(
      testDescription: "to-ones",
      entities: """
        Root: { unique: id, attributes: { id: id }, relationships: { top: { entity: Node, kind: toOne } } }
        Node: { unique: id, attributes: { id: id, v: v }, relationships: { left: { entity: Node, kind: toOne }, right: { entity: Node, kind: toOne } } }
        """,
      feed:
        #"[{"id":"p","top":{"id":"1","v":"a","left":{"id":"2","v":"b","right":{"id":"3","v":"c"}},"right":{"id":"4","v":"d"}}}]"#,
      expected: #""left":{"id":"2","v":"b","right":{"id":"3","v":"c"}},"right":{"id":"4","v":"d"}"#
    ),
    Case(
      testDescription: "by way of another entity",
      entities: """
        Root: { unique: id, attributes: { id: id }, relationships: { nodes: { entity: Node, kind: toMany } } }
        Node: { unique: id, attributes: { id: id, v: v }, relationships: { tag: { entity: Tag, kind: toOne } } }
        Tag: { unique: id, attributes: { id: id, w: w }, relationships: { sample: { entity: Node, kind: toOne } } }
        """,
      feed:
        #"[{"id":"p","nodes":[{"id":"1","v":"a","tag":{"id":"t","w":"x","sample":{"id":"2","v":"b","tag":{"id":"u","w":"y","sample":{"id":"3","v":"c"}}}}}]}]"#,
      expected:
        #""sample":{"id":"2","v":"b","tag":{"id":"u","w":"y","sample":{"id":"3","v":"c"}}}"#
    ),
  ]

  private static func yaml(_ entities: String) -> String {
    """
    version: 1
    entities:
    \(entities.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
    sources:
      json: { format: json, entity: Root }
      xml: { format: xml, entity: Root, records: /r/t }
    """
  }

  @Test("What has no records of its own is written whole, as deep as it is", arguments: cases)
  func whole(one: Case) async throws {
    let text = try await exportCircle(
      Self.yaml(one.entities),
      one.feed,
      ExportRequest(entity: "Root", format: one.format)
    )
    #expect(text.contains(one.expected), "\(text)")
  }

  @Test("Objects without a key are written whole, too")
  func keyless() async throws {
    let entities = Self.comments.replacing(
      "Comment: { unique: id, attributes: { id: id, ",
      with: "Comment: { attributes: { "
    )
    let fixture = try ImportFixture(Self.yaml(entities))
    try await fixture.run(
      #"[{"id":"p","c":[{"text":"a","c":[{"text":"b","c":[{"text":"c","c":[]}]}]}]}]"#
    )
    let bytes = try await Exporter(map: fixture.map, store: fixture.store).bytes(ExportRequest())
    #expect(
      String(decoding: bytes, as: UTF8.self).contains(
        #""c":[{"text":"a","c":[{"text":"b","c":[{"text":"c","c":[]}]}]}]"#
      )
    )
  }

  @Test("A circle of what an import of its key takes away is told as a loss")
  func circle() async throws {
    let fixture = try ImportFixture(
      Self.yaml(
        """
        Root: { unique: id, attributes: { id: id }, relationships: { top: { entity: Node, kind: toOne } } }
        Node: { unique: id, attributes: { id: id }, relationships: { next: { entity: Node, kind: toOne, onMissing: clear } } }
        """
      )
    )
    try await fixture.run(#"[{"id":"p","top":{"id":"1","next":{"id":"2"}}}]"#)
    try fixture.store.execute(
      "UPDATE Node SET next = (SELECT _pk FROM Node WHERE id = '1') WHERE id = '2'"
    )
    let report = try await Exporter(map: fixture.map, store: fixture.store)
      .run(ExportRequest(), to: .file("/dev/null"))
    #expect(report.losses.count == 1 && report.losses[0].hasPrefix("Node.next: "), "\(report)")
  }

  @Test("By local names a tree is as deep")
  func localNames() async throws {
    let text = try await exportCircle(
      Self.yaml(Self.comments),
      #"[{"id":"p","c":[{"id":"1","text":"a","c":[{"id":"2","text":"b","c":[{"id":"3","text":"c"}]}]}]}]"#,
      ExportRequest(entity: "Root", style: ExportStyle(names: .local))
    )
    #expect(text.contains(#"{"id":"3","text":"c""#), "\(text)")
  }

  @Test("More ways through a record's objects than anybody can write end the export")
  func ways() async throws {
    let fixture = try ImportFixture(
      Self.yaml(
        """
        Root: { unique: id, attributes: { id: id }, relationships: { top: { entity: Node, kind: toOne } } }
        Node: { unique: id, attributes: { id: id }, relationships: { l: { entity: Node, kind: toOne, onMissing: clear }, r: { entity: Node, kind: toOne, onMissing: clear } } }
        """
      )
    )
    let starts = (1...18).map { #""l":{"id":"\#($0)","# }.joined()
    let ends = String(repeating: "}", count: 18)
    try await fixture.run(#"[{"id":"p","top":{"id":"0",\#(starts)"r":null\#(ends)}}]"#)
    try fixture.store.execute("UPDATE Node SET r = l")
    let error = await #expect(throws: ExportError.self) {
      _ = try await Exporter(map: fixture.map, store: fixture.store).bytes(ExportRequest())
    }
    #expect(error?.message.contains("too many objects") == true, "\(String(describing: error))")
  }

  @Test("A tree that is deeper than an import reads ends the export")
  func depth() async throws {
    let fixture = try ImportFixture(Self.yaml(Self.comments))
    let starts = (1...300).map { #"{"id":"\#($0)","text":"t","c":["# }.joined()
    let ends = String(repeating: "]}", count: 300)
    try await fixture.run(#"[{"id":"p","c":[\#(starts)\#(ends)]}]"#)
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    let bytes = try await exporter.bytes(ExportRequest())
    let again = try await fixture.run(String(decoding: bytes, as: UTF8.self))
    #expect(again.summary == "read 1, unchanged 1")
    let error = await #expect(throws: ExportError.self) {
      _ = try await exporter.bytes(ExportRequest(format: .xml))
    }
    #expect(error?.code == .value && error?.message.contains("deeper") == true)
  }
}
