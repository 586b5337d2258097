import Foundation
import Testing

/// What all outputs that take the place of a file have in common: permissions, long names, folders that fail.
@Suite struct PublishedOutputTests {
  private static let strace = "/usr/bin/strace"
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities:
        Person: { unique: id, attributes: { id: { type: int32 }, name: name } }
      """,
      to: "m.map.yaml"
    )
    try folder.write(#"[{"id":1,"name":"Ada"},{"id":"x"}]"#, to: "feed.json")
    let made = try folder.shell(
      #""$D" import -q m.map.yaml feed.json -d p.db --rejects r.ndjson 2>&-; chmod 644 p.db"#
    )
    try #require(made.status == 0)
  }

  /// Everything that replaces a file, with the file; `guess` is imported into a database of its own.
  private static let outputs = [
    ("export -q m.map.yaml -d p.db -o", "out.json"), ("fetch Person -d p.db -o", "out.csv"),
    ("backup -q -d p.db", "out.db"), ("guess feed.json --overwrite -o", "out.map.yaml"),
    ("import -q feed.json --guess -d g.db #", "g.map.yaml"),
    ("rejects retry r.ndjson m.map.yaml -d p.db #", "r.ndjson"),
  ]

  private func mode(_ name: String) throws -> Int? {
    let path = folder.url.appendingPathComponent(name).path
    return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test(
    "A file that replaces another one has its permissions",
    arguments: outputs.dropLast(),
    [0o600, 0o640]
  )
  func permissions(_ output: (command: String, file: String), _ mode: Int) throws {
    _ = try folder.shell("umask 022; \"$D\" \(output.command) \(output.file)")
    #expect(try self.mode(output.file) == 0o644)
    let octal = String(mode, radix: 8)
    // The map grows by a feed of another shape.
    let run = try folder.shell(
      """
      chmod \(octal) \(output.file); echo '[{"code":"a","visits":1},{"code":"b","visits":2}]' > visits.json
      umask 022; "$D" \(output.command.replacing("import -q feed.json", with: "import -q visits.json")) \(output.file)
      """
    )
    #expect(run.status == 0, "\(run.errors)")
    #expect(try self.mode(output.file) == mode)
    if output.file == "g.map.yaml" { #expect(try folder.read(output.file).contains("visits")) }
  }

  @Test("A rejects file is its owner's, whatever it was, and behind a link is the file of the link")
  func rejects() throws {
    let run = try folder.shell(
      """
      mkdir d; mv r.ndjson d/r; chmod 644 d/r; ln -s d/r r.ndjson
      "$D" rejects retry r.ndjson m.map.yaml -d p.db -q
      test -L r.ndjson && ls -A d
      """
    )
    #expect(run.output == "r\n", "\(run.errors)")
    #expect(try mode("d/r") == 0o600)
  }

  @Test("A backup is as private as its database where nothing stood there")
  func backup() throws {
    _ = try folder.shell(#"chmod 600 p.db; "$D" backup -q -d p.db out.db"#)
    #expect(try mode("out.db") == 0o600)
  }

  @Test(
    "A name as long as the system takes it is one for an output",
    arguments: [
      String(repeating: "x", count: 220) + ".db", String(repeating: "x", count: 255),
      String(repeating: "\u{754c}", count: 80) + ".ndjson",
      String(repeating: "\u{754c}", count: 85), String(repeating: "\u{1f469}", count: 63),
    ]
  )
  func names(name: String) throws {
    for command in [
      "export -q m.map.yaml -d p.db -f ndjson -o", "fetch Person -d p.db -f csv -o",
      "backup -q -d p.db",
      "guess feed.json -o",
    ] {
      let run = try folder.shell("mkdir o && \"$D\" \(command) o/\(name) && ls -A o && rm -r o")
      #expect(run.status == 0 && run.output == "\(name)\n", "\(command): \(run.errors)")
    }
    let retried = try folder.shell(
      "mkdir o && mv r.ndjson o/\(name) && \"$D\" rejects retry o/\(name) m.map.yaml -d p.db -q; ls -A o"
    )
    #expect(retried.output == "\(name)\n", "\(retried.errors)")
  }

  @Test("Links are written through, and what a guess may not replace stays")
  func guesses() throws {
    let run = try folder.shell(
      """
      mkdir d; "$D" guess feed.json -o d/m; chmod 600 d/m; ln -s d/m link
      ln -s d/new.map.yaml n.map.yaml
      "$D" guess feed.json --overwrite -o link && "$D" import -q feed.json --guess -d n.db
      test -L link && test -L n.map.yaml && test -s d/new.map.yaml && ls -A d
      """
    )
    #expect(run.output == "m\nnew.map.yaml\n", "\(run.errors)")
    #expect(try mode("d/m") == 0o600)
    let before = try folder.read("feed.json")
    let sample = try folder.shell(
      #"ln -s feed.json s.map.yaml; cp feed.json k.json; "$D" import -q s.map.yaml --guess -d s.db"#
    )
    #expect(sample.status != 0)
    #expect(try folder.read("feed.json") == before)
  }

  @Test(
    "A disk that does not take the name of a whole file is told, and a file system that cannot is not",
    arguments: [("EIO", true), ("ENOSPC", true), ("EINVAL", false)]
  )
  func failingFolders(_ error: String, _ isTold: Bool) throws {
    guard try strace("EIO", "\"$D\" info -d p.db", in: ".").status == 0 else {
      print("passed over: folders that fail; there is no strace that may trace")
      return
    }
    for (command, file) in Self.outputs {
      let made = try folder.shell("rm -rf o; mkdir o; cp r.ndjson p.db feed.json m.map.yaml o")
      #expect(made.status == 0)
      let run = try strace(error, "\"$D\" \(command) \(file)", in: "o")
      let isReject = command.hasPrefix("rejects")
      #expect(run.status == (isTold ? 74 : isReject ? 3 : 0), "\(command): \(run.errors)")
      #expect(run.errors.contains("folder cannot be written to the disk") == isTold)
      let names = try folder.shell("ls -A o").output
      // A map is written behind the database, whose folder failed.
      let isThere = !isTold || !command.contains("--guess")
      #expect(!names.contains(".part"), "\(command): \(names)")
      #expect(names.contains("\(file)\n") == isThere, "\(command): \(names)")
    }
  }

  /// Runs a command in a folder whose own synchronisation fails.
  private func strace(_ error: String, _ line: String, in place: String) throws -> ToolFolder.Run {
    try folder.shell(
      """
      cd \(place); test -x \(Self.strace) || exit 1
      \(Self.strace) -f -o /dev/null -P "$(pwd -P)" -e trace=fsync -e inject=fsync:error=\(error) \(line)
      """
    )
  }
}
