import DragomanGraph

extension MapGuess {
  /// Guesses a map for a feed into a database, or what the feed adds to the map that is there.
  ///
  /// A feed that the map has a source for leaves the map as it is, and what of it is not read is told. Of another one
  /// the entities and the source are added to its text, under names that are free, and values that are keys of what
  /// the database holds become references to it. What stood in the text before, stands there still; a source at the
  /// same place that reads any file is told the names of its own.
  ///
  /// - Parameters:
  ///   - inputs: The samples, all of one format; records in memory cannot be guessed from.
  ///   - options: What is asked for besides.
  ///   - map: The map; nil where there is none yet.
  ///   - text: Its text, in YAML.
  ///   - store: The database; nil where there is none yet.
  /// - Throws: As `init(of:_:)`; `MapFaults` where nothing can be added to the text, `StoreError` where the
  ///   database cannot be read.
  public init(
    of inputs: [ImportInput],
    _ options: Options = Options(),
    addingTo map: ImportMap?,
    text: String,
    store: SQLiteStore?
  ) throws {
    let sample = try Self.sample(of: inputs, options)
    let known = try KnownMap(
      map ?? ImportMap(entities: []),
      text: text,
      store,
      format: sample.format
    )
    guard let map else {
      try self.init(Self.text(of: sample, inputs, options, beside: known))
      return
    }
    let alone = try ImportMap(
      yaml: Self.text(of: sample, inputs, options, beside: nil).text
    )
    let match = FeedMatch(known, guess: alone, of: sample, files: inputs.map(\.name))
    if options.entity == nil, !match.readers.isEmpty {
      self.init(map: map, text: text, isNew: false, sources: match.readers)
      warnings = match.warnings + Self.replacements(of: match.readers, in: map, inputs)
      let besides = try sample.unread(by: alone, [])
      unread = try sample.unread(by: map, match.readers).filter { place in
        !besides.contains { hasSameBytes($0.path, place.path) }
      }.map(\.shown)
      return
    }
    let added = try Self.text(of: sample, inputs, options, beside: known)
    let files = known.origins.compactMap(FeedFileName.init).flatMap { origin in
      origin.patterns(besides: known.files + inputs.map(\.name))
    }
    var sections = MapSections(text, file: map.file)
    for source in map.sources where source.files.isEmpty && !files.isEmpty {
      let isBeside = alone.sources.contains { other in
        source.format == other.format && InputSources.isSamePlace(source.records, other.records)
      }
      if isBeside { sections = try sections.declaring(files: files, of: source.name) }
    }
    let grown = try sections.adding(
      ["entities": added.entitySection, "sources": added.sourceSection]
    )
    let whole = try ImportMap(yaml: grown, file: map.file)
    let names = whole.sources.map(\.name).filter { name in
      !map.sources.contains { hasSameBytes($0.name, name) }
    }
    self.init(map: whole, text: grown, isNew: true, sources: names)
    warnings = added.warnings + added.doubts + match.warnings
  }

  /// That records which only their place in a file names are replaced by those of a file of the same name.
  private static func replacements(
    of sources: [String],
    in map: ImportMap,
    _ inputs: [ImportInput]
  ) -> [String] {
    let names = map.sources.filter { sources.contains($0.name) }.map(\.entity)
    return map.entities.filter { names.contains($0.name) }.compactMap { entity in
      let key = entity.uniqueKeys.first ?? []
      let isPlace = entity.attributes.contains { attribute in
        key.contains { hasSameBytes($0, attribute.name) }
          && attribute.from?.paths(
            in: map.sources.first { $0.entity == entity.name }?.format ?? .json
          ).first?.root == .file
      }
      guard isPlace else { return nil }
      return
        "The key of \(entity.name) is the file and the place in it: these records replace those of an earlier"
        + " \(inputs.count == 1 ? inputs[0].name : "file of the same name")."
    }
  }
}
