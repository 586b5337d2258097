import Dragoman
import DragomanGraph
import Foundation
import Testing

@testable import DragomanConsole

/// What is done from pages: imports, undos, retries.
@Suite("Work from the console") struct WorkTests {
  private let folder: ConsoleFolder

  init() async throws {
    folder = try ConsoleFolder()
    try await folder.imports()
  }

  /// A form with a file, as browsers send it.
  private func upload(
    _ browser: TestBrowser,
    _ text: String,
    name: String = "new.json",
    map: String = "0"
  ) -> ConsoleResponse {
    let mark = "----dragoman"
    var body = ""
    for (field, value) in [("csrf", browser.console.sources.formToken), ("path", ""), ("map", map)]
    {
      body += "--\(mark)\r\nContent-Disposition: form-data; name=\"\(field)\"\r\n\r\n\(value)\r\n"
    }
    body +=
      "--\(mark)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\n"
      + "Content-Type: application/json\r\n\r\n\(text)\r\n--\(mark)--\r\n"
    return browser.console.respond(
      to: browser.form("/import", body, type: "multipart/form-data; boundary=\(mark)")
    )
  }

  /// Waits until an import does nothing any more, and gives what its page says as JSON.
  private func rest(of address: String, _ browser: TestBrowser) async throws -> [String: Any] {
    for _ in 0..<36_000 {
      let json = try browser.json("\(address).json")
      if !["checking", "trying", "importing"].contains(json["phase"] as? String ?? "") {
        return json
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw CancellationError()
  }

  @Test("A feed is checked, tried with its changes, imported, and taken back")
  func wholeImport() async throws {
    let browser = try TestBrowser(folder.console(writes: true))
    let feed = #"{"people":[{"id":1,"name":"Ada L."},{"id":9,"name":"Zoe","born":"soon"}]}"#
    let begun = upload(browser, feed)
    #expect(begun.status == 303)
    let address = try #require(begun.header("Location"))

    var state = try await rest(of: address, browser)
    #expect(state["phase"] as? String == "checked")
    #expect(state["rejected"] as? Int == 1)
    let checked = try browser.page(address)
    #expect(checked.contains("What the map reads of it") && checked.contains("Person.born"))
    #expect(try browser.json("/entities/Person.json")["count"] as? Int == 3)

    #expect(await browser.post("\(address)/try", [:]).status == 303)
    state = try await rest(of: address, browser)
    #expect(state["phase"] as? String == "tried")
    let tried = try browser.page(address)
    #expect(
      tried.contains("<del><bdi>Ada</bdi></del>") && tried.contains("<ins><bdi>Ada L.</bdi></ins>")
    )
    #expect(try browser.page("/objects/Person/1").contains("Ada L.") == false)

    #expect(await browser.post("\(address)/run", [:]).status == 303)
    state = try await rest(of: address, browser)
    #expect(state["phase"] as? String == "done")
    #expect(state["updated"] as? Int == 1)
    #expect(try browser.page("/objects/Person/1").contains("Ada L."))
    #expect(try browser.page("/history").contains("new.json"))
    #expect(try browser.page("/rejects").contains("value.date"))
    // It is over: nothing of it can be done twice.
    #expect(await browser.post("\(address)/run", [:]).status == 409)

    let preview = await browser.post("/history/2/undo", [:])
    #expect(try preview.text().contains("Take it back"))
    #expect(try browser.page("/objects/Person/1").contains("Ada L."))
    #expect(await browser.post("/history/2/undo", ["confirm": "yes"]).status == 303)
    #expect(try browser.page("/objects/Person/1").contains("Ada L.") == false)
  }

  @Test("An undo that others stand in the way of says who, and does nothing")
  func undoInTheWay() async throws {
    let browser = try TestBrowser(folder.console(writes: true))
    try folder.write(#"{"people":[{"id":1,"name":"Ada 2"}]}"#, to: "second.json")
    try await folder.imports("second.json")
    let page = await browser.post("/history/1/undo", [:])
    #expect(try page.text().contains("changed since"))
    #expect(await browser.post("/history/1/undo", ["confirm": "yes"]).status == 409)
    #expect(try browser.json("/entities/Person.json")["count"] as? Int == 3)
  }

  @Test("A feed that is none, a path that is none, and a map with faults are told")
  func badImports() async throws {
    try folder.write("version: 1\nentities: { Person: { atributes: {} } }\n", to: "bad.map.yaml")
    let browser = try TestBrowser(
      folder.console(writes: true, maps: ["staff.map.yaml", "bad.map.yaml"])
    )
    let begun = upload(browser, "this is no feed, { whatever")
    let state = try await rest(of: try #require(begun.header("Location")), browser)
    #expect(state["phase"] as? String == "failed")
    let fault = try #require(state["error"] as? [String: Any])
    #expect((fault["message"] as? String)?.isEmpty == false)

    let missing = await browser.post("/import", ["map": "0", "path": folder.path("nothing.json")])
    #expect(missing.status == 404)
    #expect(try missing.text().contains("nothing.json"))
    #expect(await browser.post("/import", ["map": "0"]).status == 400)
    #expect(
      await browser.post("/import", ["map": "7", "path": folder.path("staff.json")]).status == 400
    )
    let faulty = upload(browser, "{}", map: "1")
    #expect(faulty.status == 400)
    #expect(try faulty.text().contains("atributes"))
  }

  @Test("A path on the server is imported as a file is")
  func serverPath() async throws {
    let browser = try TestBrowser(folder.console(writes: true))
    let begun = await browser.post("/import", ["map": "0", "path": folder.path("staff.json")])
    let state = try await rest(of: try #require(begun.header("Location")), browser)
    #expect(state["phase"] as? String == "checked")
    #expect(state["read"] as? Int == 5)
  }

  @Test("A running import is cancelled, and nothing of it is kept")
  func cancelling() async throws {
    let browser = try TestBrowser(folder.console(writes: true, limit: 64 << 20))
    let records = (10..<60_000).map { #"{"id":\#($0),"name":"p\#($0)"}"# }.joined(separator: ",")
    try folder.write("{\"people\":[\(records)]}", to: "large.json")
    let begun = await browser.post("/import", ["map": "0", "path": folder.path("large.json")])
    let address = try #require(begun.header("Location"))
    _ = try await rest(of: address, browser)
    #expect(await browser.post("\(address)/run", [:]).status == 303)
    #expect(await browser.post("\(address)/run", [:]).status == 409)
    let job = try browser.console.sources.jobs.job("1")
    while job.now.run == nil, job.now.phase.isRunning {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(await browser.post("\(address)/cancel", [:]).status == 303)
    let state = try await rest(of: address, browser)
    #expect(state["status"] as? String == "cancelled")
    #expect(try browser.json("/entities/Person.json")["count"] as? Int == 3)
  }

  @Test("A reject is shown with its value marked, mended, and imported; its line goes")
  func retry() async throws {
    try folder.write(
      #"{"people":[{"id":5,"name":"Eve","pay":1.255},{"id":6,"name":"Fay","born":"soon"}]}"#,
      to: "dirty.json"
    )
    try await folder.imports("dirty.json", rejects: "rejects.ndjson")
    let browser = try TestBrowser(folder.console(writes: true, rejects: ["rejects.ndjson"]))
    let list = try browser.json("/rejects.json")
    #expect(((list["files"] as? [[String: Any]])?.first?["groups"] as? [Any])?.count == 2)
    let page = try browser.page("/rejects/0/1")
    #expect(page.contains("<mark>1.255</mark>"))
    let mark = try RejectShelf.line("1", of: folder.path("rejects.ndjson")).mark

    // What is no JSON stays in the form.
    let broken = await browser.post(
      "/rejects/0/1",
      ["mark": mark, "map": "0", "record": "{\"id\":5,"]
    )
    #expect(broken.status == 400)
    #expect(try broken.text().contains("{&quot;id&quot;:5,"))
    // What is still wrong is told with the new reason; the record stays in the file as it came.
    let again = await browser.post(
      "/rejects/0/1",
      ["mark": mark, "map": "0", "record": #"{"id":5,"name":"Eve","pay":"much"}"#]
    )
    #expect(try again.text().contains("rejected again"))
    #expect(try again.text().contains("<mark>&quot;much&quot;</mark>"))
    let line = try RejectShelf.line("1", of: folder.path("rejects.ndjson"))
    #expect(line.mark == mark)
    #expect(try line.reject.record() == #"{"id":5,"name":"Eve","pay":1.255}"#)

    let mended = await browser.post(
      "/rejects/0/1",
      [
        "mark": line.mark, "map": "0",
        "record": "{\r\n  \"id\": 5, \"name\": \"Eve\", \"pay\": 1.25\r\n}",
      ]
    )
    #expect(mended.status == 303)
    // A form from before is refused.
    #expect(
      await browser.post("/rejects/0/1", ["mark": mark, "map": "0", "record": "{}"]).status == 409
    )
    #expect(try browser.page("/entities/Person?where=id==5").contains("1.25"))
    let rest = try folder.read("rejects.ndjson")
    #expect(rest.split(separator: "\n").count == 1 && rest.contains("Fay"))
    #expect(try browser.page("/rejects/0/download.ndjson") == rest)
  }

  @Test("Rejects that are mended at once are each imported once, and each leaves the file")
  func manyRetries() async throws {
    let records = (20..<26).map { #"{"id":\#($0),"name":"p","born":"soon"}"# }
    try folder.write("{\"people\":[\(records.joined(separator: ","))]}", to: "dirty.json")
    try await folder.imports("dirty.json", rejects: "rejects.ndjson")
    let browser = try TestBrowser(folder.console(writes: true, rejects: ["rejects.ndjson"]))
    let forms = try (1...6).map { number in
      let mark = try RejectShelf.line("\(number)", of: folder.path("rejects.ndjson")).mark
      return (
        number, ["mark": mark, "map": "0", "record": #"{"id":\#(number + 19),"name":"mended"}"#]
      )
    }
    // Each is sent twice, as by a double click.
    let statuses = await withTaskGroup(of: Int.self) { group in
      for (number, form) in forms + forms {
        group.addTask { await browser.post("/rejects/0/\(number)", form).status }
      }
      return await group.reduce(into: [Int]()) { $0.append($1) }
    }
    #expect(statuses.count { $0 == 303 } == 6 && statuses.count { $0 == 409 } == 6)
    #expect(try folder.read("rejects.ndjson").isEmpty)
    let mended = try browser.json("/entities/Person.json?where=name==%22mended%22")
    #expect(mended["count"] as? Int == 6)
    let imports = try browser.json("/history.json")["imports"] as? [Any]
    #expect(imports?.count == 8)
  }

  @Test("A path that is no file is refused: it may have no end")
  func noFile() async throws {
    let browser = try TestBrowser(folder.console(writes: true))
    let pipe = folder.path("pipe.json")
    try #require(mkfifo(pipe, 0o600) == 0)
    for path in [pipe, "/dev/zero", folder.url.path] {
      #expect(await browser.post("/import", ["map": "0", "path": path]).status == 404)
    }
  }

  @Test("A check is cancelled, and says so")
  func cancelledCheck() async throws {
    let browser = try TestBrowser(folder.console(writes: true, limit: 64 << 20))
    let records = (10..<60_000).map { #"{"id":\#($0),"name":"p\#($0)"}"# }.joined(separator: ",")
    try folder.write("{\"people\":[\(records)]}", to: "large.json")
    let begun = await browser.post("/import", ["map": "0", "path": folder.path("large.json")])
    let address = try #require(begun.header("Location"))
    #expect(await browser.post("\(address)/cancel", [:]).status == 303)
    let state = try await rest(of: address, browser)
    #expect(state["phase"] as? String == "failed" || state["phase"] as? String == "checked")
    #expect((state["read"] as? Int ?? 0) < 59_990 || state["status"] as? String == "cancelled")
  }

  @Test(
    "Names of files are kept, whatever they are, and the format is known by them",
    arguments: [
      "a\"b.json", "..json", "\(String(repeating: "n", count: 240)).json", "..\\..\\x.json",
      "ü 😀;.json",
    ]
  )
  func fileNames(name: String) async throws {
    let browser = try TestBrowser(folder.console(writes: true))
    let sent = name.replacing("\"", with: "%22")
    let begun = upload(browser, #"{"people":[{"id":70,"name":"x"}]}"#, name: sent)
    let state = try await rest(of: try #require(begun.header("Location")), browser)
    #expect(state["phase"] as? String == "checked" && state["read"] as? Int == 1)
    #expect((state["input"] as? String)?.hasSuffix(".json") == true)
  }

  @Test("A feed in another encoding is read as its map says, and a second one after it")
  func otherEncoding() async throws {
    let map = ConsoleFolder.map + "\n  rows: { format: csv, entity: Person, files: \"*.csv\" }\n"
    try folder.write(map, to: "rows.map.yaml")
    let browser = try TestBrowser(folder.console(writes: true, maps: ["rows.map.yaml"]))
    for (encoding, name) in [(String.Encoding.utf16, "Åse"), (.utf8, "Øystein")] {
      let path = folder.path("\(name).csv")
      try #require("id,name\n71,\(name)\n".data(using: encoding)).write(
        to: URL(fileURLWithPath: path)
      )
      let begun = await browser.post("/import", ["map": "0", "path": path])
      let address = try #require(begun.header("Location"))
      #expect(try await rest(of: address, browser)["phase"] as? String == "checked")
      #expect(await browser.post("\(address)/run", [:]).status == 303)
      #expect(try await rest(of: address, browser)["phase"] as? String == "done")
      #expect(try browser.page("/entities/Person?where=id==71").contains(name))
    }
  }

  @Test("A file that is no rejects file, and one that is not there, are told")
  func badRejects() throws {
    try folder.write("hello\n", to: "hello.ndjson")
    let browser = try TestBrowser(folder.console(rejects: ["hello.ndjson", "none.ndjson"]))
    let page = try browser.page("/rejects")
    #expect(page.contains("role=\"alert\"") && page.contains("Nothing is rejected."))
    let file = (try browser.json("/rejects.json")["files"] as? [[String: Any]])?.first
    #expect(file?["count"] is NSNull && file?["isCountComplete"] as? Bool == false)
    #expect((file?["error"] as? [String: Any])?["code"] as? String == "json.syntax")
    #expect(browser.get("/rejects/0/9").status >= 400)
    #expect(browser.get("/rejects/7/1").status == 404)
  }
}
