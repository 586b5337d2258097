import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// `dragoman check MAP [SAMPLE…] [--coverage] [--json]`: lints a map, and tries it on samples.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a map for faults, for what is probably not meant, and against samples.",
    discussion: """
      Samples are imported into a temporary database that is thrown away. --coverage tells what the \
      samples have and the map makes of it: the values of each attribute, and what nothing reads.

      Exit codes: 0 no faults (warnings may be printed), 3 some records of the samples would be \
      rejected, 65 faults in the map, paths that no record of the samples has, or samples that are \
      not well-formed, 66 no such file.
      """
  )

  @Argument(
    help: "The map: a .map.yaml or .map.json file.",
    completion: .file(extensions: ["yaml", "json"])
  )
  var map: String

  @Argument(help: "Feeds to try the map on: files, folders, quoted globs, - for standard input.")
  var samples: [String] = []

  @OptionGroup
  var bounds: FeedBounds

  @OptionGroup
  var web: WebOptionGroup

  @Flag(
    help: "Tell the values of each attribute, repeated keys, and what of the samples is not read."
  )
  var coverage = false

  @Flag(help: "Print every finding, however many there are.")
  var all = false

  @Flag(help: "Print one JSON document on standard output.")
  var json = false

  func validate() throws {
    if coverage, samples.isEmpty { throw ValidationError("--coverage wants samples.") }
  }

  func run() async throws {
    var report = CheckReport(map: map, samples: samples, isComplete: all)
    do {
      let importMap = try InputExpansion.map(map, before: samples)
      report.warnings = importMap.lint()
      let outlook = importMap.exportOutlook()
      report.losses = outlook.losses
      report.differences = importMap.spellingsThatDiffer() + outlook.overlaps
      if !samples.isEmpty { (report.trial, report.coverage) = try await trial(of: importMap) }
    } catch let faults as MapFaults {
      report.faults = faults.faults
    }
    if json {
      if let error = report.error { Messages.print(error + "\n") }
      try OutputBuffer.print(try report.json() + "\n")
    } else {
      Messages.print(report.findings)
      if let coverage = report.coverage {
        let output = OutputBuffer(descriptor: nil)
        try CoverageText(coverage: coverage, isComplete: all)
          .write(to: output, columnCount: Terminal.columnCount(of: STDOUT_FILENO))
        try OutputBuffer.print(String(decoding: output.bytes, as: UTF8.self))
      }
      try OutputBuffer.print(report.summary + "\n")
    }
    if let status = report.exitStatus { throw ExitCode(status.rawValue) }
  }

  /// Imports the samples into a temporary database, without keeping anything.
  private func trial(of importMap: ImportMap) async throws -> (ImportReport, FeedCoverage?) {
    var request = ImportRequest(try InputExpansion.inputs(samples), isDryRun: true)
    bounds.apply(to: &request)
    request.web = web.options()
    let store = try SQLiteStore(at: .temporary)
    let importer = Importer(map: importMap, store: store)
    return coverage ? try await importer.check(request) : (try await importer.run(request), nil)
  }
}

/// What `check` found, as text and as JSON.
struct CheckReport {
  var map: String
  var samples: [String]
  /// Whether every finding is printed.
  var isComplete = false
  var faults: [MapFault] = []
  var warnings: [MapFault] = []
  /// Why an export may differ from the feed; nil where the map is faulty.
  var differences: [String]?
  /// What an export leaves out.
  var losses: [String] = []
  /// What importing the samples would do.
  var trial: ImportReport?
  /// What of the samples the map reads; nil where nobody asked.
  var coverage: FeedCoverage?

  /// The exit code; nil where there is nothing to complain about.
  var exitStatus: ToolError.ExitStatus? {
    if faults.contains(where: { $0.code == .file }) { return .inputMissing }
    if !faults.isEmpty { return .badData }
    if trial?.unmatchedPaths.contains(where: \.isFault) == true { return .badData }
    return trial?.status == .rejected ? .someRejected : nil
  }

