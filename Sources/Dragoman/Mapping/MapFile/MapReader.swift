import DragomanGraph

/// Reads the nodes of a map file as the values of `ImportMap`, and collects every fault on the way.
///
/// Nothing is thrown: a faulty value is reported and left out, so that the rest is checked too.
/// What is read here is shape and spelling, by the table of `MapGrammar`; `MapValidator` checks the meaning.
struct MapReader {
  let file: String?
  private(set) var faults: [MapFault] = []
  /// Where each place of the structure stands in the file, for the validator.
  var positions: [String: MapPosition] = [:]
  /// The name of the entity, where the map has one only.
  private(set) var onlyEntity: String?
  /// The sources, which are read first: paths are parsed with their formats and prefixes.
  var sources: [SourceMap] = []
  /// Which of them read which entity.
  var reach = SourceReach(ImportMap(entities: []))
  /// What the paths of the entity are parsed with that is being read.
  var context = PathContext(of: "", SourceReach(ImportMap(entities: [])))

  /// A node and its place in the structure.
  struct Found {
    let node: MapNode
    let place: String
    /// Where in the file faults of it are told.
    let position: MapPosition

    init(node: MapNode, place: String, position: MapPosition? = nil) {
      self.node = node
      self.place = place
      self.position = position ?? node.position
    }

    /// The key of a member, for faults.
    func key(_ member: MapNode.Member) -> Found {
      Found(node: node, place: place, position: member.keyPosition)
    }

    /// A member of the node.
    func member(_ member: MapNode.Member) -> Found {
      Found(node: member.value, place: place.isEmpty ? member.key : "\(place).\(member.key)")
    }
  }

  init(file: String?) { self.file = file }

  /// Reads the whole file; the value is only meant to be used when there are no faults.
  mutating func map(_ root: MapNode) -> ImportMap {
    positions[""] = root.position
    var map = ImportMap(entities: [], file: file)
    guard isMap(root) else { return map }
    if case .mapping(let members) = root.content {
      let entities = members.first { $0.key == "entities" }?.value.content
      if case .mapping(let names) = entities, names.count == 1 { onlyEntity = names[0].key }
    }
    _ = fill(&map, from: Found(node: root, place: ""), by: MapGrammar.top)
    return map
  }

  /// Whether the text can be a map; one fault tells of another text, such as a feed.
  private mutating func isMap(_ root: MapNode) -> Bool {
    let what: String
    switch root.content {
    case .mapping: return true
    case .sequence: what = "it is a list"
    case .scalar where root.isNull: return true
    case .scalar(let text, _): what = text.hasPrefix("<") ? "it is XML" : "it is plain text"
    }
    report(
      .shape,
      "This is no map: \(what).",
      at: Found(node: root, place: ""),
      rule: "a map starts with version: 1 and entities:, see docs/maps.md; feeds come behind it"
    )
    return false
  }

  // MARK: Mappings

  /// Sets what a mapping says of a value, and reports keys that the section does not have or needs.
  ///
  /// `isWhole` tells whether everything was read without which the value is of no use.
  mutating func fill<Owner>(
    _ owner: inout Owner,
    from found: Found,
    by section: MapSection<Owner>
  ) -> (isWhole: Bool, keys: Set<String>) {
    let names = section.keys.map(\.entry.name)
    var known: [String: Found] = [:]
    for member in members(of: found) {
      if names.contains(where: { $0.utf8.elementsEqual(member.key.utf8) }) {
        known[member.key] = found.member(member)
      } else {
        let homes = MapLanguage.sections.filter { other in
          other.keys.contains { $0.name.utf8.elementsEqual(member.key.utf8) }
        }
        let home = homes.isEmpty ? "" : ", but of \(homes.map(\.noun).joined(separator: ", "))"
        report(
          .unknownKey,
          "\"\(member.key)\" is no key of \(section.noun)\(home).",
          at: found.key(member),
          suggestion: homes.isEmpty ? nearest(to: member.key, in: names) : nil,
          rule: "keys: \(names.joined(separator: ", "))"
        )
      }
    }
    var isWhole = true
    for key in section.keys.filter({ !$0.isLate }) + section.keys.filter(\.isLate) {
      let isNeeded = key.need.map { $0.condition?(owner) ?? true } ?? false
      var isRead = false
      if let found = known[key.entry.name] {
        let faultCount = faults.count
        isRead = key.read(&self, found, &owner)
        explain(key.entry, at: found, since: faultCount)
      } else if isNeeded {
        report(
          .missingKey,
          "The key \"\(key.entry.name)\" is missing.",
          at: found,
          rule: key.need?.rule
        )
      }
      if !isRead, isNeeded, key.need?.isVital == true { isWhole = false }
    }
    return (isWhole, Set(known.keys))
  }

  /// The members of a mapping, without repetitions; nothing reads as empty.
  mutating func members(of found: Found, least: Int = 0) -> [MapNode.Member] {
    let members: [MapNode.Member]
    switch found.node.content {
    case .mapping(let found): members = found
    case .scalar where found.node.isNull: members = []
    case .scalar, .sequence:
      wanted("a mapping", found)
      return []
    }
    if members.count < least {
      report(.value, "At least one name belongs here, with what it stands for.", at: found)
    }
    var taken: Set<[UInt8]> = []
    return members.filter { member in
      guard taken.insert(Array(member.key.utf8)).inserted else {
        report(
          .duplicateKey,
          "The key \"\(member.key)\" stands more than once in this mapping.",
          at: found.key(member)
        )
        return false
      }
      positions[found.member(member).place] =
        member.value.isNull ? member.keyPosition : member.value.position
      return true
    }
  }

  // MARK: Scalars and lists

