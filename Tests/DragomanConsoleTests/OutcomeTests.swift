import Dragoman
import DragomanGraph
import Foundation
import Testing

@testable import DragomanConsole

/// What is told of work that was cancelled, failed, or left something behind.
@Suite("What came of work from the console") struct OutcomeTests {
  private let folder: ConsoleFolder

  init() async throws {
    folder = try ConsoleFolder()
    try await folder.imports()
    let records = (10..<20_000).map { #"{"id":\#($0),"name":"p\#($0)"}"# }.joined(separator: ",")
    try folder.write("{\"people\":[\(records)]}", to: "large.json")
  }

  /// Begins an import of a file.
  private func begin(
    _ browser: TestBrowser,
    _ feed: String,
    map: String = "0"
  ) async throws -> (address: String, job: ImportJob) {
    let begun = await browser.post("/import", ["map": map, "path": folder.path(feed)])
    let address = try #require(begun.header("Location"))
    return (address, try browser.console.sources.jobs.job(String(address.dropFirst(8))))
  }

  private func rest(_ job: ImportJob) async throws {
    while job.now.phase.isRunning { try await Task.sleep(for: .milliseconds(5)) }
  }

  /// Cancels an import as soon as it runs, or has committed a batch, and waits for its end.
  private func cancelImport(_ browser: TestBrowser, isWhole: Bool) async throws -> (
    String, ImportJob
  ) {
    let (address, job) = try await begin(browser, "large.json")
    try await rest(job)
    #expect(await browser.post("\(address)/run", [:]).status == 303)
    while job.now.phase.isRunning,
      isWhole ? job.now.run == nil : (job.now.progress?.counts.read ?? 0) == 0
    {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(await browser.post("\(address)/cancel", [:]).status == 303)
    try await rest(job)
    return (address, job)
  }

  @Test("A cancelled import of one transaction says that nothing was kept, and leads to no other")
  func cancelledWhole() async throws {
    let browser = try TestBrowser(folder.console(writes: true, limit: 64 << 20))
    let (address, _) = try await cancelImport(browser, isWhole: true)
    let json = try browser.json("\(address).json")
    #expect(json["status"] as? String == "cancelled")
    #expect(json["inserted"] as? Int == 0 && json["import"] is NSNull)
    let page = try browser.page(address)
    #expect(page.contains("The import was cancelled; nothing was kept."))
    #expect(!page.contains("<span>inserted</span>") && !page.contains("href=\"/history/"))
    #expect(!page.contains("class=\"over\" aria-current"))
    #expect((try browser.json("/history.json")["imports"] as? [Any])?.count == 1)
  }

  @Test("A cancelled import in batches tells what was kept, and leads to it")
  func cancelledBatches() async throws {
    let map = ConsoleFolder.map + "\nimport: { commit: batch, batchSize: 5 }\n"
    try folder.write(map, to: "batch.map.yaml")
    let browser = try TestBrowser(
      folder.console(writes: true, maps: ["batch.map.yaml"], limit: 64 << 20)
    )
    let (address, job) = try await cancelImport(browser, isWhole: false)
    let json = try browser.json("\(address).json")
    let kept = try #require(json["inserted"] as? Int)
    let count = try #require(try browser.json("/entities/Person.json")["count"] as? Int)
    #expect(kept == count - 3 && kept > 0)
    let entry = try #require(job.now.kept)
    #expect(entry.status == .cancelled && json["import"] as? Int == entry.id.map(Int.init))
    let page = try browser.page(address)
    #expect(page.contains("brought was kept") && page.contains("href=\"\(RunRow(entry).address)\""))
  }

  @Test("A cancelled check is no passed one: it is checked again, and not imported")
  func cancelledCheck() async throws {
    let browser = try TestBrowser(folder.console(writes: true, limit: 64 << 20))
    let (address, job) = try await begin(browser, "large.json")
    #expect(await browser.post("\(address)/cancel", [:]).status == 303)
    try await rest(job)
    let page = try browser.page(address)
    #expect(page.contains("The check was cancelled") && page.contains("Check it again"))
    #expect(!page.contains("The map reads the feed") && !page.contains("\(address)/run"))
    #expect(await browser.post("\(address)/run", [:]).status == 409)
    #expect(await browser.post("\(address)/try", [:]).status == 409)
    #expect(await browser.post("\(address)/check", [:]).status == 303)
    try await rest(job)
    #expect(try browser.page(address).contains("The map reads the feed"))
  }

  @Test("A cancelled trial is no passed one, and can be tried again")
  func cancelledTrial() async throws {
    let browser = try TestBrowser(folder.console(writes: true, limit: 64 << 20))
    let (address, job) = try await begin(browser, "large.json")
    try await rest(job)
    #expect(await browser.post("\(address)/try", [:]).status == 303)
    while job.now.phase.isRunning, job.now.run == nil {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(await browser.post("\(address)/cancel", [:]).status == 303)
    try await rest(job)
    let page = try browser.page(address)
    #expect(page.contains("The trial was cancelled") && page.contains("Try it again"))
    #expect(!page.contains("what the import would do") && !page.contains("\(address)/run"))
    #expect(try browser.json("\(address).json")["status"] as? String == "cancelled")
  }

  @Test("What has ended is told by its report, not by its progress; failures keep no counts")
  func counts() {
    var state = ImportJob.State()
    state.step = 2
    state.phase = .importing
    var report = ImportReport()
    (report.counts.read, report.counts.updated) = (14, 1)
    state.report = report
    #expect(state.counts.read == 0)
    state.phase = .done
    #expect(state.counts == report.counts)
    state.phase = .failed
    #expect(state.counts.read == 14 && state.counts.updated == 0)
    #expect(JobPage.verdict(state) == "It did not work; nothing was kept.")
  }

  @Test("A step that was left out has no tick")
  func skippedTrial() async throws {
    let browser = try TestBrowser(folder.console(writes: true))
    let (address, job) = try await begin(browser, "staff.json")
    try await rest(job)
    #expect(await browser.post("\(address)/run", [:]).status == 303)
    try await rest(job)
    let page = try browser.page(address)
    #expect(page.contains("<li class=\"over\">Check</li><li class=\"\">Trial</li>"))
    #expect(page.contains("href=\"/history/2\""))
    let json = try browser.json("\(address).json")
    let counts = try #require(job.now.report?.counts)
    #expect(json["read"] as? Int == counts.read && json["unchanged"] as? Int == counts.unchanged)
  }

  @Test("A map without the reject's entity is refused before anything is tried")
  func foreignMap() async throws {
    try folder.write(
      """
      version: 1
      entities: { Town: { unique: id, attributes: { id: { type: int32 } } } }
      sources: { towns: { format: json, entity: Town, records: /towns } }
      """,
      to: "towns.map.yaml"
    )
    try folder.write(#"{"people":[{"id":5,"name":"Eve","born":"soon"}]}"#, to: "dirty.json")
    try await folder.imports("dirty.json", rejects: "rejects.ndjson")
    let before = try folder.read("rejects.ndjson")
    let browser = try TestBrowser(
      folder.console(
        writes: true,
        rejects: ["rejects.ndjson"],
        maps: ["staff.map.yaml", "towns.map.yaml"]
      )
    )
    let mark = try RejectShelf.line("1", of: folder.path("rejects.ndjson")).mark
    let form = ["mark": mark, "map": "1", "record": #"{"id":5,"name":"Typed"}"#]
    let response = await browser.post("/rejects/0/1", form)
    #expect(response.status == 400)
    let page = try response.text()
    #expect(page.contains("towns.map.yaml has no entity &quot;Person&quot;"))
    #expect(page.contains("nothing was tried") && page.contains("Typed"))
    #expect(try folder.read("rejects.ndjson") == before)
    #expect((try browser.json("/history.json")["imports"] as? [Any])?.count == 2)

    // By the map that has it, the history names the feed and the record.
    #expect(
      await browser.post("/rejects/0/1", form.merging(["map": "0"]) { $1 }).status == 303
    )
    let imports = try #require(try browser.json("/history.json")["imports"] as? [[String: Any]])
    #expect((imports.last?["source"] as? String)?.hasSuffix("dirty.json, record 1") == true)
  }

  @Test("Rejects of imports from pages go with the console and say so; clean imports leave none")
  func passingRejects() async throws {
    try folder.write(#"{"people":[{"id":5,"name":"Eve","born":"soon"}]}"#, to: "dirty.json")
    let browser = try TestBrowser(folder.console(writes: true))
    for feed in ["staff.json", "dirty.json"] {
      let (address, job) = try await begin(browser, feed)
      try await rest(job)
      #expect(await browser.post("\(address)/run", [:]).status == 303)
      try await rest(job)
      let page = try browser.page(address)
      #expect(page.contains("kept until the console ends") == (feed == "dirty.json"))
      guard feed == "dirty.json" else { continue }
      let link = try #require(page.firstMatch(of: /href="([^"]+download\.ndjson)"/))
      #expect(try browser.page(String(link.output.1)).contains("\"soon\""))
    }
    let page = try browser.page("/rejects")
    #expect(page.contains("kept until the console ends") && !page.contains("Nothing is rejected."))
    #expect(page.contains("dirty.json <small>1 reject</small>"))
    #expect((try browser.json("/rejects.json")["files"] as? [Any])?.count == 1)
  }

  @Test(
    "A map or a feed that has changed since the check is not imported",
    arguments: [true, false]
  )
  func changedFiles(isMap: Bool) async throws {
    try folder.write(#"{"people":[{"id":5,"name":"Eve"}]}"#, to: "feed.json")
    let browser = try TestBrowser(folder.console(writes: true))
    let (address, job) = try await begin(browser, "feed.json")
    try await rest(job)
    if isMap {
      try folder.write(
        ConsoleFolder.map.replacing("name: { from: name", with: "name: { from: nick"),
        to: "staff.map.yaml"
      )
    } else {
      try folder.write(#"{"people":[{"id":5,"name":"Mallory"}]}"#, to: "feed.json")
    }
    for step in ["try", "run"] {
      let refused = await browser.post("\(address)/\(step)", [:])
      #expect(refused.status == 409)
      #expect(try refused.text().contains("has changed since the check"))
    }
    #expect(try browser.json("/entities/Person.json")["count"] as? Int == 3)
  }

  @Test("A row of CSV that has too few cells is mended as an object of its columns")
  func brokenRow() async throws {
    try folder.write(
      """
      version: 1
      entities: { E: { unique: id, attributes: { id: id, a: a, b: b } } }
      sources: { rows: { format: csv, entity: E, separator: ";" } }
      """,
      to: "rows.map.yaml"
    )
    try folder.write("id;a;b\n1;x;y\n2;z\n", to: "rows.csv")
    try await folder.imports("rows.csv", by: "rows.map.yaml", rejects: "rejects.ndjson")
    let browser = try TestBrowser(
      folder.console(writes: true, rejects: ["rejects.ndjson"], maps: ["rows.map.yaml"])
    )
    #expect(try browser.page("/rejects/0/1").contains("put an object of them"))
    let mark = try RejectShelf.line("1", of: folder.path("rejects.ndjson")).mark
    let form = ["mark": mark, "map": "0"]
    let again = await browser.post("/rejects/0/1", form.merging(["record": "2;z;w"]) { $1 })
    #expect(
      try again.status == 200 && again.text().contains("put an object of them")
    )
    let record = #" {"id":"2","a":"z","b":"w"}"#
    #expect(
      await browser.post("/rejects/0/1", form.merging(["record": record]) { $1 }).status == 303
    )
    #expect(try browser.json("/entities/E.json")["count"] as? Int == 2)
    #expect(try folder.read("rejects.ndjson").isEmpty)
  }

  @Test("An import that found the database busy can be begun again, without another check or trial")
  func busy() async throws {
    try folder.write(#"{"people":[{"id":5,"name":"Eve"}]}"#, to: "feed.json")
    let browser = try TestBrowser(folder.console(writes: true))
    let (address, job) = try await begin(browser, "feed.json")
    try await rest(job)
    let (held, free, closed) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let path = folder.path("staff.db")
    Thread.detachNewThread {
      let other = try? SQLiteStore(at: .file(path))
      try? other?.write { session in
        try session.begin()
        held.signal()
        free.wait()
      }
      try? other?.close()
      closed.signal()
    }
    await Waiting.forSignal(held)
    #expect(await browser.post("\(address)/run", [:]).status == 303)
    try await rest(job)
    let page = try browser.page(address)
    #expect(page.contains("It did not work; nothing was kept.") && page.contains("\(address)/run"))
    free.signal()
    await Waiting.forSignal(closed)
    #expect(await browser.post("\(address)/run", [:]).status == 303)
    try await rest(job)
    #expect(job.now.phase == .done && job.now.kept?.counts.inserted == 1)
    // And not once more.
    #expect(await browser.post("\(address)/run", [:]).status == 409)
  }
}

extension Waiting {
  /// Waits on a thread of its own, and not on one of the pool.
  fileprivate static func forSignal(_ semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { done in
      Thread.detachNewThread {
        semaphore.wait()
        done.resume()
      }
    }
  }
}