  /// Why the check failed, in the shape of the tool's errors; nil where it did not.
  var error: String? {
    if !faults.isEmpty { return faults.map { $0.text(label: "error") }.joined(separator: "\n") }
    let unmatched = trial?.unmatchedPaths.filter(\.isFault) ?? []
    let code = ImportIssue.Code.unmatchedPath.rawValue
    return unmatched.isEmpty
      ? nil
      : unmatched.map { "error[\(code)]: \($0.message)\n  help     \($0.help)" }
        .joined(separator: "\n")
  }

  /// Every finding in the shape of the tool's errors; empty where there is none.
  var findings: String {
    var lines = listed(
      faults.map { $0.text(label: "error") },
      MapFaults.maximumPrintedCount,
      "fault"
    )
    lines += listed(
      warnings.map { $0.text(label: "warning") },
      MapFaults.maximumPrintedCount,
      "warning"
    )
    let sampleText = trial.map {
      ImportReportText(report: $0, inputs: samples, database: "", signal: nil, isCheck: true).text
    }
    if !losses.isEmpty {
      lines += listed(losses.map { "note: an export is not complete: \($0)" }, 1, "such note")
    } else if let differences {
      let notes = differences.map {
        "note: an export may spell values otherwise than the feed: \($0)"
      }
      lines +=
        notes.isEmpty
        ? [
          "note: an export gives back every value that was imported, as its type and format spell it"
        ]
        : listed(notes, 1, "such note")
    }
    return lines.map { $0 + "\n" }.joined() + (sampleText ?? "")
  }

  /// The first findings of a kind, or all of them, and how many there are besides.
  private func listed(_ findings: [String], _ count: Int, _ kind: String) -> [String] {
    guard !isComplete, findings.count > count else { return findings }
    return findings.prefix(count)
      + ["… and \(Figures.count(findings.count - count, "more \(kind)")): --all prints them"]
  }

  /// One line: `people.map.yaml: 2 faults, 1 warning`.
  var summary: String {
    func count(_ number: Int, _ word: String) -> String {
      number == 0 ? "no \(word)s" : Figures.count(number, word)
    }
    let unmatched = trial?.unmatchedPaths.count(where: \.isFault) ?? 0
    return "\(map): \(count(faults.count, "fault")), \(count(warnings.count, "warning"))"
      + (unmatched > 0 ? ", \(count(unmatched, "path")) that no record has" : "")
  }

  /// The versioned document of `--json`.
  func json() throws -> String {
    let document = Document(
      map: map,
      status: error == nil ? trial?.status.rawValue ?? "done" : "failed",
      error: error,
      faults: faults.map(Finding.init),
      warnings: warnings.map(Finding.init),
      isCanonical: differences.map { $0.isEmpty && losses.isEmpty },
      differences: differences,
      losses: differences == nil ? nil : losses,
      samples: trial.map { ImportReportJSON($0, failure: nil) },
      coverage: coverage.map(CoverageJSON.init)
    )
    return try JSONDocument.text(document)
  }

  private struct Document: Encodable {
    var v = 1
    var map: String
    var status: String
    var error: String?
    var faults: [Finding]
    var warnings: [Finding]
    var isCanonical: Bool?
    var differences: [String]?
    var losses: [String]?
    var samples: ImportReportJSON?
    var coverage: CoverageJSON?
  }

  private struct Finding: Encodable {
    var code: String
    var message: String
    var place: String
    var file: String?
    var line: Int?
    var column: Int?
    var suggestion: String?
    var rule: String?

    init(_ fault: MapFault) {
      code = fault.code.rawValue
      message = fault.message
      place = fault.place
      file = fault.file
      line = fault.position?.line
      column = fault.position?.column
      suggestion = fault.suggestion
      rule = fault.rule
    }
  }
}
