import Dragoman
import DragomanGraph
import Foundation
import Synchronization
import Testing

@testable import DragomanConsole

/// What others do while a page is looked at, and what may not be lost by it.
@Suite("Meanwhile") struct MeanwhileTests {
  private let folder: ConsoleFolder

  init() async throws {
    folder = try ConsoleFolder()
    try await folder.imports()
  }

  private func dirty(_ count: Int) throws {
    let records = (1...count).map { #"{"id":\#($0),"born":"soon"}"# }.joined(separator: ",")
    try folder.write("{\"people\":[\(records)]}", to: "dirty.json")
  }

  @Test("A download of rejects has all of them, also where a page shows some")
  func largeDownload() async throws {
    try dirty(20_500)
    try await folder.imports("dirty.json", rejects: "rejects.ndjson")
    let browser = try TestBrowser(folder.console(rejects: ["rejects.ndjson"]))
    let page = try browser.page("/rejects")
    #expect(page.contains("20,500 rejects") && page.contains("and 20,485 more of this reason"))
    let (groups, isComplete) = try RejectShelf.groups(
      of: folder.path("rejects.ndjson"),
      limit: 20_000
    )
    #expect(groups.map(\.count) == [20_000] && !isComplete)
    #expect(
      try browser.page("/rejects/0/download.ndjson") == folder.read("rejects.ndjson")
    )
  }

