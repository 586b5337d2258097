import Dragoman
import DragomanGraph
import Foundation

/// The console: pages about one database, as a function of requests.
///
/// It knows nothing of sockets: `ConsoleServer` lends it to a browser. Its functions wait for the database, so
/// they are called on threads that may wait.
public final class Console: Sendable {
  let sources: PageSources
  let gate: ConsoleGuard

  /// Makes a console.
  ///
  /// - Parameters:
  ///   - options: What it shows.
  ///   - port: The port at which it will be asked; nil: none.
  public convenience init(_ options: ConsoleOptions, port: Int? = nil) {
    // Who prints a page wants its numbers; who looks at it wants the page.
    let patience: DispatchTimeInterval? = port == nil ? nil : .milliseconds(10)
    self.init(options, port: port, counts: CountBoard(options.database, patience: patience))
  }

  init(_ options: ConsoleOptions, port: Int?, counts: CountBoard) {
    gate = ConsoleGuard(
      token: options.token,
      port: port,
      hosts: options.hosts,
      allowsWriting: options.allowsImport,
      maximumBodyByteCount: options.maximumUploadByteCount
    )
    let maps = MapShelf(paths: options.maps)
    let jobs = JobBoard()
    sources = PageSources(
      database: ConsoleDatabase(options.database),
      counts: counts,
      maps: maps,
      jobs: jobs,
      rejects: RejectShelf(paths: options.rejects, maps: maps, jobs: jobs),
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
      return refusal(error, to: request)
    }
  }

  /// What refuses a request.
  ///
  /// - Parameters:
  ///   - error: Why.
  ///   - request: The request; nil where it is none.
  /// - Returns: The refusal, which tells nothing of the database.
  func refusal(_ error: ConsoleError, to request: ConsoleRequest?) -> ConsoleResponse {
    dressed(answer(error, to: request ?? ConsoleRequest(target: "/"), places: []))
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
      return refusal(error, to: request)
    }
    return page(request)
  }

  /// Answers a request without asking who sends it: for who prints a page, and for tests.
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

  /// Ends the imports that run, after the batch at hand, and removes temporary files.
  public func end() { sources.jobs.clear() }

  // MARK: - Answers

  /// Adds the headers that every answer has.
  private func dressed(_ response: ConsoleResponse) -> ConsoleResponse {
    var response = response
    response.headers += ConsoleGuard.headers
    if response.status == 405 { response.headers.append(("Allow", "GET, HEAD, POST")) }
    if response.header("Cache-Control") == nil {
      response.headers.append(("Cache-Control", "no-store"))
    }
    return response
  }

  func answer(
    _ error: ConsoleError,
    to request: ConsoleRequest,
    typed: String? = nil,
    places: [PageFrame.Place]
  ) -> ConsoleResponse {
    var fault = FaultView(error)
    fault.typed = typed
    if request.wantsJSON {
      let json: JSONValue = ["v": 1, "error": error.json]
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
  func response(
    _ answer: PageAnswer,
    _ request: ConsoleRequest,
    status: Int? = nil
  ) -> ConsoleResponse {
    let status = status ?? answer.status
    if request.wantsJSON {
      return ConsoleResponse(status, type: "application/json", text: answer.json.text + "\n")
    }
    return ConsoleResponse(
      status,
      type: "text/html; charset=utf-8",
      text: PageTemplates.page(answer.template, answer.view, in: frame(answer, request))
    )
  }

  /// What stands around a page.
  func frame(_ answer: PageAnswer, _ request: ConsoleRequest) -> PageFrame {
    let steps = PagePath(request.path).steps
    return PageFrame(
      title: answer.title,
      database: sources.database.name,
      places: places(of: request),
      // What answers a form has no address of its own.
      json: request.method == "POST"
        ? nil
        : WebText.address(
          steps.isEmpty ? ["overview"] : steps,
          suffix: ".json",
          request.query.map { ($0.name, $0.value) }
        ),
      refresh: answer.refresh
    )
  }

  /// The places that each page leads to.
  func places(of request: ConsoleRequest) -> [PageFrame.Place] {
    let here = PagePath(request.path).steps.first ?? "overview"
    let all = [
      ("Overview", "overview", "/"), ("Model", "model", "/model"), ("Import", "import", "/import"),
      ("Rejects", "rejects", "/rejects"), ("History", "history", "/history"),
    ]
    return all.map { PageFrame.Place(name: $0.0, address: $0.2, isHere: $0.1 == here) }
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
    // `/.json` is the first page as JSON.
    steps = path == [".json"] ? [] : path.dropLast() + [String(last[..<dot])]
    suffix = String(last[last.index(after: dot)...])
  }
}
