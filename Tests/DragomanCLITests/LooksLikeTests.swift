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

  @Test(
    "Texts in UTF-16 and UTF-32 without a byte order mark are told by name, and read where a source names it",
    arguments: ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"]
  )
  func wide(encoding: String) throws {
    let encodings: [String: String.Encoding] = [
      "UTF-16LE": .utf16LittleEndian, "UTF-16BE": .utf16BigEndian,
      "UTF-32LE": .utf32LittleEndian, "UTF-32BE": .utf32BigEndian,
    ]
    let known = try #require(encodings[encoding])
    for (name, text) in [
      ("f.json", #"[{"id": "1", "name": "Zoë"}, {"id": "2", "name": "王"}]"#),
      ("f.ndjson", "{\"id\": \"1\", \"name\": \"Zoë\"}\n{\"id\": \"2\", \"name\": \"王\"}\n"),
      ("f.csv", "id;name\n1;Zoë\n2;王\n"),
    ] {
      let bytes = try #require(text.data(using: known))
      try bytes.write(to: folder.url.appendingPathComponent(name))
      let isCSV = name == "f.csv"
      try folder.write(
        "version: 1\nentities: { Q: { unique: id, attributes: { id: id } } }\n"
          + (isCSV ? "sources: { c: { format: csv, entity: Q } }\n" : ""),
        to: "q.map.yaml"
      )
      for run in try runs(name, map: "q.map.yaml").dropLast() {
        #expect(run.status == 65)
        #expect(
          run.errors.contains(
            """
            error[input.encoding]: \(name):1:1 (byte 0): The input looks like \(encoding), but has no byte order \
            mark that says so.
              help     name it in the source of the map: `encoding: \(encoding)`
            """
          ),
          "\(run.errors)"
        )
      }
      // A guess says so in its map, which reads the feed.
      let guess = try folder.run("guess", name, "-o", "\(encoding)\(name).map.yaml")
      #expect(guess.status == 0, "\(guess.errors)")
      let imported = try folder.run("import", "\(encoding)\(name).map.yaml", name, "-d", "g.db")
      #expect(imported.status == 0, "\(imported.errors)")
      let found = try folder.run("fetch", "F", "-d", "g.db", "-f", "csv", "--columns", "name")
      #expect(found.output == "name\r\nZoë\r\n王\r\n", "\(found)")
      for file in try folder.files where file.hasPrefix("g.db") {
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent(file))
      }
    }
  }

  @Test(
    "Of bytes that are no UTF-8 it is told what they are in the encoding that they most likely have"
  )
  func latin() throws {
    let text = Data(#"[{"id": "1", "name": "Zo"#.utf8) + [0xEB] + Data("\"}]".utf8)
    try text.write(to: folder.url.appendingPathComponent("f.json"))
    for run in try runs("f.json", map: "root.map.yaml").dropLast() {
      #expect(run.status == 65)
      #expect(
        run.errors.contains(
          """
          error[input.encoding]: f.json:1:25 (record 1, byte 24): The text is not valid UTF-8.
            help     if all of the feed is in another encoding, name it in the source: in windows-1252 the byte \
          is “ë” (`encoding: windows-1252`)
          """
        ),
        "\(run.errors)"
      )
    }
    // Also where it is the last sign of the last line.
    try (Data("id,name\n1,Zo".utf8) + [0xEB, 0x0A]).write(
      to: folder.url.appendingPathComponent("f.csv")
    )
    let guess = try folder.run("guess", "f.csv")
    #expect(guess.status == 0 && guess.output.contains("encoding: windows-1252"), "\(guess)")
  }

  @Test("Bytes of no text are told to be none", arguments: ["f.json", "f.ndjson", "f.csv", "f"])
  func binary(name: String) throws {
    // A feed would have to begin so that its format can be told.
    let start: [UInt8] = name == "f.json" ? Array("[".utf8) : [0xB1, 0x2C]
    let bytes = start + (0..<2000).map { UInt8(truncatingIfNeeded: $0 &* 181 &+ ($0 >> 3) &* 7) }
    try Data(bytes).write(to: folder.url.appendingPathComponent(name))
    let csv =
      "version: 1\nentities: { Q: { unique: id, attributes: { id: id } } }\nsources: { c: { format: csv, entity: Q } }\n"
    try folder.write(csv, to: "c.map.yaml")
    let map = name == "f.csv" ? "c.map.yaml" : "root.map.yaml"
    for run in try runs(name, map: map) {
      #expect(run.status == 65)
      #expect(run.errors.contains("looks like binary data"), "\(run.errors)")
      #expect(run.errors.contains("look at it, and at where it came from"))
    }
  }
}
