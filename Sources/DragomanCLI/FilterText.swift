import ArgumentParser
import DragomanGraph

/// Reads `--where` and `-p`, which several commands have.
enum FilterText {
  /// The filter that a predicate and its variables spell; nil without a predicate.
  ///
  /// - Throws: `StoreError`, `.badRequest` for a predicate that is none, or a variable that it lacks.
  static func filter(_ predicate: String?, _ parameters: [String]) throws(StoreError) -> Filter? {
    let filter = try predicate.map { (text) throws(StoreError) in try Filter(parsing: text) }
    let known = filter?.variables ?? []
    var variables: [String: Filter.Operand] = [:]
    for text in parameters {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard known.contains(name), parts.count == 2 else {
        throw StoreError(
          .badRequest,
          "The predicate has no variable $\(name).",
          help: nearest(to: name, in: known.sorted()).map { "did you mean $\($0)?" }
        )
      }
      variables[name] = .value(.string(String(parts[1])))
    }
    return filter?.substituting(variables)
  }

  /// Refuses what cannot be a variable.
  static func validate(_ parameters: [String]) throws(ValidationError) {
    for text in parameters where !text.dropFirst().contains("=") {
      throw ValidationError("-p \(text) is not of the form NAME=VALUE.")
    }
  }
}
