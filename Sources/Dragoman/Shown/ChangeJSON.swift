import DragomanGraph

/// Changes of objects as JSON: trials, the history and the console's twins have the same.
package enum ChangeJSON {
  /// What an import did, or would do, to an object.
  ///
  /// - Parameter change: The change.
  /// - Returns: An object of JSON on one line.
  package static func text(_ change: ImportChange) -> String {
    var members = [("change", string(change.kind.rawValue)), ("entity", string(change.entity))]
    if let former = change.formerEntity { members.append(("formerEntity", string(former))) }
    members.append(("key", key(change.key)))
    members.append(
      ("attributes", object(change.fields.map { field($0.attribute, $0.old, $0.new) }))
    )
    if !change.links.isEmpty {
      members.append(
        ("relationships", object(change.links.map { ($0.relationship, links($0)) }))
      )
    }
    if let origin = change.origin {
      members.append(("file", string(origin.file)))
      members.append(("line", String(origin.line)))
    }
    return object(members)
  }

  /// What a recorded import did to an object.
  ///
  /// - Parameters:
  ///   - origin: What it did.
  ///   - entity: The object's entity.
  ///   - key: What the object is called.
  ///   - targets: What objects of a relationship are called.
  /// - Returns: An object of JSON on one line, in which objects are called so in place of their keys.
  package static func text(
    _ origin: ObjectOrigin,
    _ entity: String,
    _ key: String,
    targets: (String, [ObjectID]) throws -> [String]
  ) rethrows -> String {
    var members = [
      ("change", string(origin.kind.rawValue)), ("entity", string(entity)), ("key", string(key)),
      ("attributes", object(origin.attributes.map { field($0.attribute, $0.old, $0.new) })),
    ]
    if !origin.links.isEmpty {
      let links = try origin.links.map { links in
        let sides = try [("removed", links.removed), ("added", links.added)].map { side, objects in
          (side, list(try targets(links.relationship, objects).map(string)))
        }
        return (links.relationship, object(sides))
      }
      members.append(("relationships", object(links)))
    }
    return object(members)
  }

  /// A value before and after, where there was or is an object.
  private static func field(
    _ attribute: Attribute,
    _ old: StoredValue?,
    _ new: StoredValue?
  ) -> (String, String) {
    let sides = [("old", old), ("new", new)].compactMap { side, value in
      value.map { (side, ShownValue.json($0, attribute)) }
    }
    return (attribute.name, object(sides))
  }

  private static func links(_ links: ImportChange.Links) -> String {
    let (removed, added) = (links.removed.map(key), links.added.map(key))
    return links.isToOne
      ? object([("old", removed.first ?? "null"), ("new", added.first ?? "null")])
      : object([("removed", list(removed)), ("added", list(added))])
  }

  private static func key(_ values: [ImportChange.Value]) -> String {
    object(values.map { ($0.attribute.name, ShownValue.json($0.value, $0.attribute)) })
  }

  private static func string(_ text: String) -> String { JSONString.quoted(text, .lines) }

  private static func object(_ members: [(String, String)]) -> String { JSONString.object(members) }

  private static func list(_ elements: [String]) -> String {
    "[\(elements.joined(separator: ","))]"
  }
}
