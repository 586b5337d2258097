import Dragoman
import DragomanGraph
import Foundation

/// The console: pages about one database, as a function of requests.
///
///     let console = Console(ConsoleOptions(database: "people.db"))
///     print(try console.page(ConsoleRequest(target: "/entities/Person.json")).text())
///
/// It knows nothing of sockets: `ConsoleServer` lends it to a browser. Its functions wait for the database, so
/// they are called on threads that may wait.
public final class Console: Sendable {
  let sources: PageSources
  private let gate: ConsoleGuard

  /// Makes a console.
  ///
  /// - Parameters:
  ///   - options: What it shows.
  ///   - port: The port at which it will be asked; nil: none.
  public init(_ options: ConsoleOptions, port: Int? = nil) {
    gate = ConsoleGuard(
      token: options.token,
      port: port,
      hosts: options.hosts,
      allowsWriting: options.allowsImport,
      maximumBodyByteCount: options.maximumUploadByteCount
    )
    sources = PageSources(
      database: ConsoleDatabase(options.database),
      maps: MapShelf(paths: options.maps),
      formToken: gate.formToken,
      allowsWriting: options.allowsImport
    )
  }

  /// The token that the opened address has in its query.
  public var token: String { gate.token }

  /// What answers a request before its body is read; nil: its body may be read.
  ///
  /// - Parameter request: The request, without its body.
  /// - Returns: A refusal, or the answer to an address with a token.
  public func answer(toHeadOf request: ConsoleRequest) -> ConsoleResponse? {
    do throws(ConsoleError) {
      return try gate.answer(to: request).map(dressed)
    } catch {
      return dressed(answer(error, to: request, places: []))
    }
  }

  /// Answers a request of a browser.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer: a page, a refusal, or what went wrong.
  public func respond(to request: ConsoleRequest) -> ConsoleResponse {
    if let refusal = answer(toHeadOf: request) { return refusal }
    do throws(ConsoleError) {
      try gate.check(byteCount: request.body.count)
    } catch {
      return dressed(answer(error, to: request, places: []))
    }
    return page(request)
  }

  /// Answers a request without asking who sends it: for `--get` and for tests.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer.
  public func page(_ request: ConsoleRequest) -> ConsoleResponse {
    do {
      return dressed(try route(request))
    } catch {
      return dressed(answer(ConsoleError(error), to: request, places: places(of: request)))
    }
  }

  // MARK: - Answers

  /// Adds the headers that every answer has.
  private func dressed(_ response: ConsoleResponse) -> ConsoleResponse {
    var response = response
    response.headers += ConsoleGuard.headers
    if response.header("Cache-Control") == nil {
      response.headers.append(("Cache-Control", "no-store"))
    }
    return response
  }

  private func answer(
    _ error: ConsoleError,
    to request: ConsoleRequest,
    places: [PageFrame.Place]
  ) -> ConsoleResponse {
    let fault = FaultView(error)
    if PagePath(request.path).suffix == "json" {
      let json: JSONValue = [
        "v": 1,
        "error": [
          "code": JSONValue(error.code), "message": .string(error.message),
          "help": JSONValue(error.help), "column": JSONValue(error.place?.column),
        ],
      ]
      return ConsoleResponse(error.status, type: "application/json", text: json.text + "\n")
    }
    let frame = PageFrame(
      title: "\(error.status)",
      database: places.isEmpty ? "" : sources.database.name,
      places: places
    )
    return ConsoleResponse(
      error.status,
      type: "text/html; charset=utf-8",
      text: PageTemplates.page("error", fault, in: frame)
    )
  }

  /// A page for people or for programs.
  private func response(_ answer: PageAnswer, _ request: ConsoleRequest) -> ConsoleResponse {
    let path = PagePath(request.path)
    if path.suffix == "json" {
      return ConsoleResponse(type: "application/json", text: answer.json.text + "\n")
    }
    let steps = path.steps.isEmpty ? ["overview"] : path.steps
    let frame = PageFrame(
      title: answer.title,
      database: sources.database.name,
      places: places(of: request),
      json: WebText.address(
        steps,
        suffix: ".json",
        request.query.map { ($0.name, $0.value) }
      ),
      refresh: answer.refresh
    )
    return ConsoleResponse(
      type: "text/html; charset=utf-8",
      text: PageTemplates.page(answer.template, answer.view, in: frame)
    )
  }

  /// The places that each page leads to.
  private func places(of request: ConsoleRequest) -> [PageFrame.Place] {
    let here = PagePath(request.path).steps.first ?? "overview"
    let all = [
      ("Overview", "overview", "/"), ("Model", "model", "/model"), ("Import", "import", "/import"),
      ("Rejects", "rejects", "/rejects"), ("History", "history", "/history"),
    ]
    return all.map { PageFrame.Place(name: $0.0, address: $0.2, isHere: $0.1 == here) }
  }

  // MARK: - Routes

  private func route(_ request: ConsoleRequest) throws -> ConsoleResponse {
    let path = PagePath(request.path)
    if request.method == "POST" {
      throw ConsoleError(404, "There is nothing to send here.")
    }
    switch (path.steps.first, path.steps.count) {
    case (nil, _), ("overview", 1):
      return response(try OverviewPage.answer(sources), request)
    case ("assets", 2): return try asset(request.path[1])
    case ("entities", 2):
      return response(try EntityPage.answer(path.steps[1], request, sources), request)
    case ("entities", 3) where path.steps[2] == "download":
      return try DownloadPage.answer(path.steps[1], path.suffix ?? "", request, sources)
    case ("objects", 3):
      return response(try ObjectPage.answer(path.steps[1], path.steps[2], sources), request)
    default:
      throw ConsoleError(404, "There is no such page.", help: "begin at the overview")
    }
  }

  private func asset(_ name: String) throws(ConsoleError) -> ConsoleResponse {
    guard let (type, bytes) = PageTemplates.asset(name) else {
      throw ConsoleError(404, "There is no such file.")
    }
    var response = ConsoleResponse(type: type, .bytes(Data(bytes)))
    response.headers.append(("Cache-Control", "max-age=3600"))
    return response
  }
}

/// A path as steps, without the ending that says in which form the page is meant.
struct PagePath {
  /// The steps.
  let steps: [String]
  /// The ending without its dot: `json`, `csv`, …; nil where there is none of ours.
  let suffix: String?

  /// - Parameter path: The steps of the address.
  init(_ path: [String]) {
    let endings = ["json", "csv", "ndjson", "xml"]
    guard let last = path.last, let dot = last.lastIndex(of: "."),
      endings.contains(String(last[last.index(after: dot)...]))
    else {
      steps = path
      suffix = nil
      return
    }
    steps = path.dropLast() + [String(last[..<dot])]
    suffix = String(last[last.index(after: dot)...])
  }
}