  @Test("None of the records of a rejects file is tried while an import writes it")
  func writtenRejects() async throws {
    try dirty(2)
    try await folder.imports("dirty.json", rejects: "rejects.ndjson")
    let browser = try TestBrowser(folder.console(writes: true, rejects: ["rejects.ndjson"]))
    let path = folder.path("rejects.ndjson")
    let mark = try RejectShelf.line("1", of: path).mark
    let form = ["mark": mark, "map": "0", "record": #"{"id":1,"born":"2020-01-02"}"#]
    // What a running import holds.
    let writer = open(path, O_WRONLY)
    #expect(flock(writer, LOCK_SH) == 0)
    let before = try folder.read("rejects.ndjson")
    let refused = await browser.post("/rejects/0/1", form)
    #expect(refused.status == 400)
    #expect(try refused.text().contains("Another import or retry is writing"))
    #expect(try folder.read("rejects.ndjson") == before)
    close(writer)
    #expect(await browser.post("/rejects/0/1", form).status == 303)
    #expect(try folder.read("rejects.ndjson").split(separator: "\n").count == 1)
  }

  @Test("An import that is cancelled before it runs ends as cancelled", arguments: ["run", "try"])
  func earlyCancel(step: String) async throws {
    let records = (10..<20_000).map { #"{"id":\#($0),"name":"p\#($0)"}"# }.joined(separator: ",")
    try folder.write("{\"people\":[\(records)]}", to: "large.json")
    let browser = try TestBrowser(folder.console(writes: true))
    let begun = await browser.post("/import", ["map": "0", "path": folder.path("large.json")])
    #expect(begun.status == 303)
    let job = try browser.console.sources.jobs.job("1")
    while job.now.phase.isRunning { try await Task.sleep(for: .milliseconds(5)) }
    if step == "run" { try job.start() } else { try job.tryOut() }
    job.cancel()
    while job.now.phase.isRunning { try await Task.sleep(for: .milliseconds(5)) }
    #expect(job.now.isCancelled)
    #expect(try browser.json("/entities/Person.json")["count"] as? Int == 3)
  }

  @Test("A browser that takes no events for a while gets the newest one, and then the end")
  func newestEvent() async throws {
    let (taking, isTaken) = AsyncStream<Void>.makeStream()
    let (end, goOn) = AsyncStream<Void>.makeStream()
    let count = Mutex(0)
    let events = AsyncStream<String> {
      let number = count.withLock { count in
        count += 1
        return count
      }
      guard number > 1000 else { return "data: \(number)\n\n" }
      guard number == 1001 else { return nil }
      isTaken.finish()
      for await _ in end {}
      return "data: last\n\n"
    }
    var taken = EventBytes.chunks(of: events) { false }
      .filter { !$0.starts(with: Array(":".utf8)) }
      .makeAsyncIterator()
    // The events are taken on another task.
    for await _ in taking {}
    #expect(try await taken.next().map { String(decoding: $0, as: UTF8.self) } == "data: 1000\n\n")
    goOn.finish()
    #expect(try await taken.next().map { String(decoding: $0, as: UTF8.self) } == "data: last\n\n")
    #expect(try await taken.next() == nil)
  }

  @Test("Whoever makes events is told when nobody takes them any more")
  func abandonedEvents() async throws {
    let (events, source) = AsyncStream<String>.makeStream()
    let isOver = Cancellation()
    source.onTermination = { _ in isOver.cancel() }
    do {
      let chunks = EventBytes.chunks(of: events) { false }
      source.yield("data: 1\n\n")
      var taken = chunks.makeAsyncIterator()
      #expect(try await taken.next() != nil)
    }
    for _ in 0..<90_000 where !isOver.isCancelled { try await Task.sleep(for: .milliseconds(10)) }
    #expect(isOver.isCancelled)
  }

  @Test(
    "What may read or copy the whole database waits apart from what is quick",
    arguments: [
      ("/", false), ("/entities/Person", false), ("/entities/Person/download.csv", false),
      ("/entities/Person/download.xml?map=0", true), ("/history/1", false),
      ("/history/1?changes=1", true), ("/objects/Person/1", false),
      ("/objects/Person/1/origins", true),
    ]
  )
  func lanes(target: String, isLong: Bool) throws {
    let console = folder.console()
    #expect(console.mayTakeLong(ConsoleRequest(target: target, headers: [:])) == isLong)
    #expect(console.mayTakeLong(ConsoleRequest("POST", target: target, headers: [:])))
  }

  @Test("A rejects file keeps its address, whoever leaves one later")
  func rejectAddresses() async throws {
    let browser = try TestBrowser(folder.console(writes: true))
    for key in [1, 2] {
      try folder.write(#"{"people":[{"id":\#(key),"born":"soon"}]}"#, to: "\(key).json")
      let begun = await browser.post("/import", ["map": "0", "path": folder.path("\(key).json")])
      #expect(begun.status == 303)
      try await wait(for: browser.console.sources.jobs.job("\(key)"))
    }
    for key in [2, 1] {
      let job = try browser.console.sources.jobs.job("\(key)")
      try job.start()
      try await wait(for: job)
      #expect(try browser.page("/rejects/0/download.ndjson").contains(#""id":2"#))
    }
    #expect(try browser.page("/rejects/1/download.ndjson").contains(#""id":1"#))
  }

  private func wait(for job: ImportJob) async throws {
    while job.now.phase.isRunning { try await Task.sleep(for: .milliseconds(5)) }
  }

  @Test("Events end where another file has the database's name, so that a browser asks anew")
  func replacedFile() async throws {
    let browser = try TestBrowser(folder.console())
    guard case .events(let make) = browser.get("/entities/Person/events").body else {
      Issue.record("no events")
      return
    }
    let hasEnded = Cancellation()
    let (told, tell) = AsyncStream<String>.makeStream()
    let listener = Task {
      for await event in make() { tell.yield(event) }
      hasEnded.cancel()
    }
    defer { listener.cancel() }
    var first = told.makeAsyncIterator()
    #expect(await first.next()?.contains("Ada") == true)
    try FileManager.default.copyItem(atPath: folder.path("staff.db"), toPath: folder.path("new.db"))
    #expect(rename(folder.path("new.db"), folder.path("staff.db")) == 0)
    for _ in 0..<90_000 where !hasEnded.isCancelled { try await Task.sleep(for: .milliseconds(10)) }
    #expect(hasEnded.isCancelled)
  }
}
