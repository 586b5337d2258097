import DragomanGraph

/// A model as a drawing: an entity a box, a relationship (with its inverse) a line.
///
/// Entities that are linked stand in columns by their distance from the one with most links, so that lines lead
/// to the next column or stay in one; within a column each stands near those it is linked with.
struct ModelDrawing {
  /// An entity.
  struct Box {
    let name: String
    let address: String
    let x: Int
    let y: Int
    let width: Int
    let height: Int
    let titleX: Int
    let titleY: Int
    let lineY: Int
    let lineEnd: Int
    let lines: [Line]
  }

  /// A line of a box.
  struct Line {
    let x: Int
    let y: Int
    let text: String
    let style: String
  }

  /// A relationship.
  struct Edge {
    let path: String
    let title: String
    let style: String
    let labels: [Line]
  }

  let boxes: [Box]
  let edges: [Edge]
  let width: Int
  let height: Int

  private struct Pair {
    let left: Int
    let right: Int
    let title: String
    let leftMark: String
    let rightMark: String
    let style: String
  }

  private static let boxWidth = 190
  private static let gap = (x: 96, y: 26)
  private static let margin = 14
  private static let attributeCount = 7

  init(_ model: Model) {
    let entities = model.entities
    let pairs = Self.pairs(model)
    var neighbours = [Set<Int>](repeating: [], count: entities.count)
    for pair in pairs where pair.left != pair.right {
      neighbours[pair.left].insert(pair.right)
      neighbours[pair.right].insert(pair.left)
    }
    let heights = entities.map(Self.height)
    var places = [(x: Int, y: Int)](repeating: (0, 0), count: entities.count)
    var columnOf = [Int](repeating: 0, count: entities.count)
    var top = Self.margin
    var right = 0
    var alone: [Int] = []
    for columns in Self.components(neighbours) {
      guard columns.count > 1 else {
        alone += columns.flatMap { $0 }
        continue
      }
      let tallest = columns.map { Self.total($0, heights) }.max() ?? 0
      for (number, column) in columns.enumerated() {
        var y = top + (tallest - Self.total(column, heights)) / 2
        for entity in column {
          places[entity] = (Self.margin + number * (Self.boxWidth + Self.gap.x), y)
          columnOf[entity] = number
          y += heights[entity] + Self.gap.y
        }
      }
      right = max(right, columns.count)
      top += tallest + Self.gap.y * 2
    }
    // What is linked with nothing stands in rows below.
    let perRow = max(4, right)
    for row in stride(from: 0, to: alone.count, by: perRow) {
      let members = alone[row..<min(row + perRow, alone.count)]
      for (number, entity) in members.enumerated() {
        places[entity] = (Self.margin + number * (Self.boxWidth + Self.gap.x / 3), top)
      }
      top += (members.map { heights[$0] }.max() ?? 0) + Self.gap.y
    }
    boxes = entities.indices.map { Self.box(entities[$0], at: places[$0], heights[$0]) }
    let sides = Self.sides(pairs, columnOf)
    let ports = Self.ports(pairs, sides, places, heights)
    edges = pairs.indices.map { number in
      Self.edge(pairs[number], sides[number], ports[number].start, ports[number].end)
    }
    width = (boxes.map { $0.x + $0.width }.max() ?? 0) + Self.margin + 60
    height = max(top - Self.gap.y, 40) + Self.margin
  }

  // MARK: - What is linked with what

  private static func pairs(_ model: Model) -> [Pair] {
    var pairs: [Pair] = []
    var seen: Set<[String]> = []
    for (left, entity) in model.entities.enumerated() {
      for link in entity.relationships {
        guard let right = model.entities.firstIndex(where: { $0.name == link.destination }),
          !seen.contains([link.destination, link.inverse ?? "", entity.name, link.name])
        else { continue }
        let inverse = link.inverse.flatMap { model.entities[right].relationship(named: $0) }
        seen.insert([entity.name, link.name, link.destination, link.inverse ?? ""])
        let back = inverse.map { $0.kind == .toOne ? "1" : "∗" } ?? ""
        pairs.append(
          Pair(
            left: left,
            right: right,
            title: inverse.map { "\(entity.name).\(link.name) / \(link.destination).\($0.name)" }
              ?? "\(entity.name).\(link.name) → \(link.destination)",
            leftMark: back,
            rightMark: link.kind == .toOne ? "1" : "∗",
            style: "link"
          )
        )
      }
      if let parent = entity.parent,
        let right = model.entities.firstIndex(where: { $0.name == parent })
      {
        pairs.append(
          Pair(
            left: left,
            right: right,
            title: "\(entity.name) is a \(parent)",
            leftMark: "",
            rightMark: "is a",
            style: "parent"
          )
        )
      }
    }
    return pairs
  }

  /// What hangs together, as columns by distance, ordered by where neighbours are.
  private static func components(_ neighbours: [Set<Int>]) -> [[[Int]]] {
    var seen: Set<Int> = []
    var components: [[[Int]]] = []
    let order = neighbours.indices.sorted {
      (neighbours[$1].count, $0) < (neighbours[$0].count, $1)
    }
    for start in order where !seen.contains(start) {
      seen.insert(start)
      var columns: [[Int]] = [[start]]
      while let last = columns.last {
        var next: [Int] = []
        for entity in last {
          for other in neighbours[entity].sorted() where seen.insert(other).inserted {
            next.append(other)
          }
        }
        if next.isEmpty { break }
        columns.append(next)
      }
      components.append(sorted(columns, neighbours))
    }
    return components
  }

