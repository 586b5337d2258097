import DragomanGraph

/// Checks the meaning of a map: names, references, types, formats, policies.
///
/// Works on the value, so maps built in code pass the same rules; for maps from files it knows
/// where each place of the structure stands.
struct MapValidator {
  let map: ImportMap
  let positions: [String: MapPosition]
  var faults: [MapFault] = []
  /// Which sources read which entity.
  private(set) lazy var reach = SourceReach(map)

  init(_ map: ImportMap, positions: [String: MapPosition]) {
    self.map = map
    self.positions = positions
  }

  /// Every fault of the map, except at places that `others` speak of already, and what follows from them: whether a rule
  /// suits a type or a kind is not known where that could not be read, nor what names behind a limit mean.
  mutating func validate(besides others: [MapFault]) -> [MapFault] {
    checkDefaults()
    checkModel()
    for entity in map.entities { check(entity) }
    for source in map.sources { check(source) }
    checkImport()
    checkExport()
    let told = Set(others.map { "\($0.place)\u{0}\($0.position?.line ?? 0)" })
    let places = Set(others.map(\.place))
    let isCut = others.contains { $0.code == .limit }
    return faults.filter { fault in
      if isCut, fault.code == .reference { return false }
      if told.contains("\(fault.place)\u{0}\(fault.position?.line ?? 0)") { return false }
      guard fault.code == .misplaced, let end = fault.place.lastIndex(of: ".") else { return true }
      let owner = fault.place[..<end]
      return !places.contains("\(owner).type") && !places.contains("\(owner).kind")
    }
  }

  /// Reports a fault; without a position of its own it stands where its place does.
  mutating func report(
    _ code: MapFault.Code,
    _ message: String,
    at place: String,
    _ position: MapPosition? = nil,
    suggestion: String? = nil,
    rule: String? = nil
  ) {
    faults.append(
      MapFault(
        code,
        message,
        place: place,
        file: map.file,
        position: position ?? self.position(of: place),
        suggestion: suggestion,
        rule: rule
      )
    )
  }

  /// Reports keys that are not for their owner, and numbers that a file could not say.
  mutating func check<Owner>(
    _ owner: Owner,
    by section: MapSection<Owner>,
    at place: String,
    _ finding: String
  ) {
    for key in section.keys {
      if let fit = key.fit, !fit.admits(owner), key.write(owner, MapWriter()) != nil {
        let message = "\"\(key.entry.name)\" is for \(fit.words); this \(finding)."
        report(.misplaced, message, at: "\(place).\(key.entry.name)")
      } else if case .number(let range) = key.entry.shape,
        case .number(let number)? = key.write(owner, MapWriter()), !range.contains(number)
      {
        let message = "\"\(number)\" is no whole number from \(range.limits)."
        report(.value, message, at: "\(place).\(key.entry.name)")
      }
    }
  }

  /// Where a place stands, or the nearest place around it.
  private func position(of place: String) -> MapPosition? {
    var place = place[...]
    while true {
      if let position = positions[String(place)] { return position }
      guard let dot = place.lastIndex(of: ".") else { return positions[""] }
      place = place[..<dot]
    }
  }

  /// Reports a name that refers to nothing.
  ///
  /// The nearest name costs its length times all candidates: past a hundred faults nobody reads it.
  mutating func reportUnknown(
    _ kind: String,
    _ name: String,
    at place: String,
    in candidates: [String],
    of owner: String? = nil
  ) {
    report(
      .reference,
      "\(owner.map { "\($0) has" } ?? "There is") no \(kind) \"\(name)\".",
      at: place,
      suggestion: faults.count > 100 ? nil : nearest(to: name, in: candidates)
    )
  }

  // MARK: The model

  private mutating func checkModel() {
    // Literals and patterns of the map have been held against more than the model's rules.
    for fault in map.model().validate() where fault.rule != .value {
      let code: MapFault.Code =
        switch fault.rule {
        case .name: .name
        case .clash: .clash
        case .reference: .reference
        case .columns: .limit
        case .value: .literal
        }
      let entity = map.entity(named: fault.entity)
      var place = "entities.\(fault.entity)"
      var position: MapPosition?
      if let property = fault.property {
        let attribute = entity?.attribute(named: property)
        place += attribute == nil ? ".relationships.\(property)" : ".attributes.\(property)"
        position = attribute?.position
      } else {
        position = entity?.position
      }
      switch fault.part {
      case .name: break
      case .table, .column, .parent, .inverse, .unique, .defaultValue, .minimum, .maximum, .length,
        .pattern, .scale:
        place += ".\(fault.part.rawValue)"
        position = nil
      case .destination:
        place += ".entity"
        position = nil
      }
      report(code, fault.message, at: place, position, suggestion: fault.suggestion)
    }
  }

  // MARK: The file's sections

  private mutating func checkDefaults() {
    let defaults = map.defaults
    checkTimeZone(defaults.timeZone, at: "defaults")
    report(FormatChecks.faults(inDefaultDates: defaults.dates ?? []), at: "defaults.dates")
    checkNumbers(defaults.numbers, at: "defaults")
  }

