import Dragoman
import DragomanGraph
import Foundation

/// The model: its drawing, and all that it says of entities, attributes and relationships; the maps beside it.
struct ModelPage {
  private struct AttributeRow {
    let name: String
    let type: String
    let rules: String
    let isKey: Bool
  }

  private struct LinkRow {
    let name: String
    let kind: String
    let target: String
    let targetAddress: String
    let inverse: String
    let rules: String
  }

  private struct EntitySection {
    let name: String
    let anchor: String
    let address: String
    let facts: String
    let attributes: [AttributeRow]
    let links: [LinkRow]
    let hasLinks: Bool
  }

  private struct FaultLine {
    let place: String
    let message: String
    let help: String
    let style: String
  }

  private struct TextLine {
    let number: Int
    let text: String
    let isMarked: Bool
  }

  private struct MapSection {
    let name: String
    let path: String
    let verdict: String
    let style: String
    let faults: [FaultLine]
    let lines: [TextLine]
    let hasText: Bool
  }

  private struct View {
    let isEmpty: Bool
    let drawing: ModelDrawing
    let entities: [EntitySection]
    let maps: [MapSection]
    let hasMaps: Bool
  }

  /// - Throws: `StoreError` where the database cannot be read.
  static func answer(_ sources: PageSources) throws -> PageAnswer {
    let store = try sources.database.open()
    let model = store.model
    let items = sources.maps.items
    return PageAnswer(
      title: "Model",
      template: "model",
      view: View(
        isEmpty: model.entities.isEmpty,
        drawing: ModelDrawing(model),
        entities: model.entities.map(section),
        maps: items.map(section),
        hasMaps: !items.isEmpty
      ),
      json: [
        "v": 1, "entities": .array(model.entities.map(json)), "maps": .array(items.map(json)),
      ]
    )
  }

  private static func section(_ entity: Entity) -> EntitySection {
    let keys = Set(entity.uniqueKeys.flatMap { $0 })
    var facts = ["table \(entity.table)"]
    if let parent = entity.parent { facts.append("is \(MessageWords.withArticle(parent))") }
    facts += entity.uniqueKeys.map { "unique \($0.joined(separator: " + "))" }
    facts += entity.indexes.map { "index on \($0.joined(separator: " + "))" }
    return EntitySection(
      name: entity.name,
      anchor: "entity-\(WebText.encoded(entity.name))",
      address: WebText.address(["entities", entity.name]),
      facts: facts.joined(separator: " · "),
      attributes: entity.attributes.map { attribute in
        AttributeRow(
          name: attribute.name,
          type: attribute.type.rawValue,
          rules: rules(attribute).joined(separator: ", "),
          isKey: keys.contains(attribute.name)
        )
      },
      links: entity.relationships.map { link in
        LinkRow(
          name: link.name,
          kind: link.kind == .toOne ? "to one" : "to many",
          target: link.destination,
          targetAddress: "#entity-\(WebText.encoded(link.destination))",
          inverse: link.inverse ?? "",
          rules: rules(link).joined(separator: ", ")
        )
      },
      hasLinks: !entity.relationships.isEmpty
    )
  }

  private static func rules(_ attribute: Attribute) -> [String] {
    var rules: [String] = []
    if attribute.isRequired { rules.append("required") }
    if attribute.isIndexed { rules.append("indexed") }
    if attribute.isSensitive { rules.append("sensitive") }
    if let value = attribute.defaultValue, let text = ShownValue.text(value, attribute) {
      rules.append("default \(text)")
    }
    let bounds = attribute.rules
    if let least = bounds.minimum, let text = ShownValue.text(least, attribute) {
      rules.append("at least \(text)")
    }
    if let most = bounds.maximum, let text = ShownValue.text(most, attribute) {
      rules.append("at most \(text)")
    }
    if let length = bounds.minimumLength {
      rules.append("\(MessageWords.count(length, "character")) or more")
    }
    if let length = bounds.maximumLength {
      rules.append("\(MessageWords.count(length, "character")) or fewer")
    }
    if let pattern = bounds.pattern { rules.append("matches \(pattern)") }
    if let scale = bounds.scale { rules.append(MessageWords.count(scale, "decimal")) }
    if let values = attribute.allowedValues {
      rules.append("one of \(values.prefix(20).joined(separator: ", "))")
    }
    if attribute.column != attribute.name { rules.append("column \(attribute.column)") }
    return rules
  }

