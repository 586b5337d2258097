import Dragoman
import Foundation
import Testing

@testable import DragomanConsole

/// The console at a real socket of this machine.
@Suite("The console's server", .serialized) struct ServerTests {
  private let folder: ConsoleFolder

  init() async throws {
    folder = try ConsoleFolder()
    try await folder.imports()
  }

  /// Runs a server for the length of a closure.
  private func serving(
    writes: Bool = false,
    limit: Int = 1 << 20,
    patience: HTTPConnection.Patience = .init(head: Client.patience),
    connectionCount: Int = ConsoleServer.connectionCount,
    _ body: (Client) async throws -> Void
  ) async throws {
    let options = ConsoleOptions(
      database: folder.path("staff.db"),
      maps: [folder.path("staff.map.yaml")],
      allowsImport: writes,
      token: "0123456789abcdef",
      maximumUploadByteCount: limit
    )
    let server = try ConsoleServer(
      options,
      address: "127.0.0.1",
      port: 0,
      patience: patience,
      connectionCount: connectionCount
    )
    let running = Task { try await server.run() }
    var client = Client(port: server.port)
    try await client.enter()
    let result: Result<Void, any Error>
    do { result = .success(try await body(client)) } catch { result = .failure(error) }
    await server.stop()
    try await running.value
    try result.get()
  }

  /// A name of which a few thousand are some megabytes.
  private static let long = String(repeating: "x", count: 500)

  @Test("The address that is printed leads in, and its page is whole")
  func enters() async throws {
    try await serving { client in
      let page = try await client.get("/entities/Person")
      #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(page.contains("Ada") && page.hasSuffix("</html>\n"))
      #expect(try await client.get("/nothing").hasPrefix("HTTP/1.1 404 "))
      let profile = try await client.get("/entities/Person/profile")
      #expect(profile.lowercased().contains("transfer-encoding: chunked"))
      #expect(profile.contains("</html>") && profile.hasSuffix("0\r\n\r\n"))
    }
  }

  @Test("Without the cookie, or by another name, nothing is told")
  func strangers() async throws {
    try await serving { client in
      var stranger = client
      stranger.cookie = ""
      #expect(try await stranger.get("/").hasPrefix("HTTP/1.1 403 "))
      let rebound = try await client.send(
        "GET / HTTP/1.1\r\nHost: evil.example:\(client.port)\r\nCookie: \(client.cookie)\r\nConnection: close\r\n\r\n"
      )
      #expect(rebound.hasPrefix("HTTP/1.1 421 "))
      let twice = try await client.send(
        "GET / HTTP/1.1\r\nHost: evil.example\r\nHost: localhost:\(client.port)\r\nCookie: \(client.cookie)\r\nConnection: close\r\n\r\n"
      )
      #expect(!twice.contains("Ada"))
    }
  }

  @Test("HEAD has the length of a page, and no page")
  func head() async throws {
    try await serving { client in
      let answer = try await client.send(
        "HEAD / HTTP/1.1\r\nHost: localhost:\(client.port)\r\nCookie: \(client.cookie)\r\nConnection: close\r\n\r\n"
      )
      #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("\r\n\r\n"))
    }
  }

