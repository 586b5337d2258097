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

  /// The list of all.
  static func answer(_ sources: PageSources) throws -> PageAnswer {
    var files: [File] = []
    var json: [JSONValue] = []
    for item in sources.rejects.items {
      var groups: [RejectShelf.Group] = []
      var failure: ConsoleError?
      var isComplete = true
      do {
        (groups, isComplete) = try RejectShelf.groups(of: item.path)
      } catch {
        failure = ConsoleError(error)
        isComplete = false
      }
      // An import from a page that rejected nothing has nothing to show here.
      if item.feed != nil, groups.isEmpty, failure == nil { continue }
      let count = groups.reduce(0) { $0 + $1.count }
      files.append(
        File(
          name: item.name,
          path: item.feed == nil ? item.path : nil,
          isPassing: item.feed != nil,
          count: failure == nil
            ? (isComplete ? "" : "more than ") + Figures.count(count, "reject") : "",
          isEmpty: groups.isEmpty && failure == nil,
          groups: groups.map { group($0, item, isComplete: isComplete) },
          download: WebText.address(["rejects", String(item.number), "download.ndjson"]),
          fault: failure.map(FaultView.init)
        )
      )
      json.append([
        "file": .string(item.path), "feed": JSONValue(item.feed),
        "count": failure == nil ? JSONValue(count) : .null,
        "isCountComplete": .bool(isComplete), "error": failure?.json ?? .null,
        "groups": .array(
          groups.map { group in
            let first = group.lines[0].reject
            return [
              "code": .string(first.code), "entity": .string(first.entity),
              "attribute": JSONValue(first.attribute), "count": JSONValue(group.count),
              "message": .string(first.message),
              "lines": .array(group.lines.map { JSONValue($0.number) }),
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

  private static func group(
    _ group: RejectShelf.Group,
    _ item: RejectShelf.Item,
    isComplete: Bool
  ) -> Group {
    let first = group.lines[0].reject
    let more = group.count - group.lines.count
    let least = isComplete ? "" : "at least "
    return Group(
      code: first.code,
      subject: first.attribute.map { "\(first.entity).\($0)" } ?? first.entity,
      count: least + Figures.grouped(group.count),
      message: first.message,
      entries: group.lines.map { line in
        Entry(
          address: WebText.address(["rejects", String(item.number), String(line.number)]),
          place: "\(line.reject.file):\(line.reject.line)",
          key: line.reject.key ?? "record \(line.reject.index + 1)",
          message: line.reject.message
        )
      },
      more: more > 0
        ? "and \(least)\(Figures.grouped(more)) more of this reason: the download has all" : nil
    )
  }
}
