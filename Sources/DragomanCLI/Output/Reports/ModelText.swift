import Dragoman
import DragomanGraph

/// A model for people: entities, each with its properties and keys.
enum ModelText {
  /// The text, with a line break at its end.
  static func text(of model: Model) -> String {
    model.entities.map(text).joined(separator: "\n")
  }

  private static func text(of entity: Entity) -> String {
    var head = VisibleText.of(entity.name)
    if let parent = entity.parent { head += " : \(VisibleText.of(parent))" }
    if entity.isAbstract { head += " (abstract)" }
    if entity.parent == nil, !entity.table.utf8.elementsEqual(entity.name.utf8) {
      head += " in \(VisibleText.of(entity.table))"
    }
    let rows =
      entity.attributes.map { (VisibleText.of($0.name), words(of: $0)) }
      + entity.relationships.map { (VisibleText.of($0.name), words(of: $0)) }
    let width = rows.map { DisplayWidth.of($0.0) }.max() ?? 0
    let properties = rows.map { name, words in
      "  \(name)\(String(repeating: " ", count: width - DisplayWidth.of(name)))  \(words)\n"
    }
    let keys =
      entity.uniqueKeys.map { "  unique \(names($0))\n" }
      + entity.indexes.map { "  index \(names($0))\n" }
    return head + "\n" + properties.joined() + keys.joined()
  }

  private static func names(_ names: [String]) -> String {
    names.map(VisibleText.of).joined(separator: ", ")
  }

  private static func words(of attribute: Attribute) -> String {
    var words = [attribute.type.rawValue]
    if let scale = attribute.rules.scale { words[0] += "(\(scale))" }
    if attribute.isRequired { words.append("required") }
    if attribute.isIndexed { words.append("indexed") }
    if attribute.isSensitive { words.append("sensitive") }
    if let value = attribute.defaultValue, let text = ShownValue.text(value, attribute) {
      words.append("default \(VisibleText.of(text))")
    }
    if let allowed = attribute.allowedValues {
      words.append("of \(allowed.map(VisibleText.of).joined(separator: " | "))")
    }
    if !attribute.column.utf8.elementsEqual(attribute.name.utf8) {
      words.append("in column \(VisibleText.of(attribute.column))")
    }
    return words.joined(separator: ", ")
  }

  private static func words(of relationship: Relationship) -> String {
    let kind = relationship.kind == .toOne ? "to one" : "to many"
    var words = ["\(kind) \(VisibleText.of(relationship.destination))"]
    if let inverse = relationship.inverse { words.append("inverse \(VisibleText.of(inverse))") }
    if relationship.isOrdered { words.append("ordered") }
    if relationship.allowsRepeats { words.append("repeats") }
    if relationship.isRequired { words.append("required") }
    if relationship.deleteRule != .nullify {
      words.append("on delete \(relationship.deleteRule.rawValue)")
    }
    return words.joined(separator: ", ")
  }
}
