import DragomanGraph

/// One object: its values, and what it is linked with in both directions.
struct ObjectPage {
  private struct Value {
    let name: String
    let type: String
    let cell: CellView
    let isKey: Bool
  }

  private struct Link {
    let name: String
    let kind: String
    let entity: String
    let targets: [ObjectLabel]
    let isEmpty: Bool
    let hasMore: Bool
    let count: String
  }

  private struct View {
    let entity: String
    let entityAddress: String
    let key: String
    let caption: String
    let hasCaption: Bool
    let row: String
    let values: [Value]
    let links: [Link]
    let hasLinks: Bool
    let origins: String
  }

  /// So many targets of a relationship are shown.
  private static let shownCount = 20

  /// - Throws: `ConsoleError`, 404, where there is no such object.
  static func answer(
    _ name: String,
    _ number: String,
    _ sources: PageSources
  ) throws -> PageAnswer {
    let store = try sources.database.open()
    let model = store.model
    let asked = try EntityShape(name, in: model)
    guard let key = Int64(number) else { throw missing(name, number) }
    let id = ObjectID(entity: asked.root, primaryKey: key)
    guard let own = try entity(of: id, asked.root, store) else { throw missing(name, number) }
    let shape = try EntityShape(own, in: model)
    let request = FetchRequest(own, filter: isObject(id), limit: 1)
    let attributes = try store.attributes(of: request)
    var values: [StoredValue] = []
    try store.forEachRow(request) { values = $0.values }
    guard !values.isEmpty || attributes.isEmpty else { throw missing(name, number) }
    let keys = Set(shape.uniqueKeys.first ?? [])
    let label = try ObjectLabels.labels(of: [id], own, store)[id]
    var links: [Link] = []
    var json: [(String, JSONValue)] = []
    for link in shape.relationships {
      let found = try store.targets(of: link.name, at: id, limit: shownCount + 1)
      let labels = try ObjectLabels.labels(found.map(\.id), link.destination, store)
      links.append(view(link.name, link, link.destination, labels))
      json.append((link.name, linkJSON(labels)))
    }
    for (owner, link) in incoming(to: shape, model) {
      let labels = try owners(of: link, owner, at: id, store)
      guard !labels.isEmpty else { continue }
      let title = "\(owner).\(link.name)"
      links.append(view(title, link, owner, labels, isIncoming: true))
      json.append((title, linkJSON(labels)))
    }
    let view = View(
      entity: own,
      entityAddress: WebText.address(["entities", own]),
      key: label?.key ?? "#\(key)",
      caption: label?.caption ?? "",
      hasCaption: label?.hasCaption ?? false,
      row: id.uri,
      values: zip(attributes, values).map { attribute, value in
        Value(
          name: attribute.name,
          type: attribute.type.rawValue,
          cell: CellView(value, attribute, isShort: false),
          isKey: keys.contains(attribute.name)
        )
      },
      links: links,
      hasLinks: !links.isEmpty,
      origins: WebText.address(["objects", own, number, "origins"])
    )
    return PageAnswer(
      title: "\(own) \(label?.key ?? number)",
      template: "object",
      view: view,
      json: [
        "v": 1, "entity": .string(own), "id": .string(id.uri),
        "values": .object(
          zip(attributes, values).map { ($0.name, ValueText.json($1, $0)) }
        ),
        "links": .object(json),
      ]
    )
  }

  /// The condition of being an object.
  static func isObject(_ id: ObjectID) -> Filter {
    .comparison(Filter.Comparison(.name("SELF"), .equalTo, .object(id)))
  }

  /// The object's own entity; nil where it is not there.
  private static func entity(
    of id: ObjectID,
    _ root: String,
    _ store: SQLiteStore
  ) throws -> String? {
    var found: String?
    try store.forEachRow(FetchRequest(root, filter: isObject(id), limit: 1)) {
      found = $0.entityName
    }
    return found
  }

  private static func missing(_ name: String, _ number: String) -> ConsoleError {
    ConsoleError(
      404,
      "There is no \(name) in row \(number).",
      help: "it may have been deleted: look at the history"
    )
  }

  /// Relationships that lead here and that no relationship of the entity answers.
  private static func incoming(
    to shape: EntityShape,
    _ model: Model
  ) -> [(owner: String, link: Relationship)] {
    let names = Set([shape.name] + ancestors(of: shape.name, model))
    return model.entities.flatMap { owner in
      owner.relationships.filter { names.contains($0.destination) }
        .filter { link in
          link.inverse == nil
            && !shape.relationships.contains {
              $0.inverse == link.name && $0.destination == owner.name
            }
        }
        .map { (owner.name, $0) }
    }
  }

  private static func ancestors(of name: String, _ model: Model) -> [String] {
    model.entity(named: name).map { model.ancestors(of: $0).map(\.name) } ?? []
  }

  private static func owners(
    of link: Relationship,
    _ owner: String,
    at id: ObjectID,
    _ store: SQLiteStore
  ) throws -> [ObjectLabel] {
    let condition = Filter.Comparison(
      .name(link.name),
      .equalTo,
      .object(id),
      quantifier: link.kind == .toMany ? .any : .one
    )
    var ids: [ObjectID] = []
    let request = FetchRequest(owner, filter: .comparison(condition), limit: shownCount + 1)
    try store.forEachRow(request) { ids.append($0.objectID) }
    return try ObjectLabels.labels(ids, owner, store)
  }

  private static func view(
    _ title: String,
    _ link: Relationship,
    _ entity: String,
    _ labels: [ObjectLabel],
    isIncoming: Bool = false
  ) -> Link {
    let shown = Array(labels.prefix(shownCount))
    return Link(
      name: title,
      kind: isIncoming ? "from \(entity)" : link.kind == .toOne ? "to one" : "to many",
      entity: entity,
      targets: shown,
      isEmpty: labels.isEmpty,
      hasMore: labels.count > shown.count,
      count: Figure.grouped(shown.count)
    )
  }

  private static func linkJSON(_ labels: [ObjectLabel]) -> JSONValue {
    .array(
      labels.prefix(shownCount).map {
        ["key": .string($0.key), "name": .string($0.caption), "address": .string($0.address)]
      }
    )
  }
}