  private static func rules(_ link: Relationship) -> [String] {
    var rules: [String] = []
    if link.isRequired { rules.append("required") }
    if link.isOrdered { rules.append("ordered") }
    if link.allowsRepeats { rules.append("may repeat") }
    if let most = link.maximumCount { rules.append("at most \(most)") }
    rules.append("on delete \(link.deleteRule.rawValue)")
    return rules
  }

  private static func section(_ item: MapShelf.Item) -> MapSection {
    var faults: [FaultLine] = []
    var marked: Set<Int> = []
    func add(_ fault: MapFault, _ style: String) {
      if let line = fault.position?.line { marked.insert(line) }
      let hint = [fault.suggestion.map { "did you mean \($0)?" }, fault.rule].compactMap { $0 }
      faults.append(
        FaultLine(
          place: fault.position.map { "\($0.line):\($0.column)" } ?? fault.place,
          message: fault.message,
          help: hint.joined(separator: " "),
          style: style
        )
      )
    }
    var verdict = "no faults"
    switch item.map {
    case .failure(let error):
      for fault in error.faults { add(fault, "bad") }
      verdict = Figures.count(error.faults.count, "fault")
    case .success(let map):
      let warnings = map.lint()
      for warning in warnings { add(warning, "warn") }
      if !warnings.isEmpty { verdict = Figures.count(warnings.count, "warning") }
    }
    let lines = lines(of: item.path, marked)
    return MapSection(
      name: item.name,
      path: item.path,
      verdict: verdict,
      style: faults.contains { $0.style == "bad" } ? "bad" : faults.isEmpty ? "good" : "warn",
      faults: faults,
      lines: lines,
      hasText: !lines.isEmpty
    )
  }

  /// The text of a map, of 4,000 lines at most.
  private static func lines(of path: String, _ marked: Set<Int>) -> [TextLine] {
    guard let size = FileStatus(path)?.byteCount, size < 1 << 20,
      let data = FileManager.default.contents(atPath: path)
    else { return [] }
    return String(decoding: data, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).prefix(4_000).enumerated()
      .map { TextLine(number: $0 + 1, text: String($1), isMarked: marked.contains($0 + 1)) }
  }

  private static func json(_ entity: Entity) -> JSONValue {
    [
      "name": .string(entity.name), "table": .string(entity.table),
      "parent": JSONValue(entity.parent),
      "uniqueKeys": .array(entity.uniqueKeys.map { .array($0.map(JSONValue.string)) }),
      "indexes": .array(entity.indexes.map { .array($0.map(JSONValue.string)) }),
      "attributes": .array(
        entity.attributes.map {
          [
            "name": .string($0.name), "type": .string($0.type.rawValue),
            "rules": .array(rules($0).map(JSONValue.string)),
          ]
        }
      ),
      "relationships": .array(
        entity.relationships.map {
          [
            "name": .string($0.name), "kind": .string($0.kind.rawValue),
            "destination": .string($0.destination), "inverse": JSONValue($0.inverse),
            "rules": .array(rules($0).map(JSONValue.string)),
          ]
        }
      ),
    ]
  }

  private static func json(_ item: MapShelf.Item) -> JSONValue {
    var faults: [MapFault] = []
    if case .failure(let error) = item.map { faults = error.faults }
    return [
      "file": .string(item.path),
      "faults": .array(
        faults.map {
          [
            "code": .string($0.code.rawValue), "message": .string($0.message),
            "line": JSONValue($0.position?.line), "column": JSONValue($0.position?.column),
          ]
        }
      ),
    ]
  }
}
