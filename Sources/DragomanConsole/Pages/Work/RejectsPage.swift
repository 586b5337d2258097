import Dragoman
import DragomanGraph

/// Rejected records, by reason; and one of them, to be mended and tried again.
struct RejectsPage {
  private struct Entry {
    let address: String
    let place: String
    let key: String
    let message: String
  }

  private struct Group {
    let code: String
    let subject: String
    let count: String
    let message: String
    let entries: [Entry]
    let more: String?
  }

  private struct File {
    let name: String
    let path: String?
    /// Whether it goes with the console.
    let isPassing: Bool
    let count: String
    let isEmpty: Bool
    let groups: [Group]
    let download: String
    let fault: FaultView?
  }

  private struct View {
    let files: [File]
    let hasNone: Bool
  }

  /// So many of each reason are listed.
  private static let shownCount = 15

  /// The list of all.
  static func answer(_ sources: PageSources) throws -> PageAnswer {
    var files: [File] = []
    var json: [JSONValue] = []
    for item in sources.rejects.items {
      var lines: [RejectShelf.Line] = []
      var fault: FaultView?
      var isComplete = true
      do {
        (lines, isComplete) = try RejectShelf.lines(of: item.path)
      } catch {
        fault = FaultView(ConsoleError(error))
      }
      // An import from a page that rejected nothing has nothing to show here.
      if item.feed != nil, lines.isEmpty, fault == nil { continue }
      let groups = grouped(lines)
      files.append(
        File(
          name: item.name,
          path: item.feed == nil ? item.path : nil,
          isPassing: item.feed != nil,
          count: (isComplete ? "" : "more than ") + Figure.count(lines.count, "reject"),
          isEmpty: lines.isEmpty && fault == nil,
          groups: groups.map { group($0, item) },
          download: WebText.address(["rejects", String(item.number), "download.ndjson"]),
          fault: fault
        )
      )
      json.append([
        "file": .string(item.path), "feed": JSONValue(item.feed), "count": JSONValue(lines.count),
        "groups": .array(
          groups.map {
            [
              "code": .string($0[0].reject.code), "entity": .string($0[0].reject.entity),
              "attribute": JSONValue($0[0].reject.attribute), "count": JSONValue($0.count),
              "message": .string($0[0].reject.message),
              "lines": .array($0.prefix(shownCount).map { JSONValue($0.number) }),
            ]
          }
        ),
      ])
    }
    return PageAnswer(
      title: "Rejects",
      template: "rejects",
      view: View(files: files, hasNone: files.isEmpty),
      json: ["v": 1, "files": .array(json)]
    )
  }

  /// A file as it is, however many lines it has.
  ///
  /// - Throws: `ConsoleError`, and `ReadError` for a file whose first line is none of such a file.
  static func download(_ number: String, _ sources: PageSources) throws -> ConsoleResponse {
    let item = try sources.rejects.item(number)
    if item.exists { _ = try RejectLines(item.path).next() }
    var response = ConsoleResponse(
      type: "application/x-ndjson",
      .written { output in
        guard item.exists else { return }
        let lines = try RejectLines(item.path)
        var buffer: [UInt8] = []
        while let line = try lines.next() {
          buffer += line.bytes
          guard buffer.count > 64 << 10 else { continue }
          try output.write(buffer)
          buffer.removeAll(keepingCapacity: true)
        }
        try output.write(buffer)
      }
    )
    response.headers.append(
      ("Content-Disposition", "attachment; filename=\"rejects.ndjson\"")
    )
    return response
  }

  /// Lines of one code, entity and attribute together, in the order of their first ones.
  private static func grouped(_ lines: [RejectShelf.Line]) -> [[RejectShelf.Line]] {
    var groups: [[RejectShelf.Line]] = []
    var places: [[String]: Int] = [:]
    for line in lines {
      let name = [line.reject.code, line.reject.entity, line.reject.attribute ?? ""]
      if let place = places[name] {
        groups[place].append(line)
      } else {
        places[name] = groups.count
        groups.append([line])
      }
    }
    return groups
  }

  private static func group(_ lines: [RejectShelf.Line], _ item: RejectShelf.Item) -> Group {
    let first = lines[0].reject
    let more = lines.count - shownCount
    return Group(
      code: first.code,
      subject: first.attribute.map { "\(first.entity).\($0)" } ?? first.entity,
      count: Figure.grouped(lines.count),
      message: first.message,
      entries: lines.prefix(shownCount).map { line in
        Entry(
          address: WebText.address(["rejects", String(item.number), String(line.number)]),
          place: "\(line.reject.file):\(line.reject.line)",
          key: line.reject.key ?? "record \(line.reject.index + 1)",
          message: line.reject.message
        )
      },
      more: more > 0 ? "and \(Figure.grouped(more)) more of this reason: the download has all" : nil
    )
  }
}
