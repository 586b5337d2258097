import DragomanGraph

/// Chooses what identifies the records of an entity, by what their values show.
struct KeyGuess {
  private let entity: GuessedEntity
  /// How attributes are named that refer to another entity.
  private let references: Set<[String]>
  private let words: [String]
  /// Whether there are several samples, each a delivery of the feed.
  private let hasDeliveries: Bool

  /// How many attributes are tried together.
  private static let maximumColumnCount = 12
  /// So many different values are no chance.
  private static let manyCount = 100_000

  /// - Parameters:
  ///   - entity: The entity.
  ///   - others: Entities that its attributes may refer to.
  ///   - sampleCount: How many samples there are.
  init(_ entity: GuessedEntity, beside others: [GuessedEntity], sampleCount: Int) {
    self.entity = entity
    hasDeliveries = sampleCount > 1
    references = Set(
      others.filter { $0 !== entity }.map { NameWords($0.name).words + ["id"] }
    )
    words = NameWords(entity.name).words
  }

  /// Sets the key of the entity, and says why.
  func apply() {
    guard entity.unique.isEmpty else { return }
    let singles = self.singles
    if entity.isNested, entity.inverse == nil, let name = sharedKey {
      entity.unique = [name]
      entity.uniqueRemarks.append("the records that have it nested share it")
      return
    }
    if let inverse = entity.inverse { return applyChild(inverse, singles) }
    guard let best = singles.first else { return applyComposite() }
    entity.unique = [best.attribute.name]
    let firstCount = best.attribute.shape?.values.firstDistinctCount ?? 0
    let scope =
      firstCount > 0
      ? "the first \(firstCount)" : best.isRedelivered ? "each sample" : "all \(entity.count)"
    let evidence = "unique in \(scope), never missing"
    entity.uniqueRemarks.append(
      best.rank == 0 || best.isMeasure || entity.count < 3 ? "unsure: \(evidence)" : evidence
    )
    let others = singles.dropFirst().prefix(3).map(\.attribute.name)
    if !others.isEmpty {
      entity.uniqueRemarks.append(
        "so \(others.count == 1 ? "is" : "are") \(others.joined(separator: ", "))"
      )
    }
  }

  /// The id of objects that are nested in several records.
  private var sharedKey: String? {
    guard let identity = entity.shape.identity else { return nil }
    return entity.attributes.first { attribute in
      attribute.shape?.name == identity.name
        && entity.shape.members.contains { $0 === attribute.shape }
    }?.name
  }

  private struct Candidate {
    let attribute: GuessedAttribute
    let rank: Int
    let place: Int
    /// Whether values of one sample are in another one as well.
    var isRedelivered = false

    /// Whether the name says that it is a key: what comes again in another sample is the same record then.
    var isKey: Bool { rank >= 60 }

    /// Whether it is of a type that rather tells when or how much than who.
    var isMeasure: Bool {
      !isKey && [.timestamp, .date, .time, .decimal].contains(attribute.type)
    }

    /// It as part of a key; nil where nobody can tell what its values mean, or they are not kept.
    func part(of rows: RowTable) -> RowTable.Part? {
      guard let shape = attribute.shape, let index = rows.column(of: shape),
        shape.values.meanings.areKnown(as: attribute.reading)
      else { return nil }
      return RowTable.Part(
        index: index,
        meanings: shape.values.meanings,
        reading: attribute.reading
      )
    }
  }

  /// Attributes whose values are all there and all different, the likeliest first.
  private var singles: [Candidate] {
    candidates.compactMap { candidate in
      guard let values = candidate.attribute.shape?.values else { return nil }
      let reading = candidate.attribute.reading
      if values.areUnique(entity.count, as: reading) { return candidate }
      guard candidate.isKey else { return nil }
      if hasDeliveries, values.areUnique(entity.count, inEachSample: true, as: reading) {
        var candidate = candidate
        candidate.isRedelivered = true
        return candidate
      }
      // Of very many values the first are held against each other.
      let isMany = values.firstDistinctCount >= Self.manyCount && values.meanings.areSpelled
      return isMany ? candidate : nil
    }
  }

