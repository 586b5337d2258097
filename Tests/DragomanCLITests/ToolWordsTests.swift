import Foundation
import Testing

/// What the library calls by its Swift names has the tool's options in the tool's messages.
@Suite struct ToolWordsTests {
  private let folder: ToolFolder
  private static let map = """
    version: 1
    entities:
      A:
        unique: id
        attributes: { id: id, name: name }
      B:
        unique: id
        attributes: { id: id, name: name }
    sources:
      as: { format: json, entity: A }
      bs: { format: json, entity: B }
    """

  init() throws {
    folder = try ToolFolder()
    try folder.write(Self.map, to: "m.map.yaml")
    try folder.write(#"[{"id":"1","name":"n"},{"id":"2"}]"#, to: "a.json")
    try folder.write(#"[{"id":"2","name":"z"}]"#, to: "b.json")
    try folder.write(#"[{"id":"1"},{"name":"nobody"}]"#, to: "bad.json")
    _ = try folder.run("import", "m.map.yaml", "a.json", "-d", "p.db", "--source", "as")
  }

  @Test(
    "Help names the options of the command line",
    arguments: [
      (
        "import m.map.yaml a.json -d x.db",
        "choose one: --source as=a.json or --source bs=a.json, or say which `files:` each of them reads"
      ),
      (
        "import files.map.yaml a.json -d x.db",
        "give one of as, bs `files:` that match the name, or assign the input: --source NAME=INPUT"
      ),
      (
        "import m.map.yaml a.json -d p.db --source as --mode insert",
        "import with --mode upsert to update it"
      ),
      (
        "import m.map.yaml b.json -d p.db --source as --prune --prune-max 10",
        "if the feed is right, raise --prune-max"
      ),
      (
        "import m.map.yaml bad.json -d x.db --source as --max-rejects 0",
        "mend the feed or the map, or raise --max-rejects"
      ),
      (
        "export m.map.yaml -d p.db",
        "name one of A, B, with --entity or in the map with `export: { entity: … }`"
      ),
      ("fetch A -d none.db", "`dragoman import MAP INPUT -d none.db` makes one"),
      ("fetch A -d p.db --where id==$x", "give it one: -p x=…"),
    ]
  )
  func options(command: String, help: String) throws {
    let files = Self.map.replacing("entity: A }", with: "entity: A, files: 'x*' }")
      .replacing("entity: B }", with: "entity: B, files: 'y*' }")
    try folder.write(files, to: "files.map.yaml")
    let run = try folder.run(command.split(separator: " ").map(String.init))
    #expect(run.status != 0)
    #expect(run.errors.contains("\n  help     \(help)\n"))
  }

  @Test("What is in the way of a migration names the option, too", arguments: [false, true])
  func migration(isDocument: Bool) throws {
    let map = Self.map.replacing("id: id, name: name", with: "id: id, NAME: name")
    try folder.write(map, to: "new.map.yaml")
    let arguments = ["migrate", "new.map.yaml", "-d", "p.db"] + (isDocument ? ["--json"] : [])
    let run = try folder.run(arguments)
    #expect(run.status == 65)
    let text = isDocument ? run.output : run.errors
    #expect(text.contains("What the new model does not name stays: let it go (--drop), or"))
  }
}
