import Dragoman
import Foundation
import Testing

@testable import DragomanConsole

/// Who gets in, and who may write: each rule of SECURITY.md.
@Suite("The console's guard") struct GuardTests {
  private let folder: ConsoleFolder

  init() async throws {
    folder = try ConsoleFolder()
    try await folder.imports()
  }

  @Test("Without the token nobody gets in, and a wrong one is none")
  func token() throws {
    let console = folder.console()
    for target in [
      "/", "/entities/Person.json", "/assets/console.css", "/?token=", "/?token=wrong",
    ] {
      let response = console.respond(
        to: ConsoleRequest(target: target, headers: ["Host": "localhost:8765"])
      )
      #expect(response.status == 403, "\(target)")
      #expect(try !response.text().contains("Ada"))
    }
  }

  @Test(
    "The token becomes a cookie that no script reads and no other site sends, and leaves the address"
  )
  func cookie() throws {
    let console = folder.console()
    let welcome = console.respond(
      to: ConsoleRequest(
        target: "/entities/Person?sort=-pay&token=\(console.token)",
        headers: ["Host": "127.0.0.1:8765"]
      )
    )
    #expect(welcome.status == 303)
    #expect(welcome.header("Location") == "/entities/Person?sort=-pay")
    let cookie = try #require(welcome.header("Set-Cookie"))
    #expect(cookie.hasPrefix("dragoman_8765="))
    #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
    #expect(!cookie.contains(console.token), "who reads a cookie must not learn the address")
  }

  @Test(
    "A name that a stranger lets point here is none of this server",
    arguments: [
      ("evil.example:8765", 421), ("localhost.evil.example:8765", 421),
      ("127.0.0.1.evil.example", 421),
      ("localhost:80", 421), ("", 421), ("localhost:8765", 200), ("127.0.0.1:8765", 200),
      ("[::1]:8765", 200), ("LOCALHOST:8765", 200),
    ]
  )
  func host(name: String, status: Int) throws {
    let browser = try TestBrowser(folder.console())
    let response = browser.console.respond(
      to: ConsoleRequest(target: "/", headers: browser.headers.merging(["Host": name]) { $1 })
    )
    #expect(response.status == status)
  }

  @Test("Who does not say whom he asks is refused as RFC 9112, 3.2 says")
  func noHost() {
    #expect(folder.console().respond(to: ConsoleRequest(target: "/")).status == 400)
  }

  @Test(
    "Another name is admitted where it was given, at the port of whatever proxy has it",
    arguments: [
      ("feeds.local:8765", 303), ("feeds.local", 303), ("Feeds.Local:8443", 303),
      ("feeds.local:", 421), ("feeds.local:x", 421), ("feeds.local:70000", 421),
      ("other.feeds.local", 421), ("feeds.local.evil.example", 421), ("localhost", 421),
    ]
  )
  func namedHost(name: String, status: Int) throws {
    let console = self.console(named: "feeds.local")
    let response = console.respond(
      to: ConsoleRequest(target: "/?token=\(console.token)", headers: ["Host": name])
    )
    #expect(response.status == status)
  }

  @Test(
    "Behind a proxy with TLS forms come from the encrypted page, and from no other",
    arguments: [
      ("feeds.local", "https://feeds.local", true),
      ("feeds.local:8443", "https://feeds.local:8443", true),
      ("feeds.local", "http://feeds.local", true),
      // A browser leaves out the port that is the scheme's own, a proxy may not.
      ("feeds.local:443", "https://feeds.local", true),
      ("feeds.local:80", "http://feeds.local", true),
      ("feeds.local:80", "https://feeds.local", false),
      ("feeds.local", "https://feeds.local:8443", false),
      ("feeds.local", "https://evil.example", false), ("feeds.local", "https://localhost", false),
      ("localhost:8765", "https://localhost:8765", false),
    ]
  )
  func proxiedForm(host: String, origin: String, isTaken: Bool) throws {
    let console = self.console(named: "feeds.local")
    let welcome = console.respond(
      to: ConsoleRequest(target: "/?token=\(console.token)", headers: ["Host": host])
    )
    let cookie = try #require(welcome.header("Set-Cookie"))
    let request = ConsoleRequest(
      "POST",
      target: "/import",
      headers: [
        "Host": host, "Origin": origin, "Cookie": String(cookie.prefix { $0 != ";" }),
        "Content-Type": "application/x-www-form-urlencoded",
      ],
      body: Data("csrf=\(console.sources.formToken)".utf8)
    )
    let text = try console.respond(to: request).text()
    #expect(text.contains("comes from a page of another server") != isTaken)
  }

  private func console(named name: String) -> Console {
    var options = ConsoleOptions(database: folder.path("staff.db"), allowsImport: true)
    options.hosts = [name]
    return Console(options, port: 8765)
  }

