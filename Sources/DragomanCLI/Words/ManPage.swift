import Foundation

/// Manual pages in man(7), out of what the argument parser tells of the commands.
enum ManPage {
  private struct Help: Decodable {
    let command: Command
  }

  private struct Command: Decodable {
    let commandName: String
    let abstract: String?
    let discussion: String?
    let shouldDisplay: Bool?
    let subcommands: [Command]?
    let arguments: [Argument]?
  }

  private struct Argument: Decodable {
    struct Name: Decodable {
      let kind: String
      let name: String
    }

    let kind: String
    let shouldDisplay: Bool
    let isOptional: Bool
    let isRepeating: Bool
    let names: [Name]?
    let valueName: String?
    let defaultValue: String?
    let allValues: [String]?
    let abstract: String?
  }

  /// The pages of the tool and of each of its commands, with the names of their files.
  ///
  /// - Parameters:
  ///   - help: What `_dumpHelp()` gives, as JSON.
  ///   - version: The tool's version.
  /// - Returns: A page a command that is shown, the tool first.
  /// - Throws: What decoding throws.
  static func all(
    ofHelp help: String,
    version: String
  ) throws -> [(name: String, text: String)] {
    let tool = try JSONDecoder().decode(Help.self, from: Data(help.utf8))
    return pages(of: tool.command, path: [], version)
  }

  private static func pages(
    of command: Command,
    path: [String],
    _ version: String
  ) -> [(name: String, text: String)] {
    let path = path + [command.commandName]
    let shown = (command.subcommands ?? []).filter {
      $0.shouldDisplay != false && $0.commandName != "help"
    }
    let own = (path.joined(separator: "-") + ".1", text(of: command, path, shown, version))
    return [own] + shown.flatMap { pages(of: $0, path: path, version) }
  }

  private static func text(
    of command: Command,
    _ path: [String],
    _ subcommands: [Command],
    _ version: String
  ) -> String {
    let name = path.joined(separator: "-")
    var lines = [
      ".TH \"\(name.uppercased())\" 1 \"\" \"dragoman \(version)\" \"Dragoman\"",
      ".SH NAME", "\(escaped(name)) \\- \(escaped(trimmed(command.abstract)))",
      ".SH SYNOPSIS", synopsis(of: command, path, subcommands),
    ]
    if let discussion = command.discussion, !discussion.isEmpty {
      lines.append(".SH DESCRIPTION")
      lines += paragraphs(discussion)
    }
    let arguments = (command.arguments ?? []).filter(\.shouldDisplay)
    if !arguments.isEmpty {
      lines.append(".SH OPTIONS")
      for argument in arguments {
        lines += [".TP", heading(of: argument), escaped(sentence(of: argument))]
      }
    }
    if !subcommands.isEmpty {
      lines.append(".SH COMMANDS")
      for subcommand in subcommands {
        let page = (path + [subcommand.commandName]).joined(separator: "-")
        lines += [".TP", "\\fB\(escaped(page))\\fR(1)", escaped(subcommand.abstract ?? "")]
      }
    } else {
      lines += [".SH SEE ALSO", "\\fBdragoman\\fR(1)"]
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func synopsis(
    of command: Command,
    _ path: [String],
    _ subcommands: [Command]
  ) -> String {
    var parts = ["\\fB\(escaped(path.joined(separator: " ")))\\fR"]
    if !subcommands.isEmpty { parts.append("\\fIcommand\\fR") }
    for argument in command.arguments ?? []
    where argument.kind == "positional" && argument.shouldDisplay {
      let name =
        "\\fI\(escaped(argument.valueName ?? ""))\\fR" + (argument.isRepeating ? " ..." : "")
      parts.append(argument.isOptional ? "[\(name)]" : name)
    }
    return (parts + ["[\\fIoptions\\fR]"]).joined(separator: " ")
  }

  private static func heading(of argument: Argument) -> String {
    let value = "\\fI\(escaped(argument.valueName ?? "value"))\\fR"
    if argument.kind == "positional" { return value + (argument.isRepeating ? " ..." : "") }
    let names = (argument.names ?? []).map { name in
      "\\fB" + escaped((name.kind == "long" ? "--" : "-") + name.name) + "\\fR"
    }.joined(separator: ", ")
    return names + (argument.kind == "option" ? " " + value : "")
  }

  private static func sentence(of argument: Argument) -> String {
    var text = argument.abstract ?? ""
    if let values = argument.allValues, !values.isEmpty {
      text += " Values: \(values.joined(separator: ", "))."
    }
    if let value = argument.defaultValue, !value.isEmpty { text += " Default: \(value)." }
    return text.isEmpty ? "." : text
  }

  /// The paragraphs of a text; lines that are indented stand as they are.
  private static func paragraphs(_ text: String) -> [String] {
    var lines: [String] = []
    var isLiteral = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("  ") != isLiteral, !line.isEmpty {
        isLiteral.toggle()
        lines += isLiteral ? [".PP", ".nf"] : [".fi", ".PP"]
      } else if line.isEmpty, !isLiteral {
        lines.append(".PP")
        continue
      }
      lines.append(escaped(String(line)))
    }
    return lines + (isLiteral ? [".fi"] : [])
  }

  private static func trimmed(_ sentence: String?) -> String {
    let text = sentence ?? ""
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// Text that man(7) takes as it is.
  private static func escaped(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }
}
