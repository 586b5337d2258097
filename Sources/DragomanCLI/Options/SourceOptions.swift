import ArgumentParser
import Dragoman
import DragomanGraph

/// Which sources of the map read which inputs: the options of `import` and `diff`.
struct SourceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A source of the map that takes part; NAME=INPUT: the source that reads an input. Repeatable.",
      valueName: "name[=input]"
    )
  )
  var source: [String] = []

  /// The sources that take part, the inputs, and the sources of those that are given to one.
  struct Choice {
    var inputs: [ImportInput]
    var sources: [String] = []
    var sourcesByInput: [String: [String]] = [:]
  }

  /// Reads the options.
  ///
  /// - Parameters:
  ///   - arguments: The inputs of the command line; those that only an option names come behind them.
  ///   - map: The map.
  ///   - outputs: Files that are no inputs though a folder has them.
  /// - Returns: What the request is to say.
  /// - Throws: `ReadError.missing` for a path or glob that names nothing.
  func choice(
    of arguments: [String],
    in map: ImportMap,
    besides outputs: [String?] = []
  ) throws -> Choice {
    var choice = Choice(inputs: try InputExpansion.inputs(arguments, besides: outputs))
    for option in source {
      let parts = option.parts(at: "=", maxSplits: 1)
      let isName = map.sources.contains { $0.name.utf8.elementsEqual(option.utf8) }
      guard parts.count == 2, !isName else {
        choice.sources.append(option)
        continue
      }
      for input in try InputExpansion.inputs([parts[1]]) {
        choice.sourcesByInput[input.name, default: []].append(parts[0])
        if !choice.inputs.contains(input) { choice.inputs.append(input) }
      }
    }
    return choice
  }

  /// The inputs as the command line names them, those of the options too.
  func names(with arguments: [String]) -> [String] {
    let named = source.compactMap { option in
      option.firstIndex(of: "=").map { String(option[option.index(after: $0)...]) }
    }
    return arguments + named.filter { !arguments.contains($0) }
  }
}
