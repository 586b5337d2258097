import Foundation
import Synchronization

/// A PostgreSQL server of this process: made when the first test asks for it, on loopback and a socket of its own,
/// ended and removed with the process, however that ends.
public final class TestServer: Sendable {
  /// The server; nil: none is installed, which is printed once.
  ///
  /// With `DRAGOMAN_SERVER_TESTS=citus` it is the coordinator of Citus, for all tests.
  public static let shared: TestServer? = {
    if ProcessInfo.processInfo.environment["DRAGOMAN_SERVER_TESTS"] == "citus" {
      return TestCluster.shared?.coordinator
    }
    do {
      return try TestServer()
    } catch {
      print("tests on PostgreSQL are skipped: \(error)")
      return nil
    }
  }()

  /// A server of another version, whose programs are in the folder that `DRAGOMAN_SECOND_POSTGRESQL` names; nil: none is
  /// named.
  public static let second: TestServer? = {
    guard let folder = ProcessInfo.processInfo.environment["DRAGOMAN_SECOND_POSTGRESQL"] else {
      return nil
    }
    do {
      return try TestServer(in: folder)
    } catch {
      // Who names one wants it to be tried.
      fatalError("the server of \(folder): \(error)")
    }
  }()

  /// Whether there is one: what tests ask before they run.
  public static var isThere: Bool { shared != nil }

  /// Whether there is one whose tables take triggers, and which wants passwords: not one of Citus.
  public static var isPlain: Bool { isThere && shared !== TestCluster.shared?.coordinator }

  /// What a server is started with besides.
  struct Settings {
    /// Lines of postgresql.conf.
    var lines: [String] = []
    /// How `pg_hba.conf` lets those in who come by loopback.
    var loopback = "scram-sha-256"
  }

  /// Why there is no server.
  struct Absence: Error, CustomStringConvertible {
    let description: String
  }

  /// The folder of the socket.
  private let folder: String
  /// The port on 127.0.0.1, where a password is asked for.
  public let port: Int
  /// The folder of its programs.
  public let binaries: String
  private let count = Atomic<Int>(0)
  /// The server ends when nobody holds the other end.
  private let lifeline: Pipe

  init(_ settings: Settings = Settings(), in programs: String? = nil) throws {
    guard let binaries = programs ?? Self.findBinaries() else {
      throw Absence(description: "install postgresql, or set DRAGOMAN_POSTGRESQL to its folder bin")
    }
    self.binaries = binaries
    let folder = "/tmp/dragoman-pg-\(UUID().uuidString.prefix(8))"
    self.folder = folder
    port = try Self.freePort()
    let script = """
      set -e
      mkdir -m 700 '\(folder)'
      as=
      if [ "$(id -u)" -eq 0 ]; then
        user=nobody
        id postgres >/dev/null 2>&1 && user=postgres
        chown "$user" '\(folder)'
        as="setpriv --reuid=$user --regid=$(id -g $user) --clear-groups"
      fi
      cd '\(folder)'
      make() {
        $as '\(binaries)/initdb' -D '\(folder)/data' -U postgres -A trust -E UTF8 --locale=C "$@" --no-sync >init.log 2>&1
      }
      # Most databases do not order texts by their bytes; not every server can do otherwise.
      make --locale-provider=icu --icu-locale=en-US || { rm -rf data; make; } || { cat init.log; exit 1; }
      printf 'local all all trust\\nhost all all 127.0.0.1/32 \(settings.loopback)\\n' >'\(folder)/data/pg_hba.conf'
      cat >>'\(folder)/data/postgresql.conf' <<'END'
      \(settings.lines.joined(separator: "\n"))
      END
      HOME='\(folder)' $as '\(binaries)/postgres' -D '\(folder)/data' -k '\(folder)' -p \(port) -c listen_addresses=127.0.0.1 \
        -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=300 \
        -c lc_messages=C >log 2>&1 </dev/null &
      server=$!
      # Whatever ends the tests ends the server: their end of the pipe is closed.
      (
        for i in $(seq 600); do
          '\(binaries)/pg_isready' -q -h '\(folder)' -p \(port) && { echo ready; break; }
          kill -0 $server 2>/dev/null || { cat log; break; }
          sleep 0.1
        done
      )
      cat >/dev/null || true
      kill -QUIT $server 2>/dev/null || true
      wait $server 2>/dev/null || true
      rm -rf '\(folder)'
      """
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", script]
    lifeline = Pipe()
    let output = Pipe()
    process.standardInput = lifeline
    process.standardOutput = output
    process.standardError = output
    try process.run()
    var said = Data()
    while !said.contains(UInt8(ascii: "\n")) {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { break }
      said += more
    }
    let text = String(decoding: said, as: UTF8.self)
    guard text.hasPrefix("ready") else {
      throw Absence(description: "the server did not start: \(text)")
    }
  }

