import Dragoman
import DragomanGraph
import Foundation

/// Which page answers which path.
extension Console {
  /// Finds the page.
  ///
  /// - Throws: `ConsoleError` where there is none, and what the page throws.
  func route(_ request: ConsoleRequest) throws -> ConsoleResponse {
    let path = PagePath(request.path)
    let steps = path.steps
    if request.method == "POST" { return try send(request, steps) }
    if let suffix = path.suffix, suffix != "json", steps.last != "download" {
      throw ConsoleError(
        404,
        "There is no such page: as .\(suffix) there are downloads of objects and of rejects.",
        help: steps.first == "entities" && steps.count == 2
          ? "ask for " + WebText.address(["entities", steps[1], "download"], suffix: ".\(suffix)")
          : nil
      )
    }
    switch (steps.first, steps.count) {
    case (nil, _), ("overview", 1): return response(try OverviewPage.answer(sources), request)
    case ("counts", 1):
      return ConsoleResponse(
        type: "application/json",
        text: CountsPage.answer(request, sources).text + "\n"
      )
    case ("assets", 2): return try asset(request.path[1])
    case ("entities", 2):
      if let address = try EntityPage.address(ofForm: request, steps[1], sources) {
        return .redirect(to: address)
      }
      return response(try EntityPage.answer(steps[1], request, sources), request)
    case ("entities", 3): return try entity(steps[1], steps[2], path.suffix, request)
    case ("objects", 3):
      return response(try ObjectPage.answer(steps[1], steps[2], request, sources), request)
    case ("objects", 4) where steps[3] == "origins":
      return response(try OriginsPage.answer(steps[1], steps[2], sources), request)
    case ("objects", 4) where steps[3] == "value":
      return try ObjectPage.download(steps[1], steps[2], request, sources)
    case ("model", 1): return response(try ModelPage.answer(sources), request)
    case ("history", 1): return response(try HistoryPage.answer(sources), request)
    case ("history", 2):
      return response(try RunPage.answer(steps[1], request, sources), request)
    case ("rejects", 1): return response(try RejectsPage.answer(sources), request)
    case ("rejects", 3) where steps[2] == "download":
      return try RejectsPage.download(steps[1], sources)
    case ("rejects", 3):
      return response(try RejectPage.answer(steps[1], steps[2], sources), request)
    case ("import", 1):
      return response(ImportPage.answer(sources, limit: gate.maximumBodyByteCount), request)
    case ("import", 2): return response(try JobPage.answer(steps[1], sources), request)
    case ("import", 3) where steps[2] == "events": return try JobPage.events(steps[1], sources)
    default: throw Self.missing
    }
  }

  /// Whether an answer may read or copy the whole database, or wait for who writes it, before its first byte.
  ///
  /// Such requests wait for each other, and nobody else for them.
  func mayTakeLong(_ request: ConsoleRequest) -> Bool {
    let path = PagePath(request.path)
    return request.method == "POST" || path.suffix == "xml" || path.steps.last == "origins"
      || request.value(of: "changes") != nil
  }

  private func entity(
    _ name: String,
    _ view: String,
    _ suffix: String?,
    _ request: ConsoleRequest
  ) throws -> ConsoleResponse {
    switch view {
    case "download": return try DownloadPage.answer(name, suffix ?? "", request, sources)
    case "profile":
      return try ProfilePage.answer(name, request, sources) { frame($0, request) }
    case "live": return response(try LivePage.answer(name, request, sources), request)
    case "events": return try LivePage.events(name, request, sources)
    default: throw Self.missing
    }
  }

  /// What forms do; all of them write, or read what only those may who write.
  private func send(_ request: ConsoleRequest, _ steps: [String]) throws -> ConsoleResponse {
    let form = try ConsoleForm(request)
    try gate.checkWriting(form)
    switch (steps.first, steps.count) {
    case ("import", 1):
      do {
        return .redirect(to: try ImportPage.begin(form, sources))
      } catch {
        let known = ConsoleError(error)
        guard known.status < 500 else { throw error }
        let limit = gate.maximumBodyByteCount
        let page = ImportPage.answer(sources, limit: limit, form: form, fault: known)
        return response(page, request, status: known.status)
      }
    case ("import", 3):
      let job = try sources.jobs.job(steps[1])
      switch steps[2] {
      case "check": try job.checkAgain()
      case "try": try job.tryOut()
      case "run": try job.start()
      case "cancel": job.cancel()
      default: throw Self.missing
      }
      return .redirect(to: WebText.address(["import", job.id]))
    case ("history", 3) where steps[2] == "undo":
      guard form["confirm"] == "yes" else {
        return response(try UndoPage.preview(steps[1], sources), request)
      }
      return .redirect(to: try UndoPage.done(steps[1], sources))
    case ("rejects", 3): return try retry(steps[1], steps[2], form, request)
    default: throw Self.missing
    }
  }

  private func retry(
    _ file: String,
    _ number: String,
    _ form: ConsoleForm,
    _ request: ConsoleRequest
  ) throws -> ConsoleResponse {
    let again: RejectLine
    do {
      guard let reject = try RejectPage.retry(file, number, form, sources) else {
        return .redirect(to: "/rejects")
      }
      again = reject
    } catch {
      // What was typed is not lost.
      let known = ConsoleError(error)
      if known.status == 409 {
        // Another reject may stand in its place.
        return answer(known, to: request, typed: form["record"], places: places(of: request))
      }
      let page = try RejectPage.answer(
        file,
        number,
        sources,
        record: form["record"],
        notice: known.message + (error is ReadError ? "" : known.help.map { " (\($0))" } ?? "")
      )
      return response(page, request, status: error is ReadError ? 400 : known.status)
    }
    let page = try RejectPage.answer(
      file,
      number,
      sources,
      again: again,
      notice: "It was rejected again, for the reason below. The file keeps the record as it came."
    )
    return response(page, request)
  }

  private static var missing: ConsoleError {
    ConsoleError(404, "There is no such page.", help: "begin at the overview")
  }

  private func asset(_ name: String) throws(ConsoleError) -> ConsoleResponse {
    guard let (type, bytes) = PageTemplates.asset(name) else {
      throw ConsoleError(404, "There is no such file.")
    }
    var response = ConsoleResponse(type: type, .bytes(Data(bytes)))
    response.headers.append(("Cache-Control", "max-age=60"))
    return response
  }
}
