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
    /// Whether the old text stands for null, or for the empty one.
    var isOldBlank = false
    /// Whether the new one does.
    var isNewBlank = false
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
    var lines = change.fields.map { Line($0.attribute, $0.old, $0.new, isUpdate: isUpdate) }
    lines += change.links.map { links in
      Line(
        name: links.relationship,
        old: links.removed.map(Self.text).joined(separator: ", "),
        new: links.added.map(Self.text).joined(separator: ", "),
        hasOld: !links.removed.isEmpty,
        hasNew: !links.added.isEmpty
      )
    }
    if let former = change.formerEntity {
      lines.insert(
        Line(name: "@entity", old: former, new: entity, hasOld: true, hasNew: true),
        at: 0
      )
    }
    self.lines = lines
  }

  /// What a recorded import did to an object.
  ///
  /// - Parameters:
  ///   - origin: What it did.
  ///   - entity: The object's entity.
  ///   - key: How the object is called.
  ///   - targets: What objects of a relationship are called.
  init(
    _ origin: ObjectOrigin,
    _ entity: String,
    _ key: String,
    targets: (String, [ObjectID]) throws -> String
  ) rethrows {
    kind = origin.kind.rawValue
    self.entity = entity
    self.key = key
    sign =
      switch origin.kind {
      case .inserted: "+"
      case .updated: "~"
      case .deleted: "−"
      }
    let isUpdate = origin.kind == .updated
    var lines = origin.attributes.map { Line($0.attribute, $0.old, $0.new, isUpdate: isUpdate) }
    lines += try origin.links.map { links in
      Line(
        name: links.relationship,
        old: try targets(links.relationship, links.removed),
        new: try targets(links.relationship, links.added),
        hasOld: !links.removed.isEmpty,
        hasNew: !links.added.isEmpty
      )
    }
    self.lines = lines
  }

  /// The change as JSON.
  var json: JSONValue {
    [
      "kind": .string(kind), "entity": .string(entity), "key": .string(key),
      "changes": .array(
        lines.map {
          ["name": .string($0.name), "old": .string($0.old), "new": .string($0.new)]
        }
      ),
    ]
  }

  private static func text(_ values: [ImportChange.Value]) -> String {
    values.map { text($0.value, $0.attribute) }.joined(separator: " · ")
  }

  fileprivate static func text(_ value: StoredValue?, _ attribute: Attribute) -> String {
    guard let value else { return "" }
    guard let text = ValueText.text(value, attribute) else { return "null" }
    if attribute.isSensitive { return ValueText.mask }
    return ValueText.short(text, 200)
  }
}

extension ChangeView.Line {
  /// A value before and after; nil where there was, or is, no object.
  fileprivate init(_ attribute: Attribute, _ old: StoredValue?, _ new: StoredValue?, isUpdate: Bool)
  {
    self.init(
      name: attribute.name,
      old: ChangeView.text(old, attribute),
      new: ChangeView.text(new, attribute),
      hasOld: isUpdate || new == nil,
      hasNew: new != nil,
      isOldBlank: old.map(ValueText.isBlank) ?? false,
      isNewBlank: new.map(ValueText.isBlank) ?? false
    )
  }
}
