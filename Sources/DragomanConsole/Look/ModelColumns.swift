/// In which column of a drawing each entity stands, and in which order.
///
/// Each part that hangs together stands in columns by the distance from one of its entities, so that lines lead to
/// the next column or stay in one. Of all such drawings the one with the fewest crossings is taken: small models
/// are tried from each entity.
struct ModelColumns {
  /// The parts that hang together, largest first as they are found; each as columns of entities' indexes.
  let parts: [[[Int]]]

  /// Of larger parts only one drawing is tried.
  private static let triedCount = 30

  /// - Parameter neighbours: Which entities each is linked with, itself not.
  init(_ neighbours: [Set<Int>]) {
    var seen: Set<Int> = []
    var parts: [[[Int]]] = []
    // The one with most links first.
    let order = neighbours.indices.sorted {
      (neighbours[$1].count, $0) < (neighbours[$0].count, $1)
    }
    for start in order where !seen.contains(start) {
      let members = Self.columns(from: start, neighbours).flatMap { $0 }
      seen.formUnion(members)
      let starts = members.count <= Self.triedCount ? order.filter(Set(members).contains) : [start]
      var best: (columns: [[Int]], crossings: Int)?
      for start in starts {
        let columns = Self.sorted(Self.columns(from: start, neighbours), neighbours)
        let crossings = Self.crossings(columns, neighbours)
        if best.map({ crossings < $0.crossings }) ?? true { best = (columns, crossings) }
        if crossings == 0 { break }
      }
      if let best { parts.append(best.columns) }
    }
    self.parts = parts
  }

  private static func columns(from start: Int, _ neighbours: [Set<Int>]) -> [[Int]] {
    var seen: Set<Int> = [start]
    var columns = [[start]]
    while let last = columns.last {
      let next = last.flatMap { entity in
        neighbours[entity].sorted().filter { seen.insert($0).inserted }
      }
      if next.isEmpty { break }
      columns.append(next)
    }
    return columns
  }

  /// Sweeps of the barycentre method, in which each entity goes where its neighbours of the column before are,
  /// then exchanges of two that stand one above the other, as long as they help.
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
    guard columns.joined().count <= triedCount else { return columns }
    var least = crossings(columns, neighbours)
    var hasImproved = true
    while hasImproved, least > 0 {
      hasImproved = false
      for number in columns.indices {
        for first in columns[number].indices {
          for second in columns[number].indices.dropFirst(first + 1) {
            columns[number].swapAt(first, second)
            let count = crossings(columns, neighbours)
            if count < least {
              least = count
              hasImproved = true
            } else {
              columns[number].swapAt(first, second)
            }
          }
        }
      }
    }
    return columns
  }

  /// How many pairs of lines cross: between two columns those that change their order; within one, whose lines are
  /// arcs on its right, those that overlap, and those that begin under another's arc.
  static func crossings(_ columns: [[Int]], _ neighbours: [Set<Int>]) -> Int {
    var count = 0
    for (number, column) in columns.enumerated() {
      let places = Dictionary(uniqueKeysWithValues: column.enumerated().map { ($1, $0) })
      let next = number + 1 < columns.count ? columns[number + 1] : []
      let nextPlaces = Dictionary(uniqueKeysWithValues: next.enumerated().map { ($1, $0) })
      var across: [(from: Int, to: Int)] = []
      var arcs: [(from: Int, to: Int)] = []
      for (place, entity) in column.enumerated() {
        for other in neighbours[entity] {
          if let to = nextPlaces[other] { across.append((place, to)) }
          if let to = places[other], to > place { arcs.append((place, to)) }
        }
      }
      for (index, one) in across.enumerated() {
        for other in across[(index + 1)...]
        where (one.from - other.from).signum() * (one.to - other.to).signum() < 0 { count += 1 }
      }
      for (index, arc) in arcs.enumerated() {
        count += across.count { arc.from < $0.from && $0.from < arc.to }
        for other in arcs[(index + 1)...] {
          let isOverlapping =
            arc.from < other.from && other.from < arc.to && arc.to < other.to
            || other.from < arc.from && arc.from < other.to && other.to < arc.to
          if isOverlapping { count += 1 }
        }
      }
    }
    return count
  }
}
