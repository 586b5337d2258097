import DragomanGraph
import Testing

@testable import Dragoman

/// RFC 6901, section 4: a decimal token is an index in an array and a name in an object.
@Suite("JSON Pointers") struct PointerTests {
  /// Imports records with `v` and `w` from two paths and gives what became of them.
  private func run(_ v: String, _ w: String, _ records: String) async throws -> [String] {
    let fixture = try ImportFixture(
      attributes: """
        v: { from: "\(v)", onMissing: default, default: missing, onInvalid: clear }
              w: { from: "\(w)", onMissing: default, default: missing, onInvalid: clear }
        """
    )
    let report = try await fixture.run("[\(records)]")
    return try fixture.rows("P", ["v", "w"]) + report.issueSummary
  }

  @Test(
    "A decimal token finds an element of an array and a member of an object",
    arguments: [
      (#"{"id":1,"a":["x","y"]}"#, ["x|y"]), (#"{"id":1,"a":{"0":"x","1":"y"}}"#, ["x|y"]),
      (#"{"id":1,"a":["x"]}"#, ["x|missing"]), (#"{"id":1,"a":{"1":"y"}}"#, ["missing|y"]),
      (#"{"id":1,"a":null}"#, ["null|null"]), (#"{"id":1,"a":{"b":1}}"#, ["missing|missing"]),
      (#"{"id":1,"a":7}"#, ["null|null", "value.path 1", "value.path 1"]),
      (#"{"id":1,"a":[]}"#, ["missing|missing"]), (#"{"id":1}"#, ["missing|missing"]),
      (#"{"id":1,"a":{"0":"x","0":"z"}}"#, ["null|missing", "value.repeated 1"]),
    ]
  )
  func tokens(record: String, found: [String]) async throws {
    #expect(try await run("/a/0", "/a/1", record) == found)
  }

  @Test(
    "Other paths to the same places mean what they say",
    arguments: [
      (#"{"id":1,"a":["x"]}"#, ["x|x"], ["x|null", "value.path 1"]),
      (#"{"id":1,"a":{"0":"x"}}"#, ["x|null", "value.path 1"], ["x|x"]),
      (#"{"id":1,"a":null}"#, ["null|null"], ["null|null"]),
      (#"{"id":1,"a":{}}"#, ["missing|null", "value.path 1"], ["missing|missing"]),
      (#"{"id":1,"a":[]}"#, ["missing|missing"], ["missing|null", "value.path 1"]),
    ]
  )
  func mixed(record: String, brackets: [String], dots: [String]) async throws {
    #expect(try await run("/a/0", "a[0]", record) == brackets)
    #expect(try await run("/a/0", "a.0", record) == dots)
    // Whichever comes first in the map.
    func swapped(_ found: [String]) -> [String] {
      let parts = found[0].split(separator: "|")
      return ["\(parts[1])|\(parts[0])"] + found.dropFirst()
    }
    #expect(try await run("a[0]", "/a/0", record) == swapped(brackets))
    #expect(try await run("a.0", "/a/0", record) == swapped(dots))
  }

  @Test("Tokens may follow each other, more of them than the tree takes")
  func several() async throws {
    let record = #"{"id":1,"a":[{"1":[["u","v"],"w"]}],"b":{"0":[{"0":{"0":["z"]}}]}}"#
    #expect(try await run("/a/0/1/1", "/a/0/1/0/1", record) == ["w|v"])
    #expect(try await run("/b/0/0/0/0/0", "/b/0/0/0/0/1", record) == ["z|missing"])
  }

  @Test(
    "Records are found by them, too",
    arguments: [#"{"d":[[{"id":1}]]}"#, #"{"d":{"0":[{"id":1}]}}"#]
  )
  func records(text: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: { type: int64 } } } }
      sources: { s: { format: json, entity: P, records: /d/0 } }
      """
    )
    #expect(try await fixture.run(text).summary == "read 1, inserted 1")
  }
}
