extension StoreError {
  /// Translates what a server answered while the store `name` was worked on; other errors stay what they are.
  static func onServer<T>(_ name: String, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as ServerError {
      throw StoreError(error, on: name)
    } catch var error as StoreError {
      // Of a request that does not fit, the database is not the fault.
      if error.code != .badRequest { error.path = error.path ?? name }
      throw error
    }
  }

  /// The same where nothing but the server and the store can fail.
  static func namingServer<T>(_ name: String, _ body: () throws -> T) throws(StoreError) -> T {
    do {
      return try onServer(name, body)
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.refused, "\(error)", path: name)
    }
  }

  /// Refuses that a server has changed another number of rows than it was sent.
  static func check(_ count: Int, is wanted: Int, in table: String) throws(StoreError) {
    guard count != wanted else { return }
    throw StoreError(
      .refused,
      "The server changed \(MessageWords.count(count, "row")) of \(table) where \(MessageWords.count(wanted, "was", "were")) to be"
        + " changed; nothing was kept.",
      help: "a trigger, a rule or a policy of the table may be in the way"
    )
  }

  /// Translates an answer, and notes whether what it ended may be done again.
  init(_ error: ServerError, on name: String) {
    self.init(translating: error, on: name)
    isPassing = error.isPassing
  }

  /// Translates an answer by its SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html).
  private init(translating error: ServerError, on name: String) {
    if let node = error.lostNode {
      self.init(
        .unreachable,
        "The node \(node) of Citus cannot be reached from the coordinator; nothing of the open transaction was kept.",
        help:
          "look whether it runs, and what pg_dist_node says of it; then run the same command again",
        path: name
      )
      return
    }
    let said =
      error.message.hasSuffix(".") || error.message.hasSuffix("?")
      ? String(error.message.dropLast()) : error.message
    switch error.state {
    case "28000", "28P01":
      self.init(
        .permission,
        "The server refuses the user or the password.",
        help: "put the password into ~/.pgpass or PGPASSWORD; the server's log says more",
        path: name
      )
    case "42501":
      self.init(
        .permission,
        "The user lacks a privilege: \(said).",
        help: "GRANT it, or connect as the owner of the tables",
        path: name
      )
    case "25006":
      self.init(
        .permission,
        "The server takes no writes: \(said).",
        help: "connect to the primary: postgresql://a,b/db?target_session_attrs=read-write",
        path: name
      )
    case "3D000":
      self.init(
        .missing,
        "There is no such database on the server.",
        help: "make it with createdb",
        path: name
      )
    case "53100":
      self.init(
        .full,
        "The server's disk is full; nothing of the open transaction was kept.",
        help: "free some space there and run the same command again",
        path: name
      )
    case "55P03", "40P01", "40001":
      self.init(
        .busy,
        "Another program writes into the database and did not end in time.",
        help: "try again when it has finished",
        path: name
      )
    case "53300", "57P03":
      self.init(
        .unreachable,
        "The server takes no more connections now: \(said).",
        help:
          "try again later, or raise max_connections, or the limit of the user or of the database",
        path: name
      )
    case "42P01", "42703", "42704", "42883", "42804", "3F000":
      self.init(
        .damaged,
        "The tables of the database are not as its model says: \(said).",
        help: "another program may have changed them; restore a backup",
        path: name
      )
    case "42701", "42P07", "42710":
      self.init(
        .modelConflict,
        "The database has a table or column already that Dragoman did not make: \(said).",
        help: "rename or drop it, or give it another name with `table:` or `column:` in the map",
        path: name
      )
    case "2BP01":
      self.init(
        .modelConflict,
        "Something that Dragoman did not make depends on what goes: \(said).",
        help: "drop it first, and make it again afterwards",
        path: name
      )
    case "57014":
      self.init(
        .busy,
        "The server ended a statement: \(said).",
        help: "raise statement_timeout of the user, or of the database, for imports",
        path: name
      )
    case "54000", "54011", "54001":
      self.init(
        .refused,
        "A limit of the server is exceeded: \(said).",
        help: "keys of an index have 2,700 bytes at most, tables 1,600 columns",
        path: name
      )
    case let state where state.hasPrefix("08") || state.hasPrefix("57P"):
      self.init(
        .unreachable,
        "The server cannot be reached, or has ended the connection: \(said).",
        help: "look whether it runs and the URL is right; what was not committed is not there",
        path: name
      )
    case let state where state.hasPrefix("22"):
      // What the server says shows the value, which may be sensitive.
      self.init(
        .damaged,
        "The server refuses a value for the type of its column (SQLSTATE \(state)).",
        help: "another program may have changed the type of the column",
        path: name
      )
    case "23505" where error.detail.hasPrefix("Key (_pk)="):
      self.init(
        .damaged,
        "The next keys in _dragoman_keys are behind those that objects have: \(said).",
        help: "restore a backup, or set next behind the largest _pk of the table",
        path: name
      )
    case let state where state.hasPrefix("23"):
      self.init(
        .refused,
        "The server refuses what a constraint forbids: \(error.constraint ?? said).",
        path: name
      )
    case let state where state.hasPrefix("58"):
      self.init(.inputOutput, "Reading or writing failed on the server: \(said).", path: name)
    default:
      self.init(.refused, "The server refused: \(said) (SQLSTATE \(error.state)).", path: name)
    }
  }
}