  /// Attributes that may be part of a key, the likeliest first.
  private var candidates: [Candidate] {
    var found: [Candidate] = []
    for (place, attribute) in entity.attributes.enumerated() {
      guard attribute.isAlwaysThere, let shape = attribute.shape,
        ![.double, .float, .json, .bool, .duration].contains(attribute.type),
        !attribute.entries.contains(where: { $0.key == "coerce" }),
        shape.values.longestText <= 100
      else { continue }
      let last = attribute.path.split(whereSeparator: { "./@:".contains($0) }).last.map(String.init)
      let own = NameWords(last ?? attribute.path).keyRank(of: words)
      let whole = NameWords(attribute.name).keyRank(of: words)
      let base =
        switch attribute.type {
        case .date, .timestamp: 8
        case .string, .uuid: 5
        default: 0
        }
      // Names change, the codes of a standard do not.
      let isCode = entity.count >= 10 && shape.values.areCodes && attribute.type == .string
      let isDeep = attribute.path != "." && attribute.path.contains { "./[".contains($0) }
      let isReference = references.contains(NameWords(attribute.name).words)
      let name = isReference ? 10 : max(own, whole, isCode ? 45 : 0)
      let rank = isDeep ? name - 20 : name + base
      let isAmount = attribute.type == .decimal || NameWords(attribute.name).isMoney
      found.append(Candidate(attribute: attribute, rank: isAmount ? -10 : rank, place: place))
    }
    return found.sorted { ($0.rank, $1.place) > ($1.rank, $0.place) }
  }

  private func applyChild(_ inverse: String, _ singles: [Candidate]) {
    if let best = singles.first, best.isKey, entity.count > 2 {
      entity.unique = [best.attribute.name]
      entity.uniqueRemarks.append(
        "unique in \(best.isRedelivered ? "each sample" : "all \(entity.count)")"
      )
      return
    }
    // What stands once in each record at most is unique in it.
    if entity.shape.rows == nil, let best = candidates.first(where: { $0.rank > 0 }) {
      entity.unique = [inverse, best.attribute.name]
      entity.uniqueRemarks.append("one at most in each \(inverse) here")
      return
    }
    if let rows = entity.shape.rows, rows.isComplete {
      for candidate in candidates.prefix(Self.maximumColumnCount) where candidate.rank > 0 {
        guard let part = candidate.part(of: rows), rows.isUnique([.owner, part]) else { continue }
        entity.unique = [inverse, candidate.attribute.name]
        entity.uniqueRemarks.append("each only once in its \(inverse)")
        return
      }
    }
    addIndex(in: inverse)
  }

  /// Two or three attributes that are together different in every record.
  private func applyComposite() {
    guard let rows = entity.shape.rows, rows.rowCount > 1 else { return addIndex(in: nil) }
    let columns = candidates.filter { $0.rank >= 0 }.prefix(Self.maximumColumnCount).compactMap {
      candidate in candidate.part(of: rows).map { (candidate: candidate, part: $0) }
    }
    var sets: [[Int]] = []
    for a in columns.indices {
      for b in columns.indices where b > a { sets.append([a, b]) }
    }
    for a in columns.indices {
      for b in columns.indices where b > a {
        for c in columns.indices where c > b { sets.append([a, b, c]) }
      }
    }
    for set in sets where rows.isUnique(set.map { columns[$0].part }) {
      let names = columns.map(\.candidate.attribute.name)
      let parts = set + twins(of: set, in: names)
      entity.unique = parts.sorted { columns[$0].part.index < columns[$1].part.index }
        .map { names[$0] }
      let scope = rows.isComplete ? "all \(entity.count)" : "the first \(rows.rowCount)"
      entity.uniqueRemarks.append("unsure: no attribute is unique, these together are in \(scope)")
      return
    }
    addIndex(in: nil)
  }

  /// What is numbered like a part of a key belongs to it: `team2` to `team1`.
  private func twins(of set: [Int], in names: [String]) -> [Int] {
    func stem(_ name: String) -> Substring? {
      name.last?.isNumber == true ? name.prefix { !$0.isNumber } : nil
    }
    let stems = set.compactMap { stem(names[$0]) }
    return names.indices.filter { place in
      !set.contains(place) && stem(names[place]).map(stems.contains) == true
    }
  }

  /// The place in the list, where the values tell no key.
  private func addIndex(in inverse: String?) {
    let name = entity.freeName("place")
    entity.attributes.insert(
      GuessedAttribute(name: name, path: "$index", type: .int64, isAlwaysThere: true).with {
        $0.entries = [("export", "false")]
      },
      at: 0
    )
    guard inverse == nil, hasDeliveries else {
      entity.unique = [inverse, name].compactMap { $0 }
      entity.uniqueRemarks.append(
        inverse == nil
          ? "unsure: no values are unique, so the place in the feed is the key"
          : "no values are unique in it, so the place in the list is the key"
      )
      return
    }
    // Each file counts from 0.
    let file = entity.freeName("file")
    entity.attributes.insert(
      GuessedAttribute(name: file, path: "$file", isAlwaysThere: true).with {
        $0.entries = [("export", "false")]
      },
      at: 0
    )
    entity.unique = [file, name]
    entity.uniqueRemarks.append(
      "unsure: no values are unique, so the file and the place in it are the key"
    )
  }
}
