import Dragoman
import DragomanGraph

/// The objects of an entity: a page of them, by a predicate and in an order.
struct EntityPage {
  private struct Heading {
    let name: String
    let type: String
    let address: String
    let order: String
    let isAscending: Bool
    let isDescending: Bool
    let isNumber: Bool
    let isSortable: Bool
  }

  private struct Choice {
    let name: String
    let isChosen: Bool
  }

  private struct Row {
    let address: String
    let entity: String
    /// What its link is called.
    let label: String
    let cells: String
  }

  private struct Download {
    let name: String
    let address: String
  }

  private struct View {
    let name: String
    let address: String
    let predicate: String
    let hasPredicate: Bool
    let example: String
    let orderExample: String
    let sort: String
    /// Where the same is shown without the predicate.
    let clear: String
    let fault: FaultView?
    /// What is wrong with the order.
    let orderFault: FaultView?
    let headings: [Heading]
    let namesEntity: Bool
    let rows: [Row]
    let isEmpty: Bool
    let count: String
    /// The entity, where it is counted in the background.
    let counted: String?
    let columns: [Choice]
    let hiddenCount: String?
    let limits: [Choice]
    let next: String?
    let first: String?
    let downloads: [Download]
    let profile: String
    let live: String
    let names: String
  }

  /// - Throws: `StoreError` and `ConsoleError`; faults of a predicate or of an order are shown on the page.
  static func answer(
    _ name: String,
    _ request: ConsoleRequest,
    _ sources: PageSources
  ) throws -> PageAnswer {
    let store = try sources.database.open()
    let model = store.model
    let shape = try EntityShape(name, in: model)
    let query = try EntityQuery(request)
    let table = try EntityTable(shape, query.columns, in: model, isWhole: request.wantsJSON)
    var page = Page()
    var fault: FaultView?
    var isOfOrder = false
    do {
      page = try read(query, table, store, sources)
    } catch {
      let known = ConsoleError(error)
      // As a program that reads the JSON needs it.
      guard known.status == 400, !request.wantsJSON else { throw error }
      fault = FaultView(known)
      isOfOrder = query.hasFaultyOrder(of: name, in: store)
    }
    let sortKeys = (try? query.sortKeys()) ?? []
    let hidden = table.all.count - table.shown.count
    let json = WebText.address(["entities", name], suffix: ".json", query.pairs())
    let view = View(
      name: name,
      address: WebText.address(["entities", name]),
      predicate: query.predicate,
      hasPredicate: !query.predicate.isEmpty,
      example: example(shape),
      orderExample: shape.attributes.filter { !$0.isSensitive }.suffix(2).map(\.name)
        .joined(separator: ",-"),
      sort: query.sort,
      clear: query.with { $0.predicate = "" }.address(of: name),
      fault: isOfOrder ? nil : fault,
      orderFault: isOfOrder ? fault : nil,
      headings: table.shown.map { heading($0, sortKeys, query, shape) },
      namesEntity: page.namesEntity,
      rows: page.rows,
      isEmpty: page.rows.isEmpty && fault == nil,
      count: fault == nil ? page.count.phrase : "",
      counted: fault == nil && !page.count.isCurrent ? name : nil,
      columns: table.all.map { column in
        Choice(name: column.name, isChosen: table.shown.contains { $0.name == column.name })
      },
      hiddenCount: hidden > 0 ? Figures.count(hidden, "more column") : nil,
      limits: Set(EntityQuery.limits + [query.limit]).sorted().map {
        Choice(name: String($0), isChosen: $0 == query.limit)
      },
      next: page.next.map { WebText.address(["entities", name], query.pairs(after: $0.text)) },
      first: query.after == nil ? nil : query.address(of: name),
      downloads: downloads(name, query, store, sources),
      profile: WebText.address(
        ["entities", name, "profile"],
        [("where", query.predicate.isEmpty ? nil : query.predicate)]
      ),
      live: query.address(of: name, "live"),
      names: JSONValue.array(pathNames(shape, model).map(JSONValue.string)).text
    )
    return PageAnswer(
      title: name,
      template: "entity",
      view: view,
      json: [
        "v": 1, "entity": .string(name), "address": .string(json),
        "count": JSONValue(page.count.number), "isCountComplete": .bool(page.count.isComplete),
        "rows": .array(page.json), "next": JSONValue(page.next?.text),
      ],
      status: fault == nil ? 200 : 400,
      refresh: page.count.isCurrent || fault != nil ? nil : 3
    )
  }

  /// What was read.
  private struct Page {
    var rows: [Row] = []
    var json: [JSONValue] = []
    var next: FetchCursor?
    var count = ObjectCount(nil)
    var namesEntity = false
  }

  /// Of so many objects that a predicate admits the exact number is not told.
  private static let countedCount = 10_000

