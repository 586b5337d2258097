import ArgumentParser

/// How much memory records may take that wait: `--max-waiting-size`.
struct WaitingBound: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Fail where records that wait for objects that have not come (onUnresolved: reject) take more \
      megabytes of memory (default: 1024).
      """,
      valueName: "mb"
    )
  )
  var maxWaitingSize: Int?

  func validate() throws {
    if let maxWaitingSize, !(1...1_048_576).contains(maxWaitingSize) {
      throw ValidationError("--max-waiting-size must be 1 to 1048576.")
    }
  }

  /// The bound as an import takes it; nil: the map's choice, then the library's.
  var byteCount: Int? { maxWaitingSize.map { $0 << 20 } }
}
