/// The names of a CSV file's columns, ready to be put on tapes.
struct CSVHeader {
  /// The most bytes a header may have.
  static let maximumByteCount = 1 << 20

  /// The names as they came.
  let names: [String]
  /// The bytes of all names, one behind the other.
  let bytes: [UInt8]
  /// Where each name stands in `bytes`.
  let ranges: [Range<UInt32>]

  /// Makes a header of the names of its cells.
  ///
  /// - Throws: A sentence that names every column without a name, and every name used twice.
  init(_ cells: [[UInt8]]) throws(Fault) {
    var bytes: [UInt8] = []
    var ranges: [Range<UInt32>] = []
    for name in cells {
      ranges.append(UInt32(bytes.count)..<UInt32(bytes.count + name.count))
      bytes += name
    }
    self.bytes = bytes
    self.ranges = ranges
    names = cells.map { String(decoding: $0, as: UTF8.self) }
    if let fault = Fault(cells) { throw fault }
  }

  /// What is wrong with a header, a full sentence.
  struct Fault: Error, Equatable {
    let message: String

    /// The most columns that are named.
    private static let maximumPrintedCount = 5

    fileprivate init?(_ cells: [[UInt8]]) {
      // Files of z/OS end their rows so; read as one row, they would be a header and no record.
      let ends: [Unicode.Scalar] = ["\u{85}", "\u{2028}", "\u{2029}"]
      let scalars = cells.lazy.flatMap { String(decoding: $0, as: UTF8.self).unicodeScalars }
      if let end = scalars.first(where: ends.contains) {
        let code =
          "U+" + String(repeating: "0", count: end.value < 0x100 ? 2 : 0)
          + String(end.value, radix: 16)
        message =
          "The header has \(code), which other programs end lines with: rows of CSV end in LF, CR or both."
        return
      }
      var columnsOfName: [[UInt8]: [Int]] = [:]
      for (index, name) in cells.enumerated() { columnsOfName[name, default: []].append(index + 1) }
      let nameless = columnsOfName.removeValue(forKey: []) ?? []
      let repeated = columnsOfName.filter { $0.value.count > 1 }
        .sorted { $0.value[0] < $1.value[0] }
      guard !nameless.isEmpty || !repeated.isEmpty else { return nil }
      var parts = repeated.prefix(Self.maximumPrintedCount).map { name, columns in
        "“\(ForeignText.shortened(String(decoding: name, as: UTF8.self)))”"
          + " is the name of the columns \(Self.list(columns))"
      }
      if repeated.count > parts.count {
        parts.append("\(repeated.count - parts.count) more names are used more than once")
      }
      if !nameless.isEmpty {
        parts.append(
          nameless.count == 1
            ? "column \(nameless[0]) has no name"
            : "the columns \(Self.list(nameless)) have no name"
        )
      }
      message = "The header does not name the columns: " + parts.joined(separator: "; ") + "."
    }

    private static func list(_ columns: [Int]) -> String {
      let shown = columns.prefix(maximumPrintedCount).map(String.init)
      guard shown.count == columns.count, let last = shown.last else {
        return shown.joined(separator: ", ") + ", …"
      }
      return shown.count == 1 ? last : shown.dropLast().joined(separator: ", ") + " and \(last)"
    }
  }
}
