import DragomanGraph
import Foundation

@testable import Dragoman

/// A server of feeds on loopback (Tests/feed-server.py), by http or by https with a certificate of its own.
final class FeedServer {
  /// What it serves, and what it writes down.
  let folder: URL
  private let process = Process()
  private let port: Int
  private let isEncrypted: Bool

  /// Whether there is what it needs.
  static let isPossible: Bool = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return ["python3", "openssl"].allSatisfy { name in
      folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }
  }()

  /// Starts it.
  init(isEncrypted: Bool = false) throws {
    self.isEncrypted = isEncrypted
    folder = FileManager.default.temporaryDirectory.appending(path: "feeds-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["python3", DocumentFile.root.appending(path: "Tests/feed-server.py").path, folder.path]
      + (isEncrypted ? ["--tls"] : [])
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
  }

  deinit {
    // Foundation waits for the end on the thread that began the process, which a test has left by now.
    kill(process.processIdentifier, SIGKILL)
    // What is left lies in the folder for temporary files.
    try? FileManager.default.removeItem(at: folder)
  }

  /// A URL of the server.
  func url(_ path: String, host: String = "127.0.0.1") -> String {
    "\(isEncrypted ? "https" : "http")://\(host):\(port)/\(path)"
  }

  /// Puts a file there.
  func put(_ text: String, as name: String) throws {
    try Data(text.utf8).write(to: folder.appending(path: name))
  }

  /// The options by which it is trusted.
  var options: WebOptions {
    var options = WebOptions(timeout: 300)
    if isEncrypted { options.certificatesFile = folder.appending(path: "ca.pem").path }
    return options
  }

  /// The paths that were asked for, each with the fields that matter here.
  func requests(_ fields: String...) throws -> [String] {
    let text = try String(contentsOf: folder.appending(path: "requests"), encoding: .utf8)
    return try text.split(separator: "\n").map { line in
      let request =
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      let sent = request["fields"] as? [String: String] ?? [:]
      let found = fields.compactMap { sent[$0] }
      return ([request["path"] as? String ?? ""] + found).joined(separator: " ")
    }
  }
}

/// What suites of feeds from a server share: a map of one entity, and imports by it.
protocol WebSuite {}

extension WebSuite {
  static func map(_ source: String = "") -> String {
    """
    version: 1
    name: web
    entities:
      P: { unique: id, attributes: { id: { type: int64 }, name: name } }
    sources:
      s: { format: json, entity: P\(source) }
    """
  }

  static var one: String { #"[{"id":1,"name":"a"}]"# }

  func run(
    _ fixture: ImportFixture,
    _ server: FeedServer,
    _ urls: String...,
    change: (inout ImportRequest) -> Void = { _ in }
  ) async throws -> ImportReport {
    var request = ImportRequest(urls.map { .url($0) })
    request.web = server.options
    change(&request)
    return try await Importer(map: fixture.map, store: fixture.store).run(request)
  }

  func message(
    _ fixture: ImportFixture,
    _ server: FeedServer,
    _ url: String,
    change: (inout ImportRequest) -> Void = { _ in }
  ) async -> String {
    do {
      return "imported: \(try await run(fixture, server, url, change: change).summary)"
    } catch let failure as ImportFailure {
      return "\(failure.cause)"
    } catch {
      return "another error: \(error)"
    }
  }
}