  private static func read(
    _ query: EntityQuery,
    _ table: EntityTable,
    _ store: SQLiteStore,
    _ sources: PageSources
  ) throws -> Page {
    let name = table.shape.name
    var request = try query.request(of: name, columns: table.fetched, in: store)
    request.limit = query.limit
    var page = Page()
    if let filter = request.filter {
      let number = try store.count(FetchRequest(name, filter: filter, limit: countedCount + 1))
      page.count = ObjectCount(min(number, countedCount), isLeast: number > countedCount)
    } else {
      page.count = sources.counts.counts(of: [name])[name] ?? page.count
    }
    request.after = try query.after.map { (text) throws(StoreError) in try FetchCursor(text) }
    let attributes = try store.attributes(of: request)
    page.next = try store.forEachRow(inPage: request) { row in
      let (cells, json) = table.cells(row.values, attributes)
      let entity = row.entityName
      let address = ObjectLabel.address(of: row.objectID, in: entity)
      if entity != table.shape.name { page.namesEntity = true }
      page.rows.append(
        Row(
          address: address,
          entity: entity,
          label: rowLabel(entity, cells),
          cells: CellView.html(cells)
        )
      )
      page.json.append(
        .object(
          [("_id", .string(row.objectID.uri)), ("_entity", .string(entity))] + json
        )
      )
    }
    return page
  }

  /// What the link to an object is called: its entity and what stands in the first column that has something.
  static func rowLabel(_ entity: String, _ cells: [CellView]) -> String {
    let first = cells.first { $0.style != "masked" && !$0.isBlank }
    return first.map { "Open \(entity) \($0.text)" } ?? "Open \(entity)"
  }

  /// The address of what a form asks for; nil where the request comes from no form.
  ///
  /// A form sends whatever it has, all its columns among them: the columns that a page shows anyway nobody chose.
  ///
  /// - Throws: `ConsoleError` and `StoreError`.
  static func address(
    ofForm request: ConsoleRequest,
    _ name: String,
    _ sources: PageSources
  ) throws -> String? {
    guard request.value(of: "form") != nil, !request.wantsJSON else { return nil }
    let model = try sources.database.open().model
    var query = try EntityQuery(request)
    let usual = try EntityTable(EntityShape(name, in: model), [], in: model).shown.map(\.name)
    if Set(query.columns) == Set(usual) { query.columns = [] }
    return query.address(of: name)
  }

  private static func heading(
    _ column: EntityTable.Column,
    _ keys: [SortKey],
    _ query: EntityQuery,
    _ shape: EntityShape
  ) -> Heading {
    let key = keys.first.flatMap { $0.name == column.name ? $0 : nil }
    let next = key?.isAscending == true ? "-\(column.name)" : column.name
    let isSortable = column.attribute.map { !$0.isSensitive } ?? false
    let type = column.attribute?.type
    return Heading(
      name: column.name,
      type: type?.rawValue ?? column.link?.destination ?? "",
      address: isSortable
        ? WebText.address(["entities", shape.name], query.pairs(sort: next)) : "",
      order: key.map { $0.isAscending ? "ascending" : "descending" } ?? "none",
      isAscending: key?.isAscending == true,
      isDescending: key?.isAscending == false,
      isNumber: type?.isNumeric ?? false,
      isSortable: isSortable
    )
  }

  private static func downloads(
    _ name: String,
    _ query: EntityQuery,
    _ store: SQLiteStore,
    _ sources: PageSources
  ) -> [Download] {
    var pairs = query.pairs()
    pairs.removeAll { $0.0 == "limit" }
    var downloads = ["CSV", "NDJSON", "JSON"].map {
      Download(
        name: $0,
        address: WebText.address(["entities", name, "download.\($0.lowercased())"], pairs)
      )
    }
    for item in sources.maps.items {
      // A map of JSON alone does not say what elements would be.
      guard case .success(let map) = item.map,
        (try? Exporter(map: map, store: store).check(DownloadPage.xmlRequest(name))) != nil
      else { continue }
      downloads.append(
        Download(
          name: "XML by \(item.name)",
          address: WebText.address(
            ["entities", name, "download.xml"],
            pairs.filter { $0.0 != "columns" } + [("map", String(item.number))]
          )
        )
      )
    }
    return downloads
  }

  /// A predicate of the entity's own attributes.
  private static func example(_ shape: EntityShape) -> String {
    let attributes = shape.attributes.filter { !$0.isSensitive }
    let keys = Set(shape.uniqueKeys.first ?? [])
    let number =
      attributes.first { $0.type.isNumeric && !keys.contains($0.name) }
      ?? attributes.first { $0.type.isNumeric }
    let text =
      attributes.first { $0.name == shape.caption } ?? attributes.first { $0.type == .string }
    let parts = [number.map { "\($0.name) > 100" }, text.map { "\($0.name) == \"North\"" }]
    return parts.compactMap { $0 }.joined(separator: " AND ")
  }

  /// What a predicate may name: attributes, and those of what is linked, but for sensitive ones.
  private static func pathNames(_ shape: EntityShape, _ model: Model) -> [String] {
    func names(_ shape: EntityShape) -> [String] {
      shape.attributes.filter { !$0.isSensitive }.map(\.name)
    }
    var all = names(shape) + shape.relationships.map(\.name)
    for link in shape.relationships {
      guard let target = model.entity(named: link.destination) else { continue }
      let path = link.kind == .toOne ? link.name : "ANY \(link.name)"
      all += names(EntityShape(target, in: model)).map { "\(path).\($0)" }
    }
    return all
  }
}
