import Foundation
import Testing

/// `dragoman rejects retry` and `show`, run as a user runs them.
@Suite struct RejectsCommandTests {
  private let folder: ToolFolder
  private static let map = """
    version: 1
    name: people
    entities:
      P:
        unique: id
        attributes:
          id: { type: int64, from: { json: id, xml: "x:id", csv: id } }
          n: { type: int32, from: { json: n, xml: "@n", csv: n } }
          secret: { from: { json: secret }, sensitive: true, length: 3 }
          batch: { from: { json: $root.meta.batch, xml: "$root/x:head/@batch" } }
          number: { type: int32, from: $index }
          line: { type: int32, from: $line }
          file: { from: $file }
        relationships:
          boss: { entity: P, kind: toOne, key: { id: { json: boss, xml: "x:boss" } }, onUnresolved: reject }
    sources:
      j: { format: json, entity: P, records: /people }
      x: { format: xml, entity: P, records: "/x:r/x:p", namespaces: { x: "urn:x" } }
      n: { format: ndjson, entity: P }
    """
  private static let json = """
    {"meta":{"batch":"B1"},
    "people":[{"id":1,"n":2},
    {"id":2,
    "n":"3"},
    7,
    {"id":3,"n":3,"boss":99}]}
    """
  private static let xml = """
    <r xmlns="urn:x" xmlns:y="urn:y"><head batch="X&lt;1"><y:q>t</y:q></head>
    <p n="1"><id>11</id></p>
    <p n="bad"><id>12</id><y:e>&amp;</y:e></p>
    </r>
    """
  private static let lines = """
    {"id":31,"n":1}
    {"id":32,"n":}
    {"id":33,"n":true,"secret":"hush-hush"}

    """

  init() throws {
    folder = try ToolFolder()
    try folder.write(Self.map, to: "m.map.yaml")
    try folder.write(Self.json, to: "a.json")
    try folder.write(Self.xml, to: "a.xml")
    try folder.write(Self.lines, to: "a.ndjson")
    let run = try folder.run(
      ["import", "m.map.yaml", "a.json", "a.xml", "a.ndjson", "-d", "s.db", "-q"]
        + ["--rejects", "r.ndjson"]
    )
    #expect(run.status == 3)
  }

  private func retry(_ map: String = "m.map.yaml", _ more: String...) throws -> ToolFolder.Run {
    try folder.run(["rejects", "retry", "r.ndjson", map, "-d", "s.db"] + more)
  }

  /// The map with another rule for `n`.
  private func mendMap() throws {
    try folder.write(
      Self.map.replacingOccurrences(
        of: "n: { type: int32, from",
        with: "n: { type: int32, onInvalid: clear, from"
      ),
      to: "mended.map.yaml"
    )
  }

  private func rows() throws -> [String] {
    try folder.run(
      "fetch",
      "P",
      "-d",
      "s.db",
      "--sort",
      "id",
      "--columns",
      "id,n,batch,number,line,file"
    )
    .output.split(separator: "\n").map(String.init)
  }

  @Test("A retry that mends nothing changes no byte of the file")
  func unchanged() throws {
    let before = try folder.read("r.ndjson")
    #expect(before.split(separator: "\n").count == 6)
    for _ in 0..<2 {
      let run = try retry()
      #expect(run.status == 3)
      #expect(run.errors.hasSuffix("\n  rejected  6\nr.ndjson: 0 went in, 6 rejected again.\n"))
      #expect(!run.errors.contains("hush"))
      #expect(try folder.read("r.ndjson") == before)
    }
  }

