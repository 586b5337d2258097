import Dragoman
import DragomanGraph
import Foundation

/// How SQLite answers a fetch, for people and as JSON.
///
/// Values that are compared with a sensitive attribute are `•••` in both.
struct ExplanationText {
  let explanation: FetchExplanation

  /// The statement clause by clause, the values of its `?`, and the plan.
  var text: String {
    var lines = Self.lines(of: explanation.sql)
    if !explanation.values.isEmpty { lines.append("") }
    let width = String(explanation.values.count).count
    for index in explanation.values.indices {
      let number = String(index + 1)
      let padding = String(repeating: " ", count: width - number.count)
      lines.append("?\(number)\(padding)  \(value(index))")
    }
    lines.append("")
    lines += explanation.steps.map { String(repeating: "  ", count: $0.depth) + $0.text }
    return lines.map { VisibleText.of($0) + "\n" }.joined()
  }

  /// The versioned document of `--json`.
  func json() throws -> String {
    let document = Document(
      sql: explanation.sql,
      values: explanation.values.indices.map(value),
      plan: explanation.steps.map { Document.Step(depth: $0.depth, text: $0.text) }
    )
    return try JSONDocument.text(document) + "\n"
  }

  private struct Document: Encodable {
    struct Step: Encodable {
      var depth: Int
      var text: String
    }
    var v = 1
    var sql: String
    var values: [String]
    var plan: [Step]
  }

  /// A value as SQL spells it.
  private func value(_ index: Int) -> String {
    explanation.sensitiveValues.contains(index)
      ? ShownValue.mask : explanation.values[index].literal
  }

  /// A line for each clause of the statement and of a table's rows inside of it.
  static func lines(of sql: String) -> [String] {
    let clauses = [
      "SELECT ", "FROM ", "LEFT JOIN ", "JOIN ", "WHERE ", "GROUP BY ", "ORDER BY ", "LIMIT ",
    ]
    var lines: [String] = []
    var line = ""
    var depth = 0
    var nested = 0
    var quote: Character?
    var rest = sql[...]
    while let character = rest.first {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if character == "(" {
        depth += 1
        // The rows of a table, not the subquery of a value.
        if line.hasSuffix("FROM "), rest.hasPrefix("(SELECT "), depth == nested + 1 {
          lines.append(line + "(")
          nested = depth
          line = String(repeating: "  ", count: nested)
          rest.removeFirst()
          continue
        }
      } else if character == ")" {
        if depth == nested, nested > 0 {
          lines.append(line)
          nested -= 1
          line = String(repeating: "  ", count: nested)
        }
        depth -= 1
      } else if character == " ", depth == nested,
        clauses.contains(where: { rest.dropFirst().hasPrefix($0) })
      {
        lines.append(line)
        line = String(repeating: "  ", count: nested)
        rest.removeFirst()
        // LEFT JOIN is one clause.
        if rest.hasPrefix("LEFT JOIN ") {
          line += "LEFT JOIN "
          rest.removeFirst("LEFT JOIN ".count)
        }
        continue
      }
      line.append(character)
      rest.removeFirst()
    }
    return lines + [line]
  }
}
