import DragomanGraph

/// Writes what was guessed as a map for people: YAML with aligned columns and a comment where one helps.
struct MapText {
  private let guess: FeedGuess
  private let isGuessedOf: [String]
  private let name: String

  private static let commentColumn = 46

  init(_ guess: FeedGuess, name: String, inputs: [String]) {
    self.guess = guess
    self.name = name
    isGuessedOf = inputs
  }

  /// The text of the map.
  var text: String {
    var lines = head
    lines += ["version: 1", "name: \(YAML.scalar(name))", ""]
    lines += defaults
    lines += ["", "entities:"]
    for entity in guess.entities { lines += section(entity) + [""] }
    lines.append("sources:")
    lines += guess.sources.map(spelled)
    if writesNulls { lines += ["", "export: { nulls: write }"] }
    return lines.map { $0 + "\n" }.joined()
  }

  /// Whether an export has to write null for what was null.
  ///
  /// Not where XML has null elements beside such with attributes: an export cannot say that those are null, and would
  /// tell so each time.
  private var writesNulls: Bool {
    let shapes = guess.entities.flatMap(\.attributes).compactMap(\.shape)
      .filter { $0.kinds.nulls > 0 }
    return !shapes.isEmpty && !shapes.contains { $0.members.contains(where: \.isAttribute) }
  }

  /// The entities as they are added to a map.
  var entitySection: [String] {
    let remarks = [origin] + (warnings + guess.remarks).map { "# \($0)" }
    return [""] + remarks.map { YAML.comment("  " + $0) }
      + guess.entities.map(section).joined(separator: [""])
  }

  /// The sources as they are added to a map.
  var sourceSection: [String] { guess.sources.map(spelled) }

  private var origin: String {
    let files = isGuessedOf.prefix(3).joined(separator: ", ")
    let more = isGuessedOf.count > 3 ? " and \(isGuessedOf.count - 3) more" : ""
    return
      "# \(KnownMap.guessedOf) \(files)\(more). Every line is a guess: read it, and correct what you"
      + " know better."
  }

  /// What may be wrong with the samples themselves, a sentence each.
  var warnings: [String] {
    let sample = guess.sample
    var lines: [String] = []
    if sample.malformedCount > 0 {
      lines.append(
        "\(MessageWords.count(sample.malformedCount, "record is", "records are")) not well-formed: an import rejects"
          + " \(sample.malformedCount == 1 ? "it" : "them").\(sample.firstFaultText)"
      )
    }
    if sample.repeatedHeaderCount > 0 {
      lines.append(
        "\(MessageWords.count(sample.repeatedHeaderCount, "row is", "rows are")) the names of the columns once more:"
          + " an import takes each for a record, or rejects it where numbers or dates are wanted."
      )
    }
    if let name = sample.columnOfNoName {
      lines.append(
        "The first row is taken for the names of the columns, but \"\(name)\" looks like a value. CSV without"
          + " such a row is not read as it should be: put one in front."
      )
    }
    if sample.isTable, guess.entities.first?.shape === sample.root {
      lines.append(
        "The text is taken for one record, but looks like a table whose rows or columns are lists: no map makes"
          + " records of these. Ask for it as objects, or as CSV."
      )
    }
    if sample.isUndividedText {
      lines.append("There is one column: nothing divides the first line as the others. Is it CSV?")
    }
    if let encoding = sample.encoding {
      lines.append(
        encoding == SampleFormat.takesAnyBytes
          ? "The text is not UTF-8: \(encoding) takes nearly all bytes, but may be wrong."
          : "The text is \(encoding), and has no byte order mark that says so."
      )
    }
    return lines
  }

  /// What an import by the map may do that nobody wants, a sentence each.
  var doubts: [String] {
    let unsure = guess.entities.filter(\.isKeyUnsure)
    func keys(_ entities: [GuessedEntity]) -> String {
      entities.map { "\($0.name) (\($0.unique.joined(separator: ", ")))" }.joined(separator: ", ")
    }
    var lines: [String] = []
    let named = unsure.filter { !$0.isKeyPlace }
    if !named.isEmpty {
      let (noun, they) = named.count == 1 ? ("key is", "it") : ("keys are", "they")
      lines.append(
        "\(named.count) \(noun) unsure, and \(they) may take different records for one, so that the later replaces"
          + " the earlier: \(keys(named))"
      )
    }
    let placed = unsure.filter(\.isKeyPlace)
    if !placed.isEmpty {
      lines.append(
        "\(placed.count) \(placed.count == 1 ? "key is" : "keys are") unsure, as nothing names a record, and a later file"
          + " of the same name replaces what this one has: \(keys(placed))"
      )
    }
    return lines
  }

  private var head: [String] {
    let help = "# dragoman check tells what fits, docs/maps.md what can be said."
    return ([origin, help] + (warnings + guess.remarks).map { "# \($0)" }).map(YAML.comment)
  }

  private var defaults: [String] {
    var lines = ["defaults:"]
    func add(_ entry: String, _ comment: String) {
      lines.append(Self.commented("  " + entry, comment))
    }
    if guess.hasTimestamps { add("timeZone: UTC", "of times that name no zone") }
    add("onMissing: keep", "what a record does not have stays as it is")
    add("onNull: clear", "what is null becomes null")
    add("onInvalid: reject", "what cannot be converted rejects its record")
    return lines
  }

