import Foundation

/// Who may see the pages, and who may change something through them.
///
/// A page of a stranger that is open in the same browser can send requests here, but it knows no token, gets no
/// cookie sent (`SameSite=Strict`), cannot read what is answered, and names itself in `Origin`. A name of its
/// own that it lets point to this machine (DNS rebinding) is no name of this server.
struct ConsoleGuard: Sendable {
  /// What the address that is opened first has in its query, `token`.
  let token: String
  /// What each form has in a hidden field, `csrf`.
  let formToken: String
  /// The port; nil where there is no server.
  let port: Int?
  /// The names besides numbers and `localhost` by which this server may be asked.
  let hosts: Set<String>
  /// Whether anything may be written.
  let allowsWriting: Bool
  /// How many bytes a body may have.
  let maximumBodyByteCount: Int

  private let session = Secret.random()

  init(
    token: String? = nil,
    port: Int?,
    hosts: Set<String> = [],
    allowsWriting: Bool,
    maximumBodyByteCount: Int
  ) {
    self.token = token ?? Secret.random()
    formToken = Secret.random()
    self.port = port
    self.hosts = Set(hosts.map { $0.lowercased() })
    self.allowsWriting = allowsWriting
    self.maximumBodyByteCount = maximumBodyByteCount
  }

  /// The name of the cookie: those of one machine are shared by all its ports.
  var cookieName: String { "dragoman_\(port ?? 0)" }

  /// What answers a request before anybody looks at its body; nil: it may go on.
  ///
  /// - Parameter request: The request; its body is not looked at.
  /// - Returns: The answer, or nil.
  /// - Throws: `ConsoleError` where the request is refused.
  func answer(to request: ConsoleRequest) throws(ConsoleError) -> ConsoleResponse? {
    try checkHost(request)
    guard ["GET", "HEAD", "POST"].contains(request.method) else {
      throw ConsoleError(405, "Pages are read with GET and changed with POST.")
    }
    if request.method != "POST", let given = request.value(of: "token") {
      guard Secret.isEqual(given, token) else { throw Self.stranger }
      return welcome(request)
    }
    guard let cookie = request.cookie(cookieName), Secret.isEqual(cookie, session) else {
      throw Self.stranger
    }
    if request.method == "POST" { try checkOrigin(request) }
    if let length = request.headers["content-length"] {
      guard let count = Int(length), count >= 0 else {
        throw ConsoleError(400, "The length of the body is no number.")
      }
      try check(byteCount: count)
    }
    return nil
  }

  /// Refuses a body that is too long.
  ///
  /// - Throws: `ConsoleError`, 413.
  func check(byteCount: Int) throws(ConsoleError) {
    guard byteCount <= maximumBodyByteCount else {
      throw Self.tooLong(maximumBodyByteCount)
    }
  }

  /// What refuses a body that is too long.
  static func tooLong(_ limit: Int) -> ConsoleError {
    ConsoleError(
      413,
      "That is more than the \(limit >> 20) MB that may be sent here.",
      help: ConsoleWords.largerUpload
    )
  }

  /// Refuses what writes where nothing may be written, and forms that are none of ours.
  ///
  /// - Throws: `ConsoleError`, 403.
  func checkWriting(_ form: ConsoleForm) throws(ConsoleError) {
    guard allowsWriting else {
      throw ConsoleError(
        403,
        "This console only shows: nothing may be written.",
        help: ConsoleWords.allowImport
      )
    }
    try checkForm(form)
  }

  /// Refuses forms that are none of ours.
  ///
  /// - Throws: `ConsoleError`, 403.
  func checkForm(_ form: ConsoleForm) throws(ConsoleError) {
    guard Secret.isEqual(form["csrf"], formToken) else {
      throw ConsoleError(
        403,
        "This form is not of a page of this console, or of one from before it was started again.",
        help: "load the page again and send the form once more"
      )
    }
  }

  /// The headers that each answer has: nothing is loaded from elsewhere, no page elsewhere shows this one or
  /// reads it, and no script or style stands in a page.
  static let headers: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    // With `no-referrer` browsers would send forms with `Origin: null`.
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  private static var stranger: ConsoleError {
    ConsoleError(
      403,
      "This console is for those who know its address.",
      help: ConsoleWords.addressWithToken
    )
  }

  /// Gives the browser its cookie, and takes the token out of its address.
  private func welcome(_ request: ConsoleRequest) -> ConsoleResponse {
    var response = ConsoleResponse.redirect(
      to: WebText.address(
        request.path,
        request.query.filter { $0.name != "token" }.map { ($0.name, $0.value) }
      )
    )
    response.headers.append(
      ("Set-Cookie", "\(cookieName)=\(session); Path=/; HttpOnly; SameSite=Strict")
    )
    return response
  }

  private func checkHost(_ request: ConsoleRequest) throws(ConsoleError) {
    guard let host = request.headers["host"] else {
      throw ConsoleError(400, "The request does not say whom it asks: it has no Host.")
    }
    guard isOurs(host) else {
      throw ConsoleError(
        421,
        "This server is not asked by that name.",
        help: ConsoleWords.address
      )
    }
  }

  /// Whether a `Host` is a number or `localhost` at our port, or a name that was given: that one at any port, for
  /// a proxy before this server has its own.
  private func isOurs(_ host: String) -> Bool {
    let (name, number) = Self.parts(of: host)
    guard !hosts.contains(name) else { return number.map { UInt16($0) != nil } ?? true }
    if let port, Int(number ?? "80") != port { return false }
    return name == "localhost" || Self.isNumber(name)
  }

  /// The name of a `Host` in small letters, and its port.
  private static func parts(of host: String) -> (name: String, port: Substring?) {
    guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else {
      return (host.lowercased(), nil)
    }
    return (host[..<colon].lowercased(), host[host.index(after: colon)...])
  }

  /// Whether a name is an address in numbers, which no name server can turn elsewhere.
  private static func isNumber(_ name: String) -> Bool {
    var storage = in6_addr()
    if name.hasPrefix("["), name.hasSuffix("]") {
      return inet_pton(AF_INET6, String(name.dropFirst().dropLast()), &storage) == 1
    }
    return inet_pton(AF_INET, name, &storage) == 1
  }

  /// A form of a page of ours says so: browsers send `Origin` with each POST.
  ///
  /// What a proxy serves by a name that was given may be encrypted.
  private func checkOrigin(_ request: ConsoleRequest) throws(ConsoleError) {
    let host = (request.headers["host"] ?? "").lowercased()
    // A browser leaves out the port that is its scheme's own.
    func origin(_ scheme: String, without port: String) -> String {
      scheme + "://" + (host.hasSuffix(port) ? String(host.dropLast(port.count)) : host)
    }
    var origins = [origin("http", without: ":80")]
    if hosts.contains(Self.parts(of: host).name) {
      origins.append(origin("https", without: ":443"))
    }
    let isOwn = request.headers["origin"].map { origins.contains($0.lowercased()) } ?? false
    guard isOwn, ["same-origin", nil].contains(request.headers["sec-fetch-site"]) else {
      throw ConsoleError(
        403,
        "This form comes from a page of another server.",
        help: "send it from this console's own page"
      )
    }
  }
}