  @Test(
    "What goes in after the map was mended leaves the file, with its old place and surroundings"
  )
  func mendedMap() throws {
    try mendMap()
    let before = try folder.read("r.ndjson").split(separator: "\n")
    let dry = try retry("mended.map.yaml", "--dry-run")
    #expect(dry.status == 3)
    #expect(try folder.read("r.ndjson").split(separator: "\n") == before)
    #expect(try rows().count == 3)

    let run = try retry("mended.map.yaml")
    #expect(run.status == 3)
    #expect(run.errors.contains("warning[value.type]: a.json:4 (record 2, byte 63): P.n\n"))
    #expect(run.errors.hasSuffix("r.ndjson: 2 went in, 4 rejected again.\n"))
    #expect(
      try rows() == [
        #"{"id":1,"n":2,"batch":"B1","number":0,"line":2,"file":"a.json"}"#,
        #"{"id":2,"n":null,"batch":"B1","number":1,"line":3,"file":"a.json"}"#,
        #"{"id":11,"n":1,"batch":"X<1","number":0,"line":2,"file":"a.xml"}"#,
        #"{"id":12,"n":null,"batch":"X<1","number":1,"line":3,"file":"a.xml"}"#,
        #"{"id":31,"n":1,"batch":null,"number":0,"line":1,"file":"a.ndjson"}"#,
      ]
    )
    // The value of 33 was let pass, its secret is too long.
    let after = try folder.read("r.ndjson").split(separator: "\n")
    #expect(after.count == 4)
    let codes = after.map { $0.firstMatch(of: /"code":"([a-z.]+)"/).map { String($0.output.1) } }
    #expect(codes == ["record.type", "record.syntax", "value.text", "link.unresolved"])
    // Lines whose reason is the same are the same.
    #expect(before.filter { after.contains($0) }.count == 3)
    let mode = try FileManager.default.attributesOfItem(
      atPath: folder.url.appendingPathComponent("r.ndjson").path
    )[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test("Records that were mended in the file go in, whatever they were: a value, XML, a text")
  func mendedRecords() throws {
    var text = try folder.read("r.ndjson")
    for (old, new) in [
      (#""record":{"id":2,"n":"3"}"#, #""record":{"id":2,"n":3}"#),
      (#""record":7"#, #""record":{"id":7}"#),
      (#"<p n=\"bad\">"#, #"<p n=\"5\">"#),
      (#"{\"id\":32,\"n\":}"#, #"{\"id\":32,\"n\":4}"#),
      (#""boss":99"#, #""boss":1"#),
      (#""n":true,"secret":"hush-hush""#, #""n":null"#),
    ] {
      #expect(text.contains(old))
      text = text.replacingOccurrences(of: old, with: new)
    }
    try folder.write(text, to: "r.ndjson")
    let run = try retry()
    #expect(run.status == 0)
    #expect(run.errors.hasSuffix("\n  P.boss  1 linked\nr.ndjson: 6 went in.\n"))
    #expect(try folder.read("r.ndjson") == "")
    #expect(try rows().count == 9)
    let empty = try retry()
    #expect(empty.status == 0)
    #expect(empty.errors.hasSuffix("r.ndjson: 0 went in.\n"))
  }

  @Test("A line that was broken while it was mended is told with its place, and nothing happens")
  func brokenLine() throws {
    let text = try folder.read("r.ndjson")
    for (broken, words) in [
      (
        text.replacingOccurrences(of: #"{"id":2,"n":"3"}"#, with: "{"),
        "error[json.syntax]: r.ndjson:1:"
      ),
      (text + "{\"a\":1}\n", "error[input.rejects]: r.ndjson:7:1 "),
    ] {
      try folder.write(broken, to: "r.ndjson")
      try mendMap()
      let run = try retry("mended.map.yaml")
      #expect(run.status == 65)
      #expect(run.errors.hasPrefix(words))
      #expect(try folder.read("r.ndjson") == broken)
      #expect(try rows().count == 3)
    }
  }

  @Test("Rejects of a source that the map does not have stay, and are told")
  func otherMap() throws {
    let map = Self.map.replacingOccurrences(
      of: "  x: { format: xml",
      with: "  other: { format: xml"
    )
    try folder.write(map, to: "other.map.yaml")
    let before = try folder.read("r.ndjson")
    let run = try retry("other.map.yaml")
    #expect(run.status == 3)
    #expect(run.errors.contains("note: 1 reject stays: the map has no source for x\n"))
    #expect(try folder.read("r.ndjson") == before)
  }

  @Test("A rejects file may be standard input, and begin with a byte order mark")
  func byDescriptor() throws {
    try folder.write(
      "version: 1\nentities: { P: { unique: id, attributes: { id: { type: int64 }, n: { type: int32 } } } }\n",
      to: "n.map.yaml"
    )
    let wrong = #"{"id":1,"n":"x"}"# + "\n"
    try folder.write(wrong, to: "n.ndjson")
    let run = try folder.shell(
      """
      "$D" import -q n.map.yaml n.ndjson -d n.db --rejects made.ndjson
      printf '\\357\\273\\277' > q.ndjson
      sed 's/"n":"x"/"n":5/' made.ndjson >> q.ndjson
      "$D" rejects retry /dev/stdin n.map.yaml -d n.db < q.ndjson
      """
    )
    #expect(run.status == 0 && run.errors.contains("1 went in"), "\(run)")
    #expect(try folder.read("q.ndjson").isEmpty)
  }

  @Test("A pipe that nobody reads takes no rejects")
  func unreadPipe() throws {
    let run = try folder.shell(
      #"mkfifo pipe; "$D" import m.map.yaml a.json -d s.db --rejects pipe"#
    )
    #expect(run.status == 73 && run.errors.contains("it is a pipe, and nobody reads it"), "\(run)")
  }

  @Test("Rejects of an entity that was renamed go in under its new name")
  func renamedEntity() throws {
    let map = Self.map.replacing("  P:\n", with: "  Q:\n    renamedFrom: P\n")
      .replacing("entity: P", with: "entity: Q")
      .replacing("n: { type: int32, from", with: "n: { type: int32, onInvalid: clear, from")
    try folder.write(map, to: "renamed.map.yaml")
    #expect(try folder.run("migrate", "renamed.map.yaml", "-d", "s.db").status == 0)
    let run = try retry("renamed.map.yaml")
    #expect(!run.errors.contains("the map has no"), "\(run.errors)")
    #expect(
      try folder.run("fetch", "Q", "-d", "s.db", "--where", "id == 2", "--count").output == "1\n"
    )
  }

  @Test("Wrong files and names are told")
  func usage() throws {
    for (arguments, status, words) in [
      (["none.ndjson", "m.map.yaml", "-d", "s.db"], 66, "There is no file none.ndjson."),
      (["r.ndjson", "m.map.yaml", "-d", "none.db"], 66, "none.db: There is no such database."),
      (["a.json", "m.map.yaml", "-d", "s.db"], 65, "a.json:1:"),
      (["m.map.yaml", "r.ndjson", "-d", "s.db"], 64, "put r.ndjson before m.map.yaml"),
    ] {
      let run = try folder.run(["rejects", "retry"] + arguments)
      #expect(run.status == status)
      #expect(run.errors.contains(words))
      #expect(try folder.read("a.json") == Self.json)
    }
  }

  @Test(
    "A retry that was stopped between its commit and the new file is run again and ends as one that was not"
  )
  func stopped() throws {
    try mendMap()
    let before = try folder.read("r.ndjson")
    _ = try retry("mended.map.yaml")
    let (after, rows) = try (folder.read("r.ndjson"), self.rows())
    // The file as such a stop leaves it.
    try folder.write(before, to: "r.ndjson")
    let again = try retry("mended.map.yaml")
    #expect(again.status == 3)
    #expect(again.errors.contains("\n  unchanged 2\n  rejected  4\n"))
    #expect(try folder.read("r.ndjson") == after)
    #expect(try self.rows() == rows)
    #expect(try folder.files.allSatisfy { !$0.hasSuffix(".retry") })
  }

  @Test("How many lines stay is told to programs, whoever leaves them there")
  func left() throws {
    try folder.write(
      Self.map.replacing("  x: { format: xml", with: "  other: { format: xml"),
      to: "other.map.yaml"
    )
    let run = try retry("other.map.yaml", "--json", "-q")
    #expect(
      run.status == 3 && run.output.contains(#""left":6,"#) && run.output.contains(#""read":5,"#)
    )
    let bounded = try retry("m.map.yaml", "--max-rejects", "5")
    #expect(bounded.status == 65 && bounded.errors.contains("or raise --max-rejects"), "\(bounded)")
    #expect(!bounded.errors.contains("--resume"))
  }

  @Test("A packed rejects file is told as that", arguments: ["show", "retry"])
  func packed(command: String) throws {
    let more = command == "show" ? "" : " m.map.yaml -d s.db"
    let run = try folder.shell("gzip r.ndjson; \"$D\" rejects \(command) r.ndjson.gz\(more)")
    #expect(run.status == 65 && run.errors.contains("r.ndjson.gz is gzip data"), "\(run)")
  }

  @Test("Show counts rejects by reason, and by source where there are several")
  func show() throws {
    let run = try folder.run("rejects", "show", "r.ndjson")
    #expect(run.status == 0 && run.errors.isEmpty)
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 9)
    #expect(
      lines[2]
        .hasPrefix("    1  value.type       P.n     j       a.json:4    The value is of a type")
    )
    #expect(lines[8] == "r.ndjson: 6 rejects")
    let json = try folder.run("rejects", "show", "r.ndjson", "--json")
    #expect(
      json.output.hasPrefix(
        #"{"count":6,"groups":[{"attribute":"n","code":"value.type","count":1,"#
      )
    )
    #expect(try !folder.read("r.ndjson").isEmpty)
  }

  @Test("Rejects of another map stay as they are, and so does a file beside them")
  func others() throws {
    try folder.write(
      "version: 1\nentities: { Q: { unique: id, attributes: { id: { type: int64 } } } }\n"
        + "sources: { j: { format: json, entity: Q }, n: { format: ndjson, entity: Q } }\n",
      to: "q.map.yaml"
    )
    try folder.write("precious", to: "r.ndjson.retry")
    let before = try folder.read("r.ndjson")
    let run = try retry("q.map.yaml")
    #expect(run.status == 3 && run.errors.contains("rejects stay: the map has no entity P"))
    #expect(try folder.read("r.ndjson") == before)
    #expect(try folder.read("r.ndjson.retry") == "precious")
    #expect(try folder.run("fetch", "Q", "-d", "s.db", "--count").output == "0\n")
  }
}
