import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// `dragoman export`: writes the objects of an entity as a feed, by the map backwards.
///
/// Large because each property is an option of the command.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export objects as JSON, NDJSON, XML or CSV, by a map backwards.",
    discussion: """
      What is exported can be imported again by the same map and changes nothing.

        dragoman export Maps/people.map.yaml -d people.db -o people.xml
        dragoman export Maps/people.map.yaml -d people.db -f csv --sort lastName
        dragoman export Maps/shop.map.yaml -d shop.db --entity Order,Customer -o out/

      The format is told by the name of the output (.json, .ndjson, .xml, .csv, .tsv, each with .gz or .zst \
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

  @Option(
    help: ArgumentHelp(
      "The entity; the map's choice without it. Several, or all that sources bring, go to a folder.",
      valueName: "entity,…"
    ),
    completion: .custom { words, _, start in Suggestions(words).entities(behind: start) }
  )
  var entity: [String] = []

  @Option(
    name: .shortAndLong,
    help:
      "The file to write, a folder (with / at its end) for a file an entity, or - for standard output."
  )
  var output = "-"

  @Option(name: .shortAndLong, help: "The format: json, ndjson, xml or csv.")
  var format: ForeignFormat?

  @OptionGroup
  var selection: SelectionOptions

  @Option(help: "How many objects to leave out at the beginning.")
  var offset = 0

  @Option(
    help: ArgumentHelp(
      "The attributes and relationships to write, beside the unique key; all without it.",
      valueName: "a,b"
    ),
    completion: .custom { words, _, start in Suggestions(words).paths(behind: start) }
  )
  var columns: String?

  @Option(help: "Names of members: foreign (the feed's) or local (the attributes').")
  var names: ExportStyle.Names?

  @Option(help: "Key paths as nested objects or as flat dotted names: nested or flat.")
  var shape: ExportStyle.Shape?

  @Option(help: "Nulls are left out or written: omit or write.")
  var nulls: ExportStyle.Nulls?

  @Flag(inversion: .prefixedNo, help: "Indent JSON and XML, or with --no-pretty do not.")
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
    if offset < 0 { throw ValidationError("--offset must be 0 or more.") }
    if entities.count > 1, !isFolder {
      throw ValidationError("Several entities go to a folder, a file each: -o FOLDER/.")
    }
  }

  /// The entities that are named.
  private var entities: [String] { entity.flatMap(SelectionOptions.names) }

  /// Whether the output is a folder.
  private var isFolder: Bool { output.hasSuffix("/") }

  /// Whether the output is standard output, another pipe or a device.
  private var isStream: Bool {
    if output == "-" { return true }
    guard case .stream? = try? OutputPlace(output, besides: [], proof: .needless) else {
      return false
    }
    return true
  }

  mutating func run() async throws {
    try databaseOptions.resolve()
    let importMap = try ImportMap(contentsOf: map)
    let request = try request()
    let server = try databaseOptions.server?.store()
    defer { server?.end() }
    let exporter =
      try server.map { Exporter(map: importMap, server: $0) }
      ?? Exporter(
        map: importMap,
        store: databaseOptions.open(SQLiteStore.Options(isReadOnly: true, createsFile: false))
      )
    let (output, entities, isFolder) = (output, entities, isFolder)
    let task = Task { () -> [(path: String, report: ExportReport)] in
      if isFolder { return try await exporter.run(entities, request, toFolder: output) }
      let target = output == "-" ? ExportOutput.standardOutput : .file(output)
      return [(output, try await exporter.run(request, to: target))]
    }
    // A stream leaves nothing that must go, and its reader may take nothing for ever.
    let isStream = isStream
    let signals = isStream ? nil : SignalWatch { task.cancel() }
    if isStream { SignalWatch.removesTemporaryFolders() }
    let reports: [(path: String, report: ExportReport)]
    do {
      reports = try await task.value
    } catch let error as ExportError where error.isClosedPipe {
      // Whoever read has enough.
      return
    } catch let error as ExportError where error.code == .cancelled {
      throw ExitCode(128 + (signals?.received ?? SIGINT))
    }
    if !quiet { for (path, report) in reports { Messages.print(text(of: report, at: path)) } }
    let isLossless = reports.allSatisfy { $1.issues.isEmpty && (lossy || $1.losses.isEmpty) }
    if !isLossless { throw ExitCode(ToolError.ExitStatus.someRejected.rawValue) }
  }

  /// The request that the options spell.
  func request() throws(StoreError) -> ExportRequest {
    ExportRequest(
      entity: entities.first,
      format: format,
      filter: try selection.filter(),
      sortKeys: try selection.sortKeys(),
      limit: selection.limit,
      style: ExportStyle(names: names, shape: shape, nulls: nulls, isPretty: pretty),
      isLossy: lossy
    ).with {
      $0.masksSensitive = mask
      $0.offset = offset
      $0.columns = columns.map(SelectionOptions.names)
      $0.overwrites = overwrite
    }
  }

  /// What was left out and what does not come back; and how much a file got.
  private func text(of report: ExportReport, at path: String) -> String {
    var lines = report.notices.map { "note: \(ToolWords.spelled($0))" }
    lines += report.losses.map { lossy ? "note: \($0)" : "warning[export.map]: \($0)" }
    for issue in report.issues {
      let others = issue.count - 1
      let more = others > 0 ? " (and \(Figures.count(others, "more record")))" : ""
      lines.append("warning[export.value]: \(issue.message)\(more)")
    }
    if path != "-" {
      lines.append("\(path): \(Figures.count(report.recordCount, "record"))")
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension ForeignFormat: ExpressibleByArgument {}
extension ExportStyle.Names: ExpressibleByArgument {}
extension ExportStyle.Shape: ExpressibleByArgument {}
extension ExportStyle.Nulls: ExpressibleByArgument {}
