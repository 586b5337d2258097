import Dragoman
import DragomanGraph
import Foundation

/// One object: its values, and what it is linked with in both directions.
struct ObjectPage {
  private struct Value {
    let name: String
    let type: String
    let cell: CellView
    let isKey: Bool
    /// Where the whole value is, where it is too long for the page.
    let download: String?
  }

  private struct Link {
    let name: String
    let kind: String
    let entity: String
    let targets: [ObjectLabel]
    /// The keys that it waits for.
    let waiting: String?
    let isEmpty: Bool
    let range: String?
    let next: String?
  }

  /// Which targets of a relationship are shown.
  private struct Window {
    /// How many are left out before the first one.
    var start = 0
    /// Whether the relationship was asked for by itself.
    var isAsked = false
    /// Where all are shown, page by page.
    let address: (_ start: Int, _ isJSON: Bool) -> String
    /// How many are shown.
    var length: Int { isAsked ? 200 : 20 }
    /// Where the others are shown as JSON; nil: there are none.
    func next(_ labels: [ObjectLabel]) -> String? {
      labels.count > length ? address(start + length, true) : nil
    }
  }

  private struct View {
    let entity: String
    let entityAddress: String
    let key: String
    let caption: String
    let hasCaption: Bool
    let row: String
    /// Whether its record has not come.
    let isStub: Bool
    let values: [Value]
    let links: [Link]
    let hasLinks: Bool
    let origins: String
  }

  /// So many of the keys are told that an object waits for.
  private static let waitingCount = 20

