import ArgumentParser
import Foundation

/// The help of a command, in which examples stand as they are written: a line that is broken cannot be copied.
enum HelpText {
  /// The text with what it says about the command wrapped anew, its indented lines excepted.
  ///
  /// - Parameters:
  ///   - text: The help as the argument parser gives it; other texts stay as they are.
  ///   - command: The command that it is of.
  ///   - columnCount: The width for which it was wrapped.
  /// - Returns: The text.
  static func keepingExamples(
    _ text: String,
    of command: any ParsableCommand.Type,
    columnCount: Int
  ) -> String {
    let configuration = command.configuration
    let overview = "OVERVIEW: \(configuration.abstract)"
    guard text.hasPrefix("OVERVIEW: "), let usage = text.range(of: "\n\nUSAGE: ") else {
      return text
    }
    let rest = wrappingUsage(text[usage.lowerBound...].dropFirst(2), columnCount)
    guard !configuration.discussion.isEmpty else {
      return text[..<usage.lowerBound] + "\n\n" + rest
    }
    let whole = overview + "\n\n" + configuration.discussion
    let lines = whole.split(separator: "\n", omittingEmptySubsequences: false)
      .flatMap { $0.hasPrefix(" ") ? [$0] : wrapped($0, columnCount) }
    return lines.joined(separator: "\n") + "\n\n" + rest
  }

  /// The usage, which the argument parser leaves in one line, and what stands behind it: broken between options.
  private static func wrappingUsage(_ text: Substring, _ columnCount: Int) -> String {
    let usage = text.prefix { $0 != "\n" }
    var lines = [""]
    var word = ""
    var depth = 0
    func place() {
      let last = lines[lines.count - 1]
      if last.isEmpty || last.count + 1 + word.count < columnCount {
        lines[lines.count - 1] += (last.isEmpty ? "" : " ") + word
      } else {
        lines.append("       " + word)
      }
      word = ""
    }
    for character in usage {
      if character == "[" { depth += 1 }
      if character == "]" { depth -= 1 }
      if character == " ", depth == 0 { place() } else { word.append(character) }
    }
    place()
    return lines.joined(separator: "\n") + text[usage.endIndex...]
  }

  /// The width for which the argument parser wraps.
  static var columnCount: Int {
    let variable = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
    return variable ?? Terminal.columnCount(of: STDOUT_FILENO) ?? 80
  }

  /// The pieces of a line, each of fewer characters than there are columns, unless it is one word.
  private static func wrapped(_ line: Substring, _ columnCount: Int) -> [Substring] {
    var pieces: [Substring] = []
    var rest = line
    while rest.count >= columnCount {
      let space = rest.prefix(max(1, columnCount)).lastIndex(of: " ") ?? rest.firstIndex(of: " ")
      guard let space else { break }
      pieces.append(rest[..<space])
      rest = rest[rest.index(after: space)...]
    }
    return pieces + [rest]
  }
}
