import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// Turns the inputs of a command line into files: folders and globs are expanded.
enum InputExpansion {
  /// The endings of files that are taken out of a folder.
  private static let endings = [".json", ".ndjson", ".jsonl", ".xml", ".csv", ".tsv"]
  private static let compressions = ["", ".gz", ".zst"]

  /// Reads a map that stands before inputs on a command line.
  ///
  /// - Throws: `MapFaults`, or a usage error where the map stands among the inputs.
  static func map(_ path: String, before inputs: [String]) throws -> ImportMap {
    do {
      return try ImportMap(contentsOf: path)
    } catch {
      guard !ImportMap.isNamed(path), let map = inputs.first(where: ImportMap.isNamed) else {
        throw error
      }
      throw ValidationError(
        "\(path) is no map. The map comes first, the feeds behind it: put \(map) before \(path)."
      )
    }
  }

  /// The inputs in the order of the arguments; files of one folder or glob by name.
  ///
  /// A folder or glob leaves out folders, maps, files of rejected records, and what the run writes
  /// itself.
  ///
  /// - Parameters:
  ///   - arguments: Files, folders, globs, URLs, and `-` for standard input.
  ///   - outputs: The files that the run writes.
  /// - Returns: The inputs; a folder or glob gives many.
  /// - Throws: `ReadError.missing` for a path or glob that names nothing.
  static func inputs(
    _ arguments: [String],
    besides outputs: [String?] = []
  ) throws(ReadError) -> [ImportInput] {
    let outputs = outputs.compactMap { $0.map(FilePath.resolved) }
    var inputs: [ImportInput] = []
    for argument in arguments {
      if argument == "-" {
        inputs.append(.standardInput)
      } else if ["https://", "http://"].contains(where: argument.lowercased().hasPrefix) {
        inputs.append(.url(argument))
      } else {
        inputs += try files(of: argument, besides: outputs).map { .file($0) }
      }
    }
    return inputs
  }

  /// The shortest spelling of a path: `./x` and `x` are one file, whose name may be part of keys.
  private static func plain(_ path: String) -> String {
    let parts = path.parts(at: "/")
    guard parts.dropFirst().dropLast().contains("") || parts.contains(".") else { return path }
    let names = parts.filter { !["", "."].contains($0) }
    guard !names.isEmpty, names != ["-"] else { return path }
    let start = parts.first == "" ? "/" : ""
    return start + names.joined(separator: "/") + (parts.last == "" ? "/" : "")
  }

  private static func files(
    of argument: String,
    besides outputs: [String]
  ) throws(ReadError) -> [String] {
    let argument = plain(argument)
    if let file = FileStatus(argument) {
      return file.kind == .folder ? try feeds(in: argument, besides: outputs) : [argument]
    }
    // It may be there, and this user may not enter its folder.
    if access(argument, F_OK) != 0, errno == EACCES { throw hidden(argument) }
    guard argument.contains(where: { "*?[".contains($0) }) else {
      let file = argument.parts(at: "=", maxSplits: 1).last ?? argument
      let isPair = file != argument && FileManager.default.fileExists(atPath: file)
      throw ReadError(
        .missing,
        "There is no file \(WebText.shown(argument)).",
        help: isPair ? "which source reads a file says an option: --source \(argument)" : nil
      )
    }
    let found = matches(of: argument).filter { isFeed($0, besides: outputs) }
    try checkNames(found)
    if found.isEmpty, isHidden(argument) { throw hidden(argument) }
    if found.isEmpty { throw ReadError(.missing, "No file matches \(WebText.shown(argument)).") }
    return found
  }

  /// Whether a file that nobody named by itself can be meant.
  private static func isFeed(_ path: String, besides outputs: [String]) -> Bool {
    FileStatus(path)?.kind != .folder && !ImportMap.isNamed(path)
      && !outputs.contains(FilePath.resolved(path)) && !RejectsFile.isThere(at: path)
  }

  /// Whether a glob leads through a folder that this user may not read.
  private static func isHidden(_ pattern: String) -> Bool {
    var result = glob_t()
    defer { globfree(&result) }
    return glob(pattern, GLOB_ERR, nil, &result) == GLOB_ABORTED
  }

  private static func hidden(_ path: String) -> ReadError {
    ReadError(
      .permission,
      "\(WebText.shown(path)) cannot be looked for: permission is denied for a folder on the way."
    )
  }

  private static func feeds(
    in folder: String,
    besides outputs: [String]
  ) throws(ReadError) -> [String] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      throw ReadError(.permission, "The folder \(folder) cannot be read.")
    }
    let feeds = names.filter { name in
      let ending = name.lowercased()
      return name.utf8.first != UInt8(ascii: ".")
        && endings.contains { own in compressions.contains { ending.hasSuffix(own + $0) } }
        && isFeed(FilePath.file(name, in: folder), besides: outputs)
    }
    if feeds.isEmpty {
      throw ReadError(
        .missing,
        "The folder \(folder) holds no feeds.",
        help: "feeds end in \(endings.joined(separator: ", ")), and .gz or .zst behind that"
      )
    }
    let paths = feeds.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      .map { plain(FilePath.file($0, in: folder)) }
    try checkNames(paths)
    return paths
  }

  /// Refuses files whose names are no UTF-8: `\u{FFFD}` stands in place of what is none, and nobody finds them by it.
  private static func checkNames(_ paths: [String]) throws(ReadError) {
    for path in paths where path.unicodeScalars.contains("\u{FFFD}") && access(path, F_OK) != 0 {
      throw ReadError(
        .encoding,
        "The name of the file \(path) is no UTF-8: \u{FFFD} stands for what is none.",
        help: "rename the file"
      )
    }
  }

  private static func matches(of pattern: String) -> [String] {
    var result = glob_t()
    defer { globfree(&result) }
    guard glob(pattern, 0, nil, &result) == 0 else { return [] }
    return (0..<Int(result.gl_pathc)).compactMap { result.gl_pathv[$0].map { String(cString: $0) } }
  }
}
