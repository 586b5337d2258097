import Dragoman
import DragomanGraph

/// Objects of an entity as a table: which columns are read, and what a row becomes.
struct EntityTable {
  /// A column as people see it.
  struct Column {
    /// The attribute's or relationship's name.
    let name: String
    /// The attribute; nil of a relationship.
    let attribute: Attribute?
    /// The to-one relationship; nil of an attribute.
    let link: Relationship?
  }

  /// How many columns are shown where nobody chose.
  static let usualCount = 12

  let shape: EntityShape
  /// All that could be shown.
  let all: [Column]
  /// What is shown.
  let shown: [Column]
  private let model: Model

  /// - Parameters:
  ///   - shape: The entity.
  ///   - chosen: The columns that somebody chose; empty for the first twelve.
  ///   - model: The model.
  ///   - isWhole: Whether all are shown where nobody chose: a program scrolls over nothing.
  /// - Throws: `ConsoleError` for a column that there is not.
  init(
    _ shape: EntityShape,
    _ chosen: [String],
    in model: Model,
    isWhole: Bool = false
  ) throws(ConsoleError) {
    self.shape = shape
    self.model = model
    let all =
      shape.attributes.map { Column(name: $0.name, attribute: $0, link: nil) }
      + shape.relationships.filter { $0.kind == .toOne }
      .map { Column(name: $0.name, attribute: nil, link: $0) }
    self.all = all
    guard !chosen.isEmpty else {
      shown = isWhole ? all : Array(all.prefix(Self.usualCount))
      return
    }
    for name in chosen where !all.contains(where: { $0.name == name }) {
      let near = nearest(to: name, in: all.map(\.name))
      throw ConsoleError(
        400,
        "\(shape.name) has no column \"\(name)\".",
        help: near.map { "did you mean \($0)?" }
      )
    }
    shown = all.filter { chosen.contains($0.name) }
  }

  /// The columns to fetch: of a to-one its row and what it is called by.
  var fetched: [FetchColumn] { shown.flatMap(fetched) }

  private func fetched(_ column: Column) -> [FetchColumn] {
    guard let link = column.link else { return [FetchColumn(column.name)] }
    return [FetchColumn(link.name)] + labels(of: link).map { FetchColumn("\(link.name).\($0)") }
  }

  private func labels(of link: Relationship) -> [String] {
    model.entity(named: link.destination)
      .map { EntityShape($0, in: model).labelPaths(in: model) } ?? []
  }

  /// The cells of a row.
  ///
  /// - Parameters:
  ///   - values: The values of `fetched`.
  ///   - attributes: Their attributes.
  /// - Returns: A cell a column, and the same as members of a JSON object.
  func cells(
    _ values: [StoredValue],
    _ attributes: [Attribute]
  ) -> (cells: [CellView], json: [(String, JSONValue)]) {
    var place = 0
    var cells: [CellView] = []
    var json: [(String, JSONValue)] = []
    for column in shown {
      guard let link = column.link else {
        cells.append(CellView(values[place], attributes[place]))
        json.append((column.name, JSONValue(values[place], attributes[place])))
        place += 1
        continue
      }
      let end = place + 1 + labels(of: link).count
      let target = self.target(link, values[place..<end], attributes[place..<end])
      cells.append(target.cell)
      json.append((column.name, target.json))
      place = end
    }
    return (cells, json)
  }

  private func target(
    _ link: Relationship,
    _ values: ArraySlice<StoredValue>,
    _ attributes: ArraySlice<Attribute>
  ) -> (cell: CellView, json: JSONValue) {
    let plain = Attribute(name: link.name)
    guard let key = values.first?.integer, let entity = model.entity(named: link.destination) else {
      return (CellView(.null, plain), .null)
    }
    let shape = EntityShape(entity, in: model)
    let id = ObjectID(entity: shape.root, primaryKey: key)
    let label = ObjectLabel(id, shape, Array(values.dropFirst()), Array(attributes.dropFirst()))
    let text = label.caption.isEmpty ? label.key : "\(label.key) \(label.caption)"
    return (
      CellView(.text(text), plain, link: label.address),
      ["id": .string(id.uri), "key": .string(label.key), "address": .string(label.address)]
    )
  }
}
