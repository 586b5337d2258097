import DragomanGraph

/// Readers of inputs, made for the sources that read them.
extension FeedReading {
  /// The sources that read an input.
  func inputSources(
    of plan: CompiledPlan,
    _ candidates: [SourceMap],
    _ input: ImportInput,
    isInMemory: Bool = false
  ) throws(ImportError) -> InputSources {
    try checkAssigned(input, plan.plan.format)
    return try InputSources(
      plan.plan,
      candidates: candidates,
      isMapped: !map.sources.isEmpty,
      hasPlaces: !isInMemory && (plan.plan.format == .json || plan.plan.format == .xml),
      input: input.name
    )
  }

  /// A source that an input was given to must exist, and read its format.
  private func checkAssigned(
    _ input: ImportInput,
    _ format: ForeignFormat
  ) throws(ImportError) {
    for source in try map.sources(named: request.sourcesByInput[input.name] ?? []) {
      if source.reads(format) { continue }
      throw ImportError(
        .request,
        "The source \(source.name) reads \(source.format.rawValue.uppercased()), and \(input.name) is"
          + " \(format.rawValue.uppercased()).",
        help: "give the input to a source of its format"
      )
    }
  }

  func makeReader(
    _ source: PeekableSource,
    format: ForeignFormat,
    plan: CompiledPlan,
    _ sources: InputSources,
    _ doubt: EncodingDoubt
  ) throws -> any RecordReader {
    let places = sources.places.indices.map { sources.source(at: $0) }
    let encoding = places.lazy.compactMap(\.map.encoding).first
    switch format {
    case .ndjson:
      return try NDJSONReader(
        source: try decodedByMark(source, encoding: encoding, doubt: doubt),
        limit: recordLimit
      )
    case .json:
      return try JSONReader(
        source: try decodedByMark(source, encoding: encoding, doubt: doubt),
        paths: places.map { $0.map.records?.steps ?? [] },
        pointers: places.map { $0.map.records?.isPointer ?? false },
        keeping: plan.plan.documentMembers,
        limit: recordLimit
      )
    case .xml:
      let paths = try places.map { source in
        guard let records = source.map.records, let path = XMLRecordPath(records) else {
          throw ImportError(
            .request,
            "The source \(source.name) does not say where its records stand.",
            help: "add `records: /root/element` to it"
          )
        }
        return path
      }
      return try XMLReader(
        source: source,
        paths: paths,
        encoding: encoding,
        doubt: doubt,
        keeping: plan.plan.documentMembers,
        limit: recordLimit
      )
    case .csv:
      return CSVReader(
        source: try decodedByMark(source, encoding: encoding, doubt: doubt),
        separator: Self.separator(of: places[0], name: source.name),
        isDeclared: places[0].map.separator != nil,
        limit: recordLimit
      )
    }
  }

  /// Chooses among several sources of CSV by the header, which each of them may divide in its own way.
  func chooseColumns(_ sources: inout InputSources, _ source: PeekableSource) throws {
    guard sources.all.count > 1 else { return }
    let bytes = Array(try source.peek(CSVHeader.maximumByteCount))
    let name = source.name
    try sources.choose { candidate in
      // What cannot be read is told by the reader of the source that is chosen.
      guard
        let text = try? decodedByMark(
          PeekableSource(MemorySource(bytes, name: name)),
          encoding: candidate.map.encoding
        )
      else { return [] }
      let reader = CSVReader(
        source: text,
        separator: Self.separator(of: candidate, name: name),
        isDeclared: candidate.map.separator != nil
      )
      _ = try? reader.read(into: RecordBatch(), limit: 1)
      return reader.header?.names ?? []
    }
  }

  /// The byte between the cells: what the source says, else a tab in `.tsv` files and a comma.
  private static func separator(of source: ImportPlan.Source, name: String) -> UInt8 {
    source.map.separator?.utf8.first
      ?? (FormatDetection.isTabSeparated(name) ? UInt8(ascii: "\t") : UInt8(ascii: ","))
  }

  /// A record path that occurs nowhere is an error when it is the only one.
  func checkPaths(
    _ counts: [Int?],
    plan: CompiledPlan,
    _ sources: InputSources,
    input: ImportInput
  ) throws {
    for (place, count) in counts.enumerated() {
      let names = sources.places[place].map { plan.plan.sources[$0].name }
      guard count == nil else {
        notices.add(presentSources: names)
        continue
      }
      let records = sources.source(at: place).map.records
      let path = records?.text ?? "the root"
      if counts.count == 1 {
        let isJSON = sources.source(at: place).map.format == .json
        let other = isJSON ? map.sources.first { $0.format == .ndjson } : nil
        var hint = other.map {
          "; a single line is read as JSON, not NDJSON, unless \(InputSources.assignment($0.name, to: input.name)) says so"
        }
        if isJSON, records?.steps.last == .anyMember {
          hint = "; \(path) means the members of an object, not the elements of a list"
        }
        throw ReadError(
          .noRecords,
          "There are no records: \(path) occurs nowhere in the input.",
          at: Origin(file: input.name, line: 1, column: 1, byte: 0),
          help:
            "`records:` of the source \(names.joined(separator: ", ")) in the map says where records"
            + " stand\(hint ?? "")"
        )
      }
      for name in names { notices.add(absentSource: name, path: path, input: input.name) }
    }
  }

  /// Refuses an input of which a source knows nothing: every record would be an object without values.
  func checkMatches(
    _ plan: CompiledPlan,
    _ sources: InputSources,
    _ input: ImportInput,
    columns: [String]?
  ) throws(ImportError) {
    for index in sources.all {
      let use = plan.mappers[index].use
      let source = plan.plan.sources[index]
      // Where there is nothing but a header, that is what can be held against the map.
      let isStrange = columns.map { !source.entity.names(anyOf: $0) } ?? false
      let names = isStrange ? columns ?? [] : use.inputNames
      guard isStrange && !names.isEmpty || use.isStrange else { continue }
      let shown = names.prefix(10).map { "“\(ForeignText.shortened($0))”" }.joined(separator: ", ")
      let more = names.count > 10 ? ", …" : ""
      let isColumns = plan.plan.format == .csv
      let found =
        names.isEmpty
        ? "which are empty" : "whose \(isColumns ? "columns" : "keys") are \(shown)\(more)"
      throw ImportError(
        .unmatched,
        "Of \(input.name) the source \(source.name) knows nothing: none of its paths occurs in the records,"
          + " \(found).",
        help: isColumns && names.count == 1
          ? "is it CSV, and divided by the `separator` of the source? Or is it the feed of another map?"
          : "correct the paths of \(source.entity.name), or is it the feed of another map or source?"
      )
    }
  }

  /// Tells the paths that no record had, of each format on its own: they have paths of their own, but for JSON and
  /// NDJSON.
  func tellUnmatched(_ plans: [ForeignFormat: CompiledPlan]) {
    let all = plans.values.sorted { $0.plan.format.rawValue < $1.plan.format.rawValue }
      .map(\.outcomes).filter { !$0.isEmpty }
    let (text, others) = (
      all.filter { $0[0].path.format.isJSON }, all.filter { !$0[0].path.format.isJSON }
    )
    let groups = (text.isEmpty ? [] : [text.flatMap(\.self)]) + others
    var paths = groups.flatMap(UnmatchedPath.among)
    for index in paths.indices { paths[index].isOfOneFormatOfSeveral = groups.count > 1 }
    notices.set(unmatchedPaths: paths)
  }
}

extension ForeignFormat {
  /// Whether its paths are those of JSON.
  fileprivate var isJSON: Bool { self == .json || self == .ndjson }
}
