import Foundation
import Testing

/// What is no feed is told for what it looks like, by `import`, `check` and `guess`.
@Suite("What an input looks like") struct LooksLikeTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: id, error: error } } }
      sources:
        j: { format: json, entity: P, records: /data }
        x: { format: xml, entity: P, records: /people/person }
      """,
      to: "m.map.yaml"
    )
    try folder.write(
      "version: 1\nentities: { Q: { unique: id, attributes: { id: id } } }\n",
      to: "root.map.yaml"
    )
  }

  private func runs(_ name: String, map: String = "m.map.yaml") throws -> [ToolFolder.Run] {
    [
      try folder.run("import", map, name, "-d", "p.db"), try folder.run("check", map, name),
      try folder.run("check", map, name, "--coverage"), try folder.run("guess", name),
    ]
  }

  @Test(
    "Answers of a service that failed",
    arguments: [
      (#"{"error": "not found"}"#, "“error” is “not found”"),
      (#"{"Error": {"code": 1}, "request": "x"}"#, "it has “Error”"),
      (#"{"message": "who are you?", "status": 401}"#, "“message” is “who are you?”"),
      (#"{"data": null, "errors": [{"message": "no"}]}"#, "it has “errors”"),
      (#"{"data": [], "error": "rate limit"}"#, "“error” is “rate limit”"),
      ("<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>", "the element <Error>"),
      (#"{"error": "\u001b[31mred"}"#, "“error” is “␛[31mred”"),
    ]
  )
  func answers(text: String, words: String) throws {
    try folder.write(text, to: text.hasPrefix("<") ? "f.xml" : "f.json")
    for run in try runs(text.hasPrefix("<") ? "f.xml" : "f.json").dropLast() {
      #expect(run.status == 65)
      #expect(run.errors.contains("looks like an error message: \(words)"), "\(run.errors)")
    }
  }

  @Test("A record that the map knows nothing of, at the root")
  func record() throws {
    try folder.write(#"{"error": "gone", "code": 410}"#, to: "f.json")
    let runs = try runs("f.json", map: "root.map.yaml")
    for run in runs.dropLast() {
      #expect(run.status == 65)
      #expect(
        run.errors.contains("looks like an error message: “error” is “gone”"),
        "\(run.errors)"
      )
    }
    // A guess has no map that knows better, and names the members.
    #expect(runs.last?.status == 65)
    #expect(runs.last?.errors.contains("looks like an error message, not like a feed") == true)
  }

  @Test(
    "Feeds that have members of such names are feeds",
    arguments: [
      #"{"data": [{"id": "1", "error": "x"}], "errors": ["y"]}"#,
      #"{"data": [{"id": "1"}], "error": null, "message": "fine", "status": 200}"#,
    ]
  )
  func feeds(text: String) throws {
    try folder.write(text, to: "f.json")
    let imported = try folder.run("import", "m.map.yaml", "f.json", "-d", "p.db")
    #expect(imported.status == 0, "\(imported.errors)")
    #expect(try folder.run("guess", "f.json").status == 0)
  }

  @Test(
    "Other files",
    arguments: [
      ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "a PNG image"),
      ([0x7F, 0x45, 0x4C, 0x46, 2], "a program"), ([0xFF, 0xD8, 0xFF, 0xE0], "a JPEG image"),
      (Array("<!DOCTYPE html><html>".utf8), "an HTML page"), ([], "is empty"),
    ] as [([UInt8], String)]
  )
  func others(bytes: [UInt8], words: String) throws {
    try Data(bytes).write(to: folder.url.appendingPathComponent("f.json"))
    for run in try runs("f.json") {
      #expect(run.status == 65)
      #expect(run.errors.contains(words), "\(run.errors)")
    }
  }
}
