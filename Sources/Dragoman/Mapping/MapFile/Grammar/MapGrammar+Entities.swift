import DragomanGraph

extension MapGrammar {
  static let entity = MapSection<EntityMap>("entity", "an entity") { keys in
    keys.add("table", \.table, .text, "The table's name; else the entity's.")
    keys.add("parent", \.parent, .text, "The entity of which this is a sub-entity.")
    keys.add("renamedFrom", \.renamedFrom, .text, "The entity's former name, for migration.")
    let discriminated = EntityMap.Discriminator(from: ForeignPaths(), values: [:])
    keys.add("discriminator", \.discriminator, .section(discriminator, discriminated))
    keys.say("Which sub-entity a record becomes.")
    keys.add("unique", \.uniqueKeys, .uniqueKeys, standard: [])
    keys.say(
      "What identifies a record: a name, a list that does together, or a list of such lists."
    )
    let attributes = MapNeed<EntityMap>(isVital: false) { $0.parent == nil }
    keys.require("attributes", \.attributes, .attributes, "", need: attributes)
    keys.say("The attributes, by name, in the order of the columns.")
    keys.add("relationships", \.relationships, .relationships, standard: [])
    keys.say("The relationships, by name.")
    keys.add("version", \.version, .text, "The attribute that tells newer records from older ones.")
    let tombstone = EntityMap.Tombstone(from: ForeignPaths(), equals: "")
    keys.add("deleteWhen", \.deleteWhen, .section(deleteWhen, tombstone))
    keys.say("Which records say that their object is gone.")
    keys.add("overwriteExisting", \.overwriteExisting, .flag, standard: "true")
    keys.say("Existing objects are changed; else their records are skipped.")
    keys.add("hooks", \.hooks, .section(hooks, .init()), standard: .init())
    keys.say("Names of closures that the program registers.")
    keys.add("contract", \.contract, .contract)
    keys.say("What may change from feed to feed: one word for all, or a word each.")
    keys.include(policies, at: \.policies)
  }

  static let discriminator = MapSection<EntityMap.Discriminator>(
    "discriminator",
    "a discriminator"
  ) { keys in
    keys.require("from", \.from, .paths, "Where the telling value stands.")
    keys.require("values", \.values, .table(.text), "Foreign words and the entities they mean.")
  }

  static let deleteWhen = MapSection<EntityMap.Tombstone>("deleteWhen", "deleteWhen") { keys in
    keys.require("from", \.from, .paths, "Where the telling value stands.")
    keys.require("equals", \.equals, .text, "What it is, spelled as in the feed.")
  }

  static let hooks = MapSection<EntityMap.Hooks>("hooks", "hooks") { keys in
    keys.add("beforeRecord", \.beforeRecord, .words, "Run with each record.", standard: [])
    keys.add("afterRecord", \.afterRecord, .words, "Run with each record's object.", standard: [])
    keys.add("afterImport", \.afterImport, .words, "Run once at the end.", standard: [])
    keys.add("afterExport", \.afterExport, .words, "Run with each written record.", standard: [])
  }

  static let contract = MapSection<Contract>("contract", "a contract") { keys in
    keys.add("newKeys", \.newKeys, .word(), standard: .report)
    keys.say("Keys that nothing reads and no earlier feed had.")
    keys.add("changedTypes", \.changedTypes, .word(), standard: .report)
    keys.say("Mapped keys with values of a kind that they did not have before.")
    keys.add("vanishedKeys", \.vanishedKeys, .word(), standard: .report)
    keys.say("Mapped keys that the last feed had and this one has not.")
  }

  static let attributeContract = MapSection<AttributeContract>(
    "attributeContract",
    "a contract of an attribute"
  ) { keys in
    keys.add("changedTypes", \.changedTypes, .word())
    keys.say("Values of a kind that there was not before; else as the entity says.")
    keys.add("vanishedKeys", \.vanishedKeys, .word())
    keys.say("No value where the last feed had some; else as the entity says.")
  }

  static let attribute = MapSection<AttributeMap>("attribute", "an attribute") { keys in
    keys.add("from", \.from, .paths)
    keys.say("The value's path, or a list whose first present one wins; else the attribute's name.")
    keys.add("type", \.type, .word(others: otherTypeNames), standard: .string)
    keys.say("What the attribute holds.")
    keys.add("required", \.isRequired, .flag, standard: "false")
    keys.say("Null is refused; so it is by attributes of the identity unless they say false.")
    keys.add("default", \.defaultValue, .text)
    keys.say(
      "The value of a new object whose record has none, in plain or ISO 8601 notation; of type json, JSON text in quotes."
    )
    keys.add("index", \.isIndexed, .flag, "The column has an index.", standard: false)
    keys.add("column", \.column, .text, "The column's name; else the attribute's.")
    keys.add("dates", \.format.dates, .words, datesHelp, fit: .dates)
    keys.add("timeZone", \.format.timeZone, .text, zoneHelp, fit: .dates)
    keys.add("numbers", \.format.writtenNumbers, .numbers, numbersHelp, fit: .numbers)
    keys.add("values", \.format.values, .valuePairs, standard: [], fit: .words)
    keys.say("Foreign words and the stored words they mean.")
    keys.add("unknown", \.format.unknown, .text, fit: .words)
    keys.say("The stored word for words that values does not have; else they are invalid.")
    keys.add("trueValues", \.format.trueValues, .words, "Words for true.", standard: [], fit: .bool)
    keys.add(
      "falseValues",
      \.format.falseValues,
      .words,
      "Words for false.",
      standard: [],
      fit: .bool
    )
    keys.add("scale", \.rules.scale, .number(0...PlainNumber.maximumScale), fit: .decimal)
    keys.say("Digits behind the point: more are invalid, fewer are filled up.")
    keys.add("coerce", \.format.coerce, .flag, standard: false, fit: .text)
    keys.say("Numbers and booleans are taken as text, spelled as in the feed.")
    keys.add("strings", \.format.strings, .strings, stringsHelp, standard: StringFormat())
    keys.add("compute", \.compute, .text, "The name of a closure that gives the value.")
    keys.add("export", \.isExported, .flag, "The attribute is exported.", standard: true)
    keys.add("sensitive", \.isSensitive, .flag, "Values are masked in messages.", standard: false)
    keys.add("renamedFrom", \.renamedFrom, .text, "The attribute's former name, for migration.")
    keys.add("min", \.rules.minimum, .text, "The smallest value.", fit: .ordered)
    keys.add("max", \.rules.maximum, .text, "The largest value.", fit: .ordered)
    keys.add("length", \.rules.length, .length, fit: .text)
    keys.say("How many characters (Unicode scalars): the most, or both ends.")
    keys.add("pattern", \.rules.pattern, .text(0...PatternCheck.maximumByteCount), fit: .text)
    keys.say("A regular expression for the whole text, without nested repetitions.")
    keys.add("contract", \.contract, .attributeContract)
    keys.say("What the attribute says for itself of the entity's contract.")
    keys.include(policies, at: \.policies)
  }

