import DragomanGraph

/// The map language: every key of a map file once, with what may stand behind it and what it says.
///
/// Reading, writing, checking, messages, help and `docs/dragoman-map.schema.json` are made of these
/// sections; docs/maps.md explains them, and a test holds its tables to them.
enum MapGrammar {
  static let top = MapSection<ImportMap>("map", "a map") { keys in
    let version = MapNeed<ImportMap>(rule: "write version: 1")
    let help = "The version of the map language."
    keys.add(MapKeyEntry(name: "version", shape: .number(1...1), help: help), need: version) {
      reader,
      found,
      _ in
      guard let text = reader.text(found), text != "1" else { return true }
      let problem = "Version \"\(text)\" of the map format is not known."
      reader.report(.value, problem, at: found, suggestion: "1")
      return true
    } write: { _, _ in
      .number(1)
    }
    keys.add("name", \.name, .text, "The map's name, for history and messages.")
    let modelHelp = "A model file; not read by this version."
    keys.add(MapKeyEntry(name: "model", shape: .anyText, help: modelHelp)) { reader, found, _ in
      let problem =
        "Model files are not read by this version; the entities are those the map declares."
      reader.report(.unsupported, problem, at: found)
      return true
    } write: { _, _ in
      nil
    }
    keys.add("defaults", \.defaults, .section(defaults, .init()), standard: .init())
    keys.say("What holds for every entity unless it says otherwise.")
    keys.require("entities", \.entities, .entities, "The entities, by name.")
    keys.add("sources", \.sources, .sources, "Where records stand, by name.", standard: [])
    keys.add("import", \.importOptions, .section(importOptions, .init()), standard: .init())
    keys.say("How to import unless the caller says otherwise.")
    keys.add("export", \.exportOptions, .section(exportOptions, .init()), standard: .init())
    keys.say("How objects become records again unless the caller says otherwise.")
    keys.readLate("entities", "export")
  }

  static let policies = MapSection<ValuePolicies>("policies", "the policies") { keys in
    keys.add("onMissing", \.onMissing, .word())
    keys.say(
      "What happens where the record does not have it; keep, unless a level above says else."
    )
    keys.add("onNull", \.onNull, .word())
    keys.say("What happens where it is null; clear, unless a level above says else.")
    keys.add("onInvalid", \.onInvalid, .word())
    keys.say("What happens where it cannot be converted; reject, unless a level above says else.")
    keys.add("ignoreNullValueOverwrites", \.ignoreNullValueOverwrites, .flag)
    keys.say("Shorthand: true keeps for missing and null, false clears for both.")
    keys.add("ignoreOptionalNullValues", \.ignoreOptionalNullValues, .flag)
    keys.say("No warning for null, missing or invalid values of optional attributes.")
  }

  static let defaults = MapSection<ImportMap.Defaults>("defaults", "defaults") { keys in
    keys.add("timeZone", \.timeZone, .text, zoneHelp, standard: "UTC")
    keys.add("dates", \.dates, .words, datesHelp)
    keys.add("numbers", \.numbers, .numbers, numbersHelp)
    keys.add("strings", \.strings, .strings, stringsHelp, standard: StringFormat())
    keys.add("onUnresolved", \.onUnresolved, .word(), unresolvedHelp, standard: "clear")
    keys.include(policies, at: \.policies)
  }

  static let zoneHelp = "The IANA zone of date-times that carry none."
  static let datesHelp =
    "Formats, tried in order: iso8601, iso8601-date, rfc2822, unix, unix-ms, unix-us, or Unicode"
    + " (LDML) patterns."
  static let numbersHelp = "How numbers are written in strings."
  static let stringsHelp = "How strings are cleaned before they are converted."
  static let unresolvedHelp = "What becomes of a key that nobody has at the end of the import."

  static let numbers = MapSection<NumberFormat>("numbers", "numbers") { keys in
    keys.add("decimal", \.decimal, .text(1...1), "The decimal separator.")
    keys.add("group", \.group, .text(1...1), "The grouping separator.")
    keys.add("locale", \.locale, .text, "A locale such as de_DE that gives both.")
    keys.add("style", \.style, .word(), "A sign around the number.")
  }

  static let strings = MapSection<StringFormat>("strings", "strings") { keys in
    keys.add("trim", \.trim, .flag, "White space at both ends is removed.", standard: "false")
    keys.add("emptyAsNull", \.emptyAsNull, .flag, "An empty string is null.", standard: "false")
    keys.add("nulls", \.nulls, .words, "Words that count as null.")
  }

  static let source = MapSection<SourceMap>("source", "a source") { keys in
    let formats = ForeignFormat.allCases.map(\.rawValue).joined(separator: ", ")
    let format = MapNeed<SourceMap>(rule: "format: \(formats)")
    keys.require("format", \.format, .word(), "The format.", need: format)
    let entity = MapNeed<SourceMap>(condition: { $0.entity.isEmpty })
    keys.require("entity", \.entity, .text, "The entity that the records become.", need: entity)
    keys.say("The entity that the records become; may be left out where the map has one only.")
    addRecords(to: &keys)
    keys.add("files", \.files, .words, standard: [])
    keys.say("Globs of the names of the inputs that the source reads.")
    keys.add("pages", \.pages, .pages, "How a feed of the web says where its next page is.")
    keys.add("namespaces", \.namespaces, .table(.text), standard: [:], fit: .xml)
    keys.say("Prefixes in the paths and the namespaces they stand for.")
    keys.add("encoding", \.encoding, .text, standard: "utf-8")
    keys.say("The text encoding, where the file does not say.")
    keys.add("separator", \.separator, .text(1...1), standard: ",", fit: .csv)
    keys.say("What stands between the cells; in files named .tsv it is a tab.")
    keys.readLate("records")
  }

