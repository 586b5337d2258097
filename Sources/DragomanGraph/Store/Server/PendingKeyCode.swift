import GRDB
import Synchronization

/// The key of a reference that waits, as text: the same bytes as in a file, because SQLite writes and reads them.
final class PendingKeyCode: Sendable {
  static let shared = PendingKeyCode()

  /// A database in memory without tables; made when the first reference waits.
  private let database = Mutex<DatabaseQueue?>(nil)

  /// The JSON object of a key.
  func text(of parts: [WaitingReference.Part]) throws -> String {
    try ask { database in
      let expressions = parts.enumerated().map { ($1.name, "?\($0 + 1)") }
      let statement = try RawStatement("SELECT \(PendingReference.json(expressions))", in: database)
      for (index, part) in parts.enumerated() { try statement.bind(part.value, Int32(index) + 1) }
      var text = ""
      try statement.forEachRow { text = $0.text(0) }
      return text
    }
  }

  /// The parts of a key.
  ///
  /// - Throws: `StoreError`, `.damaged`, for what is no JSON object.
  func parts(of text: String) throws -> [WaitingReference.Part] {
    try ask { database in
      let statement = try RawStatement(
        "SELECT e.key, \(PendingReference.value(in: "e")) FROM json_each(?) AS e",
        in: database
      )
      try statement.bind(.text(text), 1)
      var parts: [WaitingReference.Part] = []
      try statement.forEachRow { parts.append(WaitingReference.Part($0.text(0), $0.stored(1))) }
      return parts
    }
  }

  private func ask<T: Sendable>(_ body: (Database) throws -> T) throws -> T {
    let made = try database.withLock { queue in
      if let queue { return queue }
      var configuration = Configuration()
      configuration.prepareDatabase { try FetchFunctions.register(on: $0) }
      let made = try DatabaseQueue(configuration: configuration)
      queue = made
      return made
    }
    return try StoreError.naming(nil) { try made.inDatabase(body) }
  }
}
