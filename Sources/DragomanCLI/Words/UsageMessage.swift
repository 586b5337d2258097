import ArgumentParser
import DragomanGraph

/// What the argument parser says of a wrong command line, with what it does not know itself: its first line is another
/// one then.
enum UsageMessage {
  /// The text with a better first line, where there is one.
  ///
  /// - Parameters:
  ///   - text: What the argument parser says.
  ///   - command: The command that it says it of.
  ///   - words: The words of the command line.
  /// - Returns: The text.
  static func mending(
    _ text: String,
    of command: any ParsableCommand.Type,
    _ words: [String]
  ) -> String {
    guard text.hasPrefix("Error: ") else { return text }
    let line = text.prefix { $0 != "\n" }
    let better =
      unknownOption(line, of: command, words) ?? dashedValue(line, words)
      ?? nearestValue(line, in: text)
    return better.map { $0 + text.dropFirst(line.count) } ?? text
  }

  /// An option that there is not, with the one that it abbreviates, or the nearest: whatever else is missing because its
  /// value was taken for something else.
  private static func unknownOption(
    _ line: Substring,
    of command: any ParsableCommand.Type,
    _ words: [String]
  ) -> String? {
    let start = "Error: Unknown option '"
    let names = options(of: command) + ["--help", "--version"]
    var unknown: String?
    if line.hasPrefix(start) {
      unknown = String(line.dropFirst(start.count).prefix { $0 != "'" })
    } else if command.configuration.subcommands.isEmpty {
      // Behind a command that there is not nobody knows the options.
      unknown = words.prefix { $0 != "--" }.lazy
        .filter { $0.hasPrefix("--") && !$0.hasPrefix("---") }
        .map { String($0.prefix { $0 != "=" }) }
        .first { !names.contains($0) }
    }
    guard let unknown else { return nil }
    let abbreviated = names.filter { abbreviates(unknown, $0) }
    let near = abbreviated.count == 1 ? abbreviated[0] : nearest(to: unknown, in: names)
    return "\(start)\(unknown)'" + (near.map { ". Did you mean '\($0)'?" } ?? "")
  }

  /// The long names of a command's own options.
  private static func options(of command: any ParsableCommand.Type) -> [String] {
    let lines = command.helpMessage(columns: 1000).split(separator: "\n").filter {
      $0.hasPrefix("  -")
    }
    return lines.flatMap { line in
      line.dropFirst(2).split(separator: "  ")[0].split { " ,/".contains($0) }.map(String.init)
    }.filter { $0.hasPrefix("--") }
  }

  /// Whether a word has letters of another one in their order, from its first one on: `--db` of `--database`.
  private static func abbreviates(_ word: String, _ whole: String) -> Bool {
    guard word.count > 3, word.prefix(3) == whole.prefix(3) else { return false }
    var rest = whole[...]
    for letter in word {
      guard let place = rest.firstIndex(of: letter) else { return false }
      rest = rest[rest.index(after: place)...]
    }
    return true
  }

  /// A value that is missing, where there is one that begins with a dash.
  private static func dashedValue(_ line: Substring, _ words: [String]) -> String? {
    let start = "Error: Missing value for '"
    guard line.hasPrefix(start) else { return nil }
    let option = String(line.dropFirst(start.count).prefix { $0 != " " && $0 != "'" })
    guard let place = words.lastIndex(of: option), place + 1 < words.count,
      words[place + 1].hasPrefix("-")
    else { return nil }
    let value = words[place + 1]
    return "\(line); '\(value)' is taken for an option. A value that begins with a dash:"
      + " \(option)='\(value)'"
  }

  /// A value that is not one of several, with the nearest of them.
  private static func nearestValue(_ line: Substring, in text: String) -> String? {
    let (start, list) = ("Error: The value '", "Please provide one of")
    guard line.hasPrefix(start), let place = text.range(of: list) else { return nil }
    let word = String(line.dropFirst(start.count).prefix { $0 != "'" })
    let behind = text[place.upperBound...]
    let known = behind[..<(behind.firstRange(of: "\nHelp:")?.lowerBound ?? behind.endIndex)]
    // Few stand in the line, more of them in lines of their own.
    let values = known.matches(of: /'([^']+)'|\n {2}- (.+)/).map { String($0.1 ?? $0.2 ?? "") }
    return nearest(to: word, in: values).map {
      line.replacing(list, with: "Did you mean '\($0)'? \(list)", maxReplacements: 1)
    }.map(String.init)
  }
}