  private func section(_ entity: GuessedEntity) -> [String] {
    var lines = [
      Self.commented("  \(YAML.scalar(entity.name)):", entity.remarks.joined(separator: "; "))
    ]
    if let parent = entity.parent { lines.append("    parent: \(YAML.scalar(parent.name))") }
    if let (path, words) = entity.discriminator {
      let values = words.map { "\(YAML.scalar($0.word)): \(YAML.scalar($0.entity))" }
      lines.append(
        "    discriminator: { from: \(YAML.scalar(path)), values: { \(values.joined(separator: ", ")) } }"
      )
    }
    if !entity.unique.isEmpty {
      let names = entity.unique.map(YAML.scalar)
      let key = names.count == 1 ? names[0] : "[\(names.joined(separator: ", "))]"
      lines.append(
        Self.commented("    unique: \(key)", entity.uniqueRemarks.joined(separator: "; "))
      )
    }
    lines.append(entity.attributes.isEmpty ? "    attributes: {}" : "    attributes:")
    if !entity.attributes.isEmpty {
      let width =
        entity.attributes.map { YAML.scalar($0.name).count }.filter { $0 <= 24 }.max() ?? 0
      for attribute in entity.attributes { lines.append(spelled(attribute, width)) }
    }
    if !entity.relationships.isEmpty {
      lines.append("    relationships:")
      for relationship in entity.relationships { lines.append(spelled(relationship)) }
    }
    return lines
  }

  private func spelled(_ attribute: GuessedAttribute, _ width: Int) -> String {
    let name = YAML.scalar(attribute.name)
    let padding = String(repeating: " ", count: max(0, width - name.count))
    var entries: [GuessedEntry] = []
    if !hasSameBytes(attribute.path, attribute.name) {
      entries.append(("from", YAML.scalar(attribute.path)))
    }
    if attribute.type != .string { entries.append(("type", attribute.type.rawValue)) }
    entries += attribute.entries
    if entries.isEmpty { entries.append(("from", YAML.scalar(attribute.path))) }
    let value =
      entries.count == 1 && entries[0].key == "from" ? entries[0].value : Self.mapping(entries)
    return Self.commented(
      "      \(name): \(padding)\(value)",
      attribute.remarks.joined(separator: "; ")
    )
  }

  private func spelled(_ relationship: GuessedRelationship) -> String {
    let entries: [GuessedEntry] =
      [
        ("entity", YAML.scalar(relationship.entity)),
        ("kind", relationship.isToMany ? "toMany" : "toOne"),
      ] + relationship.entries
    return Self.commented(
      "      \(YAML.scalar(relationship.name)): \(Self.mapping(entries))",
      relationship.remarks.joined(separator: "; ")
    )
  }

  private func spelled(_ source: GuessedSource) -> String {
    let format = guess.sample.format
    var entries: [GuessedEntry] = [
      ("format", format.rawValue), ("entity", YAML.scalar(source.entity)),
    ]
    if let records = source.records { entries.append(("records", YAML.scalar(records))) }
    if format == .xml {
      let named = [source.records ?? ""] + guess.entities.flatMap(Self.paths)
      let spaces = guess.spelling.namespaces(in: named.joined(separator: " "))
      if !spaces.isEmpty {
        let members = spaces.map { "\($0.prefix): \(YAML.quoted($0.uri))" }
        entries.append(("namespaces", "{ \(members.joined(separator: ", ")) }"))
      }
    }
    if let encoding = guess.sample.encoding { entries.append(("encoding", encoding)) }
    // What the name of a file says otherwise is said, too.
    if let separator = guess.sample.separator,
      separator != UInt8(ascii: ",") || isGuessedOf.contains(where: FormatDetection.isTabSeparated)
    {
      entries.append(("separator", YAML.quoted(String(decoding: [separator], as: UTF8.self))))
    }
    if !source.files.isEmpty { entries.append(("files", Self.list(source.files))) }
    return "  \(YAML.scalar(source.name)): \(Self.mapping(entries))"
  }

  private static func paths(of entity: GuessedEntity) -> [String] {
    entity.attributes.map(\.path) + [entity.discriminator?.path ?? ""]
      + entity.relationships.flatMap {
        $0.entries.filter { ["from", "key"].contains($0.key) }.map(\.value)
      }
      + entity.relationships.map(\.name)
  }

  /// Patterns for the names of files as a source has them.
  static func list(_ patterns: [String]) -> String {
    let names = patterns.map(YAML.quoted)
    return names.count == 1 ? names[0] : "[\(names.joined(separator: ", "))]"
  }

  private static func mapping(_ entries: [GuessedEntry]) -> String {
    "{ \(entries.map { "\($0.key): \($0.value)" }.joined(separator: ", ")) }"
  }

  /// A line with a comment behind it, in the same column where there is room.
  private static func commented(_ line: String, _ comment: String) -> String {
    guard !comment.isEmpty else { return line }
    let padding = String(repeating: " ", count: max(2, commentColumn - line.count))
    return line + padding + YAML.comment("# \(comment)")
  }
}
