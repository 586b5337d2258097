import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// Imports of feeds from a server.
@Suite(
  "Feeds of the web",
  .enabled(if: FeedServer.isPossible, "python3 and openssl are needed for the server")
)
struct WebImportTests: WebSuite {
  @Test(
    "A feed is fetched by https, trusted by its certificate, and packed or not",
    arguments: [true, false]
  )
  func https(isEncrypted: Bool) async throws {
    let server = try FeedServer(isEncrypted: isEncrypted)
    try server.put(Self.one, as: "people.json")
    let fixture = try ImportFixture(Self.map())
    let report = try await run(fixture, server, server.url("people.json?token=abc&page=2"))
    #expect(report.summary == "read 1, inserted 1")
    #expect(try fixture.rows() == ["1|a"])
    #expect(
      try sql(fixture.store, "SELECT source FROM _dragoman_imports")
        == [server.url("people.json?token=…&page=2")]
    )
  }

  @Test("A certificate that nobody vouches for is refused")
  func untrusted() async throws {
    let server = try FeedServer(isEncrypted: true)
    try server.put(Self.one, as: "people.json")
    let fixture = try ImportFixture(Self.map())
    let told = await message(fixture, server, server.url("people.json")) {
      $0.web.certificatesFile = nil
    }
    #expect(told.hasPrefix("input.web: \(server.url("people.json")) cannot be fetched: "))
    #expect(told.contains("certificate"))
  }

  @Test("What cannot be fetched says why, and what is not allowed is not asked for")
  func refusals() async throws {
    let server = try FeedServer()
    let fixture = try ImportFixture(Self.map())
    let none = server.url("none.json")
    #expect(
      await message(fixture, server, none)
        == "input.missing: There is no \(none): the server answers 404."
    )
    let secret = server.url("secret")
    #expect(
      await message(fixture, server, secret)
        == "input.permission: \(secret) may not be read: the server answers 401."
    )
    #expect(
      await message(fixture, server, "http://example.com/feed?api_key=12")
        == "input.address: http://example.com/feed?api_key=… is not encrypted: anybody on the way could read and"
        + " change the feed."
    )
    #expect(
      await message(fixture, server, "https:///feed")
        == "input.address: https:///feed is no https URL with a host."
    )
    #expect(
      await message(fixture, server, server.url("circle"))
        == "input.web: \(server.url("circle")) leads on more than 10 times."
    )
    #expect(
      await message(fixture, server, server.url("endless")) { $0.maximumInputByteCount = 1_000_000 }
        == "input.limit: \(server.url("endless")) has more than 1000000 bytes."
    )
  }

  @Test(
    "A redirect is followed on the same kind of host by the same scheme, and no header goes to another"
  )
  func redirects() async throws {
    let server = try FeedServer()
    let other = try FeedServer()
    try other.put(Self.one, as: "people.json")
    let fixture = try ImportFixture(Self.map())
    let report = try await run(fixture, server, server.url("moved?to=\(other.url("people.json"))"))
    {
      $0.web.headers = ["Authorization": "Bearer s3cret"]
    }
    #expect(report.summary == "read 1, inserted 1")
    #expect(try server.requests("Authorization").last?.hasSuffix(" Bearer s3cret") == true)
    #expect(try other.requests("Authorization") == ["/people.json"])
    #expect(
      await message(fixture, server, server.url("moved?to=https://127.0.0.1:1/x"))
        .contains("leads to https://127.0.0.1:1/x, which is of another scheme")
    )
    #expect(
      await message(fixture, server, server.url("moved?to=http://10.0.0.1/x")) {
        $0.web.allowsUnencrypted = true
      }.hasSuffix(
        "http://10.0.0.1/x is in a private network, where the feed's server must not lead to."
      )
    )
  }

  @Test("Header fields are sent, and stand nowhere")
  func headers() async throws {
    let server = try FeedServer()
    let fixture = try ImportFixture(Self.map())
    let report = try await run(fixture, server, server.url("secret")) {
      $0.web.headers = ["Authorization": "Bearer s3cret"]
    }
    #expect(report.summary == "read 1, inserted 1")
    let texts = try sql(fixture.store, "SELECT * FROM _dragoman_imports")
    #expect(!texts.isEmpty && !texts.contains { $0.contains("s3cret") })
    #expect(
      await message(fixture, server, server.url("secret")) {
        $0.web.headers = ["Authorization": "Bearer s3cret\r\nX: y"]
      } == "input.address: The header field Authorization has a name or a value that none can have."
    )
  }

  @Test("Faults that may pass are waited for, as long as the server asks, and not for ever")
  func retries() async throws {
    let server = try FeedServer()
    let fixture = try ImportFixture(Self.map())
    let report = try await run(fixture, server, server.url("busy?times=2&after=0"))
    #expect(report.summary == "read 1, inserted 1")
    #expect(try server.requests() == Array(repeating: "/busy?times=2&after=0", count: 3))
    let patient = try FeedServer()
    #expect(
      await message(fixture, patient, patient.url("busy?times=9&after=3600"))
        == "input.web: \(patient.url("busy?times=9&after=3600")) cannot be fetched: the server answers 503, and"
        + " asks for 3600 s of patience."
    )
    #expect(try patient.requests().count == 1)
    let broken = try FeedServer()
    let told = await message(fixture, broken, broken.url("broken")) { $0.web.retryCount = 1 }
    #expect(told.hasPrefix("input.web: \(broken.url("broken")) cannot be fetched (2 tries): "))
    #expect(try broken.requests().count == 2)
  }

  @Test("An import that is stopped while it waits for a server ends")
  func stopped() async throws {
    let server = try FeedServer()
    let fixture = try ImportFixture(Self.map())
    var request = ImportRequest([.url(server.url("hang"))])
    request.web = server.options
    // Not a matter of how busy the machine is: who is not stopped waits for the server as long as this.
    request.web.timeout = 1_800
    let start = ContinuousClock().now
    let run = Importer(map: fixture.map, store: fixture.store).start(request)
    run.cancel()
    let report = try await run.report()
    #expect(report.status == .cancelled)
    #expect(ContinuousClock().now - start < .seconds(1_800))
  }

  @Test(
    "An answer that does not say where it ends may have broken off: it is refused",
    // libcurl takes a length of too many digits for none.
    arguments: ["unbounded", "unbounded?length=\(String(repeating: "9", count: 31))"]
  )
  func unbounded(path: String) async throws {
    let server = try FeedServer()
    let fixture = try ImportFixture(Self.map())
    let told = await message(fixture, server, server.url(path))
    #expect(
      told.hasPrefix("input.web: \(server.url(path)) does not say how long the feed is: "),
      "\(told)"
    )
    #expect(try fixture.store.history().isEmpty)
  }

  // MARK: - Versions

  @Test("A feed that has not changed is not imported again, and the ledger says so")
  func unchanged() async throws {
    let server = try FeedServer()
    try server.put(Self.one, as: "people.json")
    let url = server.url("people.json?key=1")
    let fixture = try ImportFixture(Self.map())
    _ = try await run(fixture, server, url)
    let second = try await run(fixture, server, url)
    #expect(second.status == .done && second.counts.read == 0)
    #expect(second.notices.first?.hasPrefix("unchanged since import 1, of ") == true)
    #expect(
      try sql(fixture.store, "SELECT id, status, read FROM _dragoman_imports") == [
        "1|done|1", "2|done|0",
      ]
    )
    #expect(
      try sql(
        fixture.store,
        "SELECT map, substr(url, 1, length(url) - 9), run FROM _dragoman_downloads"
      )
        == ["web|\(server.url("people.json?key=…"))|1"]
    )
    // Whoever asks for it, other options, a version of Dragoman that reads otherwise, and a new version are imported.
    try fixture.store.write { session in
      try session.begin()
      try session.sql.run(
        "UPDATE _dragoman_downloads SET options = replace(options, ' reading ', ' reading 0')",
        []
      )
      try session.commit()
    }
    #expect(try await run(fixture, server, url).counts.unchanged == 1)
    #expect(
      try await run(fixture, server, url) { $0.web.isConditional = false }.counts.unchanged == 1
    )
    #expect(try await run(fixture, server, url) { $0.mode = .replace }.counts.unchanged == 1)
    try server.put(#"[{"id":1,"name":"b"}]"#, as: "people.json")
    let earlier = try server.requests().count
    #expect(try await run(fixture, server, url).summary == "read 1, updated 1")
    // The answer to the question whether there is something new is what is imported.
    #expect(try server.requests().count == earlier + 1)
  }

  @Test("Of several feeds of which one has changed each is fetched once")
  func someUnchanged() async throws {
    let server = try FeedServer()
    try server.put(Self.one, as: "people.json")
    try server.put(#"[{"id":2,"name":"b"}]"#, as: "others.json")
    let urls = ["people.json", "others.json"].map { server.url($0) }
    let fixture = try ImportFixture(Self.map())
    #expect(try await run(fixture, server, urls[0], urls[1]).summary == "read 2, inserted 2")
    #expect(try await run(fixture, server, urls[0], urls[1]).counts.read == 0)
    try server.put(#"[{"id":2,"name":"c"}]"#, as: "others.json")
    let earlier = try server.requests().count
    let third = try await run(fixture, server, urls[0], urls[1])
    #expect(third.summary == "read 2, updated 1, unchanged 1")
    #expect(
      try Array(server.requests().dropFirst(earlier)).sorted()
        == ["/others.json", "/people.json", "/people.json"]
    )
  }

  @Test("An import that was taken back, or left records out, is not the last version")
  func versions() async throws {
    let server = try FeedServer()
    try server.put(Self.one, as: "people.json")
    try server.put(#"[{"id":"x"}]"#, as: "faulty.json")
    let fixture = try ImportFixture(Self.map())
    _ = try await run(fixture, server, server.url("people.json"))
    _ = try fixture.store.undoImport(1)
    #expect(try await run(fixture, server, server.url("people.json")).counts.inserted == 1)
    // What was deleted since comes back, and what another feed has overwritten.
    _ = try fixture.store.delete(FetchRequest("P"))
    #expect(try await run(fixture, server, server.url("people.json")).counts.inserted == 1)
    #expect(try await run(fixture, server, server.url("people.json")).counts.read == 0)
    let other = ImportRequest([.bytes(Array(#"[{"id":1,"name":"other"}]"#.utf8), name: "o.json")])
    _ = try await Importer(map: fixture.map, store: fixture.store).run(other)
    #expect(try await run(fixture, server, server.url("people.json")).counts.updated == 1)
    for _ in 0..<2 {
      #expect(try await run(fixture, server, server.url("faulty.json")).counts.rejected == 1)
    }
  }

  @Test("URLs that are shown alike are told apart, and so is who asks")
  func identities() async throws {
    let server = try FeedServer()
    let fixture = try ImportFixture(Self.map())
    let first = server.url("tenant?token=1&of=a")
    let second = server.url("tenant?token=2&of=b")
    _ = try await run(fixture, server, first)
    #expect(try await run(fixture, server, second).summary == "read 1, updated 1")
    let names = try sql(fixture.store, "SELECT url FROM _dragoman_downloads")
    // What the first has made is changed since: only the second one's version counts.
    #expect(names.count == 1 && names.allSatisfy { $0.contains("token=…") })
    let asked = try await run(fixture, server, second) { $0.web.headers = ["X-Tenant": "c"] }
    #expect(asked.counts.read == 1)
  }

  @Test("Of several feeds one that has changed brings all of them")
  func several() async throws {
    let server = try FeedServer()
    try server.put(Self.one, as: "a.json")
    try server.put(#"[{"id":2,"name":"b"}]"#, as: "b.json")
    let urls = [server.url("a.json"), server.url("b.json")]
    let fixture = try ImportFixture(Self.map())
    _ = try await run(fixture, server, urls[0], urls[1])
    #expect(try await run(fixture, server, urls[0], urls[1]).counts.read == 0)
    try server.put(#"[{"id":2,"name":"c"}]"#, as: "b.json")
    let report = try await run(fixture, server, urls[0], urls[1])
    #expect(report.summary == "read 2, updated 1, unchanged 1")
  }

  // MARK: - Pages

  @Test(
    "What is no text where the next page is named is an error, and no end",
    arguments: [#"{"href":"/pages"}"#, "[]", "true"]
  )
  func oddLinks(next: String) async throws {
    let server = try FeedServer()
    let fixture = try ImportFixture(Self.map(", records: items, pages: { next: /links/next }"))
    let value = next.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let told = await message(fixture, server, server.url("odd?next=\(value)"))
    #expect(told.hasPrefix("input.web: At /links/next of "), "\(told)")
    #expect(
      await message(fixture, server, server.url("odd?next=false")) == "imported: read 1, inserted 1"
    )
  }

  @Test("Pages are of one server, also where they lead to, and one input as long as all of them")
  func pagesAndRedirects() async throws {
    let server = try FeedServer()
    let fixture = try ImportFixture(Self.map(", records: items, pages: { next: /links/next }"))
    let there = server.url("odd?page=2", host: "localhost")
    let moved =
      "\"/moved?to=\(there.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")\""
    let value = moved.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let told = await message(fixture, server, server.url("odd?next=\(value)"))
    #expect(told.hasSuffix("leads to \(there): pages are of one server."), "\(told)")
    let long = await message(fixture, server, server.url("pages")) {
      $0.maximumInputByteCount = 150
    }
    #expect(
      long.hasPrefix("input.limit: \(server.url("pages?page=2")) has more than 150 bytes."),
      "\(long)"
    )
  }

  @Test(
    "Pages are followed as the source says",
    arguments: [
      "{ next: header }", "{ next: /links/next }", "{ cursor: /meta/cursor, parameter: page }",
    ]
  )
  func pages(rule: String) async throws {
    let server = try FeedServer()
    let fixture = try ImportFixture(Self.map(", records: items, pages: \(rule)"))
    let report = try await run(fixture, server, server.url("pages"))
    #expect(report.summary == "read 3, inserted 3")
    #expect(try fixture.rows() == ["1|p1", "2|p2", "3|p3"])
    #expect(try server.requests() == ["/pages", "/pages?page=2", "/pages?page=3"])
  }

  @Test("Pages that go in a circle or to another server, or are too many, are refused")
  func strayPages() async throws {
    let server = try FeedServer()
    let fixture = try ImportFixture(Self.map(", records: items, pages: { next: /links/next }"))
    #expect(
      await message(fixture, server, server.url("round")).contains("go in a circle, at ")
    )
    #expect(
      await message(fixture, server, server.url("away"))
        .hasSuffix("is at https://127.0.0.2:1/x: pages are of one server.")
    )
    #expect(
      await message(fixture, server, server.url("pages")) { $0.web.maximumPageCount = 2 }
        == "input.limit: \(server.url("pages")) has more than 2 pages."
    )
    #expect(try fixture.store.history().isEmpty)
  }
}
