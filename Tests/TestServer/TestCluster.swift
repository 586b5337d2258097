import Foundation

/// Where tests of what every server does run: one server, one of another version, or several as one.
public enum TestPlace: String, CaseIterable, Sendable {
  case postgreSQL = "PostgreSQL"
  case secondPostgreSQL = "another PostgreSQL"
  case citus = "Citus"

  /// Those that this machine can start.
  public static let all = allCases.filter { $0.server != nil }

  /// The server, or the coordinator.
  public var server: TestServer? {
    switch self {
    case .postgreSQL: TestServer.shared
    case .secondPostgreSQL: TestServer.second
    case .citus: TestCluster.shared?.coordinator
    }
  }
}

/// A coordinator of Citus and two workers, on loopback, of this process: where the extension is installed.
///
/// Nobody else needs it: without it the tests are passed over, and say so.
public final class TestCluster: Sendable {
  /// The cluster; nil: there is none, which is printed once.
  public static let shared: TestCluster? = {
    do {
      return try TestCluster(workerCount: 2)
    } catch {
      print("tests on Citus are skipped: \(error)")
      return nil
    }
  }()

  /// Whether there is one: what tests ask before they run.
  public static var isThere: Bool { shared != nil }

  /// Who is connected to.
  public let coordinator: TestServer
  /// The other nodes.
  public let workers: [TestServer]

  /// Starts one.
  ///
  /// - Throws: Why there is none.
  public init(workerCount: Int) throws {
    guard let binaries = TestServer.findBinaries() else {
      throw TestServer.Absence(description: "there is no PostgreSQL")
    }
    let folder = try Self.output(of: binaries + "/pg_config", "--sharedir")
    guard FileManager.default.fileExists(atPath: "\(folder)/extension/citus.control") else {
      throw TestServer.Absence(description: "the extension citus is not installed in \(folder)")
    }
    let settings = TestServer.Settings(
      lines: [
        "shared_preload_libraries = citus", "citus.shard_count = 4",
        "max_prepared_transactions = 300",
        "citus.enable_statistics_collection = off", "citus.recover_2pc_interval = -1",
        "citus.node_conninfo = 'sslmode=disable'",
      ],
      loopback: "trust"
    )
    let servers = try (0...workerCount).map { _ in try TestServer(settings) }
    for server in servers { try server.psql("CREATE EXTENSION citus") }
    coordinator = servers[0]
    workers = Array(servers.dropFirst())
    guard !workers.isEmpty else { return }
    try coordinator.psql("SELECT citus_set_coordinator_host('127.0.0.1', \(coordinator.port))")
    for worker in workers {
      try coordinator.psql("SELECT citus_add_node('127.0.0.1', \(worker.port))")
    }
  }

  private static func output(of program: String, _ argument: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = [argument]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    return String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
