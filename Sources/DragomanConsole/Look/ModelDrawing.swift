import DragomanGraph

/// A model as a drawing: an entity a box, a relationship (with its inverse) a line.
///
/// Where entities stand is told by `ModelColumns`: lines lead to the next column, or stay in one as arcs on its
/// right.
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
    /// What is written at the line.
    let name: String
    let leftMark: String
    let rightMark: String
    let style: String

    /// Whether an entity is linked with itself.
    var isLoop: Bool { left == right }
  }

  private static let boxWidth = 190
  private static let gap = (x: 150, y: 30)
  private static let margin = 26
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
    for columns in ModelColumns(neighbours).parts {
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
    let rows = Self.rows(places, columnOf)
    edges = pairs.indices.map { number in
      Self.edge(
        pairs[number],
        sides[number],
        ports[number].start,
        ports[number].end,
        span: abs(rows[pairs[number].left] - rows[pairs[number].right])
      )
    }
    width = (boxes.map { $0.x + $0.width }.max() ?? 0) + Self.margin + 110
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
            name: short(
              inverse.map { "\(link.name) / \($0.name)" } ?? link.name
            ),
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
            title: "\(entity.name) is \(MessageWords.withArticle(parent))",
            name: "is a",
            leftMark: "",
            rightMark: "",
            style: "parent"
          )
        )
      }
    }
    return pairs
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

  /// Which place of its column each entity has.
  private static func rows(_ places: [(x: Int, y: Int)], _ columnOf: [Int]) -> [Int] {
    places.indices.map { entity in
      places.indices.count { columnOf[$0] == columnOf[entity] && places[$0].y < places[entity].y }
    }
  }

  /// Where lines begin and end: those of one side share its height in the order of where they lead.
  ///
  /// Arcs that lead up are above all others, the nearest one first, and those that lead down below, so that they
  /// stand one in the other.
  private static func ports(
    _ pairs: [Pair],
    _ sides: [Sides],
    _ places: [(x: Int, y: Int)],
    _ heights: [Int]
  ) -> [(start: (x: Int, y: Int), end: (x: Int, y: Int))] {
    struct Port {
      let edge: Int
      let isStart: Bool
      let order: (Int, Int)
    }
    var ports: [[Int]: [Port]] = [:]
    for (number, pair) in pairs.enumerated() where !pair.isLoop {
      let (from, to) = sides[number].isTurned ? (pair.right, pair.left) : (pair.left, pair.right)
      let middle = { (entity: Int) in places[entity].y + heights[entity] / 2 }
      let isNear = sides[number].isNear
      func order(_ own: Int, _ other: Int) -> (Int, Int) {
        guard isNear, own != other else { return (1, middle(other)) }
        return (middle(other) < middle(own) ? 0 : 2, -middle(other))
      }
      ports[[from, 1], default: []].append(
        Port(edge: number, isStart: true, order: order(from, to))
      )
      ports[[to, isNear ? 1 : 0], default: []].append(
        Port(edge: number, isStart: false, order: order(to, from))
      )
    }
    var found = pairs.map { _ in (start: (x: 0, y: 0), end: (x: 0, y: 0)) }
    // What leads to its own entity stands on the box, the first one at the right.
    var loopCounts: [Int: Int] = [:]
    for (number, pair) in pairs.enumerated() where pair.isLoop {
      let (x, y) = places[pair.left]
      let right = x + boxWidth - 20 - 56 * loopCounts[pair.left, default: 0] % (boxWidth - 56)
      found[number] = (start: (right - 28, y), end: (right, y))
      loopCounts[pair.left, default: 0] += 1
    }
    for (side, members) in ports {
      let entity = side[0]
      // Of two lines between the same entities the arc that begins further out ends further out.
      let sorted = members.sorted { one, other in
        if one.order != other.order { return one.order < other.order }
        return one.order.0 == 0 ? one.edge > other.edge : one.edge < other.edge
      }
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
    _ end: (x: Int, y: Int),
    span: Int
  ) -> Edge {
    if pair.isLoop {
      return Edge(
        path:
          "M\(start.x) \(start.y)C\(start.x) \(start.y - 30) \(end.x) \(end.y - 30) \(end.x) \(end.y)",
        title: pair.title,
        style: pair.style,
        labels: [
          Line(x: start.x - 3, y: start.y - 5, text: pair.leftMark, style: "mark end"),
          Line(x: end.x + 3, y: end.y - 5, text: pair.rightMark, style: "mark"),
          Line(x: (start.x + end.x) / 2, y: start.y - 24, text: pair.name, style: "edge-name"),
        ]
      )
    }
    let bend = sides.isNear ? min(32 + 14 * span, 80) : max(30, (end.x - start.x) / 2)
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
        // A curve's middle is at three quarters of its handles.
        Line(
          x: (start.x + end.x) / 2 + (sides.isNear ? bend * 3 / 4 : 0),
          y: (start.y + end.y) / 2 + 4,
          text: pair.name,
          style: "edge-name"
        ),
      ]
    )
  }
}
