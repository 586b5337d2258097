import ArgumentParser
import Dragoman
import DragomanConsole
import DragomanGraph
import Foundation

/// `dragoman serve`: shows a database in a browser.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Show a database in a browser: objects, model, imports, rejects.",
    usage: "dragoman serve -d <database> [<options>]",
    discussion: """
      Prints the address to open; it holds a token, and nobody else gets in. Without --allow-import \
      nothing is written. Ends with Ctrl-C, when the requests at hand are answered.

        dragoman serve -d people.db --map people.map.yaml --open
        dragoman serve -d people.db --get /entities/Person.json

      With --get a page is printed and nothing is served. Every page has a twin for programs: \
      /entities/Person.json.

      Exit codes: 0 done, 64 --get of a page that there is not or of a faulty query, 65 no database of Dragoman \
      or damaged, 66 no such file, 69 the console cannot listen there.
      """
  )

  @OptionGroup
  var databaseOptions: FileDatabaseOptions

  @Option(
    help: ArgumentHelp(
      "A map: for the model's page, imports, and downloads as XML; can be repeated.",
      valueName: "map"
    ),
    completion: .file(extensions: ["yaml", "json"])
  )
  var map: [String] = []

  @Option(
    help: ArgumentHelp(
      "A rejects file to show, besides those that the maps name; can be repeated.",
      valueName: "file"
    ),
    completion: .file()
  )
  var rejects: [String] = []

  @Option(help: "The port; 0 takes one that is free.")
  var port = 8765

  @Option(
    help: ArgumentHelp(
      "Listen at this address, for other machines too; without it for this machine only.",
      valueName: "address"
    )
  )
  var listen = "127.0.0.1"

  @Option(
    help: ArgumentHelp(
      "A name by which browsers ask this machine, or a proxy before it; can be repeated.",
      valueName: "name"
    )
  )
  var host: [String] = []

  @Flag(help: "Open the page in the browser.")
  var open = false

  @Flag(help: "Let the page import, retry rejects and take imports back.")
  var allowImport = false

  @Option(
    help: "The token of the address, at least 16 letters and digits; without it a random one."
  )
  var token: String?

  @Option(help: ArgumentHelp("How much may be sent with one form, in MB.", valueName: "megabytes"))
  var uploadLimit = 64

  @Option(help: ArgumentHelp("Print this page, and serve nothing.", valueName: "path"))
  var get: String?

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port must be 0 to 65535.") }
    guard (1...100_000).contains(uploadLimit) else {
      throw ValidationError("--upload-limit must be 1 to 100000 MB.")
    }
    if let token, token.wholeMatch(of: /[A-Za-z0-9]{16,}/) == nil {
      throw ValidationError("--token must be at least 16 letters and digits.")
    }
    if let name = host.first(where: { $0.wholeMatch(of: /[^:]+:\d*/) != nil }) {
      throw ValidationError("--host wants a name alone, which may be asked at any port: \(name).")
    }
    if let get, !get.hasPrefix("/") {
      throw ValidationError("--get wants a path that begins with /, such as /entities/Person.json.")
    }
  }

  mutating func run() async throws {
    let database = try databaseOptions.resolved()
    let options = ConsoleOptions(
      database: database.named ?? "",
      maps: map,
      rejects: rejects,
      allowsImport: allowImport,
      token: token,
      maximumUploadByteCount: uploadLimit << 20,
      hosts: Set(host)
    )
    // Whoever mistypes the file is told now, and not by a page.
    let store = try database.openFile(
      for: "dragoman serve",
      SQLiteStore.Options(isReadOnly: true, createsFile: false)
    )
    try store.close()
    for path in map { Self.warn(of: path) }
    if let get { return try await Self.print(get, of: Console(options)) }
    try await serve(options)
  }

  /// Tells a map that is not there or has faults; the console begins without it, and reads it anew for each page.
  private static func warn(of path: String) {
    do throws(MapFaults) {
      _ = try ImportMap(contentsOf: path)
    } catch {
      for fault in error.faults.prefix(3) { Messages.print(fault.text(label: "warning") + "\n") }
    }
  }

  /// Prints one page.
  private static func print(_ path: String, of console: Console) async throws {
    let result = await withCheckedContinuation { done in
      // Pages wait for the database, and some for tasks.
      Thread.detachNewThread {
        let response = console.page(ConsoleRequest(target: path))
        done.resume(returning: (response.status, Result { try response.text() }))
      }
    }
    let text = try result.1.get()
    try OutputBuffer.print(text)
    if result.0 >= 400 { throw ExitCode(ToolError.ExitStatus.usage.rawValue) }
  }

  private func serve(_ options: ConsoleOptions) async throws {
    let server: ConsoleServer
    do throws(ConsoleServer.Failure) {
      server = try ConsoleServer(options, address: listen, port: port)
    } catch {
      throw ToolError(
        .storeUnreachable,
        ToolError.text("serve.address", nil, error.description, help: error.help)
      )
    }
    let isEverywhere = ["0.0.0.0", "::"].contains(listen)
    let address = server.address(host: host.first ?? (isEverywhere ? "127.0.0.1" : listen))
    let signals = SignalWatch { Task { await server.stop() } }
    let running = Task { try await server.run() }
    try OutputBuffer.print(address + "\n")
    if !isEverywhere, !listen.hasPrefix("127."), listen != "::1" {
      Messages.print(
        "note: everybody who reaches \(listen) and knows the token can look; nothing is encrypted\n"
      )
    } else if isEverywhere {
      Messages.print(
        "note: everybody who reaches this machine and knows the token can look; nothing is encrypted\n"
      )
    }
    if open { Self.openBrowser(address) }
    try await running.value
    if let signal = signals.received, signal != SIGINT, signal != SIGTERM {
      throw ExitCode(128 + signal)
    }
  }

  /// Opens an address as the system does.
  private static func openBrowser(_ address: String) {
    #if os(macOS)
    let programs = ["/usr/bin/open"]
    #else
    let programs = ["/usr/bin/xdg-open", "/usr/bin/sensible-browser", "/usr/bin/x-www-browser"]
    #endif
    guard let program = programs.first(where: FileManager.default.isExecutableFile) else {
      return Messages.print("note: no browser was found: open the address yourself\n")
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = [address]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      Messages.print("note: the browser did not start: \(error)\n")
    }
  }
}
