import ArgumentParser

/// `--max-record-size`: how much memory one record may take.
struct RecordSizeOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Fail on a record that takes more megabytes of memory, with its text and values (default: 128).",
      valueName: "mb"
    )
  )
  var maxRecordSize: Int?

  /// In bytes; nil is the map's choice.
  var byteCount: Int? { maxRecordSize.map { $0 << 20 } }

  func validate() throws {
    if let maxRecordSize, !(1...1024).contains(maxRecordSize) {
      throw ValidationError("--max-record-size must be 1 to 1024.")
    }
  }
}
