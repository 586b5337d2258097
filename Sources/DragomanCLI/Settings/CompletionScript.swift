import ArgumentParser

/// The completion script of a shell, in which `help` is completed, too: the argument parser leaves out what stands
/// behind it.
struct CompletionScript {
  /// The commands that may stand behind `help`, and behind a command with commands of its own.
  private struct Choice {
    let behind: String
    let commands: [CommandConfiguration]

    init(behind name: String, _ commands: [any ParsableCommand.Type]) {
      behind = name
      self.commands = commands.map { $0.configuration }.filter { $0.shouldDisplay }
    }

    var names: [String] { commands.compactMap(\.commandName) }
  }

  /// The script.
  let text: String

  /// - Parameters:
  ///   - shell: The shell.
  ///   - tool: The tool.
  init(for shell: CompletionShell, of tool: any ParsableCommand.Type) {
    let script = tool.completionScript(for: shell)
    let whole = script.hasSuffix("\n") ? script : script + "\n"
    let commands = tool.configuration.subcommands
    let choices =
      [Choice(behind: "help", commands)]
      + commands.map { $0.configuration }.filter { !$0.subcommands.isEmpty }
      .map { Choice(behind: $0.commandName ?? "", $0.subcommands) }
    switch shell {
    case .bash: text = Self.bash(whole, choices)
    case .zsh: text = Self.zsh(whole, choices)
    default: text = whole + Self.fish(choices)
    }
  }

  private static func bash(_ script: String, _ choices: [Choice]) -> String {
    let cases = choices.map {
      "    \($0.behind)) COMPREPLY+=($(compgen -W '\($0.names.joined(separator: " "))' -- \"${cur}\")) ;;\n"
    }
    return script.replacing(
      behind: "_dragoman_help() {",
      "    __dragoman_offer_flags_options -1\n",
      with: "    case \"${prev}\" in\n\(cases.joined())    esac\n"
    ).replacing(
      behind: "__dragoman_add_completions() {",
      "    local completion\n",
      with: plainWords
    )
  }

  /// Takes words as they are.
  ///
  /// `compgen -W` expands them, and what it is given are names of settings and databases, which may be those of somebody
  /// else. The shell itself quotes what it puts into the line (`complete -o filenames`).
  private static let plainWords = #"""
        local completion
        if [[ "${1}" = -W ]]; then
            local typed="${cur#[\"\']}"
            typed="${typed//\\/}"
            while IFS='' read -r completion; do
                [[ -n "${completion}" && "${completion}" = "${typed}"* ]] && COMPREPLY+=("${completion}")
            done <<< "${2}"
            return
        fi

    """#

  private static func zsh(_ script: String, _ choices: [Choice]) -> String {
    let cases = choices.map { choice in
      let names = choice.commands.map { "'\($0.commandName ?? ""):\($0.abstract)'" }
      return "    \(choice.behind)) _commands=(\(names.joined(separator: " "))) ;;\n"
    }
    return script.replacing(
      behind: "_dragoman_help() {",
      "    local -ar arg_specs=(\n        '*:subcommands:'\n",
      with: """
            local -a _commands=()
            case "${words[CURRENT - 1]}" in
        \(cases.joined())    esac
            local -ar arg_specs=(
                '*:subcommands:{__dragoman_complete "${_commands[@]}"}'

        """
    )
  }

  private static func fish(_ choices: [Choice]) -> String {
    choices.flatMap { choice in
      choice.commands.map { command in
        let test =
          choice.behind == "help"
          ? "\"dragoman help\" -eq 1"
          : "\"dragoman help\" -eq 2; and __fish_seen_subcommand_from \(choice.behind)"
        return
          "complete -c 'dragoman' -n '__dragoman_should_offer_completions_for_positional \(test)'"
          + " -fa '\(command.commandName ?? "")' -d '\(command.abstract)'\n"
      }
    }.joined()
  }
}

extension String {
  /// The text with something replaced where it comes first behind a mark.
  fileprivate func replacing(behind mark: String, _ old: String, with new: String) -> String {
    guard let start = range(of: mark)?.upperBound,
      let place = range(of: old, range: start..<endIndex)
    else { return self }
    return replacingCharacters(in: place, with: new)
  }
}
