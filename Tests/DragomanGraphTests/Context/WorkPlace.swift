import DragomanPostgreSQL
import GRDB
import TestServer

@testable import DragomanGraph

extension ContextPropertyTests.Work {
  /// Where the objects of random work are, as others see it.
  enum Place: Sendable {
    case file(String)
    case server(TestServer, url: String)

    /// A table's name in SQL.
    func name(of table: String) -> String {
      switch self {
      case .file: "\"\(table)\""
      case .server(_, let url): "\(TestServer.schema(of: url)).\"\(table)\""
      }
    }

    /// Changes something past all stacks.
    func run(_ sql: String) throws {
      switch self {
      case .file(let path): try DatabaseQueue(path: path).write { try $0.execute(sql: sql) }
      case .server(let server, _): try server.psql(sql)
      }
    }

    /// The only value of an answer; nil: there is none.
    func first(_ sql: String) throws -> Int64? {
      switch self {
      case .file(let path): try DatabaseQueue(path: path).read { try Int64.fetchOne($0, sql: sql) }
      case .server(let server, _): Int64(try server.psql(sql))
      }
    }

    /// What is stored otherwise than a plain graph says; nil: nothing.
    func difference(from graph: PlainGraph) throws -> String? {
      switch self {
      case .file(let path): return try DatabaseQueue(path: path).read(graph.difference)
      case .server(_, let url):
        let copy = try PostgreSQLServer(url).copy()
        let difference = try copy.read(graph.difference)
        try copy.close()
        return difference
      }
    }
  }
}