  @Test("A form that is too long is refused, and what follows it is not taken for a request")
  func uploadBomb() async throws {
    try await serving(writes: true, limit: 1 << 20) { client in
      let smuggled =
        "GET /model HTTP/1.1\r\nHost: localhost:\(client.port)\r\nCookie: \(client.cookie)\r\n\r\n"
      let answer = try await client.send(
        client.head("POST /import", ["Content-Length": "9000000", "Content-Type": "text/plain"])
          + smuggled
      )
      #expect(answer.hasPrefix("HTTP/1.1 413 "))
      #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2)
      // Without a length it is counted.
      let chunk = String(repeating: "x", count: 1 << 16)
      let chunked = (0..<40).map { _ in "10000\r\n\(chunk)\r\n" }.joined() + "0\r\n\r\n"
      let counted = try await client.send(
        client.head("POST /import", ["Transfer-Encoding": "chunked", "Content-Type": "text/plain"])
          + chunked
      )
      #expect(counted.hasPrefix("HTTP/1.1 413 "))
      #expect(try await client.get("/").hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test("A head that is too long is refused, a long one is read, and both at once")
  func longHeads() async throws {
    try await serving { client in
      let long = String(repeating: "x", count: 30_000)
      #expect(try await client.get("/nothing?where=\(long)").hasPrefix("HTTP/1.1 404 "))
      let many = (0..<2_000).map { "X-Field-\($0): some value\r\n" }.joined()
      for head in ["GET /?\(long)\(long) HTTP/1.1\r\n", "GET / HTTP/1.1\r\n\(many)"] {
        // It need not come to its end.
        let answer = try await client.send(head)
        #expect(answer.hasPrefix("HTTP/1.1 431 "))
      }
      #expect(try await client.get("/").hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test(
    "What is no request is told so, and the connection closed",
    arguments: [
      ("hello\r\n\r\n", 400), ("\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n", 400),
      ("GET / HTTP/3\r\n\r\n", 505),
      ("GET / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
    ]
  )
  func noRequest(text: String, status: Int) async throws {
    try await serving { client in
      let answer = try await client.send(text)
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    }
  }

  @Test("Chunks that are none are told so", arguments: ["zz", "-1", "7fffffffffffffff", ""])
  func badChunks(line: String) async throws {
    try await serving(writes: true) { client in
      let head = client.head("POST /import", ["Transfer-Encoding": "chunked"])
      let answer = try await client.send(head + "\(line)\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 400 "))
    }
  }

  @Test("Several requests come over one connection, and the last is answered by version 1.0")
  func keptConnection() async throws {
    try await serving { client in
      let request =
        "GET /history.json HTTP/1.1\r\nHost: localhost:\(client.port)\r\nCookie: \(client.cookie)\r\n\r\n"
      let old = request.replacing("HTTP/1.1", with: "HTTP/1.0")
        .replacing("/history.json", with: "/entities/Person/profile.json")
      let answer = try await client.send(request + "\r\n" + request + old)
      #expect(answer.components(separatedBy: "HTTP/1.1 200 OK\r\n").count == 4)
      // Without chunks the end of the connection is the end.
      #expect(answer.hasSuffix("]},\"error\":null}\n") || answer.hasSuffix("],\"error\":null}\n"))
    }
  }

  @Test("A download by version 1.0 ends with its connection, also where that is to be kept")
  func oldDownload() async throws {
    try await serving { client in
      let answer = try await client.send(
        "GET /entities/Person/download.ndjson HTTP/1.0\r\nHost: localhost:\(client.port)\r\n"
          + "Connection: keep-alive\r\nCookie: \(client.cookie)\r\n\r\n"
      )
      #expect(answer.contains("Connection: close") && answer.hasSuffix("}\n"))
    }
  }

  @Test("Beyond the greatest number of connections a browser is told to come again")
  func tooManyConnections() async throws {
    try await serving(connectionCount: 3) { client in
      let held = try (0..<3).map { _ in try client.connect() }
      for connection in held { connection.write("GET") }
      var answer = ""
      while !answer.hasPrefix("HTTP/1.1 503 ") {
        try await Task.sleep(for: .milliseconds(20))
        answer = try await client.get("/")
      }
      for connection in held { connection.close() }
      while !answer.hasPrefix("HTTP/1.1 200 ") {
        try await Task.sleep(for: .milliseconds(20))
        answer = try await client.get("/")
      }
    }
  }

  @Test(
    "A file that does not fit into memory is imported from where it was kept, and leaves nothing behind"
  )
  func largeUpload() async throws {
    try await serving(writes: true, limit: 8 << 20) { client in
      let page = try await client.get("/import")
      let token = try #require(page.firstMatch(of: /name="csrf" value="([^"]+)"/)).output.1
      let records = (10..<6_000).map { #"{"id":\#($0),"name":"\#(Self.long) \#($0) of many"}"# }
      var body = ""
      for (name, value) in [("csrf", String(token)), ("map", "0")] {
        body += "--x\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
      }
      body +=
        "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a;b.json\"\r\n\r\n"
        + "{\"people\":[\(records.joined(separator: ","))]}\r\n--x--\r\n"
      let answer = try await client.send(
        client.head(
          "POST /import",
          [
            "Content-Length": "\(body.utf8.count)",
            "Content-Type": "multipart/form-data; boundary=x",
            "Expect": "100-continue",
          ]
        ) + body
      )
      #expect(answer.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 303 "))
      var job = ""
      repeat {
        try await Task.sleep(for: .milliseconds(20))
        job = try await client.get("/import/1.json")
      } while job.contains("\"checking\"")
      #expect(job.contains("\"checked\"") && job.contains("\"read\":5990"), "\(job)")
      #expect(job.contains("a;b.json"))
    }
  }

  @Test("Fifty requests at once are answered while an import runs")
  func whileImporting() async throws {
    let records = (10..<15_000).map { #"{"id":\#($0),"name":"person number \#($0)"}"# }
    try folder.write("{\"people\":[\(records.joined(separator: ","))]}", to: "large.json")
    try await serving { client in
      let folder = folder
      let importing = Task { try await folder.imports("large.json") }
      var rounds = 0
      repeat {
        let statuses = try await withThrowingTaskGroup(of: Bool.self) { group in
          for number in 0..<50 {
            let page = ["/", "/entities/Person?sort=name", "/history.json", "/objects/Person/1"][
              number % 4
            ]
            group.addTask { try await client.get(page).hasPrefix("HTTP/1.1 200 ") }
          }
          return try await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(statuses.count == 50 && statuses.allSatisfy { $0 })
        rounds += 1
      } while rounds < 2
      #expect(try await importing.value.counts.inserted == 14_990)
    }
  }

  @Test("Who says nothing, or only a letter now and then, is let go, and nobody else waits")
  func slowClients() async throws {
    try await serving(patience: .init(head: .seconds(3))) { client in
      let silent = try (0..<20).map { _ in try client.connect() }
      let slow = try client.connect()
      for letter in "GET / HTTP" {
        slow.write(String(letter))
        try await Task.sleep(for: .milliseconds(200))
      }
      #expect(try await client.get("/").hasPrefix("HTTP/1.1 200 "))
      #expect(await slow.readAll() == "")
      for connection in silent { #expect(await connection.readAll() == "") }
    }
  }

  @Test("Two hundred connections at once are all answered")
  func manyConnections() async throws {
    try await serving { client in
      let statuses = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<200 {
          group.addTask { try await client.get("/entities/Person.json").hasPrefix("HTTP/1.1 200 ") }
        }
        return try await group.reduce(into: [Bool]()) { $0.append($1) }
      }
      #expect(statuses.count == 200 && statuses.allSatisfy { $0 })
    }
  }

  @Test("A reader that goes away in the middle of a download leaves the server as it was")
  func abandonedDownload() async throws {
    let records = (10..<6_000).map { #"{"id":\#($0),"name":"\#(Self.long) \#($0)"}"# }
    try folder.write("{\"people\":[\(records.joined(separator: ","))]}", to: "large.json")
    try await folder.imports("large.json")
    try await serving { client in
      for _ in 0..<8 {
        let connection = try client.connect()
        connection.write(client.head("GET /entities/Person/download.ndjson"))
        connection.close()
      }
      let whole = try await client.get("/entities/Person/download.csv")
      #expect(whole.contains("x 5999"))
    }
  }

  @Test("Readers that take nothing of their downloads hold up nobody else's")
  func stalledDownloads() async throws {
    // More than the system takes for a connection that nobody reads.
    let name = String(repeating: "x", count: 4_000)
    let records = (10..<5_000).map { #"{"id":\#($0),"name":"\#(name)\#($0)"}"# }
    try folder.write("{\"people\":[\(records.joined(separator: ","))]}", to: "large.json")
    try await folder.imports("large.json")
    let patience = Client.patience * 2
    try await serving(patience: .init(head: patience, answer: patience)) { client in
      var stalled: [Client.Connection] = []
      for _ in 0..<5 {
        let connection = try client.connect()
        connection.write(client.head("GET /entities/Person/download.ndjson"))
        #expect(await connection.read(until: "Ada").contains(" 200 "))
        stalled.append(connection)
      }
      #expect(try await client.get("/entities/Person/download.csv").contains("x4999"))
      for connection in stalled { connection.close() }
    }
  }

  @Test("A port that is in use is told, with what to do")
  func portInUse() async throws {
    try await serving { client in
      let options = ConsoleOptions(database: folder.path("staff.db"))
      #expect {
        try ConsoleServer(options, address: "127.0.0.1", port: client.port)
      } throws: { error in
        let failure = error as? ConsoleServer.Failure
        return failure?.description.contains("in use") == true
          && failure?.help?.contains("--port 0") == true
      }
    }
  }

  @Test("Stopping ends streams of events, and waits for nobody who is only connected")
  func stopping() async throws {
    var stream: Client.Connection?
    try await serving { client in
      let connection = try client.connect()
      connection.write(client.head("GET /entities/Person/events"))
      #expect(await connection.read(until: "Ada").contains("text/event-stream"))
      stream = connection
    }
    #expect(await stream?.readAll().hasSuffix(Client.late) == false)
  }

  @Test("A download that is under way when the server stops comes to its end")
  func finishing() async throws {
    let records = (10..<6_000).map { #"{"id":\#($0),"name":"\#(Self.long) \#($0)"}"# }
    try folder.write("{\"people\":[\(records.joined(separator: ","))]}", to: "large.json")
    try await folder.imports("large.json")
    var rest: Task<String, Never>?
    let patience = HTTPConnection.Patience(head: Client.patience, ending: Client.patience)
    try await serving(patience: patience) { client in
      let connection = try client.connect()
      connection.write(client.head("GET /entities/Person/download.csv"))
      _ = await connection.read(until: "x 10")
      // The rest is read while the server stops.
      rest = Task { await connection.readAll() }
    }
    #expect(await rest?.value.contains("x 5999") == true)
  }
}