  @Test(
    "A form of another origin is refused, whatever cookie it has",
    arguments: [
      "http://evil.example", "http://localhost:9000", "null", "https://localhost:8765", nil,
    ]
  )
  func origin(of sender: String?) throws {
    let browser = try TestBrowser(folder.console(writes: true))
    var request = browser.form("/import", "csrf=\(browser.console.sources.formToken)")
    request.headers["origin"] = sender
    let response = browser.console.respond(to: request)
    #expect(response.status == 403)
    #expect(try response.text().contains("another server"))
  }

  @Test("A request that the browser calls cross-site is refused although its origin looks right")
  func crossSite() throws {
    let browser = try TestBrowser(folder.console(writes: true))
    var request = browser.form("/import", "csrf=\(browser.console.sources.formToken)")
    request.headers["sec-fetch-site"] = "cross-site"
    #expect(browser.console.respond(to: request).status == 403)
  }

  @Test("A form without the page's own field is refused", arguments: ["", "wrong"])
  func formToken(given: String) async throws {
    let browser = try TestBrowser(folder.console(writes: true))
    let response = await browser.post("/history/1/undo", ["csrf": given, "confirm": "yes"])
    #expect(response.status == 403)
    #expect(try browser.page("/history.json").contains("\"status\":\"done\""))
  }

  @Test(
    "Without --allow-import nothing is written",
    arguments: ["/import", "/history/1/undo", "/rejects/0/1", "/import/1/run", "/import/1/cancel"]
  )
  func readOnly(target: String) async throws {
    let browser = try TestBrowser(folder.console())
    let response = await browser.post(
      target,
      ["confirm": "yes", "map": "0", "path": folder.path("staff.json")]
    )
    #expect(response.status == 403)
    #expect(try response.text().contains("--allow-import"))
  }

  @Test("A body that is longer than the limit is refused, whether its length is told or not")
  func uploadLimit() throws {
    let browser = try TestBrowser(folder.console(writes: true, limit: 1 << 20))
    var request = browser.form("/import", "csrf=x")
    request.headers["content-length"] = "\((1 << 20) + 1)"
    #expect(browser.console.answer(toHeadOf: request)?.status == 413)
    request.headers["content-length"] = "-1"
    #expect(browser.console.answer(toHeadOf: request)?.status == 400)
    request.headers["content-length"] = nil
    request.body = Data(count: (1 << 20) + 1)
    #expect(browser.console.respond(to: request).status == 413)
  }

  @Test(
    "Every answer forbids inline scripts, other origins and frames",
    arguments: ["/", "/nothing", "/entities/Person.json"]
  )
  func headers(target: String) throws {
    let browser = try TestBrowser(folder.console())
    for response in [
      browser.get(target), browser.console.respond(to: ConsoleRequest(target: target)),
    ] {
      let policy = try #require(response.header("Content-Security-Policy"))
      #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
      #expect(!policy.contains("unsafe"))
      #expect(response.header("X-Content-Type-Options") == "nosniff")
      #expect(response.header("Referrer-Policy") == "same-origin")
      #expect(response.header("Cache-Control") == "no-store")
    }
  }

  @Test(
    "No page has a script, a style or a handler in itself",
    arguments: ["/", "/model", "/entities/Person", "/entities/Person/live", "/import"]
  )
  func noInlineScripts(target: String) throws {
    let page = try TestBrowser(folder.console(writes: true)).page(target)
    #expect(page.matches(of: /<script(?![^>]*\ssrc=)/).isEmpty)
    #expect(page.matches(of: /\son[a-z]+\s*=/).isEmpty)
    #expect(page.matches(of: /\sstyle\s*=|<style/).isEmpty)
  }

  @Test(
    "No path leads out of what is built in",
    arguments: [
      "/assets/../staff.map.yaml", "/assets/%2e%2e%2fstaff.map.yaml",
      "/assets/..%2f..%2fetc%2fpasswd",
      "/assets//etc/passwd", "/rejects/..%2f0/download.ndjson", "/rejects/-1/download.ndjson",
    ]
  )
  func traversal(target: String) throws {
    let response = try TestBrowser(folder.console()).get(target)
    #expect(response.status == 404)
  }

  @Test("Only reading and sending are admitted", arguments: ["PUT", "DELETE", "PATCH", "TRACE"])
  func methods(name: String) throws {
    let browser = try TestBrowser(folder.console())
    let request = ConsoleRequest(name, target: "/", headers: browser.headers)
    let response = browser.console.respond(to: request)
    #expect(response.status == 405)
    #expect(response.header("Allow") == "GET, HEAD, POST")
  }

  @Test("Secrets are random, and compared as a whole")
  func secrets() {
    #expect(Secret.random() != Secret.random())
    #expect(Secret.random().count == 32)
    #expect(Secret.isEqual("abc", "abc"))
    for other in ["", "ab", "abcd", "abx", "abcabc"] { #expect(!Secret.isEqual(other, "abc")) }
    #expect(!Secret.isEqual("", ""))
  }
}
