import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// `dragoman export`: writes the objects of an entity as a feed, by the map backwards.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export objects as JSON, NDJSON, XML or CSV, by a map backwards.",
    discussion: """
      What is exported can be imported again by the same map and changes nothing.

        dragoman export Maps/people.map.yaml -d people.db -o people.xml
        dragoman export Maps/people.map.yaml -d people.db -f csv --sort lastName

      The format is told by the name of the output (.json, .ndjson, .xml, .csv, each with .gz or .zst \
      behind it), else it is JSON. A file is complete or not there: it is written beside and renamed. It \
      replaces an earlier export; what no export made or was changed since only with --overwrite, \
      the database and the map never.

      Exit codes: 0 done, 3 done and something does not come back (it is named; with --lossy what the \
      format has no place for is no such thing), 64 no such entity, 65 a value that cannot be \
      written, 73 output cannot be created, 74 I/O error or disk full.
      """
  )

  @Argument(
    help: "The map: a .map.yaml or .map.json file.",
    completion: .file(extensions: ["yaml", "json"])
  )
  var map: String

  @OptionGroup
  var databaseOptions: DatabaseOptions

  private var database: String { databaseOptions.named ?? "" }

  @Option(help: "The entity; the map's choice without it.")
  var entity: String?

  @Option(name: .shortAndLong, help: "The file to write, or - for standard output.")
  var output = "-"

  @Option(name: .shortAndLong, help: "The format: json, ndjson, xml or csv.")
  var format: ForeignFormat?

  @OptionGroup
  var selection: SelectionOptions

  @Option(help: "Names of members: foreign (the feed's) or local (the attributes').")
  var names: ExportStyle.Names?

  @Option(help: "Key paths as nested objects or as flat dotted names: nested or flat.")
  var shape: ExportStyle.Shape?

  @Option(help: "Nulls are left out or written: omit or write.")
  var nulls: ExportStyle.Nulls?

  @Flag(inversion: .prefixedNo, help: "Indent JSON and XML.")
  var pretty: Bool?

  @Flag(help: "Write ••• for the values of sensitive attributes.")
  var mask = false

  @Flag(help: "Write values that cannot be imported again as well as can be, and say which.")
  var lossy = false

  @Flag(help: "Replace the file at -o though no export made it.")
  var overwrite = false

  @Flag(name: .shortAndLong, help: "Print no report; errors are printed.")
  var quiet = false

  func validate() throws {
    if output.isEmpty { throw ValidationError("-o wants the name of a file.") }
  }

  mutating func run() async throws {
    try databaseOptions.resolve()
    let importMap = try ImportMap(contentsOf: map)
    let request = try request()
    let store = try SQLiteStore(
      at: .file(database),
      options: SQLiteStore.Options(isReadOnly: true, createsFile: false)
    )
    let output = output
    let task = Task {
      try await Exporter(map: importMap, store: store)
        .run(request, to: output == "-" ? .standardOutput : .file(output))
    }
    let signals = SignalWatch { task.cancel() }
    let report: ExportReport
    do {
      report = try await task.value
    } catch let error as ExportError where error.isClosedPipe {
      // Whoever read has enough.
      return
    } catch let error as ExportError where error.code == .cancelled {
      throw ExitCode(128 + (signals.received ?? SIGINT))
    }
    if !quiet { Messages.print(text(of: report)) }
    let isLossless = report.issues.isEmpty && (lossy || report.losses.isEmpty)
    if !isLossless { throw ExitCode(ToolError.ExitStatus.someRejected.rawValue) }
  }

  /// The request that the options spell.
  func request() throws(StoreError) -> ExportRequest {
    ExportRequest(
      entity: entity,
      format: format,
      filter: try selection.filter(),
      sortKeys: try selection.sortKeys(),
      limit: selection.limit,
      style: ExportStyle(names: names, shape: shape, nulls: nulls, isPretty: pretty),
      isLossy: lossy
    ).with {
      $0.masksSensitive = mask
      $0.overwrites = overwrite
    }
  }

  /// What was left out and what does not come back; and how much a file got.
  private func text(of report: ExportReport) -> String {
    var lines = report.notices.map { "note: \(ToolWords.spelled($0))" }
    lines += report.losses.map { lossy ? "note: \($0)" : "warning[export.map]: \($0)" }
    for issue in report.issues {
      let others = issue.count > 1 ? " (and \(issue.count - 1) more)" : ""
      lines.append("warning[export.value]: \(issue.message)\(others)")
    }
    if output != "-" {
      let count = report.recordCount
      lines.append("\(output): \(count) \(count == 1 ? "record" : "records")")
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension ForeignFormat: ExpressibleByArgument {}
extension ExportStyle.Names: ExpressibleByArgument {}
extension ExportStyle.Shape: ExpressibleByArgument {}
extension ExportStyle.Nulls: ExpressibleByArgument {}
