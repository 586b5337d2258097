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
          id: { type: int32, from: { json: id, xml: "@id" } }
          name: name
          pin: { sensitive: true }
    sources:
      json: { format: json, entity: Person }
      xml: { format: xml, entity: Person, records: /people/person }
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
    for name in ["a.json.gz", "a.json.zst"] {
      let again = try folder.run("import", "m.map.yaml", name, "-d", "p.db", "--json")
      #expect(again.output.contains(#""unchanged":2"#))
    }
  }

  @Test("An export that fails leaves what stood there, and no trace")
  func failure() throws {
    try folder.write("<old/>", to: "a.xml")
    let export = try folder.run("export", "m.map.yaml", "-d", "p.db", "-o", "a.xml")
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
    #expect(export.errors.hasPrefix("warning[export.value]: name of Person 2 holds a control"))
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
