import Dragoman
import DragomanGraph

/// A model as a diagram: an entity a box, a relationship (with its inverse) an edge.
///
/// Names are quoted and escaped, so that none can break the syntax.
struct ModelDiagram {
  private let layout: ModelLayout

  init(_ model: Model) { layout = ModelLayout(model) }

  /// Relationships, each with its inverse once.
  private var edges: [(link: RelationshipLayout, inverse: RelationshipLayout?)] {
    layout.links.compactMap { link in
      let inverse = layout.inverse(of: link)
      if let inverse, inverse.id < link.id { return nil }
      return (link, inverse)
    }
  }

  private func label(
    _ link: RelationshipLayout,
    _ inverse: RelationshipLayout?
  ) -> String {
    guard let inverse, inverse.id != link.id else { return link.name }
    return "\(link.name) / \(inverse.name)"
  }

  // MARK: - Mermaid

  /// An `erDiagram` (https://mermaid.js.org/syntax/entityRelationshipDiagram.html).
  var mermaid: String {
    var text = "erDiagram\n"
    for (index, entity) in layout.entities.enumerated() {
      text += "  e\(index)[\"\(Self.mermaid(entity.name))\"] {\n"
      let keys = entity.uniqueKeys.flatMap { $0.map(\.name) }
      for attribute in entity.entity.attributes {
        let isKey = keys.contains { $0.utf8.elementsEqual(attribute.name.utf8) }
        text += "    \(attribute.type.rawValue) \(Self.word(attribute.name))\(isKey ? " UK" : "")"
        let isPlain = Self.word(attribute.name).utf8.elementsEqual(attribute.name.utf8)
        text += isPlain ? "\n" : " \"\(Self.mermaid(attribute.name))\"\n"
      }
      text += "  }\n"
    }
    for (link, inverse) in edges {
      let left = inverse.map { $0.isToOne ? "|o" : "}o" } ?? "}o"
      let right = link.isToOne ? "o|" : "o{"
      text += "  e\(link.owner) \(left)--\(right) e\(link.destination)"
      text += " : \"\(Self.mermaid(label(link, inverse)))\"\n"
    }
    for entity in layout.entities where entity.lineage.count > 1 {
      text += "  e\(entity.lineage[1]) ||--o| e\(entity.index) : \"is a\"\n"
    }
    return text
  }

  /// Text between double quotes: what Mermaid would read as its own is an entity of HTML.
  private static func mermaid(_ text: String) -> String {
    VisibleText.of(text).unicodeScalars.map { scalar in
      switch scalar {
      case "\"", "#", ";", "<", ">", "&", "\\", "%", "`": "#\(scalar.value);"
      default: String(scalar)
      }
    }.joined()
  }

  /// A word as Mermaid takes it for an attribute's name: a letter, then letters, digits and `_`.
  private static func word(_ name: String) -> String {
    let word = name.utf8.map { byte -> String in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        String(UnicodeScalar(byte))
      default: "_"
      }
    }.joined()
    let startsWithLetter = word.first.map { $0.isLetter } ?? false
    return startsWithLetter ? word : "a\(word)"
  }

  // MARK: - Graphviz

  /// A `digraph` (https://graphviz.org/doc/info/lang.html).
  var dot: String {
    var text = "digraph model {\n  rankdir=LR;\n  node [shape=box];\n"
    for (index, entity) in layout.entities.enumerated() {
      let attributes = entity.entity.attributes.map { attribute in
        Self.dot("\(attribute.name): \(attribute.type.rawValue)") + "\\l"
      }
      let label = Self.dot(entity.name) + "\\n" + attributes.joined()
      text += "  e\(index) [label=\"\(label)\"];\n"
    }
    for (link, inverse) in edges {
      let head = link.isToOne ? "normal" : "crow"
      let tail = inverse.map { $0.isToOne ? "normal" : "crow" }
      text +=
        "  e\(link.owner) -> e\(link.destination) [label=\"\(Self.dot(label(link, inverse)))\""
      text += ", arrowhead=\(head)\(tail.map { ", dir=both, arrowtail=\($0)" } ?? "")];\n"
    }
    for entity in layout.entities where entity.lineage.count > 1 {
      text += "  e\(entity.index) -> e\(entity.lineage[1]) [arrowhead=empty, label=\"is a\"];\n"
    }
    return text + "}\n"
  }

  /// Text between double quotes.
  private static func dot(_ text: String) -> String {
    VisibleText.of(text).escaping { byte in
      switch byte {
      case UInt8(ascii: "\\"): "\\\\"
      case UInt8(ascii: "\""): "\\\""
      default: nil
      }
    }
  }
}
