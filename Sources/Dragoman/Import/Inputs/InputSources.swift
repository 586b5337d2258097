import DragomanGraph

/// Which sources of a plan read one input: by what the request says, by the globs of the sources, and,
/// where several stand at one place, by what the first records there have.
struct InputSources {
  /// The sources at one place, by their indexes in the plan; more than one until the first records are
  /// there.
  private(set) var places: [[Int]]
  private let plan: ImportPlan
  private let input: String

  /// How many records are looked at.
  private static let sampleCount = 100

  /// The sources that take part, whatever their format.
  ///
  /// - Parameters:
  ///   - map: The map.
  ///   - request: The request.
  ///   - input: The input's name.
  /// - Returns: The sources of the map that may read the input.
  static func candidates(
    of map: ImportMap,
    _ request: ImportRequest,
    for input: String
  ) -> [SourceMap] {
    if let assigned = request.sourcesByInput[input] {
      return map.sources.filter { assigned.contains($0.name) }
    }
    let named = map.sources.filter {
      request.sources.isEmpty || request.sources.contains($0.name)
    }
    // Who is the only one that was asked for reads what there is.
    if request.sources.count == 1 { return named }
    let matching = named.filter { source in
      source.files.contains { FileGlob(pattern: $0).matches(input) }
    }
    return matching.isEmpty ? named.filter(\.files.isEmpty) : matching
  }

  /// Narrows the sources of a plan to those of an input.
  ///
  /// - Throws: `.request` where none is left.
  init(
    _ plan: ImportPlan,
    candidates: [SourceMap],
    isMapped: Bool,
    hasPlaces: Bool,
    input: String
  ) throws(ImportError) {
    self.plan = plan
    self.input = input
    var chosen = plan.sources.indices.filter { index in
      !isMapped || candidates.contains { $0.name.utf8.elementsEqual(plan.sources[index].name.utf8) }
    }
    // A JSON source reads lines, too, where no source is for them.
    let exact = chosen.filter { plan.sources[$0].map.format == plan.format }
    if !exact.isEmpty { chosen = exact }
    guard !chosen.isEmpty else {
      throw ImportError(
        .request,
        "No source of the map that reads \(plan.format.rawValue.uppercased()) is for \(input).",
        help:
          "give one of \(Self.list(plan.sources.map(\.name))) `files:` that match the name, or assign"
          + " the input: \(Self.assignment("NAME", to: "INPUT"))"
      )
    }
    places = []
    for index in chosen {
      let records = plan.sources[index].map.records
      let place = places.firstIndex { others in
        let other = plan.sources[others[0]].map.records
        // Rows, lines and records in memory all stand at one place.
        return !hasPlaces || Self.isSamePlace(records, other)
      }
      if let place { places[place].append(index) } else { places.append([index]) }
    }
  }

  /// All sources that may take part.
  var all: [Int] { places.flatMap { $0 } }

  /// The source whose place, encoding and separator stand for all that share it.
  func source(at place: Int) -> ImportPlan.Source { plan.sources[places[place][0]] }

  /// Gives each record of a batch its source of the plan; a reader knows places only.
  ///
  /// - Throws: `.request` where it cannot be told.
  mutating func assign(_ batch: RecordBatch) throws(ImportError) {
    for place in places.indices where places[place].count > 1 {
      let sample = batch.records.indices.lazy.filter { index in
        let record = batch.records[index]
        return record.source == place && record.node != RecordBatch.malformedNode
      }.prefix(Self.sampleCount).map { batch.records[$0].node }
      guard !sample.isEmpty else {
        // Malformed lines alone tell nothing; they are rejected as those of the first source.
        continue
      }
      var fits = places[place].map { SourceFit(plan.sources[$0].entity, in: plan) }
      for node in sample { for fit in fits.indices { fits[fit].see(node, in: batch) } }
      let names = Self.names(of: Array(sample), in: batch)
      try choose(place, fits, names)
    }
    for index in batch.records.indices {
      batch.records[index].source = places[batch.records[index].source][0]
    }
  }

  /// Chooses among the sources of CSV by the columns that each of them finds.
  ///
  /// - Parameter columns: The names in the header, as a source divides it.
  /// - Throws: `.request` where it cannot be told.
  mutating func choose(columns: (ImportPlan.Source) -> [String]) throws(ImportError) {
    guard let place = places.first, place.count > 1 else { return }
    let headers = place.map { columns(plan.sources[$0]) }
    let fits = zip(place, headers).map { index, header in
      var fit = SourceFit(plan.sources[index].entity, in: plan)
      fit.see(columns: header)
      return fit
    }
    let widest = headers.max { $0.count < $1.count } ?? []
    try choose(0, fits, widest)
  }

  private mutating func choose(
    _ place: Int,
    _ fits: [SourceFit],
    _ names: [String]
  ) throws(ImportError) {
    if let best = SourceFit.best(of: fits) {
      places[place] = [places[place][best]]
      return
    }
    let sources = places[place].map { plan.sources[$0].name }
    let fitting = zip(sources, fits).filter { $0.1.isFit }.map(\.0)
    let shown = names.prefix(10).map { ForeignText.shortened($0) }
    let keys = Self.list(Array(shown)) + (names.count > shown.count ? ", …" : "")
    throw ImportError(
      .request,
      fitting.isEmpty
        ? "None of the sources \(Self.list(sources)) fits the records of \(input): their keys are"
          + " \(keys)."
        : "The records of \(input) can be those of the sources \(Self.list(fitting)).",
      help:
        "choose one: "
        + sources.map { Self.assignment($0, to: input) }.joined(separator: " or ")
        + ", or say which `files:` each of them reads"
    )
  }

  /// Whether two paths lead to the same records, however they are spelled: `/x`, `x` and `x[*]`; nil is the top.
  static func isSamePlace(_ path: ForeignPath?, _ other: ForeignPath?) -> Bool {
    guard let path, let other else { return (path ?? other)?.steps.isEmpty ?? true }
    let steps = listSteps(path)
    guard steps == listSteps(other) else { return false }
    // A number of a JSON Pointer is a name, too.
    let hasIndex = steps.contains { if case .index = $0 { true } else { false } }
    return !hasIndex || path.isPointer == other.isPointer
  }

  /// The steps to the list that holds records: `x` says the same of a list as `x[*]`.
  private static func listSteps(_ path: ForeignPath) -> ArraySlice<ForeignPath.Step> {
    guard path.steps.last == .all else { return path.steps[...] }
    switch path.steps.dropLast().last {
    case .member, .index: return path.steps.dropLast()
    default: return path.steps[...]
    }
  }

  /// How a request gives an input to a source.
  static func assignment(_ source: String, to input: String) -> String {
    "`sourcesByInput[\"\(input)\"] = [\"\(source)\"]`"
  }

  /// The keys that records have, in the order in which they occur.
  private static func names(of records: [UInt32], in batch: RecordBatch) -> [String] {
    var names: [String] = []
    var known: Set<[UInt8]> = []
    for record in records {
      var member = record + 1
      let end = batch.nodes[Int(record)].next
      while member < end {
        let value = batch.nodes[Int(member)]
        if known.insert(Array(batch.bytes(value.key, value.keyLength))).inserted {
          names.append(batch.text(value.key, value.keyLength))
        }
        member = value.next
      }
    }
    return names
  }

  private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}
