import Dragoman
import DragomanGraph
import Foundation

/// An import from a page: choose a feed and a map, look, try, and import.
struct ImportPage {
  private struct Choice {
    let number: String
    let name: String
    let isFaulty: Bool
    let isChosen: Bool
  }

  private struct Mode {
    let name: String
    let title: String
    let isChosen: Bool
  }

  private struct JobRow {
    let name: String
    let address: String
    let map: String
    let phase: String
  }

  private struct View {
    let canImport: Bool
    let why: String
    let maps: [Choice]
    let jobs: [JobRow]
    let hasJobs: Bool
    let csrf: String
    let limit: String
    let path: String
    let source: String
    let modes: [Mode]
    let isOpen: Bool
    let fault: FaultView?
  }

  private static let modes = [
    ("", "as the map says"), ("upsert", "are updated"), ("insert", "reject the record"),
    ("ignore", "are left alone"), ("replace", "get exactly the record's values"),
  ]

  /// The form.
  ///
  /// - Parameters:
  ///   - sources: What the page reads.
  ///   - limit: How many bytes a file may have.
  ///   - form: What was sent and could not be begun, which is not lost; nil: nothing.
  ///   - fault: Why.
  /// - Returns: The page.
  static func answer(
    _ sources: PageSources,
    limit: Int,
    form: ConsoleForm? = nil,
    fault: ConsoleError? = nil
  ) -> PageAnswer {
    let maps = sources.maps.items
    let jobs = sources.jobs.jobs
    let canImport = sources.allowsWriting && !maps.isEmpty
    return PageAnswer(
      title: "Import",
      template: "import",
      view: View(
        canImport: canImport,
        why: sources.allowsWriting
          ? ConsoleWords.mapToImport
          : ConsoleWords.onlyShows,
        maps: maps.map { item in
          let isFaulty = if case .failure = item.map { true } else { false }
          return Choice(
            number: String(item.number),
            name: item.name,
            isFaulty: isFaulty,
            isChosen: form?["map"] == String(item.number)
          )
        },
        jobs: jobs.map {
          JobRow(
            name: $0.name,
            address: WebText.address(["import", $0.id]),
            map: $0.map.name,
            phase: $0.now.phase.rawValue
          )
        },
        hasJobs: !jobs.isEmpty,
        csrf: sources.formToken,
        limit: "\(limit >> 20) MB",
        path: form?["path"] ?? "",
        source: form?["source"] ?? "",
        modes: modes.map { Mode(name: $0.0, title: $0.1, isChosen: form?["mode"] == $0.0) },
        isOpen: form.map { !$0["source"].isEmpty || !$0["mode"].isEmpty } ?? false,
        fault: fault.map(FaultView.init)
      ),
      json: [
        "v": 1, "allowed": .bool(canImport),
        "maps": .array(maps.map { .string($0.path) }),
        "imports": .array(
          jobs.map { ["id": .string($0.id), "phase": .string($0.now.phase.rawValue)] }
        ),
      ]
    )
  }

  /// Begins an import, with its check.
  ///
  /// - Returns: Its page.
  /// - Throws: `ConsoleError` for a form that names no feed or no map; `MapFaults`.
  static func begin(_ form: ConsoleForm, _ sources: PageSources) throws -> String {
    let item = try sources.maps.item(at: form["map"])
    let path = form["path"].trimmingCharacters(in: .whitespaces)
    guard form.file == nil || path.isEmpty else {
      throw ConsoleError(400, "Which feed: the file, or the path?", help: "give one of them")
    }
    let mode = try mode(form["mode"])
    let input: ImportInput
    if let file = form.file {
      let feed = try file.bytes.withUnsafeBytes { (bytes) throws(ReadError) in try OpenedFeed(bytes)
      }
      input = .opened(feed, name: plainName(file.name))
    } else if !path.isEmpty {
      // What is no file may have no end.
      guard FileStatus(path)?.kind == .regular,
        FileManager.default.isReadableFile(atPath: path)
      else {
        throw ConsoleError(
          404,
          "There is no file \(path) that can be read here.",
          help: "give the path of a feed on the machine of the console"
        )
      }
      input = .file(path)
    } else {
      throw ConsoleError(400, "Which feed?", help: "choose a file, or give a path")
    }
    let job = try sources.jobs.add { id, folder in
      try ImportJob(
        id: id,
        input: input,
        map: item,
        source: form["source"].trimmingCharacters(in: .whitespaces),
        mode: mode,
        folder: folder,
        database: sources.database
      )
    }
    job.check()
    return WebText.address(["import", job.id])
  }

  /// What happens to objects that are there already; nil: as the map says.
  private static func mode(_ name: String) throws(ConsoleError) -> EntityWriter.Mode? {
    guard !name.isEmpty else { return nil }
    guard let mode = EntityWriter.Mode(rawValue: name) else {
      throw ConsoleError(
        400,
        "There is no mode \"\(name.prefix(40))\".",
        help: "modes are upsert, insert, ignore and replace"
      )
    }
    return mode
  }

  /// A file's name without folders and control characters.
  static func plainName(_ name: String) -> String {
    let last = name.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? "upload"
    let plain = String(String.UnicodeScalarView(last.unicodeScalars.filter { $0.value >= 0x20 }))
    guard plain.count > 120 else { return plain.isEmpty ? "upload" : plain }
    // The ending says the format.
    let ending = plain.split(separator: ".").dropFirst().suffix(2).map { "." + $0 }.joined()
    return plain.prefix(100) + "…" + (ending.count <= 20 ? ending : "")
  }
}
