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
  /// The same for programs.
  let json: JSONValue

  init(_ change: ImportChange) {
    json = .raw(ChangeJSON.text(change))
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
        links.relationship,
        removed: links.removed.map(Self.text),
        added: links.added.map(Self.text),
        isUpdate: isUpdate
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
    targets: (String, [ObjectID]) throws -> [String]
  ) rethrows {
    json = .raw(try ChangeJSON.text(origin, entity, key, targets: targets))
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
        links.relationship,
        removed: try targets(links.relationship, links.removed),
        added: try targets(links.relationship, links.added),
        isUpdate: isUpdate
      )
    }
    self.lines = lines
  }

  private static func text(_ values: [ImportChange.Value]) -> String {
    values.map { text($0.value, $0.attribute) }.joined(separator: " · ")
  }

  fileprivate static func text(_ value: StoredValue?, _ attribute: Attribute) -> String {
    guard let value else { return "" }
    return ShownValue.text(value, attribute).map { PageText.short($0, 200) } ?? "null"
  }
}

extension ChangeView.Line {
  /// Targets that are linked no more, and those that are now; the same ones are in another order.
  fileprivate init(_ name: String, removed: [String], added: [String], isUpdate: Bool) {
    let isReordered = isUpdate && removed.isEmpty && added.isEmpty
    self.init(
      name: name,
      old: removed.joined(separator: ", "),
      new: isReordered ? "in another order" : added.joined(separator: ", "),
      hasOld: !removed.isEmpty,
      hasNew: isReordered || !added.isEmpty,
      isNewBlank: isReordered
    )
  }

  /// A value before and after; nil where there was, or is, no object.
  fileprivate init(_ attribute: Attribute, _ old: StoredValue?, _ new: StoredValue?, isUpdate: Bool)
  {
    self.init(
      name: attribute.name,
      old: ChangeView.text(old, attribute),
      new: ChangeView.text(new, attribute),
      hasOld: isUpdate || new == nil,
      hasNew: new != nil,
      isOldBlank: old.map(PageText.isBlank) ?? false,
      isNewBlank: new.map(PageText.isBlank) ?? false
    )
  }
}