  /// What other languages call the types.
  private static let otherTypeNames = [
    "int": "int64", "integer": "int64", "bigint": "int64", "long": "int64", "text": "string",
    "varchar": "string", "boolean": "bool", "number": "double", "numeric": "decimal",
    "real": "double", "datetime": "timestamp", "binary": "data", "blob": "data", "uri": "url",
    "interval": "duration", "timespan": "duration",
    "object": "json", "array": "json",
  ]

  static let length = MapSection<LengthEnds>("length", "length") { keys in
    keys.add("min", \.minimum, .number(0...Int.max), "The fewest.", standard: "0")
    keys.add("max", \.maximum, .number(0...Int.max), "The most; else any number.")
  }

  static let relationship = MapSection<RelationshipMap>("relationship", "a relationship") { keys in
    keys.require("entity", \.entity, .text, "The target's entity.")
    let kind = MapNeed<RelationshipMap>(rule: "kind: toOne or toMany")
    keys.require("kind", \.kind, .word(), "To-one or to-many.", need: kind)
    keys.add("from", \.from, .paths)
    keys.say("Where nested records stand; else the relationship's own name. []: it is never read.")
    keys.add("key", \.key, .table(.keyPart, least: 1))
    keys.say("The target's key attributes and where each is taken from, instead of nested records.")
    keys.add("inverse", \.inverse, .text, "The target's relationship that is the other side.")
    keys.add("renamedFrom", \.renamedFrom, .text, "The relationship's former name, for migration.")
    keys.add("ordered", \.isOrdered, .flag, "Order is kept.", standard: false, fit: .toMany)
    keys.add("repeats", \.allowsRepeats, .flag, standard: false, fit: .toMany)
    keys.say("A target may occur more than once.")
    keys.add("assign", \.assign, .word(), standard: "replace", fit: .toMany)
    keys.say("Whether a record's list is the whole list, or only adds.")
    keys.add("onDelete", \.onDelete, .word(), "The delete rule.", standard: "nullify")
    keys.add("onUnlink", \.onUnlink, .word(), standard: "keep")
    keys.say("What becomes of what replace unlinks.")
    keys.add("onUnresolved", \.onUnresolved, .word(), unresolvedHelp, standard: "clear")
    keys.add("export", \.export, .word(), "How the relationship is exported.")
    keys.include(policies, at: \.policies)
  }

  static let paths = MapSection<ForeignPaths>("paths", "a path") { keys in
    keys.add("json", \.json, .paths(in: .json), "JSON, NDJSON.", standard: [])
    keys.add("xml", \.xml, .paths(in: .xml), "XML.", standard: [])
    keys.add("csv", \.csv, .paths(in: .csv), "CSV.", standard: [])
  }

  static let keyPart = MapSection<KeyPartDraft>("keyPart", "a key") { keys in
    keys.add("attribute", \.attribute, .text, "An attribute of the owner.")
    keys.add("value", \.value, .text, "The same value for all targets, written as a default is.")
    keys.add("from", \.from, .paths, "Where the value stands.")
    keys.add("split", \.split, .split, "whitespace, or one character: cuts a text into keys.")
    keys.include(paths, at: \.byFormat)
  }
}

extension MapFit where Owner == AttributeMap {
  static var dates: MapFit { MapFit("timestamp, date and time") { $0.isDateOrTime } }
  static var numbers: MapFit { MapFit("numbers") { $0.isNumeric } }
  static var ordered: MapFit {
    MapFit("numbers, timestamp, date and time") { $0.isNumeric || $0.isDateOrTime }
  }
  static var words: MapFit { MapFit("enum and string") { $0 == .enum || $0 == .string } }
  static var text: MapFit {
    MapFit("string, enum and url") { $0 == .string || $0 == .enum || $0 == .url }
  }
  static var bool: MapFit { MapFit("bool") { $0 == .bool } }
  static var decimal: MapFit { MapFit("decimal") { $0 == .decimal } }

  private init(_ words: String, _ admits: @escaping @Sendable (AttributeType) -> Bool) {
    self.init(words: words, admits: { admits($0.type) })
  }
}

extension MapFit where Owner == RelationshipMap {
  static var toMany: MapFit { MapFit(words: "to-many relationships") { $0.kind == .toMany } }
}
