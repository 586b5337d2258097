import Foundation
import Testing

/// `dragoman guess`, as a user runs it.
@Suite struct GuessCommandTests {
  @Test("A map is written once, tried, and never replaced without --overwrite")
  func output() throws {
    let folder = try ToolFolder()
    try folder.write(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#, to: "people.json")
    let first = try folder.run("guess", "people.json", "-o", "people.map.yaml")
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.output.isEmpty)
    let map = try folder.read("people.map.yaml")
    #expect(try folder.run("guess", "people.json").output == map)
    #expect(try folder.run("check", "people.map.yaml", "people.json").status == 0)
    try folder.write("# mine\n" + map, to: "people.map.yaml")
    let second = try folder.run("guess", "people.json", "-o", "people.map.yaml")
    #expect(second.status == 73)
    #expect(second.errors.contains("exists") && second.errors.contains("--overwrite"))
    #expect(try folder.read("people.map.yaml").hasPrefix("# mine"))
    #expect(
      try folder.run("guess", "people.json", "-o", "people.map.yaml", "--overwrite").status == 0
    )
    #expect(try folder.read("people.map.yaml") == map)
    // The sample itself is no place for the map, under any of its names.
    let sample = try folder.run("guess", "people.json", "-o", "./people.json", "--overwrite")
    #expect(sample.status == 73)
    let piped = try folder.shell(#""$D" guess - -o people.json --overwrite < people.json"#)
    #expect(piped.status == 73 && piped.errors.contains("is a sample"), "\(piped)")
    #expect(try folder.read("people.json").hasPrefix("[{"))
  }

  @Test("Nothing is written where nothing can be guessed, and the exit code says why")
  func failures() throws {
    let folder = try ToolFolder()
    try folder.write("<html></html>", to: "page.json")
    #expect(try folder.run("guess", "page.json", "-o", "m.map.yaml").status == 65)
    #expect(try folder.run("guess", "none.json", "-o", "m.map.yaml").status == 66)
    #expect(try folder.run("guess", "page.json", "--sample", "0").status == 64)
    #expect(try folder.run("guess").status == 64)
    #expect(try folder.files == ["page.json"])
    let piped = try folder.run("guess", "-", input: "{\"id\":1}\n{\"id\":2}\n")
    #expect(piped.output.contains("ndjson: { format: ndjson, entity: Record }"))
  }
}