  /// - Throws: `ConsoleError`, 404, where there is no such object.
  static func answer(
    _ name: String,
    _ number: String,
    _ request: ConsoleRequest,
    _ sources: PageSources
  ) throws -> PageAnswer {
    let store = try sources.database.open()
    let model = store.model
    let asked = try EntityShape(name, in: model)
    guard let key = Int64(number) else { throw missing(name, number) }
    let id = ObjectID(entity: asked.root, primaryKey: key)
    guard let own = try entity(of: id, store) else { throw missing(name, number) }
    let shape = try EntityShape(own, in: model)
    let fetch = FetchRequest(own, filter: isObject(id), limit: 1)
    let attributes = try store.attributes(of: fetch)
    var values: [StoredValue] = []
    try store.forEachRow(fetch) { values = $0.values }
    guard !values.isEmpty || attributes.isEmpty else { throw missing(name, number) }
    let keys = Set(shape.uniqueKeys.first ?? [])
    let label = try ObjectLabels.labels(of: [id], own, store)[id]
    var links: [Link] = []
    var json: [(String, JSONValue)] = []
    var next: [(String, JSONValue)] = []
    var waits: [(String, JSONValue)] = []
    func window(of title: String) -> Window {
      var window = Window { start, isJSON in
        let pairs = [("links", title), ("from", start == 0 ? nil : String(start))]
        return WebText.address(["objects", own, number], suffix: isJSON ? ".json" : "", pairs)
      }
      if request.value(of: "links") == title {
        window.start =
          request.value(of: "from").flatMap { Int($0) }.map { min(max($0, 0), 1 << 40) } ?? 0
        window.isAsked = true
      }
      return window
    }
    for link in shape.relationships {
      let window = window(of: link.name)
      let found = try store.targets(
        of: link.name,
        at: id,
        offset: window.start,
        limit: window.length + 1
      )
      let labels = try ObjectLabels.labels(found.map(\.id), link.destination, store)
      let limit = request.wantsJSON ? nil : waitingCount + 1
      let keys = try waiting(for: link, of: shape, at: id, limit, store)
      links.append(view(link.name, link, link.destination, labels, window, waiting: text(keys)))
      if !keys.isEmpty { waits.append((link.name, .array(keys.map(keyJSON)))) }
      json.append((link.name, linkJSON(labels, window)))
      if let address = window.next(labels) { next.append((link.name, .string(address))) }
    }
    for (owner, link) in incoming(to: shape, model) {
      let title = "\(owner).\(link.name)"
      let window = window(of: title)
      let labels = try owners(of: link, owner, at: id, window, store)
      guard !labels.isEmpty || window.start > 0 else { continue }
      links.append(view(title, link, owner, labels, window, isIncoming: true))
      json.append((title, linkJSON(labels, window)))
      if let address = window.next(labels) { next.append((title, .string(address))) }
    }
    let isStub = try store.isStub(id)
    let view = View(
      entity: own,
      entityAddress: WebText.address(["entities", own]),
      key: label?.key ?? "#\(key)",
      caption: label?.caption ?? "",
      hasCaption: label?.hasCaption ?? false,
      row: id.uri,
      isStub: isStub,
      values: zip(attributes, values).map { attribute, value in
        let cell = CellView(value, attribute, isShort: false)
        return Value(
          name: attribute.name,
          type: attribute.type.rawValue,
          cell: cell,
          isKey: keys.contains(attribute.name),
          download: cell.isCut
            ? WebText.address(["objects", own, number, "value"], [("of", attribute.name)]) : nil
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
        "v": 1, "entity": .string(own), "id": .string(id.uri), "isStub": .bool(isStub),
        "values": .object(
          zip(attributes, values).map { ($0.name, JSONValue($1, $0)) }
        ),
        "links": .object(json), "next": .object(next), "waiting": .object(waits),
      ]
    )
  }

  /// One value as a file: what is too long for the page.
  ///
  /// - Throws: `ConsoleError`, 404, where there is no such object or attribute.
  static func download(
    _ name: String,
    _ number: String,
    _ request: ConsoleRequest,
    _ sources: PageSources
  ) throws -> ConsoleResponse {
    let store = try sources.database.open()
    let shape = try EntityShape(name, in: store.model)
    guard let key = Int64(number) else { throw missing(name, number) }
    let id = ObjectID(entity: shape.root, primaryKey: key)
    let asked = request.value(of: "of") ?? ""
    guard let own = try entity(of: id, store) else { throw missing(name, number) }
    let attributes = try EntityShape(own, in: store.model).attributes
    guard let attribute = attributes.first(where: { hasSameBytes($0.name, asked) }) else {
      throw ConsoleError(404, "\(own) has no attribute \"\(asked)\".")
    }
    var value = StoredValue.null
    let fetch = FetchRequest(own, filter: isObject(id), limit: 1, columns: [FetchColumn(asked)])
    try store.forEachRow(fetch) { value = $0.values.first ?? .null }
    var response: ConsoleResponse
    if case .blob(let bytes) = value, !attribute.isSensitive {
      response = ConsoleResponse(type: "application/octet-stream", .bytes(Data(bytes)))
    } else {
      response = ConsoleResponse(
        type: "text/plain; charset=utf-8",
        text: ShownValue.text(value, attribute) ?? ""
      )
    }
    response.headers.append(("Content-Disposition", "attachment"))
    return response
  }

  /// The condition of being an object.
  static func isObject(_ id: ObjectID) -> Filter {
    .comparison(Filter.Comparison(.name("SELF"), .equalTo, .object(id)))
  }

  /// The object's own entity; nil where it is not there.
  static func entity(of id: ObjectID, _ store: SQLiteStore) throws -> String? {
    var found: String?
    try store.forEachRow(FetchRequest(id.entity, filter: isObject(id), limit: 1)) {
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
    _ window: Window,
    _ store: SQLiteStore
  ) throws -> [ObjectLabel] {
    let condition = Filter.Comparison(
      .name(link.name),
      .equalTo,
      .object(id),
      quantifier: link.kind == .toMany ? .any : .one
    )
    var ids: [ObjectID] = []
    var request = FetchRequest(owner, filter: .comparison(condition), limit: window.length + 1)
    request.offset = window.start
    try store.forEachRow(request) { ids.append($0.objectID) }
    return try ObjectLabels.labels(ids, owner, store)
  }

  /// The keys that the object waits for by a relationship.
  private static func waiting(
    for link: Relationship,
    of shape: EntityShape,
    at id: ObjectID,
    _ limit: Int?,
    _ store: SQLiteStore
  ) throws -> [ObjectKey] {
    let model = store.model
    let owner = ([shape.name] + ancestors(of: shape.name, model)).first { name in
      model.entity(named: name)?.relationships.contains { hasSameBytes($0.name, link.name) } == true
    }
    guard let owner else { return [] }
    return try store.pendingReferences(of: "\(owner).\(link.name)", from: id, limit: limit)
      .map(\.key)
  }

  /// The first of some keys in one text; nil where there are none.
  private static func text(_ keys: [ObjectKey]) -> String? {
    let shown = keys.prefix(waitingCount).map(ObjectLabel.text)
    let more = keys.count > shown.count ? ["…"] : []
    return keys.isEmpty ? nil : (shown + more).joined(separator: ", ")
  }

  private static func keyJSON(_ key: ObjectKey) -> JSONValue {
    .object(key.parts.map { ($0.attribute.name, JSONValue($0.value, $0.attribute)) })
  }

  private static func view(
    _ title: String,
    _ link: Relationship,
    _ entity: String,
    _ labels: [ObjectLabel],
    _ window: Window,
    isIncoming: Bool = false,
    waiting: String? = nil
  ) -> Link {
    let shown = Array(labels.prefix(window.length))
    let hasMore = labels.count > shown.count
    let isWhole = window.start == 0 && !hasMore
    return Link(
      name: title,
      kind: isIncoming ? "from \(entity)" : link.kind == .toOne ? "to one" : "to many",
      entity: entity,
      targets: shown,
      waiting: waiting,
      isEmpty: labels.isEmpty && waiting == nil && window.start == 0,
      range: isWhole
        ? nil
        : shown.isEmpty
          ? "none behind the first \(Figures.grouped(window.start))"
          : "\(Figures.grouped(window.start + 1)) to \(Figures.grouped(window.start + shown.count)) are shown",
      next: hasMore ? window.address(window.isAsked ? window.start + window.length : 0, false) : nil
    )
  }

  private static func linkJSON(_ labels: [ObjectLabel], _ window: Window) -> JSONValue {
    .array(
      labels.prefix(window.length).map {
        ["key": .string($0.key), "name": .string($0.caption), "address": .string($0.address)]
      }
    )
  }
}
