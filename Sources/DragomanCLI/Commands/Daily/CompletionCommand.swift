import ArgumentParser

/// `dragoman completion SHELL`: prints what makes a shell complete the tool's command lines.
struct CompletionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion",
    abstract: "Print the completion script of a shell: bash, zsh or fish.",
    discussion: """
      Commands, options and files are completed, and by the database that the line, DRAGOMAN_DB or \
      dragoman.yaml names: entities, attributes and key paths; feeds; codes of errors.

        bash   source <(dragoman completion bash)      in ~/.bashrc
        zsh    dragoman completion zsh > ~/.zfunc/_dragoman      a folder of fpath
        fish   dragoman completion fish > ~/.config/fish/completions/dragoman.fish
      """
  )

  enum Shell: String, CaseIterable, ExpressibleByArgument {
    case bash
    case zsh
    case fish
  }

  @Argument(help: "The shell.")
  var shell: Shell

  func run() throws {
    let known: CompletionShell =
      switch shell {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    try OutputBuffer.print(CompletionScript(for: known, of: Tool.self).text)
  }
}
