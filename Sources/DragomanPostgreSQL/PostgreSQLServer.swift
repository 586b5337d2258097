import CPostgreSQL
import DragomanGraph
import Foundation

/// A server by its URL, as libpq takes it: `postgresql://user@host:5432/people?sslmode=verify-full`.
///
/// Passwords, service files, certificates and several hosts are libpq's
/// (https://www.postgresql.org/docs/current/libpq-connect.html): `~/.pgpass`, `PGPASSWORD`,
/// `target_session_attrs=read-write`.
public struct PostgreSQLServer: Sendable {
  private let url: String
  /// The server, its database and the schema where the URL names one, without user, password and other options: what
  /// messages show.
  public let name: String

  /// Names a server; nothing is connected to yet.
  public init(_ url: String) {
    // libpq knows the scheme in small letters only.
    let scheme = url.prefix { $0 != ":" }
    self.url = scheme.lowercased() + url.dropFirst(scheme.count)
    name = Self.name(of: url)
  }

  /// Whether a text is the URL of a server and not the path of a file.
  public static func isURL(_ text: String) -> Bool {
    let start = text.prefix { $0 != "/" }.lowercased()
    return text.contains("://") && (start == "postgresql:" || start == "postgres:")
  }

  /// Whether user and password end where libpq takes them to end: it would show what comes behind.
  private var isClear: Bool {
    guard let scheme = url.firstRange(of: "://") else { return false }
    let rest = url[scheme.upperBound...]
    let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    return rest[..<end].count { $0 == "@" } <= 1 && !rest[end...].contains("@")
  }

  private static func name(of url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return "a PostgreSQL server" }
    var rest = url[scheme.upperBound...]
    rest = rest.prefix { $0 != "?" && $0 != "#" }
    // A password that is not encoded may hold anything: nothing of it is shown.
    if url[scheme.upperBound...].lastIndex(of: "@").map({ $0 >= rest.endIndex }) ?? false {
      return "a PostgreSQL server"
    }
    if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
    let settings = settings(of: url)
    var name = "postgresql://\(rest)"
    var more: [String] = []
    // The path counts less than what is behind it.
    if let database = settings["dbname"], !database.contains(where: { "=:@".contains($0) }) {
      name = "postgresql://\(rest.prefix { $0 != "/" })/\(database)"
    } else if let service = settings["service"], !rest.contains("/") {
      more.append("service=\(service)")
    }
    if let schema = schema(in: settings["options"] ?? "") { more.append("schema=\(schema)") }
    return more.isEmpty ? name : "\(name)?\(more.joined(separator: "&"))"
  }

  /// What stands behind the `?` of a URL, by its names.
  private static func settings(of url: String) -> [String: String] {
    let parts = url.drop { $0 != "?" }.dropFirst().split(separator: "&")
    let pairs = parts.compactMap { part -> (String, String)? in
      let name = String(part.prefix { $0 != "=" })
      let value = String(part.drop { $0 != "=" }.dropFirst())
      guard let name = name.removingPercentEncoding, let value = value.removingPercentEncoding
      else {
        return nil
      }
      return (name, value)
    }
    return Dictionary(pairs, uniquingKeysWith: { $1 })
  }

  /// The path of schemas that options of a session set: `-csearch_path=sales`, `-c search_path=sales`.
  private static func schema(in options: String) -> String? {
    let setting = options.components(separatedBy: "search_path=").dropFirst().last
    let path = setting.map { String($0.prefix { $0 != " " }) } ?? ""
    return path.isEmpty ? nil : path
  }

  /// The words of the URL that no message may show.
  private var secrets: [String] {
    guard let scheme = url.firstRange(of: "://") else { return [url] }
    var found: [String] = []
    let rest = url[scheme.upperBound...]
    if let at = rest.lastIndex(of: "@") {
      let user = rest[..<at]
      if let colon = user.firstIndex(of: ":") {
        found.append(String(user[user.index(after: colon)...]))
      }
    }
    for part in rest.split(whereSeparator: { "?&".contains($0) }).dropFirst() {
      let name = String(part.prefix { $0 != "=" })
      // libpq takes names with escapes, too, and newer ones have secrets that are not known here.
      if Self.isHarmless(name.removingPercentEncoding ?? name) { continue }
      found.append(String(part.drop { $0 != "=" }.dropFirst()))
    }
    return [url] + found.flatMap { [$0, $0.removingPercentEncoding ?? $0] }.filter { !$0.isEmpty }
  }

  /// Whether what a parameter of the URL says may be shown.
  private static func isHarmless(_ name: String) -> Bool {
    harmless.contains(name) || name.hasPrefix("keepalives")
  }

  private static let harmless: Set<String> = [
    "host", "hostaddr", "port", "dbname", "user", "passfile", "service", "options", "sslmode",
    "sslcert", "sslkey",
    "sslrootcert", "sslcrl", "sslsni", "channel_binding", "gssencmode", "krbsrvname",
    "connect_timeout",
    "tcp_user_timeout", "application_name", "fallback_application_name", "client_encoding",
    "target_session_attrs", "load_balance_hosts", "requirepeer", "require_auth",
  ]

  /// A text without anything secret of the URL.
  func withoutSecrets(_ text: String) -> String {
    secrets.reduce(text) { $0.replacing($1, with: $1 == url ? name : "***") }
  }
}

