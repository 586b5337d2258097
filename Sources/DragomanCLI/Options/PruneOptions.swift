import ArgumentParser
import Dragoman

/// What becomes of objects that the feed does not have: the options of `import` and `diff`.
struct PruneOptions: ParsableArguments {
  @Flag(help: "Delete the objects that the feed, which must be complete, does not have.")
  var prune = false

  @Option(
    help: ArgumentHelp("With --prune: fail if more than this share would go.", valueName: "percent")
  )
  var pruneMax: Double?

  func validate() throws {
    if let pruneMax, !(0...100).contains(pruneMax) {
      throw ValidationError("--prune-max is a percentage, 0 to 100.")
    }
    if pruneMax != nil && !prune { throw ValidationError("--prune-max needs --prune.") }
  }

  /// The rule of the import; nil: nothing is pruned.
  var rule: ImportRequest.Prune? {
    prune ? ImportRequest.Prune(maximumShare: pruneMax.map { $0 / 100 }) : nil
  }
}
