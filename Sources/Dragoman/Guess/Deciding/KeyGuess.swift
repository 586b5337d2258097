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
  /// So many records with a day each are a series.
  private static let seriesCount = 30
  /// So many with a text each are told apart by it.
  private static let wordCount = 100
  /// So many records tell what is unique together.
  private static let compositeCount = 8
  /// How much it says that all values are codes of one length.
  private static let valueCodeRank = 45

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
    if entity.isNested, entity.inverse == nil, let names = sharedKey {
      entity.unique = names
      entity.uniqueRemarks.append("the records that have it nested share it")
      return
    }
    if let inverse = entity.inverse { return applyChild(inverse, singles) }
    guard let best = singles.first(where: { $0.isName || isShown($0) }) else {
      return applyComposite(without: singles)
    }
    let isSure = best.isSure && (times.isEmpty || best.name != NameWords.codeRank)
    // What has a time may come again with another one.
    let time = isSure || isTime(best) || best.isAll(of: entity) ? nil : seriesTime
    entity.unique = ([best] + (time.map { [$0] } ?? [])).sorted { $0.place < $1.place }.map(
      \.attribute.name
    )
    let firstCount = best.attribute.shape?.values.firstDistinctCount ?? 0
    let scope =
      firstCount > 0
      ? "the first \(firstCount)" : best.isRedelivered ? "each sample" : "all \(entity.count)"
    let evidence =
      entity.count == 1
      ? "by its name: there is one record"
      : time != nil
        ? "\(best.attribute.name) alone is unique in \(scope), but may come again at another time"
        : "unique in \(scope), never missing"
    entity.uniqueRemarks.append(isSure ? evidence : "unsure: \(evidence)")
    let others = singles.filter { $0.place != best.place && $0.place != time?.place }.prefix(3).map(
      \.attribute.name
    )
    if !others.isEmpty, entity.count > 1 {
      entity.uniqueRemarks.append(
        "so \(others.count == 1 ? "is" : "are") \(others.joined(separator: ", "))"
      )
    }
  }

  /// Whether the records show that a value without such a name is one: it is all that they are, or so many have
  /// a day or a short text each.
  private func isShown(_ candidate: Candidate) -> Bool {
    switch candidate.attribute.type {
    case _ where candidate.isAll(of: entity): true
    case .date: entity.count >= Self.seriesCount
    case .string:
      entity.count >= Self.wordCount
        && candidate.attribute.shape.map { $0.values.longestText <= 40 } == true
    default: false
    }
  }

  /// The id of objects that are nested in several records, with their kind where only both tell which one it is.
  private var sharedKey: [String]? {
    guard let identity = entity.shape.identity else { return nil }
    func isOwn(_ attribute: GuessedAttribute) -> Bool {
      entity.shape.members.contains { $0 === attribute.shape }
    }
    let found = entity.attributes.first { $0.shape?.name == identity.name && isOwn($0) }
    guard let id = found else { return nil }
    // Numbers, and ids beside nothing but a kind, count within the kind: {"type":"team","id":9}.
    let kind = entity.attributes.first {
      ["type", "kind"].contains($0.shape?.nameText.lowercased()) && isOwn($0) && $0.isAlwaysThere
        && $0.type == .string
    }
    guard let kind, id.type == .int64 || entity.shape.members.count == 2 else { return [id.name] }
    return [kind.name, id.name]
  }

  private struct Candidate {
    let attribute: GuessedAttribute
    /// How likely it is part of a key.
    let rank: Int
    /// How much its name says so.
    let name: Int
    let place: Int
    /// Whether values of one sample are in another one as well.
    var isRedelivered = false

    /// Whether the name says that it is a key: what comes again in another sample is the same record then.
    var isKey: Bool { name >= NameWords.otherCodeRank }

    /// Whether it names records by itself, wherever they stand.
    var isID: Bool { name >= NameWords.uuidRank }

    /// Whether it tells the records of a list apart by its name.
    var isOfList: Bool { name >= NameWords.numberRank || isPosition }

    /// Whether it counts the records of a list.
    var isPosition: Bool { name == NameWords.positionRank }

    /// Whether it is a name of the record at all: of what is no more than a text, a number, a date or a place,
    /// tomorrow's records may have the same.
    var isName: Bool { name > NameWords.positionRank || attribute.type == .uuid }

    /// Whether it is all that the records are.
    func isAll(of entity: GuessedEntity) -> Bool {
      attribute.path == "." && entity.attributes.count == 1 && entity.relationships.isEmpty
    }

    /// Whether the name leaves no doubt.
    var isSure: Bool { name >= NameWords.pageRank }

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

  /// Whether it tells when something was.
  private func isTime(_ candidate: Candidate) -> Bool {
    [.date, .timestamp].contains(candidate.attribute.type)
      || NameWords(candidate.attribute.name).isPeriod
  }

  /// Attributes that tell when something was, the likeliest first.
  private var times: [Candidate] { candidates.filter(isTime) }

  /// The time that tells records of a series apart.
  private var seriesTime: Candidate? {
    times.first { !NameWords($0.attribute.name).isChangeOrSpan }
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
      let base =
        switch attribute.type {
        case .date, .timestamp: 8
        case .string, .uuid: 5
        default: 0
        }
      let (name, rank) = self.name(of: attribute, shape)
      let isAmount = attribute.type == .decimal || NameWords(attribute.name).isMoney
      let isNoKey = isAmount && name < NameWords.otherCodeRank
      found.append(
        Candidate(
          attribute: attribute,
          rank: isNoKey ? -10 : rank + (isDeep(attribute) ? 0 : base),
          name: isNoKey ? 0 : name,
          place: place
        )
      )
    }
    return found.sorted { ($0.rank, $1.place) > ($1.rank, $0.place) }
  }

  private func isDeep(_ attribute: GuessedAttribute) -> Bool {
    attribute.path != "." && attribute.path.contains { "./[".contains($0) }
  }

  /// How much the name of an attribute says that it is a key, and how likely it is one beside others.
  private func name(of attribute: GuessedAttribute, _ shape: FeedShape) -> (name: Int, rank: Int) {
    let steps = attribute.path.split(whereSeparator: { "./@:".contains($0) }).map(String.init)
    let own = NameWords(steps.last ?? attribute.path).keyRank(of: words)
    let whole = NameWords(attribute.name).keyRank(of: words)
    // Names change, the codes of a standard do not.
    let isCode = entity.count >= 10 && shape.values.areCodes && attribute.type == .string
    let isReference = references.contains(NameWords(attribute.name).words)
    var name = isReference ? 10 : max(own, whole, isCode ? Self.valueCodeRank : 0)
    // A text that is called as its records are is their name; a temperature is not.
    if name == NameWords.entityRank, attribute.type != .string { name = 0 }
    guard isDeep(attribute) else { return (name, name) }
    // The id of what is nested is that of another thing, unless it is the record itself in a wrapper.
    let around = steps.dropLast().last ?? ""
    let isOwn = FeedGuess.wrappers.contains(around) || NameWords(around).words == words
    let rank = isOwn ? name - 20 : min(name - 20, 10)
    return (isOwn ? name : rank, rank)
  }

  private func applyChild(_ inverse: String, _ singles: [Candidate]) {
    let rows = entity.shape.rows
    let lists = rows?.listCounts ?? (lists: 0, shared: 0)
    // Where few lists were seen, ids that count within each of them look like ids of all.
    if let best = singles.first, best.isID, lists.lists >= 3, lists.shared >= 4 {
      entity.unique = [best.attribute.name]
      entity.uniqueRemarks.append(
        "unique in \(best.isRedelivered ? "each sample" : "all \(entity.count)")"
      )
      return
    }
    for candidate in candidates.prefix(Self.maximumColumnCount)
    where candidate.rank > 0 && isShown(candidate, in: lists) {
      if let rows {
        guard rows.isComplete, let part = candidate.part(of: rows),
          rows.isUnique([.owner, part])
        else { continue }
      }
      entity.unique = [inverse, candidate.attribute.name]
      let evidence =
        rows == nil ? "one at most in each \(inverse) here" : "each only once in its \(inverse)"
      entity.uniqueRemarks.append(
        candidate.isOfList ? evidence : "unsure: \(evidence)"
      )
      return
    }
    addIndex(in: inverse)
  }

  /// Whether so many children stand beside others that an attribute may be their key, which differs in each list.
  private func isShown(_ candidate: Candidate, in lists: (lists: Int, shared: Int)) -> Bool {
    if candidate.isOfList { return true }
    if candidate.isName { return lists.lists > 1 && lists.shared >= 4 }
    guard candidate.attribute.type == .string else { return false }
    return lists.shared >= (candidate.isAll(of: entity) ? 10 : 20)
  }

  /// Two or three attributes that are together different in every record.
  ///
  /// A key or name with a time comes first: a measured value is unique beside it by chance.
  ///
  /// - Parameter singles: What is different by itself, by chance: with anything else it would be so, too.
  private func applyComposite(without singles: [Candidate]) {
    guard let rows = entity.shape.rows, rows.rowCount > 1 else { return addIndex(in: nil) }
    let chances = Set(singles.map(\.place))
    let seriesTime = self.seriesTime
    let columns = candidates.filter { candidate in
      let isNumber = candidate.attribute.type == .int64 && candidate.name < 10 && !isTime(candidate)
      return candidate.place == seriesTime?.place
        || (candidate.rank >= 0 && !isNumber && !chances.contains(candidate.place))
    }
    .prefix(Self.maximumColumnCount).compactMap {
      candidate in candidate.part(of: rows).map { (candidate: candidate, part: $0) }
    }
    let time = columns.firstIndex { $0.candidate.place == seriesTime?.place }
    var sets: [[Int]] = []
    if let time {
      sets = columns.indices.filter { $0 != time && columns[$0].candidate.isName }.map {
        [$0, time]
      }
    }
    // With a time that is unique by itself any set would be.
    let others = columns.indices.filter {
      $0 != time || !chances.contains(columns[$0].candidate.place)
    }
    for a in others {
      for b in others where b > a { sets.append([a, b]) }
    }
    for a in others {
      for b in others where b > a {
        for c in others where c > b { sets.append([a, b, c]) }
      }
    }
    // Of few records any attributes are unique together.
    let isMany = rows.rowCount >= Self.compositeCount
    for set in sets where isMany || set.contains(where: { columns[$0].candidate.isKey }) {
      guard rows.isUnique(set.map { columns[$0].part }) else { continue }
      let names = columns.map(\.candidate.attribute.name)
      let timed = set + (time.map { set.contains($0) ? [] : [$0] } ?? [])
      let parts = timed + twins(of: timed, in: names)
      entity.unique = parts.sorted { columns[$0].part.index < columns[$1].part.index }
        .map { names[$0] }
      let scope = rows.isComplete ? "all \(entity.count)" : "the first \(rows.rowCount)"
      entity.uniqueRemarks.append("unsure: no attribute is unique, these together are in \(scope)")
      return
    }
    addIndex(in: nil, beside: singles.prefix(3).map(\.attribute.name))
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

  /// The place in the list, where nothing names a record.
  ///
  /// - Parameters:
  ///   - inverse: The record around; nil: the list is the feed's.
  ///   - others: Attributes that are unique here though nothing says that they name a record.
  private func addIndex(in inverse: String?, beside others: [String] = []) {
    let name = addPlace("place", "$index")
    if let inverse {
      entity.unique = [inverse, name]
      entity.uniqueRemarks.append("nothing names it for sure, so the place in the list is the key")
      return
    }
    // Each file counts from 0.
    entity.unique = [addPlace("file", "$file"), name]
    entity.uniqueRemarks.append(
      "unsure: nothing names a record, so the file and the place in it are the key"
    )
    if !others.isEmpty {
      entity.uniqueRemarks.append("unique here: \(others.joined(separator: ", "))")
    }
  }

  private func addPlace(_ wanted: String, _ path: String) -> String {
    let name = entity.freeName(wanted)
    entity.attributes.insert(
      GuessedAttribute(
        name: name,
        path: path,
        type: path == "$index" ? .int64 : .string,
        entries: [("export", "false")],
        isAlwaysThere: true
      ),
      at: 0
    )
    return name
  }
}
