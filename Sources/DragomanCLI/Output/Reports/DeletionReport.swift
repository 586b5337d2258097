import Dragoman
import DragomanGraph

/// What a deletion did, or would do, as text and as JSON.
struct DeletionReport {
  private let deletion: Deletion
  private let request: FetchRequest
  private let database: String

  init(_ deletion: Deletion, of request: FetchRequest, from database: String) {
    self.deletion = deletion
    self.request = request
    self.database = database
  }

  /// The report for people; ends with a line feed.
  var text: String {
    guard !deletion.counts.isEmpty else {
      return "\(database): nothing matches, nothing was deleted.\n"
    }
    let end =
      deletion.isDone
      ? "\(database): \(total) deleted.\n"
      : "\(database): \(total) would go; nothing was deleted.\n"
    return lines + end
  }

  /// What is asked before.
  var question: String { lines + "Delete \(total) from \(database)?" }

  /// What a delete rule that stands against it says; nil where none does.
  var error: ToolError? {
    guard !deletion.protections.isEmpty else { return nil }
    return ToolError(
      protections: deletion.protections.map { protection in
        let count = protection.objectCount
        var objects = protection.examples.map { example in
          Self.line(example)
        }
        let rest = count - objects.count
        if rest > 0 { objects.append("and \(Figures.grouped(rest)) more") }
        let kept =
          count == 1
          ? "object that has a target which would stay"
          : "objects that have targets which would stay"
        let sentence =
          "The delete rule \(protection.rule.rawValue) of \(protection.relationship) keeps"
          + " \(Figures.grouped(count)) \(kept); nothing was deleted."
        return (sentence, objects)
      },
      in: database
    )
  }

  /// An object by its key; by its id, too, where the key is not shown.
  private static func line(_ example: Deletion.Example) -> String {
    let text =
      "\(VisibleText.of(example.entity))  \(KeyText.line(example.key, of: example.objectID))"
    let isMasked = example.key.parts.contains { $0.attribute.isSensitive }
    return text + (isMasked ? " (_pk \(example.objectID.primaryKey))" : "")
  }

  private var total: String {
    Figures.count(deletion.matchedCount + deletion.cascadedCount, "object")
  }

  /// A line an entity: those that match, and those that go with them.
  private var lines: String {
    let names = deletion.counts.map { VisibleText.of($0.entity) }
    let width = names.map(DisplayWidth.of).max() ?? 0
    let figures = deletion.counts.map { Figures.grouped($0.matched + $0.cascaded) }
    let digits = figures.map(\.count).max() ?? 0
    return deletion.counts.indices.map { index in
      let count = deletion.counts[index]
      let padding = String(repeating: " ", count: width - DisplayWidth.of(names[index]))
      let parts = [
        count.matched > 0 && count.cascaded > 0
          ? "\(Figures.grouped(count.matched)) matching" : nil,
        count.cascaded > 0 ? "\(Figures.grouped(count.cascaded)) by cascade" : nil,
      ].compactMap(\.self).joined(separator: ", ")
      return "  \(names[index])\(padding)  \(Figures.padded(figures[index], digits))"
        + (parts.isEmpty ? "\n" : "  (\(parts))\n")
    }.joined()
  }

  /// The report for programs, on one line; its status is `done`, `none`, `planned`, `refused` or `denied`.
  func json(isDryRun: Bool) -> String {
    let string = JSONRowWriter.string
    let status =
      if !deletion.protections.isEmpty {
        "denied"
      } else if deletion.counts.isEmpty {
        "none"
      } else if deletion.isDone {
        "done"
      } else {
        isDryRun ? "planned" : "refused"
      }
    let counts = deletion.counts.map { count in
      "\(string(count.entity)):{\"matched\":\(count.matched),\"cascaded\":\(count.cascaded)}"
    }
    let protections = deletion.protections.map { protection in
      let examples = protection.examples.map { example in
        "{\"entity\":\(string(example.entity)),\"id\":\(string(example.objectID.uri)),"
          + "\"key\":\(KeyText.json(example.key))}"
      }
      return "{\"relationship\":\(string(protection.relationship)),"
        + "\"rule\":\(string(protection.rule.rawValue)),\"count\":\(protection.objectCount),"
        + "\"examples\":[\(examples.joined(separator: ","))]}"
    }
    return "{\"v\":1,\"status\":\"\(status)\",\"dryRun\":\(isDryRun),"
      + "\"entity\":\(string(request.entity)),\"matched\":\(deletion.matchedCount),"
      + "\"cascaded\":\(deletion.cascadedCount),\"entities\":{\(counts.joined(separator: ","))},"
      + "\"protected\":[\(protections.joined(separator: ","))]}\n"
  }
}