  private mutating func check(_ source: SourceMap) {
    let place = "sources.\(source.name)"
    if let encoding = source.encoding, !TextDecoder.knows(encoding) {
      report(
        .format,
        "The encoding \"\(encoding)\" is not known.",
        at: "\(place).encoding",
        suggestion: nearest(to: encoding.lowercased(), in: Self.commonEncodings)
      )
    }
    if map.entity(named: source.entity) == nil {
      reportUnknown("entity", source.entity, at: "\(place).entity", in: map.entities.map(\.name))
    }
    checkRecords(of: source)
    check(source, by: MapGrammar.source, at: place, "source is \(source.format.rawValue)")
    for (index, pattern) in source.files.enumerated()
    where pattern.isEmpty || pattern.contains("\u{0}") {
      report(.value, "A pattern of file names is not empty.", at: "\(place).files.\(index)")
    }
    checkNamespaces(of: source, at: place)
    if let separator = source.separator, source.format == .csv,
      separator.utf8.count != 1 || separator.utf8.contains(where: "\"\r\n\0".utf8.contains)
    {
      report(
        .value,
        "The separator is one ASCII character, no quote, no end of line and no NUL.",
        at: "\(place).separator"
      )
    }
  }

  private mutating func checkImport() {
    let options = map.importOptions
    check(options, by: MapGrammar.importOptions, at: "import", "map has none")
    for fault in options.boundFaults {
      report(.value, fault.message, at: "import.\(fault.key)")
    }
    guard let path = options.rejectsFile else { return }
    // By bytes, as the system takes it apart.
    let steps = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let isHidden = { (step: Substring.UTF8View) in
      step.first == UInt8(ascii: ".") && !step.elementsEqual(".".utf8)
    }
    // A shell and Dragoman itself read files by such names: lines of a feed would run, or be settings.
    let isSettings = ["dragoman.yaml", "dragoman.yml"].contains {
      $0.utf8.elementsEqual(steps[steps.count - 1])
    }
    if steps[0].isEmpty || steps[0].first == UInt8(ascii: "~") || steps.contains(where: isHidden)
      || isSettings || steps[steps.count - 1].isEmpty || path.utf8.contains(0)
    {
      report(
        .outputPath,
        "The rejects file \"\(path)\" is not a file in the map's folder that a map may name.",
        at: "import.rejects.file",
        rule: "output paths are relative to the map's folder; nothing hidden, and no settings"
      )
    }
  }

  private mutating func checkExport() {
    let options = map.exportOptions
    let entity = options.entity.flatMap { map.entity(named: $0) }
    if let name = options.entity, entity == nil {
      reportUnknown("entity", name, at: "export.entity", in: map.entities.map(\.name))
    }
    let owners = entity.map { map.lineage(of: $0) } ?? (options.entity == nil ? map.entities : [])
    guard !owners.isEmpty else { return }
    let owner = entity?.name ?? "The map"
    let attributes = owners.flatMap(\.attributes).map(\.name)
    for (index, key) in (options.sort ?? []).enumerated() {
      let name = key.hasPrefix("-") ? String(key.dropFirst()) : key
      if !attributes.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
        let place = listPlace("export.sort", index)
        reportUnknown("attribute", name, at: place, in: attributes, of: owner)
      }
    }
    let relationships = owners.flatMap(\.relationships).map(\.name)
    for name in options.include.keys.sorted()
    where !relationships.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
      let place = "export.include.\(name)"
      reportUnknown("relationship", name, at: place, in: relationships, of: owner)
    }
  }

  // MARK: Formats

  /// The place of an element; a list of one may stand in the file as a word alone.
  func listPlace(_ place: String, _ index: Int) -> String {
    positions["\(place).\(index)"] == nil ? place : "\(place).\(index)"
  }

  private static let commonEncodings = [
    "utf-8", "utf-16", "utf-16le", "utf-16be", "utf-32", "us-ascii", "latin1", "iso-8859-1",
    "iso-8859-2",
    "iso-8859-15", "windows-1250", "windows-1251", "windows-1252", "koi8-r", "shift_jis", "euc-jp",
    "gb18030", "big5",
  ]

  mutating func checkTimeZone(_ name: String?, at place: String) {
    guard let name, let fault = FormatChecks.fault(inTimeZone: name) else { return }
    report(.format, fault.message, at: "\(place).timeZone", suggestion: fault.suggestion)
  }

  mutating func checkNumbers(_ format: NumberFormat?, at place: String) {
    guard let format, let fault = FormatChecks.fault(in: format) else { return }
    report(.format, fault.message, at: "\(place).numbers", suggestion: fault.suggestion)
  }

  mutating func report(_ faults: [(Int, FormatFault)], at place: String) {
    for (index, fault) in faults {
      let place = listPlace(place, index)
      report(.format, fault.message, at: place, suggestion: fault.suggestion)
    }
  }
}
