import Testing

@testable import DragomanCLI

/// What `import` says of feeds that change.
@Suite("Contracts on the command line") struct ContractCommandTests {
  private func folder(_ contract: String) throws -> ToolFolder {
    let folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      name: p
      entities:
        P: { contract: \(contract), unique: id, attributes: { id: { type: int64 }, name: { onMissing: keep } } }
      """,
      to: "p.map.yaml"
    )
    try folder.write(#"[{"id":1,"name":"a"}]"#, to: "a.json")
    try folder.write(#"[{"id":1,"fax":7}]"#, to: "b.json")
    return folder
  }

  private func run(_ folder: ToolFolder, _ feed: String, _ more: String...) throws -> ToolFolder.Run
  {
    try folder.run(["import", "p.map.yaml", feed, "-d", "p.db"] + more)
  }

  @Test(
    "The report names changes with the import before, and the line of a map for what has evolved"
  )
  func text() throws {
    let folder = try folder("evolve")
    let first = try run(folder, "a.json")
    #expect(first.errors.contains("note: later feeds by this map are compared with this one\n"))
    let second = try run(folder, "b.json")
    #expect(second.status == 0)
    let told = second.errors.split(separator: "\n").filter {
      $0.contains("since import") || $0.hasPrefix("  map")
    }
    #expect(
      told == [
        "note: since import 1: no record has P.name",
        "note: since import 1: P has fax (number, once); it is an attribute from now on",
        "  map      fax: { from: fax, type: int64 }",
      ]
    )
    #expect(
      try folder.run("fetch", "P", "-d", "p.db", "--json").output.contains(#""fax":7"#)
    )
  }

  @Test("A line of a map that names a new namespace has the line for its source behind it")
  func namespaces() throws {
    let folder = try folder("evolve")
    try folder.write(
      """
      version: 1
      name: x
      entities: { O: { contract: evolve, unique: id, attributes: { id: { from: "@id" } } } }
      sources: { x: { format: xml, entity: O, records: /r/o } }
      """,
      to: "x.map.yaml"
    )
    try folder.write(#"<r><o id="1"/></r>"#, to: "a.xml")
    try folder.write(#"<r xmlns:z="urn:z"><o id="1"><z:u>7</z:u></o></r>"#, to: "b.xml")
    _ = try folder.run("import", "x.map.yaml", "a.xml", "-d", "x.db")
    let run = try folder.run("import", "x.map.yaml", "b.xml", "-d", "x.db", "--json")
    let text = #"namespaces: { z: \"urn:z\" }"#
    #expect(run.output.contains(#""namespaces":"\#(text)""#), "\(run.output)")
    let told =
      "  map      u: { from: \"z:u\", type: int64 }\n  source   namespaces: { z: \"urn:z\" }\n"
    #expect(run.errors.contains(told), "\(run.errors)")
  }

  @Test("What is discarded stands in the document alone")
  func json() throws {
    let folder = try folder("discard")
    _ = try run(folder, "a.json")
    let second = try run(folder, "b.json", "--json")
    #expect(!second.errors.contains("since import"))
    #expect(
      second.output.contains(
        #""drift":{"changes":[{"contract":"discard","count":0,"entity":"P","kind":"vanishedKey","name":"name","#
          + #""values":[],"valuesBefore":["text"]},{"contract":"discard","count":1,"entity":"P","kind":"newKey","#
          + #""name":"fax","values":["number"],"valuesBefore":[]}],"comparedWith":1}"#
      ),
      "\(second.output)"
    )
  }

  @Test("A frozen feed ends with 65, and nothing is written")
  func frozen() throws {
    let folder = try folder("freeze")
    _ = try run(folder, "a.json")
    let second = try run(folder, "b.json", "--commit", "batch")
    #expect(second.status == 65)
    #expect(second.errors.hasPrefix("error[import.contract]: The feed has changed since import 1"))
    #expect(second.errors.hasSuffix("Nothing was written.\n"))
    let history = try folder.run("history", "-d", "p.db", "--json").output
    #expect(history.matches(of: /"status":/).count == 1, "\(history)")
  }

  @Test("What comes through a pipe cannot be compared", arguments: ["-", "pipe"])
  func pipes(input: String) throws {
    let folder = try folder("report")
    let run = try folder.shell(
      "mkfifo pipe; $D import p.map.yaml \(input) -d p.db < a.json"
    )
    #expect(run.status == 65, "\(run)")
    #expect(run.errors.contains("\(input) cannot be read twice, as the contract of a map wants."))
  }
}
