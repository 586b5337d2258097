import Foundation
import Testing

/// `dragoman watch`, run as a user runs it.
@Suite("watch") struct WatchCommandTests {
  private let folder: ToolFolder
  private static let map = """
    version: 1
    entities:
      Person:
        unique: id
        attributes:
          id: { type: int32 }
          name: name
          pay: { type: decimal, scale: 2 }
    """

  init() throws {
    folder = try ToolFolder()
    try folder.write(Self.map, to: "m.map.yaml")
    try imports(#"{"id":1,"name":"Ada","pay":3},{"id":2,"name":"Bo"},{"id":3,"name":"Cy","pay":1}"#)
  }

  private func imports(_ records: String) throws {
    let run = try folder.run("import", "m.map.yaml", "-", "-d", "p.db", "-q", input: "[\(records)]")
    #expect(run.status == 0, "\(run.errors)")
  }

  /// A running watch, whose lines can be waited for.
  private final class Watch {
    let process = Process()
    private let output = Pipe()
    private let errors = Pipe()
    private var rest: [UInt8] = []

    init(_ arguments: [String], in folder: ToolFolder) throws {
      process.executableURL = ToolFolder.tool
      process.arguments = ["watch"] + arguments + ["--interval", "0.01"]
      process.currentDirectoryURL = folder.url
      process.standardOutput = output
      process.standardError = errors
      process.standardInput = FileHandle.nullDevice
      try process.run()
    }

    /// The next lines; fewer where the output ends.
    func lines(_ count: Int) -> [String] {
      var lines: [String] = []
      while lines.count < count {
        if let end = rest.firstIndex(of: 0x0A) {
          lines.append(String(decoding: rest[..<end], as: UTF8.self))
          rest.removeFirst(end + 1)
          continue
        }
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { break }
        rest += data
      }
      return lines
    }

    /// Nobody reads any more.
    func closeOutput() throws { try output.fileHandleForReading.close() }

    func end(with signal: Int32? = nil) throws -> (status: Int32, errors: String) {
      if let signal { kill(process.processIdentifier, signal) }
      process.waitUntilExit()
      let text = try errors.fileHandleForReading.readToEnd() ?? Data()
      return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }
  }

  @Test(
    "In a pipe come the snapshot and then each change, until a signal",
    arguments: [SIGINT, SIGTERM]
  )
  func pipe(signal: Int32) throws {
    let watch = try Watch(
      ["Person", "-d", "p.db", "--sort", "name", "--columns", "name,pay", "--limit", "3"],
      in: folder
    )
    #expect(
      watch.lines(4) == [
        #"{"event":"snapshot","v":1,"count":3}"#,
        #"{"event":"row","at":0,"id":"dragoman:///Person/1","values":{"name":"Ada","pay":3.00}}"#,
        #"{"event":"row","at":1,"id":"dragoman:///Person/2","values":{"name":"Bo","pay":null}}"#,
        #"{"event":"row","at":2,"id":"dragoman:///Person/3","values":{"name":"Cy","pay":1.00}}"#,
      ]
    )
    try imports(#"{"id":1,"name":"Dee","pay":3}"#)
    #expect(
      watch.lines(2) == [
        #"{"event":"moved","from":0,"to":2,"id":"dragoman:///Person/1"}"#,
        #"{"event":"updated","at":2,"id":"dragoman:///Person/1","values":{"name":"Dee","pay":3.00}}"#,
      ]
    )
    try imports(#"{"id":4,"name":"Al"}"#)
    #expect(
      watch.lines(2) == [
        #"{"event":"deleted","at":2,"id":"dragoman:///Person/1"}"#,
        #"{"event":"inserted","at":0,"id":"dragoman:///Person/4","values":{"name":"Al","pay":null}}"#,
      ]
    )
    let end = try watch.end(with: signal)
    #expect(end.status == 128 + signal)
    #expect(end.errors.isEmpty)
  }

  @Test("A reader that goes away ends it quietly, though nothing changes")
  func closedPipe() throws {
    let watch = try Watch(["Person", "-d", "p.db", "--where", "pay > 1"], in: folder)
    #expect(watch.lines(1) == [#"{"event":"snapshot","v":1,"count":1}"#])
    try watch.closeOutput()
    let end = try watch.end()
    #expect(end.status == 0)
    #expect(end.errors.isEmpty)
  }

  @Test("A signal ends it at once though nobody reads what it prints")
  func fullPipe() throws {
    let name = String(repeating: "x", count: 1000)
    try imports((10..<1010).map { #"{"id":\#($0),"name":"\#(name)"}"# }.joined(separator: ","))
    let watch = try Watch(["Person", "-d", "p.db", "--sort", "id"], in: folder)
    #expect(watch.lines(1) == [#"{"event":"snapshot","v":1,"count":1003}"#])
    let end = try watch.end(with: SIGTERM)
    #expect(end.status == 128 + SIGTERM)
    #expect(end.errors.isEmpty)
  }

  @Test("A table in a pipe is printed whole after each change")
  func table() throws {
    let watch = try Watch(
      ["Person", "-d", "p.db", "--sort", "-pay", "--columns", "name,pay", "-f", "table"],
      in: folder
    )
    #expect(
      watch.lines(7) == [
        "Person: 3 objects", "name   pay", "────  ────", "Ada   3.00", "Cy    1.00", "Bo       ∅",
        "",
      ]
    )
    try imports(#"{"id":2,"name":"Bo","pay":2}"#)
    #expect(watch.lines(6).suffix(3) == ["Ada   3.00", "Bo    2.00", "Cy    1.00"])
    #expect(try watch.end(with: SIGHUP).status == 129)
  }

  @Test("A database that is removed ends it with a name for that")
  func removed() throws {
    let watch = try Watch(["Person", "-d", "p.db"], in: folder)
    #expect(watch.lines(1).count == 1)
    try FileManager.default.removeItem(at: folder.url.appending(path: "p.db"))
    let end = try watch.end()
    #expect(end.status == 75)
    #expect(end.errors.hasPrefix("error[store.migrated]: p.db: The database was removed"))
  }

  @Test(
    "What cannot be watched is refused",
    arguments: [
      (["Persn", "-d", "p.db"], 64, "store.request"),
      (["Person", "-d", "p.db", "--sort", "nam"], 64, "store.request"),
      (["Person", "-d", "p.db", "--columns", "nam"], 64, "store.request"),
      (["Person", "-d", "p.db", "--limit", "-1"], 64, "--limit"),
      (["Person", "-d", "p.db", "--interval", "0"], 64, "--interval"),
      (["Person", "-d", "none.db"], 66, "store.missing"),
    ]
  )
  func refused(arguments: [String], status: Int32, words: String) throws {
    let run = try folder.run(["watch"] + arguments)
    #expect(run.status == status)
    #expect(run.errors.contains(words), "\(run.errors)")
    #expect(run.output.isEmpty)
  }
}