  /// Text of any spelling; null is a fault.
  mutating func text(_ found: Found) -> String? {
    guard case .scalar(let text, _) = found.node.content, !found.node.isNull else {
      wanted("a word", found)
      return nil
    }
    return text
  }

  /// `true` or `false`.
  mutating func flag(_ found: Found) -> Bool? {
    guard let text = text(found) else { return nil }
    if text == "true" || text == "false" { return text == "true" }
    let others = [
      "yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false",
    ]
    report(
      .value,
      "\"\(text)\" is neither true nor false.",
      at: found,
      suggestion: others[text.lowercased()] ?? nearest(to: text, in: ["true", "false"])
    )
    return nil
  }

  /// A whole number in a range.
  mutating func integer(_ found: Found, in range: ClosedRange<Int>) -> Int? {
    guard let text = text(found) else { return nil }
    if let value = Int(text), range.contains(value) { return value }
    report(.value, "\"\(text)\" is no whole number from \(range.limits).", at: found)
    return nil
  }

  /// One word of an enumeration; `others` are words of other tools and what they mean here.
  mutating func word<Word: RawRepresentable & CaseIterable>(
    _ found: Found,
    others: [String: String]
  ) -> Word? where Word.RawValue == String {
    guard let text = text(found) else { return nil }
    if let word = Word.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) {
      return word
    }
    let words = Word.allCases.map(\.rawValue)
    report(
      .value,
      "\"\(text)\" is none of \(words.joined(separator: ", ")).",
      at: found,
      suggestion: others[text.lowercased()] ?? nearest(to: text, in: words)
    )
    return nil
  }

  /// The most words a list may have; a table has no more columns either.
  private static let maximumListCount = 2000

  /// A list of words; a single word is a list of one.
  mutating func list(_ found: Found) -> [String]? {
    guard case .sequence(let nodes) = found.node.content else { return text(found).map { [$0] } }
    guard nodes.count <= Self.maximumListCount else {
      let problem = "A list has at most \(Self.maximumListCount) elements, this one \(nodes.count)."
      report(.limit, problem, at: found)
      return nil
    }
    return nodes.enumerated().compactMap { index, node in
      let element = Found(node: node, place: "\(found.place).\(index)")
      positions[element.place] = node.position
      // An empty string in a list is a word ("" among null words); nothing at all is not.
      return text(element)
    }
  }

  // MARK: What the table asks for by name

  /// The most names in the unique keys of an entity: each key is an index to keep up with every record.
  private static let maximumKeyPartCount = 64

  /// A name; a list of names, one composite key; a list of lists, several keys.
  mutating func uniqueKeys(_ found: Found) -> [[String]]? {
    guard case .sequence(let nodes) = found.node.content else { return text(found).map { [[$0]] } }
    if nodes.isEmpty { wanted("the name of an attribute", found) }
    let lists = nodes.filter { if case .sequence = $0.content { true } else { false } }
    guard lists.isEmpty || lists.count == nodes.count else {
      report(
        .shape,
        "A list of names and lists is neither one key nor several.",
        at: found,
        rule: "several keys are a list of lists: [[id], [country, number]]"
      )
      return nil
    }
    let keys =
      lists.isEmpty
      ? [list(found) ?? []]
      : lists.enumerated().map { list(Found(node: $1, place: "\(found.place).\($0)")) ?? [] }
    let count = keys.joined().count
    guard count <= Self.maximumKeyPartCount else {
      let most = Self.maximumKeyPartCount
      report(.limit, "Unique keys have at most \(most) names in all, these \(count).", at: found)
      return nil
    }
    return keys.filter { !$0.isEmpty }
  }

  /// A part of a relationship's key in the one form that it was given.
  mutating func keyPart(
    _ draft: KeyPartDraft,
    _ keys: Set<String>,
    _ found: Found
  ) -> RelationshipMap.KeyPart? {
    let isByFormat = MapGrammar.paths.keys.contains { keys.contains($0.entry.name) }
    let forms = keys.intersection(["attribute", "value", "from"]).count + (isByFormat ? 1 : 0)
    guard forms == 1, !keys.contains("split") || keys.contains("from") else {
      report(
        .shape,
        "A key is one of { attribute }, { value }, { from, split } and { json, xml, csv }.",
        at: found
      )
      return nil
    }
    if isByFormat { return .path(draft.byFormat, split: nil) }
    return draft.attribute.map { .attribute($0) } ?? draft.value.map { .value($0) }
      ?? draft.from.map { .path($0, split: draft.split) }
  }

  // MARK: Faults

  /// Says what a key means where its value is of another shape, and nothing says what it should be.
  private mutating func explain(_ key: MapKeyEntry, at found: Found, since count: Int) {
    guard !key.help.isEmpty else { return }
    for index in faults.indices.dropFirst(count)
    where faults[index].code == .shape && faults[index].rule == nil
      && faults[index].place == found.place
    {
      faults[index].rule = "\(key.name): \(key.help)"
    }
  }

  /// Reports a fault.
  mutating func report(
    _ code: MapFault.Code,
    _ message: String,
    at found: Found,
    suggestion: String? = nil,
    rule: String? = nil
  ) {
    faults.append(
      MapFault(
        code,
        message,
        place: found.place,
        file: file,
        position: found.position,
        suggestion: suggestion,
        rule: rule
      )
    )
  }

  /// Reports what was found where something else was wanted.
  mutating func wanted(_ what: String, _ found: Found) {
    let what = what.prefix(1).uppercased() + what.dropFirst()
    report(.shape, "\(what) belongs here, not \(found.node.kind).", at: found)
  }
}

extension ClosedRange<Int> {
  /// The range in a message.
  var limits: String {
    upperBound == .max ? "\(lowerBound) or more" : "\(lowerBound) to \(upperBound)"
  }
}
