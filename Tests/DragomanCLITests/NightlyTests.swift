import Foundation
import Testing

/// What who runs feeds every night is told.
@Suite("Nightly feeds") struct NightlyTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      name: p
      entities:
        P: { unique: id, contract: report, attributes: { id: { type: int32 }, city: city } }
      sources:
        j: { format: json, entity: P }
        n: { format: ndjson, entity: P }
        c: { format: csv, entity: P }
      """,
      to: "p.map.yaml"
    )
  }

  private func object(_ json: Substring) throws -> [String: Any] {
    let value = try JSONSerialization.jsonObject(with: Data(json.utf8))
    return try #require(value as? [String: Any])
  }

  @Test(
    "A path of JSON that a record of NDJSON has is matched, and the format is named where it is not"
  )
  func formats() throws {
    try folder.write(#"[{"id":1,"city":"Oslo"}]"#, to: "a.json")
    try folder.write("{\"id\":2}\n{\"id\":3}\n", to: "b.ndjson")
    try folder.write("id,town\n4,Bergen\n", to: "c.csv")
    let both = try folder.run("import", "p.map.yaml", "a.json", "b.ndjson", "-d", "p.db")
    #expect(!both.errors.contains("no record has"), "\(both.errors)")
    #expect(try folder.run("check", "p.map.yaml", "a.json", "b.ndjson").status == 0)
    let all = try folder.run("check", "p.map.yaml", "a.json", "c.csv", "--json")
    #expect(
      all.status == 65 && all.errors.contains("P.city (csv): the path city matched 0 of 1 record")
    )
    let one = try folder.run("check", "p.map.yaml", "b.ndjson")
    #expect(one.errors.contains("P.city: the path city matched 0 of 2 records"), "\(one.errors)")
  }

  @Test("check --json says why it failed, on standard error too")
  func check() throws {
    try folder.write(#"[{"id":1}]"#, to: "a.json")
    try folder.write(
      "version: 1\nentities: { P: { unique: no, attributes: { id: id } } }\n",
      to: "bad.map.yaml"
    )
    for (arguments, status, code) in [
      (["nope.map.yaml"], 66, "map.file"), (["bad.map.yaml"], 65, "map."),
      (["p.map.yaml", "a.json"], 65, "path.unmatched"),
    ] as [([String], Int32, String)] {
      let run = try folder.run(["check", "--json"] + arguments)
      let document = try object(run.output[...])
      #expect(run.status == status && document["status"] as? String == "failed", "\(run.output)")
      #expect((document["error"] as? String)?.contains(code) == true, "\(run.output)")
      #expect(run.errors.contains(code), "\(run.errors)")
    }
  }

  @Test("run --json says which feed a document is of")
  func run() throws {
    try folder.write(#"[{"id":1,"city":"Oslo"}]"#, to: "a.json")
    try folder.write(
      "database: p.db\nfeeds:\n  one: { map: p.map.yaml, inputs: a.json }\n  two: { map: p.map.yaml, inputs: a.json }\n",
      to: "dragoman.yaml"
    )
    let run = try folder.run("run", "--all", "--json", "--quiet")
    let feeds = try run.output.split(separator: "\n").map { try object($0)["feed"] as? String }
    #expect(feeds == ["one", "two"], "\(run.output)\(run.errors)")
    let alone = try folder.run("import", "p.map.yaml", "a.json", "-d", "p.db", "--json", "-q")
    #expect(try object(alone.output[...])["feed"] == nil)
  }

  @Test("New columns of CSV are what their cells look like, and empty cells are none")
  func columns() throws {
    try folder.write("id,city\n1,Oslo\n", to: "a.csv")
    try folder.write(
      "id,city,n,day,note\n1,Oslo,5,2026-01-02,x\n2,Bergen,,,\n3,Oslo,,,\n",
      to: "b.csv"
    )
    #expect(try folder.run("import", "p.map.yaml", "a.csv", "-d", "p.db").status == 0)
    let run = try folder.run("import", "p.map.yaml", "b.csv", "-d", "p.db")
    for words in [
      "P has n (number, once)", "P has day (date, once)", "P has note (text, once)",
    ] {
      #expect(run.errors.contains(words), "\(run.errors)")
    }
  }

  @Test("The rejects file of a map lies beside it, whatever links lead to the map")
  func rejectsFolder() throws {
    let manager = FileManager.default
    for path in ["deep/sub", "other"] {
      try manager.createDirectory(
        at: folder.url.appendingPathComponent(path),
        withIntermediateDirectories: true
      )
    }
    try manager.createSymbolicLink(
      atPath: folder.url.appendingPathComponent("other/ls").path,
      withDestinationPath: "../deep/sub"
    )
    let map = try folder.read("p.map.yaml") + "\nimport: { rejects: { file: r.ndjson } }\n"
    try folder.write(map, to: "deep/z.map.yaml")
    try folder.write(#"[{"id":"x","city":"Oslo"}]"#, to: "bad.json")
    let run = try folder.run("import", "other/ls/../z.map.yaml", "bad.json", "-d", "p.db")
    #expect(run.status == 3, "\(run.errors)")
    #expect(try folder.read("deep/r.ndjson").contains("value.type"))
    #expect(!manager.fileExists(atPath: folder.url.appendingPathComponent("other/r.ndjson").path))
    // The console lists it once, however it is named.
    let page = try folder.run(
      "serve",
      "-d",
      "p.db",
      "--map",
      "deep/z.map.yaml",
      "--rejects",
      "deep/../deep/r.ndjson",
      "--get",
      "/rejects.json"
    )
    #expect(
      page.output.components(separatedBy: "r.ndjson").count == 2,
      "\(page.output)\(page.errors)"
    )
  }

  @Test("Who gives a feed without a map hears how one is guessed")
  func noMap() throws {
    try folder.write("[]", to: "feed.json")
    let run = try folder.run("import", "feed.json", "-d", "x.db")
    #expect(
      run.status == 64 && run.errors.contains("dragoman import feed.json -d <database> --guess")
    )
  }
}
