import Foundation
import TestSupport

/// A folder of its own in which the built tool is run as a user runs it; it is removed with its last user.
final class ToolFolder {
  /// What a run printed and how it ended.
  struct Run {
    let status: Int32
    let output: String
    let errors: String
  }

  /// The folder.
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Writes a file.
  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: url.appendingPathComponent(name))
  }

  /// The text of a file.
  func read(_ name: String) throws -> String {
    try String(contentsOf: url.appendingPathComponent(name), encoding: .utf8)
  }

  /// The names of the files, in order.
  var files: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
  }

  /// The tool.
  ///
  /// A suite that runs in the background may ignore signals, and so would all that it starts.
  static let tool: URL = {
    for number in [SIGINT, SIGHUP, SIGQUIT] { signal(number, SIG_DFL) }
    return BuiltTool.url("dragoman")
  }()

  /// Runs the tool, which finds `input` on its standard input.
  func run(_ arguments: String..., input: String? = nil) throws -> Run {
    try run(arguments, input: input)
  }

  /// Runs a command line of the shell, in which `$D` is the tool.
  func shell(_ line: String) throws -> Run {
    let shell = URL(fileURLWithPath: "/bin/sh")
    return try run(["-c", "D='\(Self.tool.path)'\n\(line)"], tool: shell)
  }

  /// Runs the tool with a list of arguments.
  func run(
    _ arguments: [String],
    input: String? = nil,
    tool: URL = ToolFolder.tool
  ) throws -> Run {
    let process = Process()
    process.executableURL = tool
    process.arguments = arguments
    process.currentDirectoryURL = url
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    let standardInput = Pipe()
    process.standardInput = standardInput
    try process.run()
    if let input { try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
    try standardInput.fileHandleForWriting.close()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    let complained = try errors.fileHandleForReading.readToEnd() ?? Data()
    try output.fileHandleForReading.close()
    try errors.fileHandleForReading.close()
    process.waitUntilExit()
    return Run(
      status: process.terminationStatus,
      output: String(decoding: printed, as: UTF8.self),
      errors: String(decoding: complained, as: UTF8.self)
    )
  }
}
