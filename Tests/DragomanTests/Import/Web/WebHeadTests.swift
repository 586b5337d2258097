import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// What heads of answers say, and what requests say to whom.
@Suite(
  "Heads of the web",
  .enabled(if: FeedServer.isPossible, "python3 and openssl are needed for the server")
)
struct WebHeadTests: WebSuite {
  /// An answer of a server, as it is sent.
  private func answer(_ status: String, _ fields: [String], _ body: String) -> String {
    (["HTTP/1.1 \(status)"] + fields + ["Connection: close", "", body]).joined(separator: "\r\n")
  }

  @Test("Header fields go to no other server, also where a feed in pages leads to one")
  func secrets() async throws {
    let server = try FeedServer()
    let there = server.url("pages", host: "localhost")
    try server.put(
      answer("302 Found", ["Location: \(there)", "Content-Length: 0"], ""),
      as: "leak"
    )
    let fixture = try ImportFixture(Self.map(", records: items, pages: { next: header }"))
    let report = try await run(fixture, server, server.url("raw/leak")) {
      $0.web.headers = ["Authorization": "s3cret"]
    }
    #expect(report.summary == "read 3, inserted 3")
    #expect(
      try server.requests("Authorization")
        == ["/raw/leak s3cret", "/pages", "/pages?page=2", "/pages?page=3"]
    )
  }

  @Test("A version is one of the URL that told it, and not of where a link leads to by now")
  func movedVersions() async throws {
    let server = try FeedServer()
    func put(_ name: String, _ version: Int) throws {
      try server.put(
        answer("302 Found", ["Location: /raw/v\(version)", "Content-Length: 0"], ""),
        as: name
      )
      let body = #"[{"id":1,"name":"v\#(version)"}]"#
      try server.put(
        answer("200 OK", ["ETag: \"1\"", "Content-Length: \(body.utf8.count)"], body),
        as: "v\(version)"
      )
    }
    let fixture = try ImportFixture(Self.map())
    let url = server.url("raw/latest")
    try put("latest", 1)
    #expect(try await run(fixture, server, url).summary == "read 1, inserted 1")
    try put("latest", 2)
    #expect(try await run(fixture, server, url).summary == "read 1, updated 1")
    // Where it leads to the same, that is asked for its version.
    _ = try await run(fixture, server, url)
    #expect(
      try server.requests("If-None-Match").suffix(2) == ["/raw/latest", "/raw/v2 \"1\""]
    )
  }

  @Test("What another import has changed of nested objects only is brought back")
  func nestedChanges() async throws {
    let server = try FeedServer()
    let map = """
      version: 1
      entities:
        P: { unique: id, attributes: { id: { type: int64 } }, relationships: { q: { entity: Q, kind: toOne } } }
        Q: { unique: id, attributes: { id: { type: int64 }, name: name } }
      sources: { s: { format: json, entity: P } }
      """
    try server.put(#"[{"id":1,"q":{"id":1,"name":"a"}}]"#, as: "people.json")
    let fixture = try ImportFixture(map)
    let url = server.url("people.json")
    _ = try await run(fixture, server, url)
    #expect(try await run(fixture, server, url).counts.read == 0)
    let other = #"[{"id":1,"q":{"id":1,"name":"other"}}]"#
    let report = try await Importer(map: fixture.map, store: fixture.store)
      .run(ImportRequest([.bytes(Array(other.utf8), name: "o.json")]))
    #expect(report.counts.unchanged == 1)
    #expect(try await run(fixture, server, url).entities["Q"]?.updated == 1)
  }

  @Test("What a migration has dropped is brought back")
  func migrations() async throws {
    let server = try FeedServer()
    try server.put(Self.one, as: "people.json")
    let fixture = try ImportFixture(Self.map())
    let url = server.url("people.json")
    _ = try await run(fixture, server, url)
    let whole = fixture.store.model
    let smaller = try ImportMap(yaml: Self.map().replacing(", name: name", with: ""))
    try fixture.store.migrate(to: smaller.model(), drops: true)
    try fixture.store.migrate(to: whole)
    #expect(try await run(fixture, server, url).summary == "read 1, updated 1")
    #expect(try fixture.rows() == ["1|a"])
  }

  @Test(
    "A length that is told in two ways is none: nobody knows whether all came",
    arguments: [["Content-Length: 40", "Content-Length: 20"], ["Content-Length: 20, 40"]]
  )
  func lengths(fields: [String]) async throws {
    let server = try FeedServer()
    try server.put(answer("200 OK", fields, #"[{"id":1,"name":"a"}]"#), as: "cut")
    let fixture = try ImportFixture(Self.map())
    let told = await message(fixture, server, server.url("raw/cut")) { $0.web.retryCount = 0 }
    #expect(told.hasPrefix("input.web: "), "\(told)")
    #expect(try fixture.store.history().isEmpty)
  }

  @Test("Fields that go on in the next line, stand behind the body, or are no UTF-8")
  func fields() async throws {
    let server = try FeedServer()
    let body = #"{"items":[{"id":9,"name":"z"}]}"#
    let length = "Content-Length: \(body.utf8.count)"
    try server.put(
      answer("200 OK", ["Link: </raw/last>;", "\trel=\"next\"", length], body),
      as: "folded"
    )
    let trailers = "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\nETag: \"t\"\r\n\r\n"
    try server.put(
      answer("200 OK", ["ETag: \"h\"", "Transfer-Encoding: chunked"], trailers),
      as: "last"
    )
    let paged = try ImportFixture(Self.map(", records: items, pages: { next: header }"))
    _ = try await run(paged, server, server.url("raw/folded"))
    #expect(try server.requests() == ["/raw/folded", "/raw/last"])
    let fixture = try ImportFixture(Self.map(", records: items"))
    _ = try await run(fixture, server, server.url("raw/last"))
    #expect(try sql(fixture.store, "SELECT etag FROM _dragoman_downloads") == ["\"h\""])
  }

  @Test("Pages that the feed's own reader takes name the next one, whatever else is in them")
  func oddPages() async throws {
    let server = try FeedServer()
    let body =
      #"{"items":[{"id":1,"name":"a"}],"x":1e999,"deep":\#(String(repeating: "[", count: 600))"#
      + String(repeating: "]", count: 600) + #","meta":{"cursor":1.10}}"#
    try server.put(
      answer("200 OK", ["Content-Length: \(body.utf8.count)"], body),
      as: "odd"
    )
    let fixture = try ImportFixture(
      Self.map(
        ", records: items, encoding: windows-1252, pages: { cursor: /meta/cursor, parameter: after }"
      )
    )
    let told = await message(fixture, server, server.url("raw/odd"))
    #expect(told.contains("go in a circle"), "\(told)")
    // Cursors are sent as they are written.
    #expect(try server.requests() == ["/raw/odd", "/raw/odd?after=1.10"])
  }

  @Test("What explains an answer does not count as the feed")
  func errorBodies() async throws {
    let server = try FeedServer()
    try server.put(Self.one, as: "people.json")
    let long = String(repeating: "x", count: 200_000)
    let length = "Content-Length: \(long.utf8.count)"
    try server.put(answer("404 Not Found", [length], long), as: "none")
    try server.put(
      answer("302 Found", ["Location: /people.json", length], long),
      as: "moved"
    )
    let fixture = try ImportFixture(Self.map())
    let none = await message(fixture, server, server.url("raw/none")) {
      $0.maximumInputByteCount = 1000
    }
    #expect(none.hasPrefix("input.missing: "), "\(none)")
    let moved = await message(fixture, server, server.url("raw/moved")) {
      $0.maximumInputByteCount = 1000
    }
    #expect(moved == "imported: read 1, inserted 1")
  }

  @Test("A packed file that the server has packed once more is unpacked twice")
  func packed() async throws {
    let server = try FeedServer()
    let fixture = try ImportFixture(Self.map())
    #expect(await message(fixture, server, server.url("packed")) == "imported: read 1, inserted 1")
    #expect(try fixture.rows() == ["1|packed"])
  }
}
