import DragomanGraph

extension MapGuess {
  /// Guesses a map for a feed into a database, or what the feed adds to the map that is there.
  ///
  /// A feed that the map has a source for leaves the map as it is. Of another one the entities and the source
  /// are added to its text, under names that are free, and values that are keys of what the database
  /// holds become references to it. What stood in the text before, stands there still.
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
    let known = try KnownMap(map ?? ImportMap(entities: []), store, format: sample.format)
    guard let map else {
      try self.init(Self.text(of: sample, inputs, options, beside: known))
      return
    }
    let alone = try Self.text(of: sample, inputs, options, beside: nil)
    let readers = known.sources(of: try ImportMap(yaml: alone.text))
    if options.entity == nil, !readers.isEmpty {
      self.init(map: map, text: text, isNew: false, sources: readers)
      return
    }
    let added = try Self.text(of: sample, inputs, options, beside: known)
    let grown = try MapSections(text, file: map.file).adding(
      ["entities": added.entitySection, "sources": added.sourceSection]
    )
    let whole = try ImportMap(yaml: grown, file: map.file)
    let names = whole.sources.map(\.name).filter { name in
      !map.sources.contains { hasSameBytes($0.name, name) }
    }
    self.init(map: whole, text: grown, isNew: true, sources: names)
    warnings = added.warnings
  }
}
