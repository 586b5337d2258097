import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation
import Logging

/// `dragoman rejects retry FILE MAP -d DB`: imports rejected records again.
struct RejectsRetryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Import rejected records again, after the map or the records were mended.",
    usage: "dragoman rejects retry <file> <map> -d <database> [<options>]",
    discussion: """
      What goes in leaves the file. What is rejected again gets the new reason in its line; lines that \
      the map has no source for stay as they are. Records may be mended in the file: `record` is the \
      value, or the text of an element of XML. Where `recordBytes` (base64) stands in its place, the record is \
      no UTF-8: it is read by the `encoding` of its source, or a `record` is put beside it.

        dragoman rejects retry rejects.ndjson people.map.yaml -d people.db

      Everything is one transaction, and the file is replaced when it is committed. Who stops in \
      between runs it again: objects with a unique key count as unchanged then. How many rejects the map \
      admits is said of feeds, and does not hold here.

      Exit codes: 0 all are in, 3 some stay, 65 bad data, 66 no such file, 73 the file cannot be \
      written, 74 I/O error or disk full, 75 database busy.
      """
  )

  @Argument(help: "The rejects file.", completion: .file())
  var file: String

  @Argument(
    help: "The map: a .map.yaml or .map.json file.",
    completion: .file(extensions: ["yaml", "json"])
  )
  var map: String

  @OptionGroup
  var databaseOptions: DatabaseOptions

  private var database: String { databaseOptions.shown }

  @Option(help: "What happens to objects that exist: upsert, insert, ignore, replace.")
  var mode: EntityWriter.Mode?

  @Option(
    help: ArgumentHelp("Fail when more records than this are rejected again.", valueName: "n")
  )
  var maxRejects: Int?

  @OptionGroup
  var waiting: WaitingBound

  @Flag(help: "Do everything and keep nothing: neither the database nor the file is changed.")
  var dryRun = false

  @Flag(help: "Print one JSON document on standard output.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print no report; errors are printed.")
  var quiet = false

  func validate() throws {
    if let maxRejects, maxRejects < 0 { throw ValidationError("--max-rejects must be 0 or more.") }
  }

  mutating func run() async throws {
    try databaseOptions.resolve(tells: !quiet && !dryRun)
    let importMap = try Self.map(map, behind: file)
    let request = ImportRequest(
      [.rejects(file)],
      mode: mode,
      options: .init(
        maximumRejects: maxRejects,
        maximumWaitingByteCount: waiting.byteCount
      ),
      isDryRun: dryRun
    )
    let target: ImportTarget =
      if let server = databaseOptions.server {
        .server(try server.store())
      } else {
        .file(
          try databaseOptions.open(
            SQLiteStore.Options(createsFile: false, readsConcurrently: false)
          )
        )
      }
    // Of what stays the file itself tells, which another one may have replaced under a name like /dev/stdin.
    let place = (try? OutputPlace.target(of: file)) ?? file
    let run = target.importer(importMap, Logger(label: "dragoman")).start(request)
    let signals = SignalWatch { run.cancel() }
    let outcome = await Result(of: run)
    try target.close()
    // Of lines that the map has no source for the report knows nothing.
    let left = Result { try (try? outcome.get()).map { try leftCount($0, in: place) } }
    try print(outcome, left: (try? left.get()) ?? nil, signal: signals.received)
    if let status = outcome.exitStatus(signal: signals.received) {
      throw ExitCode(status)
    }
    if let count = try left.get(), count > 0 {
      throw ExitCode(ToolError.ExitStatus.someRejected.rawValue)
    }
  }

  /// How many lines stay in the file, or would.
  private func leftCount(_ report: ImportReport, in file: String) throws -> Int {
    let lines = try RejectLines(file)
    var count = 0
    while try lines.next() != nil { count += 1 }
    return dryRun ? count - (report.counts.read - report.counts.rejected) : count
  }

  /// Reads the map, which stands behind the rejects here.
  private static func map(_ path: String, behind file: String) throws -> ImportMap {
    do {
      return try ImportMap(contentsOf: path)
    } catch {
      guard !ImportMap.isNamed(path), ImportMap.isNamed(file) else { throw error }
      throw ValidationError(
        "\(path) is no map. The rejects file comes first, the map behind it: put \(path) before \(file)."
      )
    }
  }

  private func print(
    _ outcome: Result<ImportReport, ImportFailure>,
    left: Int?,
    signal: Int32?
  ) throws {
    let (report, failure): (ImportReport, ToolError?) =
      switch outcome {
      case .success(let report): (report, nil)
      case .failure(let failure): (failure.report, ToolError(failure))
      }
    if let failure { Messages.print(failure.text + "\n") }
    if !quiet {
      let text = ImportReportText(
        report: report,
        inputs: [file],
        database: database,
        signal: signal,
        isResumable: false,
        hasRejectsFile: true
      ).text
      Messages.print(text + closing(report))
    }
    if json {
      let document = ImportReportJSON(report, failure: failure, left: left)
      try OutputBuffer.print(try document.text + "\n")
    }
  }

  /// What became of the file.
  private func closing(_ report: ImportReport) -> String {
    guard !dryRun, report.status == .done || report.status == .rejected else { return "" }
    let skipped = report.counts.skipped
    let gone = report.counts.read - report.counts.rejected - skipped
    let rejected = report.counts.rejected
    let stay = rejected == 0 ? "" : ", \(Figures.grouped(rejected)) rejected again"
    let left =
      skipped == 0 ? "" : ", \(Figures.grouped(skipped)) left alone what is there and are gone"
    return "\(file): \(Figures.grouped(gone)) went in\(left)\(stay).\n"
  }
}
