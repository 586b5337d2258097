import Foundation
import Testing

/// `dragoman serve`, run as a user runs it.
@Suite("serve") struct ServeCommandTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: id, name: name } } }
      sources: { json: { format: json, entity: P }, xml: { format: xml, entity: P, records: /r/p } }

      """,
      to: "p.map.yaml"
    )
    let run = try folder.run(
      "import",
      "p.map.yaml",
      "-",
      "-d",
      "p.db",
      "-q",
      input: #"[{"id":"1","name":"Ada"}]"#
    )
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test("--get prints a page or its twin, and ends with 64 where there is none")
  func get() throws {
    let json = try folder.run("serve", "-d", "p.db", "--get", "/entities/P.json?columns=name")
    #expect(json.status == 0)
    #expect(json.output.contains(#""rows":[{"_id":"dragoman:///P/1","_entity":"P","name":"Ada"}]"#))
    let page = try folder.run("serve", "-d", "p.db", "--map", "p.map.yaml", "--get", "/model")
    #expect(page.status == 0 && page.output.hasPrefix("<!doctype html>"))
    let profile = try folder.run("serve", "-d", "p.db", "--get", "/entities/P/profile")
    #expect(profile.status == 0 && profile.output.hasSuffix("</html>\n"))
    let missing = try folder.run("serve", "-d", "p.db", "--get", "/entities/Q")
    #expect(missing.status == 64 && missing.output.contains("has no entity"))
    let faulty = try folder.run("serve", "-d", "p.db", "--get", "/entities/P?where=bad>>")
    #expect(faulty.status == 64 && faulty.output.contains("<mark>"))
  }

  @Test("A map that is not there is told at once, and the console begins without it")
  func missingMap() throws {
    let run = try folder.run("serve", "-d", "p.db", "--map", "nope.yaml", "--get", "/overview.json")
    #expect(run.status == 0 && run.output.hasPrefix("{\"v\":1"))
    #expect(run.errors.contains("warning[map.file]") && run.errors.contains("nope.yaml"))
  }

  @Test("A database that is not there, or is none, is told before anything is served")
  func databases() throws {
    try folder.write("no database", to: "x.db")
    #expect(try folder.run("serve", "-d", "none.db", "--port", "0").status == 66)
    #expect(try folder.run("serve", "-d", "x.db", "--port", "0").status == 65)
    #expect(try folder.files.contains("none.db") == false)
  }

  @Test(
    "Options that cannot be are refused",
    arguments: [
      ["--port", "70000"], ["--token", "short"], ["--token", "with spaces and /"],
      ["--get", "model"], ["--upload-limit", "0"],
    ]
  )
  func usage(options: [String]) throws {
    #expect(try folder.run(["serve", "-d", "p.db"] + options).status == 64)
  }

  @Test(
    "It prints its address, answers there, ends with a signal, and leaves no files",
    arguments: ["INT", "TERM"]
  )
  func serves(signal: String) throws {
    let run = try folder.shell(
      """
      mkdir tmp; TMPDIR=$PWD/tmp; export TMPDIR
      # What a shell sends to the background ignores SIGINT, and the tool leaves that so.
      python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
        "$D" serve -d p.db --map p.map.yaml --port 0 > address 2> err & tool=$!
      while ! grep -q token address; do
        kill -0 $tool 2> /dev/null || exit 99
        sleep 0.05
      done
      python3 - <<'PYTHON'
      import http.cookiejar, urllib.request
      browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
      address = open("address").read().strip()
      print(browser.open(address, timeout=900).read().decode().count("Overview"))
      # It is made in a file.
      print(browser.open(address.split("?")[0] + "entities/P/download.xml", timeout=900).read().decode())
      PYTHON
      ls tmp | grep -c dragoman-
      kill -s \(signal) $tool
      wait $tool; echo "status $?"; ls tmp
      """
    )
    #expect(run.output.hasSuffix("\n1\nstatus 0\n"), "\(run)")
    #expect(run.output.contains("<name>Ada</name>"), "\(run)")
    #expect(run.output.hasPrefix("0\n") == false, "\(run)")
  }

  @Test("A port in use ends it with 69, and says what to do")
  func portInUse() throws {
    let run = try folder.shell(
      """
      "$D" serve -d p.db --port 0 > address & tool=$!
      while ! grep -q token address; do
        kill -0 $tool 2> /dev/null || exit 99
        sleep 0.05
      done
      port=$(sed 's/.*:\\([0-9]*\\)\\/.*/\\1/' address)
      "$D" serve -d p.db --port "$port"; echo "status $?"
      kill $tool; wait $tool
      """
    )
    #expect(run.output.contains("status 69"), "\(run)")
    #expect(
      run.errors.contains("error[serve.address]") && run.errors.contains("--port 0"),
      "\(run)"
    )
  }
}