  static let pages = MapSection<PageDraft>("pages", "pages") { keys in
    keys.add("next", \.next, .text(1...1000), "The word header, or a JSON Pointer to the next URL.")
    keys.add("cursor", \.cursor, .text(1...1000), "A JSON Pointer to what the next URL asks with.")
    keys.add(
      "parameter",
      \.parameter,
      .text(1...1000),
      "The parameter of the query that the cursor is."
    )
  }

  /// A path whose language is that of the source's format, with its prefixes.
  private static func addRecords(to keys: inout MapSection<SourceMap>) {
    let rule = "the path of the repeated element: /people/person"
    keys.add(
      MapKeyEntry(
        name: "records",
        shape: .text(1...ForeignPathParser.maximumByteCount),
        help: "Where the array (JSON) or the repeated element (XML) stands."
      ),
      fit: .documents,
      need: MapNeed(rule: rule, isVital: false) { $0.format == .xml }
    ) { reader, found, source in
      let (format, namespaces) = (source.format, source.namespaces)
      let parser = ForeignPathParser(format: format, namespaces: namespaces, leadsToRecords: true)
      source.records = reader.text(found).flatMap { reader.path($0, by: parser, at: found.place) }
      return source.records != nil
    } write: { source, _ in
      source.records.map { .text($0.text) }
    }
  }

  static let importOptions = MapSection<ImportMap.ImportOptions>("import", "import") { keys in
    keys.add("batchSize", \.batchSize, .number(1...1_000_000), standard: "1000")
    keys.say("How many records a batch has.")
    keys.add("commit", \.commit, .word(), "When the import is committed.", standard: "all")
    keys.add("maxRecordSize", \.maximumRecordByteCount, .megabytes(1...1024), standard: "128")
    keys.say("How many megabytes of memory one record may take, with its text and values.")
    keys.add(
      "maxWaitingSize",
      \.maximumWaitingByteCount,
      .megabytes(1...1_048_576),
      standard: "1024"
    )
    keys.say("How many megabytes of memory records may take that wait for objects.")
    keys.group("rejects", rejects, "Where rejected records go, and how many there may be.")
  }

  private static let rejects = MapSection<ImportMap.ImportOptions>("rejects", "rejects") { keys in
    keys.add("file", \.rejectsFile, .text, "A file in the map's folder.")
    keys.add(
      "max",
      \.maximumRejects,
      .number(0...Int.max),
      "How many there may be; else any number."
    )
  }

  static let exportOptions = MapSection<ImportMap.ExportOptions>("export", "export") { keys in
    keys.add("entity", \.entity, .text, "The entity whose objects are written.")
    keys.add("names", \.style.names, .word(), "Which names members get.", standard: "foreign")
    keys.add("shape", \.style.shape, .word(), "How paths are written.", standard: "nested")
    keys.add("nulls", \.style.nulls, .word(), "What happens to nulls.", standard: "omit")
    keys.add("sort", \.sort, .words, "Attributes that sort, - in front for descending.")
    keys.add(
      "include",
      \.include,
      .table(.word()),
      "How each relationship is written.",
      standard: [:]
    )
    keys.group("json", exportJSON, "What JSON looks like.")
    keys.group("xml", exportXML, "What XML looks like.")
  }

  private static let exportJSON = MapSection<ImportMap.ExportOptions>("exportJSON", "json") {
    keys in
    keys.add("at", \.jsonAt, .place(of: .json), "The path of the array.")
    keys.add("pretty", \.style.isPretty, .flag, "The text is indented.", standard: "false")
  }

  private static let exportXML = MapSection<ImportMap.ExportOptions>("exportXML", "xml") { keys in
    keys.add("at", \.xmlAt, .place(of: .xml), "The path of the record elements.")
  }
}

extension MapKind where Value == NumberFormat {
  static var numbers: MapKind { .section(MapGrammar.numbers, NumberFormat()) }
}

extension MapKind where Value == StringFormat {
  static var strings: MapKind { .section(MapGrammar.strings, StringFormat()) }
}

extension MapFit where Owner == SourceMap {
  static var xml: MapFit { MapFit(words: "xml") { $0.format == .xml } }
  static var csv: MapFit { MapFit(words: "csv") { $0.format == .csv } }
  static var documents: MapFit {
    MapFit(words: "json and xml, since elsewhere a record is a line") {
      $0.format == .json || $0.format == .xml
    }
  }
}

extension MapKind where Value == [SourceMap] {
  /// What they say is remembered for the paths of the rest.
  static var sources: MapKind {
    let kind = MapKind.list(MapGrammar.source, name: \.name) { reader, member in
      let entity = reader.onlyEntity ?? ""
      return SourceMap(name: member.key, format: .json, entity: entity)
        .with { $0.position = member.keyPosition }
    }
    return MapKind(
      shape: kind.shape,
      read: { reader, found in
        reader.sources = kind.read(&reader, found) ?? []
        return reader.sources
      },
      write: kind.write
    )
  }
}
