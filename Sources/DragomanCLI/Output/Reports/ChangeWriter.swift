import Dragoman
import DragomanGraph

/// How changes are printed.
enum ChangeFormat: String, CaseIterable {
  /// For people: a line an object, a line a value.
  case text
  /// For programs: a JSON object a line.
  case ndjson
}

/// Prints what an import would change, one object after the other.
// @unchecked: it is used by the thread that writes to the store until the import is over, and by
// the command's after that.
final class ChangeWriter: @unchecked Sendable {
  private let output: OutputBuffer
  private let format: ChangeFormat
  /// How many changes there were.
  private(set) var count = 0

  /// The longest value in text, in Unicode scalars.
  private static let maximumLength = 200

  init(_ format: ChangeFormat, to output: OutputBuffer) {
    self.format = format
    self.output = output
  }

  /// Prints the changes of an import.
  var observer: @Sendable (ImportChange) throws -> Void {
    { change in try self.write(change) }
  }

  /// Prints one change.
  func write(_ change: ImportChange) throws(OutputError) {
    count += 1
    switch format {
    case .text: try output.write(Self.text(change))
    case .ndjson: try output.write(ChangeJSON.text(change) + "\n")
    }
  }

  /// Hands everything to the system.
  func flush() throws(OutputError) { try output.flush() }

  // MARK: - Text

  /// `~ Person T-1` and below it `city  "Paris" → "Bergen"`.
  static func text(_ change: ImportChange) -> String {
    let sign =
      switch change.kind {
      case .inserted: "+"
      case .updated: "~"
      case .deleted, .pruned: "-"
      }
    let key = change.key.map { part in
      Self.label(of: part) + VisibleText.of(ShownValue.text(part.value, part.attribute) ?? "null")
    }
    var text = ([sign, change.entity] + [key.joined(separator: ", ")].filter { !$0.isEmpty })
      .joined(separator: " ")
    if change.kind == .pruned { text += " (not in the feed)" }
    if let former = change.formerEntity { text += " (was \(former))" }
    text += "\n"
    let lines =
      change.fields.map { field in
        let values = [field.old, field.new].compactMap { $0 }.map { value($0, field.attribute) }
        return (field.attribute.name, values.joined(separator: " → "))
      } + change.links.map { ($0.relationship, Self.links($0, of: change.kind)) }
    let width = lines.map { DisplayWidth.of($0.0) }.max() ?? 0
    for (name, what) in lines {
      let padding = String(repeating: " ", count: max(0, width - DisplayWidth.of(name)))
      text += "    \(VisibleText.of(name))\(padding)  \(what)\n"
    }
    return text
  }

  /// `7 → 8` of a to-one, `- 3, 4 + 8` of a to-many.
  private static func links(_ links: ImportChange.Links, of kind: ImportChange.Kind) -> String {
    func keys(_ keys: [[ImportChange.Value]]) -> String {
      keys.map { $0.map { label(of: $0) + value($0.value, $0.attribute) }.joined(separator: "/") }
        .joined(separator: ", ")
    }
    let (removed, added) = (keys(links.removed), keys(links.added))
    if links.isToOne {
      guard kind == .updated else { return removed + added }
      return [removed, added].map { $0.isEmpty ? "null" : $0 }.joined(separator: " → ")
    }
    if removed.isEmpty, added.isEmpty { return "in another order" }
    return [("-", removed), ("+", added)].filter { !$0.1.isEmpty }.map { "\($0) \($1)" }
      .joined(separator: " ")
  }

  /// What tells a primary key from values that an object is known by otherwise.
  private static func label(of part: ImportChange.Value) -> String {
    part.attribute.name == "_pk" ? "_pk " : ""
  }

  private static func value(_ value: StoredValue, _ attribute: Attribute) -> String {
    guard let text = ShownValue.text(value, attribute) else { return "null" }
    if attribute.isSensitive { return text }
    var shown = String(String.UnicodeScalarView(text.unicodeScalars.prefix(maximumLength)))
    if shown.utf8.count < text.utf8.count { shown += "…" }
    shown = VisibleText.of(shown)
    switch attribute.type {
    case .string, .enum, .url: return "\"\(shown)\""
    default: return shown
    }
  }
}