  /// A few sweeps of the barycentre method: each entity goes where its neighbours of the column before are.
  private static func sorted(_ columns: [[Int]], _ neighbours: [Set<Int>]) -> [[Int]] {
    var columns = columns
    for sweep in 0..<4 {
      let numbers =
        sweep % 2 == 0 ? Array(columns.indices.dropFirst()) : columns.indices.dropLast().reversed()
      for number in numbers {
        let other = columns[sweep % 2 == 0 ? number - 1 : number + 1]
        let places = Dictionary(uniqueKeysWithValues: other.enumerated().map { ($1, $0) })
        let middles = columns[number].map { entity -> Double in
          let found = neighbours[entity].compactMap { places[$0] }
          return found.isEmpty ? 0 : Double(found.reduce(0, +)) / Double(found.count)
        }
        columns[number] = zip(columns[number], middles).enumerated()
          .sorted { ($0.element.1, $0.offset) < ($1.element.1, $1.offset) }.map(\.element.0)
      }
    }
    return columns
  }

  // MARK: - Boxes and lines

  private static func height(_ entity: Entity) -> Int {
    let count = entity.attributes.count
    return 40 + 18 * min(count, attributeCount) + (count > attributeCount ? 18 : 0)
  }

  private static func total(_ column: [Int], _ heights: [Int]) -> Int {
    column.reduce(0) { $0 + heights[$1] } + max(0, column.count - 1) * gap.y
  }

  private static func box(_ entity: Entity, at place: (x: Int, y: Int), _ height: Int) -> Box {
    let keys = Set(entity.uniqueKeys.flatMap { $0 })
    var lines = entity.attributes.prefix(attributeCount).enumerated().map { number, attribute in
      Line(
        x: place.x + 12,
        y: place.y + 50 + number * 18,
        text: short("\(attribute.name): \(attribute.type.rawValue)"),
        style: keys.contains(attribute.name) ? "key" : ""
      )
    }
    let more = entity.attributes.count - lines.count
    if more > 0 {
      lines.append(
        Line(
          x: place.x + 12,
          y: place.y + 50 + lines.count * 18,
          text: "and \(more) more",
          style: "quiet"
        )
      )
    }
    return Box(
      name: short(entity.name),
      address: WebText.address(["entities", entity.name]),
      x: place.x,
      y: place.y,
      width: boxWidth,
      height: height,
      titleX: place.x + 12,
      titleY: place.y + 21,
      lineY: place.y + 31,
      lineEnd: place.x + boxWidth,
      lines: lines
    )
  }

  private static func short(_ text: String) -> String {
    text.count > 25 ? text.prefix(24) + "…" : text
  }

  // MARK: - Lines

  /// Which sides of its boxes a line leaves.
  private struct Sides {
    /// Whether its left end is the pair's right one.
    let isTurned: Bool
    /// Whether it stays in one column, and leaves both boxes on their right.
    let isNear: Bool
  }

  private static func sides(_ pairs: [Pair], _ columnOf: [Int]) -> [Sides] {
    pairs.map { pair in
      Sides(
        isTurned: columnOf[pair.left] > columnOf[pair.right],
        isNear: columnOf[pair.left] == columnOf[pair.right]
      )
    }
  }

  /// Where lines begin and end: those of one side share its height in the order of where they lead.
  private static func ports(
    _ pairs: [Pair],
    _ sides: [Sides],
    _ places: [(x: Int, y: Int)],
    _ heights: [Int]
  ) -> [(start: (x: Int, y: Int), end: (x: Int, y: Int))] {
    struct Port {
      let edge: Int
      let isStart: Bool
      let order: Int
    }
    var ports: [[Int]: [Port]] = [:]
    for (number, pair) in pairs.enumerated() {
      let (from, to) = sides[number].isTurned ? (pair.right, pair.left) : (pair.left, pair.right)
      let middle = { (entity: Int) in places[entity].y + heights[entity] / 2 }
      ports[[from, 1], default: []].append(
        Port(edge: number, isStart: true, order: from == to ? .min : middle(to))
      )
      ports[[to, sides[number].isNear ? 1 : 0], default: []].append(
        Port(edge: number, isStart: false, order: from == to ? .min + 1 : middle(from))
      )
    }
    var found = pairs.map { _ in (start: (x: 0, y: 0), end: (x: 0, y: 0)) }
    for (side, members) in ports {
      let entity = side[0]
      let sorted = members.sorted { ($0.order, $0.edge) < ($1.order, $1.edge) }
      for (place, port) in sorted.enumerated() {
        let y = places[entity].y + heights[entity] * (place + 1) / (sorted.count + 1)
        let point = (x: places[entity].x + side[1] * boxWidth, y: y)
        if port.isStart {
          found[port.edge].start = point
        } else {
          found[port.edge].end = point
        }
      }
    }
    return found
  }

  private static func edge(
    _ pair: Pair,
    _ sides: Sides,
    _ start: (x: Int, y: Int),
    _ end: (x: Int, y: Int)
  ) -> Edge {
    let bend = sides.isNear ? 44 : max(30, (end.x - start.x) / 2)
    let path =
      "M\(start.x) \(start.y)C\(start.x + bend) \(start.y) "
      + "\(sides.isNear ? end.x + bend : end.x - bend) \(end.y) \(end.x) \(end.y)"
    let marks = sides.isTurned ? [pair.rightMark, pair.leftMark] : [pair.leftMark, pair.rightMark]
    return Edge(
      path: path,
      title: pair.title,
      style: pair.style,
      labels: [
        Line(x: start.x + 5, y: start.y - 4, text: marks[0], style: "mark"),
        Line(
          x: sides.isNear ? end.x + 5 : end.x - 5,
          y: end.y - 4,
          text: marks[1],
          style: sides.isNear ? "mark" : "mark end"
        ),
      ]
    )
  }
}
