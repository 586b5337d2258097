import Dragoman
import DragomanGraph

/// What an import did to one object, value by value.
struct ChangeView {
  /// A value, or links.
  struct Line {
    let name: String
    let old: String
    let new: String
    let hasOld: Bool
    let hasNew: Bool
  }

  let kind: String
  let sign: String
  let entity: String
  let key: String
  let lines: [Line]

  init(_ change: ImportChange) {
    kind = change.kind.rawValue
    entity = change.entity
    sign =
      switch change.kind {
      case .inserted: "+"
      case .updated: "~"
      case .deleted, .pruned: "−"
      }
    key = Self.text(change.key)
    let isUpdate = change.kind == .updated
    var lines = change.fields.map { field in
      Line(
        name: field.attribute.name,
        old: Self.text(field.old, field.attribute),
        new: Self.text(field.new, field.attribute),
        hasOld: isUpdate || field.new == nil,
        hasNew: field.new != nil
      )
    }
    lines += change.links.map { links in
      Line(
        name: links.relationship,
        old: links.removed.map(Self.text).joined(separator: ", "),
        new: links.added.map(Self.text).joined(separator: ", "),
        hasOld: !links.removed.isEmpty,
        hasNew: !links.added.isEmpty
      )
    }
    self.lines = lines
  }

  /// The change as JSON.
  static func json(_ change: ImportChange) -> JSONValue {
    let view = ChangeView(change)
    return [
      "kind": .string(view.kind), "entity": .string(view.entity), "key": .string(view.key),
      "changes": .array(
        view.lines.map {
          ["name": .string($0.name), "old": .string($0.old), "new": .string($0.new)]
        }
      ),
    ]
  }

  private static func text(_ values: [ImportChange.Value]) -> String {
    values.map { text($0.value, $0.attribute) }.joined(separator: " · ")
  }

  private static func text(_ value: StoredValue?, _ attribute: Attribute) -> String {
    guard let value else { return "" }
    guard let text = ValueText.text(value, attribute) else { return "null" }
    if attribute.isSensitive { return ValueText.mask }
    return text.count > 200 ? text.prefix(199) + "…" : text
  }
}
