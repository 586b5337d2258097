import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// How and where `fetch` writes rows.
struct RowOutputOptions: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: "The format; else by the name of the output, table on a terminal, ndjson in a pipe."
  )
  var format: FetchFormat?

  @Flag(help: "Print one JSON document, with the place where the next page begins.")
  var json = false

  @Option(
    name: .shortAndLong,
    help: "The file to write, .gz and .zst compressed, or - for standard output."
  )
  var output = "-"

  @Flag(help: "Replace the file at -o though no fetch made it.")
  var overwrite = false

  @Flag(help: "Shorten nothing to the width of the terminal.")
  var full = false

  func validate() throws {
    if output.isEmpty { throw ValidationError("-o wants the name of a file.") }
    if json, format != nil { throw ValidationError("--json and --format exclude each other.") }
    if !json, format == nil, let file, Self.strangers.contains(ending(of: file)) {
      throw ValidationError(
        "\(file): which format? Say -f with one of"
          + " \(FetchFormat.allCases.map(\.rawValue).joined(separator: ", "))."
      )
    }
  }

  /// The file; nil for standard output.
  var file: String? { output == "-" ? nil : output }

  /// The width of the terminal to which rows are shortened; nil: they are not.
  var columnCount: Int? {
    file == nil ? Terminal.columnCount(of: STDOUT_FILENO) : nil
  }

  /// The format that was asked for, that which the file's name tells, or what suits the output.
  func format(columnCount: Int?) -> FetchFormat {
    if let format { return format }
    guard let file else { return columnCount == nil ? .ndjson : .table }
    return named(file) ?? .ndjson
  }

  /// Endings of formats that are not written; all others say nothing of a format.
  private static let strangers: Set = [
    "xml", "html", "htm", "xls", "xlsx", "ods", "parquet", "arrow", "avro", "pdf",
  ]

  /// The format that a file's name tells.
  private func named(_ file: String) -> FetchFormat? {
    let formats: [String: FetchFormat] = [
      "ndjson": .ndjson, "jsonl": .ndjson, "json": .json, "csv": .csv, "tsv": .tsv,
      "md": .markdown, "markdown": .markdown, "txt": .table,
    ]
    return formats[ending(of: file)]
  }

  /// The ending of a file's name, without that of a compressed one.
  private func ending(of file: String) -> String {
    let name = file.lowercased() as NSString
    let isPacked = ["gz", "zst"].contains(name.pathExtension)
    return isPacked ? (name.deletingPathExtension as NSString).pathExtension : name.pathExtension
  }
}
