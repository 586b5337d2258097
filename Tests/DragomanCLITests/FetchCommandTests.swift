import DragomanGraph
import Foundation
import Testing

@testable import DragomanCLI

@Suite("dragoman fetch")
struct FetchCommandTests {
  private func command(_ arguments: String...) throws -> FetchCommand {
    try FetchCommand.parse(arguments)
  }

  @Test("Options become a request")
  func request() throws {
    let command = try command(
      "Person",
      "-d",
      "x.db",
      "--where",
      "a == $x AND b > $y",
      "-p",
      "x=1=2",
      "-p",
      "y=-3",
      "--sort",
      "-a,b",
      "--limit",
      "5",
      "--offset",
      "2",
      "--columns",
      "a, b",
      "-f",
      "csv"
    )
    #expect(
      try command.request()
        == FetchRequest(
          "Person",
          filter: .and([.where("a", .equalTo, "1=2"), .where("b", .greaterThan, "-3")]),
          sortKeys: [SortKey("a", ascending: false), SortKey("b")],
          limit: 5,
          offset: 2,
          columns: ["a", "b"]
        )
    )
    #expect(command.destination.format == .csv)
  }

  @Test(
    "Options that contradict themselves are refused",
    arguments: [
      ["P", "-d", "x", "--limit", "-1"], ["P", "-d", "x", "--offset", "-1"],
      ["P", "-d", "x", "--count", "-f", "csv"], ["P", "-d", "x", "-p", "=1"], [],
      ["P", "-d", "x", "-p", "name"], ["P", "-d", "x", "-f", "xls"],
    ]
  )
  func refused(arguments: [String]) {
    #expect(throws: (any Error).self) { try FetchCommand.parse(arguments) }
  }

  @Test("A parameter that the predicate does not have is an error with the nearest one")
  func unknownParameter() throws {
    let command = try command("P", "-d", "x", "--where", "a == $name", "-p", "nmae=1")
    let error = #expect(throws: StoreError.self) { try command.request() }
    #expect(
      error?.description
        == "store.request: The predicate has no variable $nmae. (did you mean $name?)"
    )
  }

  @Test("A terminal gets a table, a pipe NDJSON, --count the number")
  func output() throws {
    let store = try SQLiteStore(at: .inMemory)
    let attributes = [Attribute(name: "id", type: .int64), Attribute(name: "name")]
    try store.grow(to: Model(entities: [Entity(name: "P", attributes: attributes)]))
    func output(_ columnCount: Int?, _ arguments: String...) throws -> String {
      let output = OutputBuffer(descriptor: nil)
      let command = try FetchCommand.parse(["P", "-d", "x"] + arguments)
      try command.print(from: store, to: output, columnCount: columnCount)
      return String(decoding: output.bytes, as: UTF8.self)
    }
    #expect(try output(80) == "id  name\n──  ────\n")
    #expect(try output(nil).isEmpty)
    #expect(try output(nil, "-f", "json") == "[]\n")
    #expect(try output(nil, "--count") == "0\n")
  }

  @Test("Columns, sort keys and predicates go through relationships")
  func paths() throws {
    let store = try SQLiteStore(at: .inMemory)
    let name = [Attribute(name: "name")]
    try store.grow(
      to: Model(entities: [
        Entity(name: "P", attributes: name, relationships: [.toOne("boss", "P", inverse: "team")])
      ])
    )
    let output = OutputBuffer(descriptor: nil)
    let command = try command(
      "P",
      "-d",
      "x",
      "--where",
      "ANY team.name == 'a' AND boss.name != 'b'",
      "--columns",
      "name,boss.name",
      "--sort",
      "-boss.name[cd],name",
      "-f",
      "csv"
    )
    #expect(
      try command.request().sortKeys
        == [
          SortKey(
            "boss.name",
            ascending: false,
            options: [.caseInsensitive, .diacriticInsensitive]
          ), SortKey("name"),
        ]
    )
    try command.print(from: store, to: output, columnCount: nil)
    #expect(String(decoding: output.bytes, as: UTF8.self) == "name,boss.name\r\n")
  }

  @Test("A pipe that nobody reads any more is told apart from other failures")
  func closedPipe() throws {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    close(ends[0])
    let output = OutputBuffer(descriptor: ends[1])
    try output.write("x")
    let error = #expect(throws: OutputError.self) { try output.flush() }
    #expect(error?.isClosedPipe == true)
    close(ends[1])
    try output.write("x")
    let second = #expect(throws: OutputError.self) { try output.flush() }
    #expect(second?.isClosedPipe == false)
  }
}