extension PostgreSQLServer: DatabaseServer {
  /// Connects; a server that does not answer is given up after ten seconds, unless the URL or `PGCONNECT_TIMEOUT`
  /// says otherwise, and one that falls silent after a minute.
  ///
  /// - Throws: `ServerError`; `StoreError`, `.unreachable`, where there is no libpq.
  package func connect() throws -> any ServerConnection {
    guard let library = CPostgreSQLLoad() else {
      throw StoreError(
        .unreachable,
        "libpq, the library that speaks to PostgreSQL, is not installed.",
        help: "install libpq5 (Debian, Ubuntu) or libpq (Homebrew)",
        path: name
      )
    }
    guard Self.isURL(url) else {
      throw StoreError(
        .unreachable,
        "That is no URL of a PostgreSQL server.",
        help: "write postgresql://user@host:5432/database",
        path: name
      )
    }
    guard isClear else {
      throw StoreError(
        .unreachable,
        "The URL has an @, or a character that belongs behind the host, in the user or the password.",
        help:
          "write @ as %40, / as %2F, ? as %3F, # as %23; better: put the password into ~/.pgpass",
        path: name
      )
    }
    let isTimed = ProcessInfo.processInfo.environment["PGCONNECT_TIMEOUT"] != nil
    // What comes behind overrides: the URL, and behind it what texts are read by.
    let settings = [
      ("connect_timeout", isTimed ? nil : "10"), ("fallback_application_name", "dragoman"),
      ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
      ("tcp_user_timeout", "60000"),
      ("dbname", url), ("client_encoding", "UTF8"),
    ].filter { $0.1 != nil }
    let keywords = settings.map { strdup($0.0) }
    let values = settings.map { $0.1.flatMap { strdup($0) } }
    defer { for text in keywords + values { free(text) } }
    let handle = library.pointee.connectdbParams(
      keywords.map { UnsafePointer($0) } + [nil],
      values.map { UnsafePointer($0) } + [nil],
      1
    )
    guard let handle else {
      throw ServerError(state: "08001", message: "there is no memory for a connection")
    }
    guard library.pointee.status(handle) == 0 else {
      let text = String(of: library.pointee.errorMessage(handle))
      library.pointee.finish(handle)
      throw refusal(text)
    }
    let connection = PostgreSQLConnection(library, handle, self)
    try connection.run(
      "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET bytea_output = 'hex';"
        + " SET extra_float_digits = 1; SET standard_conforming_strings = on; SET array_nulls = on;"
        // What batches look up is mostly in memory: by the costs of disks the server reads whole tables for each.
        + " SET random_page_cost = 0.1; SET seq_page_cost = 0.1;"
        // Rows that a policy hides would be taken for missing ones.
        + " SET row_security = off; SET lock_timeout = '5s';"
        // The catalog's words are compared with ours.
        + " SET quote_all_identifiers = off;"
        // A feed comes as fast as it comes, and an import is one transaction; the connection that reserves keys waits
        // outside of one (since PostgreSQL 14).
        + " SET idle_in_transaction_session_timeout = 0;"
        + " SELECT set_config('idle_session_timeout', '0', false)"
        + " WHERE current_setting('idle_session_timeout', true) IS NOT NULL;"
        // A store has one schema: what another one of the path has under a name of ours is none of it.
        + " SELECT set_config('search_path', quote_ident(current_schema()), false)"
        + " WHERE current_schema() IS NOT NULL"
    )
    return connection
  }

  /// Why there is no connection: libpq tells it in words only, before the session begins.
  private func refusal(_ text: String) -> ServerError {
    // Names of users and databases stand in the same sentences: what is rarer comes first.
    let words = [
      ("password authentication failed", "28P01"),
      ("too many connections", "53300"), ("too many clients", "53300"),
      ("remaining connection slots", "53300"),
      ("not currently accepting connections", "57P03"), ("not accepting connections", "57P03"),
      ("starting up", "57P03"), ("shutting down", "57P03"), ("recovery mode", "57P03"),
      ("pg_hba.conf rejects", "28000"), ("no pg_hba.conf entry", "28000"),
      ("authentication failed", "28000"), ("permission denied", "42501"), ("role \"", "28000"),
      ("database \"", "3D000"),
    ]
    // Only what the server says, and what libpq says of passwords: a host may be called anything.
    let said = text.firstRange(of: "FATAL:").map { text[$0.upperBound...] } ?? ""
    let isUnsaid = text.contains("fe_sendauth: no password supplied")
    let state = isUnsaid ? "28P01" : words.first { said.contains($0.0) }?.1
    let isReadOnly = text.contains("session is read-only")
    let lines = withoutSecrets(text).split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    return ServerError(
      state: isReadOnly ? "25006" : state ?? "08001",
      message: lines.joined(separator: "; ")
    )
  }
}