  static func findBinaries() -> String? {
    let named = ProcessInfo.processInfo.environment["DRAGOMAN_POSTGRESQL"].map { [$0] } ?? []
    let versions =
      (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    let installed = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }
      .map { "/usr/lib/postgresql/\($0)/bin" }
    let brewed = ["/opt/homebrew/opt", "/usr/local/opt"].flatMap { folder in
      let formulas = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return formulas.filter { $0 == "postgresql" || $0.hasPrefix("postgresql@") }.sorted(by: >)
        .map { "\(folder)/\($0)/bin" }
    }
    return (named + installed + brewed).first {
      FileManager.default.isExecutableFile(atPath: $0 + "/initdb")
    }
  }

  /// `SOCK_STREAM`.
  #if canImport(Glibc)
  static let stream = Int32(SOCK_STREAM.rawValue)
  #else
  static let stream = SOCK_STREAM
  #endif

  /// The server's socket.
  public var socketPath: String { "\(folder)/.s.PGSQL.\(port)" }

  /// Ends the server before its process ends.
  public func end() {
    try? lifeline.fileHandleForWriting.close()
    for _ in 0..<3000 where FileManager.default.fileExists(atPath: folder) { usleep(10_000) }
  }

  private static func freePort() throws -> Int {
    let handle = socket(AF_INET, Self.stream, 0)
    defer { close(handle) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(handle, $0, length) == 0 && getsockname(handle, $0, &length) == 0
      }
    }
    guard isBound else { throw Absence(description: "no port is free") }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// The URL of a new, empty schema of the database `postgres`.
  public func schema() throws -> String {
    let number = count.add(1, ordering: .relaxed).newValue
    try psql("CREATE SCHEMA t\(number)")
    return url(schema: "t\(number)")
  }

  /// The URL of a schema, by the socket, as a user without a password.
  public func url(schema: String, user: String = "postgres", more: String = "") -> String {
    let host = folder.replacingOccurrences(of: "/", with: "%2F")
    return
      "postgresql://\(user)@/postgres?host=\(host)&port=\(port)&options=-csearch_path%3D\(schema)"
      + more
  }

  /// The URL of a schema by a proxy.
  public func url(schema: String, by proxy: CuttingProxy) -> String {
    "postgresql://postgres@127.0.0.1:\(proxy.port)/postgres?sslmode=disable&gssencmode=disable"
      + "&options=-csearch_path%3D\(schema)"
  }

  /// The name of a URL's schema.
  public static func schema(of url: String) -> String {
    String(
      url.components(separatedBy: "search_path%3D").last?.prefix { $0 != "&" && $0 != "%" } ?? ""
    )
  }

  /// Runs SQL as the owner of everything.
  ///
  /// - Returns: What psql prints: unaligned rows.
  @discardableResult
  public func psql(_ sql: String, database: String = "postgres") throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: binaries + "/psql")
    process.arguments = [
      "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", folder, "-p", "\(port)", "-U",
      "postgres",
      "-d", database, "-c", sql,
    ]
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    // Foundation keeps it open else, and starts no process beside more than a thousand files.
    try output.fileHandleForReading.close()
    process.waitUntilExit()
    let text = String(decoding: printed, as: UTF8.self)
    if text.contains("ERROR:") || text.contains("FATAL:") { throw Absence(description: text) }
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }
}
