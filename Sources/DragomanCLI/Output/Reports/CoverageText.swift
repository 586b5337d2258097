import Dragoman
import DragomanGraph

/// Coverage for people: a table an entity, then what is not read and what may be declared otherwise.
struct CoverageText {
  /// How many places are printed that nothing reads.
  private static let maximumUnreadCount = 20

  let coverage: FeedCoverage
  /// Whether all of them are.
  let isComplete: Bool

  /// Writes it.
  ///
  /// - Parameters:
  ///   - output: Where to.
  ///   - columnCount: The width of the terminal; nil if the output is none.
  /// - Throws: `OutputError`.
  func write(to output: OutputBuffer, columnCount: Int?) throws(OutputError) {
    for entity in coverage.entities { try write(entity, to: output, columnCount) }
    try writeUnread(to: output)
  }

  private static let columns = [
    Attribute(name: "attribute"), Attribute(name: "type"), Attribute(name: "values", type: .int64),
    Attribute(name: "null", type: .int64), Attribute(name: "absent", type: .int64),
    Attribute(name: "invalid", type: .int64), Attribute(name: "distinct", type: .decimal),
    Attribute(name: "smallest"), Attribute(name: "largest"),
  ]

  private func write(
    _ entity: FeedCoverage.Entity,
    to output: OutputBuffer,
    _ columnCount: Int?
  ) throws(OutputError) {
    try output.write(
      "\(VisibleText.of(entity.name)): \(Figures.count(entity.objectCount, "object"))\n"
    )
    var table = TableRowWriter(Self.columns, to: output, columnCount: columnCount)
    for attribute in entity.attributes { try table.write(Self.row(attribute)) }
    try table.finish()
    if entity.duplicateCount > 0 {
      let keys = entity.duplicateKeys.map(VisibleText.of).joined(separator: "; ")
      let more = entity.duplicateCount > entity.duplicateKeys.count ? ", …" : ""
      try output.write(
        "repeated keys: \(entity.duplicateCount)\(keys.isEmpty ? "" : " (\(keys)\(more))")\n"
      )
    }
    for attribute in entity.attributes {
      guard let suggestion = attribute.suggestion else { continue }
      try output.write(
        "\(VisibleText.of(attribute.attribute.name)) could be \(VisibleText.of(suggestion))\n"
      )
    }
    try output.write("\n")
  }

  private static func row(_ coverage: FeedCoverage.Attribute) -> [StoredValue] {
    let distinct = "\(coverage.isDistinctCountExact ? "" : "≥")\(coverage.distinctCount)"
    func bound(_ value: StoredValue?) -> StoredValue {
      if coverage.attribute.isSensitive, coverage.valueCount > 0 { return .text(ShownValue.mask) }
      guard let value, let text = ShownValue.text(value, coverage.attribute) else { return .null }
      return .text(DisplayWidth.truncate(VisibleText.of(text), to: 40))
    }
    return [
      .text(coverage.attribute.name), .text(coverage.attribute.type.rawValue),
      .integer(Int64(coverage.valueCount)), .integer(Int64(coverage.nullCount)),
      .integer(Int64(coverage.absentCount)), .integer(Int64(coverage.invalidCount)),
      .text(distinct), bound(coverage.smallest), bound(coverage.largest),
    ]
  }

  private func writeUnread(to output: OutputBuffer) throws(OutputError) {
    let unread = coverage.unread
    guard !unread.isEmpty else { return try output.write("everything is read\n\n") }
    try output.write("not read:\n")
    let shown = isComplete ? unread[...] : unread.prefix(Self.maximumUnreadCount)
    for place in shown {
      let path = place.entity.map { "\($0): \(place.path)" } ?? place.path
      try output.write("  \(VisibleText.of(path)) (\(place.kind.rawValue), \(place.count))\n")
    }
    if shown.count < unread.count {
      try output.write("  … and \(unread.count - shown.count) more: --all prints them\n")
    }
    try output.write("\n")
  }
}
