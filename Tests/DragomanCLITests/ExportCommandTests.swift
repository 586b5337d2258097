import Foundation
import Testing

/// `dragoman export`, run as a user runs it.
@Suite struct ExportCommandTests {
  private let folder: ToolFolder
  private static let map = """
    version: 1
    entities:
      Person:
        unique: id
        attributes:
          id: { type: int32, from: { json: id, xml: "@id", csv: id } }
          name: name
          pin: { sensitive: true }
    sources:
      json: { format: json, entity: Person }
      xml: { format: xml, entity: Person, records: /people/person }
      csv: { format: csv, entity: Person }
    """

  init() throws {
    folder = try ToolFolder()
    try folder.write(Self.map, to: "m.map.yaml")
    try folder.write(#"[{"id":2,"name":"Bo\u0001"},{"id":1,"name":"Ada","pin":"7"}]"#, to: "p.json")
    _ = try folder.run("import", "m.map.yaml", "p.json", "-d", "p.db", "-q")
  }

  @Test("An export goes to standard output, and says nothing else")
  func standardOutput() throws {
    let export = try folder.run(
      "export",
      "m.map.yaml",
      "-d",
      "p.db",
      "-f",
      "ndjson",
      "--where",
      "id == $N",
      "-p",
      "N=1"
    )
    #expect(export.status == 0)
    #expect(export.output == #"{"id":1,"name":"Ada","pin":"7"}"# + "\n")
    #expect(export.errors.isEmpty)
  }

  @Test("A file's name tells format and compression, and the same contents give the same bytes")
  func filesAndCompression() throws {
    for name in ["a.json", "a.json.gz", "a.json.zst", "b.json.gz"] {
      let export = try folder.run("export", "m.map.yaml", "-d", "p.db", "-o", name)
      #expect(export.status == 0)
      #expect(export.errors == "\(name): 2 records\n")
    }
    #expect(
      try folder.read("a.json") == "[\n" + #"{"id":1,"name":"Ada","pin":"7"},"# + "\n"
        + #"{"id":2,"name":"Bo\u0001"}"# + "\n]\n"
    )
    let zipped = try ["a.json.gz", "b.json.gz"].map {
      try Data(contentsOf: folder.url.appendingPathComponent($0))
    }
    #expect(zipped[0] == zipped[1])
    for (place, name) in ["a.json.gz", "a.json.zst"].enumerated() {
      let again = try folder.run("import", "m.map.yaml", name, "-d", "p.db", "--json")
      #expect(again.output.contains(#""unchanged":2"#))
      // The number by which it is taken back: one import was there already.
      #expect(again.output.contains("\"import\":\(place + 2),"), "\(again.output)")
    }
    let trial = try folder.run(
      "import",
      "m.map.yaml",
      "a.json",
      "-d",
      "p.db",
      "--json",
      "--dry-run"
    )
    #expect(trial.status == 0 && !trial.output.contains("\"import\":"))
  }

  @Test("Of CSV a file's name tells what divides the cells, too")
  func tabs() throws {
    for (name, separator) in [("a.csv", ","), ("a.tsv", "\t"), ("A.TSV.gz", "\t")] {
      let options = ["export", "m.map.yaml", "-d", "p.db", "-o", name, "--where", "id == 1"]
      #expect(try folder.run(options).errors == "\(name): 1 record\n")
      let read = try folder.run("import", "m.map.yaml", name, "-d", "\(name).db", "--json")
      #expect(read.status == 0)
      if name != "A.TSV.gz" {
        let line = ["1", "Ada", "7"].joined(separator: separator)
        #expect(try folder.read(name).contains(line))
      }
    }
  }

  @Test("An export that fails leaves what stood there, and no trace")
  func failure() throws {
    try folder.write("<old/>", to: "a.xml")
    let export = try folder.run("export", "m.map.yaml", "-d", "p.db", "--overwrite", "-o", "a.xml")
    #expect(export.status == 65)
    #expect(
      export.errors.hasPrefix("error[export.value]: name of Person 2 holds a control character")
    )
    #expect(try folder.read("a.xml") == "<old/>")
    #expect(try folder.files.filter { $0.hasSuffix(".part") }.isEmpty)
  }

  @Test("A lossy export writes what it can, says so and exits with 3")
  func lossy() throws {
    let export = try folder.run(
      "export",
      "m.map.yaml",
      "-d",
      "p.db",
      "-o",
      "a.xml",
      "--lossy",
      "--mask"
    )
    #expect(export.status == 3)
    #expect(
      export.errors.hasPrefix(
        """
        note: sensitive values are masked: what is exported cannot be imported
        warning[export.value]: name of Person 2 holds a control
        """
      )
    )
    #expect(
      try folder.read("a.xml") == """
        <?xml version="1.0" encoding="UTF-8"?>
        <people>
        <person id="1"><name>Ada</name><pin>•••</pin></person>
        <person id="2"><name>Bo\\u0001</name></person>
        </people>

        """
    )
  }

  @Test("What does not come back is exit code 3, and check tells it before")
  func losses() throws {
    try folder.write(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: id, width: { from: { json: sizes.w } }, sizes: { type: json, from: { json: sizes } } }
          relationships: { parts: { entity: Q, kind: toMany, from: { json: parts } } }
        Q: { unique: id, attributes: { id: id } }
      sources: { json: { format: json, entity: P }, csv: { format: csv, entity: P } }
      export: { entity: P }
      """,
      to: "l.map.yaml"
    )
    try folder.write(#"[{"id":"1","sizes":{"w":"5"}},{"id":"2"}]"#, to: "l.json")
    let check = try folder.run("check", "l.map.yaml")
    #expect(
      check.errors == """
        note: an export is not complete: P.width is left out: this map has no place for it in csv
        … and 2 more such notes: --all prints them

        """
    )
    _ = try folder.run("import", "-q", "l.map.yaml", "l.json", "-d", "l.db")
    let json = try folder.run("export", "l.map.yaml", "-d", "l.db", "-f", "ndjson")
    #expect(json.status == 0 && json.errors.isEmpty)
    #expect(
      json.output == """
        {"id":"1","sizes":{"w":"5"},"parts":[]}
        {"id":"2","parts":[]}

        """
    )
    let csv = try folder.run("export", "l.map.yaml", "-d", "l.db", "-f", "csv")
    #expect(csv.status == 3)
    #expect(csv.errors.contains("warning[export.map]: P.parts is left out"))
    let lossy = try folder.run("export", "l.map.yaml", "-d", "l.db", "-f", "csv", "--lossy")
    #expect(lossy.status == 0)
    #expect(lossy.errors.contains("note: P.parts is left out"))
    #expect(lossy.output == csv.output)
  }

  @Test(
    "What cannot be exported is told with its exit code",
    arguments: [
      (["--entity", "Persn"], 64, "did you mean Person?"),
      (["-o", "p.db"], 73, "is the database itself"),
      (["-o", "nowhere/a.json"], 73, "cannot be created"), (["--sort", "nam"], 64, "did you mean"),
      (["-o", "."], 73, "is a folder"),
    ]
  )
  func errors(options: [String], status: Int, message: String) throws {
    let process = try folder.run(["export", "m.map.yaml", "-d", "p.db"] + options)
    #expect(process.status == Int32(status))
    #expect(process.errors.contains(message), "\(process.errors)")
  }
}
