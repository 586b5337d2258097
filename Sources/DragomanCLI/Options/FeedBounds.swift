import ArgumentParser
import Dragoman

/// How much a feed may be: `--max-record-size`, `--max-bytes`.
struct FeedBounds: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Fail on a record that takes more megabytes of memory, with its text and values (default: 128).",
      valueName: "mb"
    )
  )
  var maxRecordSize: Int?

  @Option(
    help: ArgumentHelp(
      "Fail on an input that has more bytes, unpacked where it is packed; K, M and G may follow.",
      valueName: "size"
    )
  )
  var maxBytes: ByteCount?

  func validate() throws {
    if let maxRecordSize, !(1...1024).contains(maxRecordSize) {
      throw ValidationError("--max-record-size must be 1 to 1024.")
    }
  }

  /// Hands the bounds to an import; what is not given is the map's choice, then the library's.
  func apply(to request: inout ImportRequest) {
    request.options.maximumRecordByteCount = maxRecordSize.map { $0 << 20 }
    request.maximumInputByteCount = maxBytes?.value
  }
}

/// A number of bytes, as `500`, `64K`, `100M` or `2G` (steps of 1024).
struct ByteCount: ExpressibleByArgument {
  /// 1 or more.
  let value: Int

  init?(argument: String) {
    let digits = argument.prefix { $0.isASCII && $0.isNumber }
    let shift =
      switch argument.dropFirst(digits.count).uppercased() {
      case "": 0
      case "K", "KB": 10
      case "M", "MB": 20
      case "G", "GB": 30
      default: -1
      }
    guard shift >= 0, let number = Int(digits), number > 0 else { return nil }
    let (value, isTooMuch) = number.multipliedReportingOverflow(by: 1 << shift)
    guard !isTooMuch else { return nil }
    self.value = value
  }
}
