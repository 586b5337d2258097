import Dragoman
import DragomanGraph
import Foundation

/// What a rejects file holds, by reason, as text and as JSON.
struct RejectGroups {
  /// Rejects of one kind.
  struct Group: Encodable {
    let code: String
    let entity: String
    let attribute: String?
    let source: String?
    var count = 0
    /// The first one: its feed, line and number, and what was said of it.
    let file: String
    let line: Int
    let index: Int
    let message: String

    init(_ first: RejectLine) {
      code = first.code
      entity = first.entity
      attribute = first.attribute
      source = first.source
      file = first.file
      line = first.line
      index = first.index
      message = first.message
    }
  }

  private struct Document: Encodable {
    let v = 1
    let count: Int
    let groups: [Group]
  }

  private let file: String
  private var groups: [Group] = []
  private var places: [[String]: Int] = [:]

  /// Reads a file.
  ///
  /// - Throws: `ReadError` for what cannot be read or is no rejects file.
  init(of file: String) throws {
    self.file = file
    let lines = try RejectLines(file)
    while let line = try lines.next() { add(line) }
  }

  private mutating func add(_ line: RejectLine) {
    let name = [line.code, line.entity, line.attribute ?? "", line.source ?? ""]
    let place = places[name] ?? groups.count
    if place == groups.count {
      places[name] = place
      groups.append(Group(line))
    }
    groups[place].count += 1
  }

  private var count: Int { groups.reduce(0) { $0 + $1.count } }

  /// One document, with a line feed.
  func json() throws -> String {
    try JSONDocument.text(Document(count: count, groups: groups)) + "\n"
  }

  /// Writes a table, and the number of all.
  func write(to output: OutputBuffer, columnCount: Int?) throws {
    if !groups.isEmpty {
      let hasSources = Set(groups.map(\.source)).count > 1
      let attributes =
        [Attribute(name: "count", type: .int64), Attribute(name: "code"), Attribute(name: "of")]
        + (hasSources ? [Attribute(name: "source")] : [])
        + [Attribute(name: "first"), Attribute(name: "message")]
      var table = TableRowWriter(
        attributes,
        to: output,
        columnCount: columnCount,
        isStyled: TextStyle.isShown(on: STDOUT_FILENO)
      )
      for group in groups { try table.write(Self.row(group, hasSources: hasSources)) }
      try table.finish()
    }
    try output.write("\(file): \(Figures.count(count, "reject"))\n")
  }

  private static func row(_ group: Group, hasSources: Bool) -> [StoredValue] {
    let subject = group.attribute.map { "\(group.entity).\($0)" } ?? group.entity
    let source = hasSources ? [group.source.map { StoredValue.text($0) } ?? .null] : []
    return [.integer(Int64(group.count)), .text(group.code), .text(subject)] + source
      + [.text("\(group.file):\(group.line)"), .text(group.message)]
  }
}
