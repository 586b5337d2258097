import ArgumentParser
import Dragoman
import Foundation

/// `dragoman check MAP [SAMPLE…] [--json]`: lints a map, and the map against samples.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a map for faults and for what is probably not meant.",
    discussion: "Exit codes: 0 no faults (warnings may be printed), 65 faults, 66 no such file."
  )

  @Argument(help: "The map: a .map.yaml or .map.json file.")
  var map: String

  @Argument(help: "Feeds to try the map on.")
  var samples: [String] = []

  @Flag(help: "Print one JSON document on standard output.")
  var json = false

  func run() throws {
    var report = CheckReport(map: map)
    do {
      let importMap = try ImportMap(contentsOf: map)
      report.warnings = importMap.lint()
      try checkSamples(importMap)
    } catch let faults as MapFaults {
      report.faults = faults.faults
    }
    if json {
      print(try report.json())
    } else {
      FileHandle.standardError.write(Data(report.findings.utf8))
      print(report.summary)
    }
    if report.faults.contains(where: { $0.code == .file }) { throw ExitCode(66) }
    if !report.faults.isEmpty { throw ExitCode(65) }
  }

  /// Tries the map on the samples: the place where a dry run of the importer is called.
  private func checkSamples(_ importMap: ImportMap) throws {
    guard samples.isEmpty else {
      throw ValidationError("Checking a map against samples is not part of this version yet.")
    }
  }
}

/// What `check` found, as text and as JSON.
struct CheckReport {
  var map: String
  var faults: [MapFault] = []
  var warnings: [MapFault] = []

  /// Every finding in the shape of CLI.md's errors; empty where there is none.
  var findings: String {
    let shown = MapFaults.maximumPrintedCount
    var lines = faults.prefix(shown).map { $0.text(label: "error") }
    if faults.count > shown { lines.append("… and \(faults.count - shown) more faults") }
    lines += warnings.prefix(shown).map { $0.text(label: "warning") }
    if warnings.count > shown { lines.append("… and \(warnings.count - shown) more warnings") }
    return lines.map { $0 + "\n" }.joined()
  }

  /// One line: `people.map.yaml: 2 faults, 1 warning`.
  var summary: String {
    func count(_ number: Int, _ word: String) -> String {
      "\(number == 0 ? "no" : String(number)) \(word)\(number == 1 ? "" : "s")"
    }
    return "\(map): \(count(faults.count, "fault")), \(count(warnings.count, "warning"))"
  }

  /// The versioned document of `--json`.
  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let document = Document(
      map: map,
      status: faults.isEmpty ? "done" : "failed",
      faults: faults.map(Finding.init),
      warnings: warnings.map(Finding.init)
    )
    return String(decoding: try encoder.encode(document), as: UTF8.self)
  }

  private struct Document: Encodable {
    var v = 1
    var map: String
    var status: String
    var faults: [Finding]
    var warnings: [Finding]
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
