import Dragoman
import DragomanGraph

/// An entity with all that it inherits.
struct EntityShape {
  let name: String
  /// The topmost entity, whose name the ids of its objects have.
  let root: String
  let attributes: [Attribute]
  let relationships: [Relationship]
  /// The unique keys, the identity first.
  let uniqueKeys: [[String]]

  /// - Throws: `ConsoleError`, 404, for an entity that there is not, with the nearest name.
  init(_ name: String, in model: Model) throws(ConsoleError) {
    guard let entity = model.entity(named: name) else {
      let near = nearest(to: name, in: model.entities.map(\.name))
      throw ConsoleError(
        404,
        "The database has no entity \"\(name)\".",
        help: near.map { "did you mean \($0)?" } ?? "/model shows which there are"
      )
    }
    self.init(entity, in: model)
  }

  init(_ entity: Entity, in model: Model) {
    // The root's first, as its table has them.
    let line = [entity] + model.ancestors(of: entity)
    name = entity.name
    root = line.last?.name ?? entity.name
    attributes = line.reversed().flatMap(\.attributes)
    relationships = line.reversed().flatMap(\.relationships)
    uniqueKeys = line.flatMap(\.uniqueKeys)
  }

  /// The attributes, as paths, that tell one object from all others; empty where there is no such key.
  func keyPaths(in model: Model, depth: Int = 0) -> [String] {
    (uniqueKeys.first ?? []).flatMap { part -> [String] in
      guard let link = relationships.first(where: { $0.name == part }) else { return [part] }
      guard depth < 4, let target = model.entity(named: link.destination) else { return [] }
      return EntityShape(target, in: model).keyPaths(in: model, depth: depth + 1)
        .map { "\(part).\($0)" }
    }
  }

  /// An attribute that people call an object by; nil where none looks like it.
  var caption: String? {
    let words = ["name", "title", "label", "fullName", "displayName", "lastName", "description"]
    return words.first { word in
      attributes.contains {
        $0.name.lowercased() == word.lowercased() && $0.type == .string && !$0.isSensitive
      }
    }
  }

  /// The columns that name an object: its key, then its caption.
  func labelPaths(in model: Model) -> [String] {
    let keys = keyPaths(in: model)
    guard let caption, !keys.contains(caption) else { return keys }
    return keys + [caption]
  }
}

/// How an object is called.
struct ObjectLabel {
  /// The object's page.
  let address: String
  /// Its key; of an object without one its row's number.
  let key: String
  /// Its name, where it has one besides.
  let caption: String
  /// Whether it has one.
  var hasCaption: Bool
  /// Both in one text.
  var text: String { hasCaption ? "\(key) · \(caption)" : key }

  init(_ id: ObjectID, _ shape: EntityShape, _ values: [StoredValue], _ columns: [Attribute]) {
    address = Self.address(of: id, in: shape.name)
    var texts = zip(values, columns).map(Self.text)
    // Of a to-one the columns are paths.
    let last = columns.last?.name.split(separator: ".").last.map(String.init)
    // A name that is a part of the key is not there besides.
    let isKey = shape.caption.map { shape.uniqueKeys.first?.contains($0) ?? false } ?? false
    let isNamed = shape.caption != nil && !isKey && shape.caption == last && texts.count > 1
    let name = isNamed ? texts.popLast() : nil
    hasCaption = isNamed && values.last?.isNull == false
    caption = hasCaption ? String((name ?? "").prefix(80)) : ""
    // What is null calls nothing.
    let isEmpty = values.prefix(texts.count).allSatisfy(\.isNull)
    key = isEmpty ? "#\(id.primaryKey)" : String(texts.joined(separator: " · ").prefix(80))
  }

  /// A key as text.
  static func text(of key: ObjectKey) -> String {
    key.parts.map { text($0.value, $0.attribute) }.joined(separator: " · ")
  }

  private static func text(_ value: StoredValue, _ attribute: Attribute) -> String {
    guard let text = ShownValue.text(value, attribute).map(VisibleText.of) else { return "null" }
    // Spaces alone are seen by what is around them.
    return text.allSatisfy(\.isWhitespace) ? "\"\(text)\"" : text
  }

  /// The address of an object's page.
  static func address(of id: ObjectID, in entity: String) -> String {
    WebText.address(["objects", entity, String(id.primaryKey)])
  }
}
