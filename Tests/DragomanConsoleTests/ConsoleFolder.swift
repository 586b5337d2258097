import Dragoman
import DragomanGraph
import Foundation
import Testing

@testable import DragomanConsole

/// A folder with a database, a map and what else a console shows; it is removed with its last user.
final class ConsoleFolder: Sendable {
  let url: URL

  /// Companies and people, with every kind of relationship that a page has to show.
  static let map = """
    version: 1
    name: staff
    entities:
      Company:
        unique: id
        attributes: { id: { type: int32 }, name: name }
        relationships:
          staff: { entity: Person, kind: toMany, inverse: company }
      Person:
        unique: id
        attributes:
          id: { type: int32 }
          name: { from: name, index: true }
          pay: { type: decimal, scale: 2 }
          born: { type: date }
          seen: { type: timestamp }
          active: { type: bool }
          secret: { from: secret, sensitive: true }
        relationships:
          company: { entity: Company, kind: toOne, key: { id: company }, inverse: staff, onUnresolved: stub }
          friends: { entity: Person, kind: toMany, key: { id: friends }, onUnresolved: pending }
    sources:
      people: { format: json, entity: Person, records: /people }
      companies: { format: json, entity: Company, records: /companies }
    """

  static let feed = """
    {"companies": [{"id": 1, "name": "North"}, {"id": 2, "name": "South"}],
     "people": [
      {"id": 1, "name": "Ada", "pay": 10.5, "born": "1979-01-31", "seen": "2026-01-02T03:04:05Z", "active": true,
       "secret": "hush", "company": 1, "friends": [2, 3]},
      {"id": 2, "name": "Bo", "pay": 7, "born": "1984-05-17", "active": false, "company": 1},
      {"id": 3, "name": "Cy", "pay": null, "company": 2, "friends": [1, 99]}
    ]}
    """

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try write(Self.map, to: "staff.map.yaml")
    try write(Self.feed, to: "staff.json")
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: url.appendingPathComponent(name))
  }

  func read(_ name: String) throws -> String {
    try String(contentsOf: url.appendingPathComponent(name), encoding: .utf8)
  }

  /// Imports a feed by a map, into `staff.db` unless told otherwise.
  @discardableResult
  func imports(
    _ feed: String = "staff.json",
    by map: String = "staff.map.yaml",
    rejects: String? = nil
  ) async throws -> ImportReport {
    let store = try SQLiteStore(at: .file(path("staff.db")))
    var request = ImportRequest([.file(path(feed))])
    request.options.rejectsFile = rejects.map(path)
    let report = try await Importer(map: try ImportMap(contentsOf: path(map)), store: store)
      .run(request)
    try store.close()
    return report
  }

  /// A console over `staff.db` with the map, which may write where that is said.
  func console(
    writes: Bool = false,
    rejects: [String] = [],
    maps: [String] = ["staff.map.yaml"],
    limit: Int = 1 << 20,
    counts: CountBoard? = nil
  ) -> Console {
    Console(
      ConsoleOptions(
        database: path("staff.db"),
        maps: maps.map(path),
        rejects: rejects.map(path),
        allowsImport: writes,
        maximumUploadByteCount: limit
      ),
      port: 8765,
      counts: counts ?? CountBoard(path("staff.db"), patience: nil)
    )
  }
}

/// A browser that has opened the console's address.
struct TestBrowser: Sendable {
  let console: Console
  private let cookie: String

  init(_ console: Console) throws {
    self.console = console
    let welcome = console.respond(
      to: ConsoleRequest(target: "/?token=\(console.token)", headers: ["Host": "localhost:8765"])
    )
    let cookie = try #require(welcome.header("Set-Cookie"))
    self.cookie = String(cookie.prefix { $0 != ";" })
  }

  /// The headers of a request of this browser.
  var headers: [String: String] { ["Host": "localhost:8765", "Cookie": cookie] }

  /// Follows a link.
  func get(_ target: String) -> ConsoleResponse {
    console.respond(to: ConsoleRequest(target: target, headers: headers))
  }

  /// The text of a page, which must be there.
  func page(_ target: String) throws -> String {
    let response = get(target)
    let text = try response.text()
    #expect(response.status == 200, "\(target): \(text)")
    return text
  }

  /// The JSON twin of a page.
  func json(_ target: String) throws -> [String: Any] {
    let value = try JSONSerialization.jsonObject(with: Data(try page(target).utf8))
    return try #require(value as? [String: Any])
  }

  /// Sends a form as the console's own page does.
  ///
  /// On a thread of its own: what forms do waits for tasks.
  func post(_ target: String, _ fields: [String: String]) async -> ConsoleResponse {
    let body = (["csrf": console.sources.formToken].merging(fields) { $1 })
      .map { "\(WebText.encoded($0))=\(WebText.encoded($1))" }.joined(separator: "&")
    let (console, request) = (console, form(target, body))
    return await withCheckedContinuation { done in
      Thread.detachNewThread { done.resume(returning: console.respond(to: request)) }
    }
  }

  /// A request that sends a form.
  func form(
    _ target: String,
    _ body: String,
    type: String = "application/x-www-form-urlencoded"
  ) -> ConsoleRequest {
    ConsoleRequest(
      "POST",
      target: target,
      headers: headers.merging([
        "Origin": "http://localhost:8765", "Content-Type": type,
        "Content-Length": "\(body.utf8.count)",
      ]) { $1 },
      body: Data(body.utf8)
    )
  }
}
