import Foundation
import Testing

/// `dragoman export`, run as a user runs it.
@Suite struct ExportCommandTests {
  private struct Run {
    let status: Int32
    let output: String
    let errors: String
  }

  private let folder: URL
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
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try write(Self.map, to: "m.map.yaml")
    try write(#"[{"id":2,"name":"Bo\u0001"},{"id":1,"name":"Ada","pin":"7"}]"#, to: "p.json")
    _ = try run("import", "m.map.yaml", "p.json", "-d", "p.db", "-q")
  }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: folder.appendingPathComponent(name))
  }

  private func read(_ name: String) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
  }

  private var files: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  private func run(_ arguments: String...) throws -> Run {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      .deletingLastPathComponent().appendingPathComponent("dragoman")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    let complained = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Run(
      status: process.terminationStatus,
      output: String(decoding: printed, as: UTF8.self),
      errors: String(decoding: complained, as: UTF8.self)
    )
  }

  @Test("An export goes to standard output, and says nothing else")
  func standardOutput() throws {
    let export = try run(
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
      let export = try run("export", "m.map.yaml", "-d", "p.db", "-o", name)
      #expect(export.status == 0)
      #expect(export.errors == "\(name): 2 records\n")
    }
    #expect(
      try read("a.json") == "[\n" + #"{"id":1,"name":"Ada","pin":"7"},"# + "\n"
        + #"{"id":2,"name":"Bo\u0001"}"# + "\n]\n"
    )
    let zipped = try ["a.json.gz", "b.json.gz"].map {
      try Data(contentsOf: folder.appendingPathComponent($0))
    }
    #expect(zipped[0] == zipped[1])
    for name in ["a.json.gz", "a.json.zst"] {
      let again = try run("import", "m.map.yaml", name, "-d", "p.db", "--json")
      #expect(again.output.contains(#""unchanged":2"#))
    }
  }

  @Test("An export that fails leaves what stood there, and no trace")
  func failure() throws {
    try write("old", to: "a.xml")
    let export = try run("export", "m.map.yaml", "-d", "p.db", "-o", "a.xml")
    #expect(export.status == 65)
    #expect(
      export.errors.hasPrefix("error[export.value]: name of Person 2 holds a control character")
    )
    #expect(try read("a.xml") == "old")
    #expect(try files.filter { $0.hasSuffix(".part") }.isEmpty)
  }

  @Test("A lossy export writes what it can, says so and exits with 3")
  func lossy() throws {
    let export = try run("export", "m.map.yaml", "-d", "p.db", "-o", "a.xml", "--lossy", "--mask")
    #expect(export.status == 3)
    #expect(export.errors.hasPrefix("warning[export.value]: name of Person 2 holds a control"))
    #expect(
      try read("a.xml") == """
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
    let process = try run(options)
    #expect(process.status == Int32(status))
    #expect(process.errors.contains(message), "\(process.errors)")
  }

  private func run(_ options: [String]) throws -> Run {
    switch options.count {
    case 2: try run("export", "m.map.yaml", "-d", "p.db", options[0], options[1])
    default: try run("export", "m.map.yaml", "-d", "p.db")
    }
  }
}
