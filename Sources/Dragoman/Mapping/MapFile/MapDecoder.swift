import DragomanGraph

/// Reads the nodes of a map file as the values of `ImportMap`, and collects every fault on the way.
///
/// Nothing is thrown: a faulty value is reported and left out, so that the rest is checked too.
/// What is decoded here is shape and spelling; `MapValidator` checks the meaning.
struct MapDecoder {
  var file: String?
  var faults: [MapFault] = []
  /// Where each place of the structure stands in the file, for the validator.
  var positions: [String: MapPosition] = [:]

  /// A mapping whose keys are all known.
  struct Section {
    var place: String
    var position: MapPosition
    private var members: [String: MapNode]

    init(place: String, position: MapPosition, members: [String: MapNode]) {
      self.place = place
      self.position = position
      self.members = members
    }

    /// The value of a key and its place; nil where the key is not there.
    subscript(key: String) -> (node: MapNode, place: String)? {
      members[key].map { ($0, "\(place.isEmpty ? "" : "\(place).")\(key)") }
    }
  }

  /// Reports a fault.
  mutating func report(
    _ code: MapFault.Code,
    _ message: String,
    at place: String,
    _ position: MapPosition,
    suggestion: String? = nil,
    rule: String? = nil
  ) {
    faults.append(
      MapFault(
        code,
        message,
        place: place,
        file: file,
        position: position,
        suggestion: suggestion,
        rule: rule
      )
    )
  }

  /// The members of a mapping with free keys, without repetitions; nothing reads as empty.
  mutating func members(of node: MapNode, at place: String) -> [MapNode.Member] {
    if node.isNull { return [] }
    guard case .mapping(let members) = node.content else {
      report(.shape, "A mapping belongs here, not \(node.kind).", at: place, node.position)
      return []
    }
    var taken: Set<[UInt8]> = []
    return members.filter { member in
      let memberPlace = "\(place.isEmpty ? "" : "\(place).")\(member.key)"
      guard taken.insert(Array(member.key.utf8)).inserted else {
        report(
          .duplicateKey,
          "The key \"\(member.key)\" stands more than once in this mapping.",
          at: place,
          member.keyPosition
        )
        return false
      }
      positions[memberPlace] = member.value.isNull ? member.keyPosition : member.value.position
      return true
    }
  }

  /// A mapping whose keys the grammar lists; others are faults with the nearest key.
  mutating func section(_ node: MapNode, at place: String, keys: [String], of what: String)
    -> Section
  {
    var known: [String: MapNode] = [:]
    for member in members(of: node, at: place) {
      if keys.contains(where: { $0.utf8.elementsEqual(member.key.utf8) }) {
        known[member.key] = member.value
      } else {
        report(
          .unknownKey,
          "\"\(member.key)\" is no key of \(what).",
          at: place,
          member.keyPosition,
          suggestion: nearest(to: member.key, in: keys),
          rule: "keys: \(keys.joined(separator: ", "))"
        )
      }
    }
    return Section(place: place, position: node.position, members: known)
  }

  /// Reports a key that must be there and is not.
  mutating func missing(_ key: String, in section: Section, rule: String? = nil) {
    report(
      .missingKey,
      "The key \"\(key)\" is missing.",
      at: section.place,
      section.position,
      rule: rule
    )
  }

  // MARK: Scalars

  /// Text of any spelling; null is a fault.
  mutating func text(_ found: (node: MapNode, place: String)?) -> String? {
    guard let found else { return nil }
    guard case .scalar(let text, _) = found.node.content, !found.node.isNull else {
      wanted("a word", found)
      return nil
    }
    return text
  }

  /// Reports what was found where something else was wanted.
  mutating func wanted(_ what: String, _ found: (node: MapNode, place: String)) {
    report(
      .shape,
      "\(what.capitalizedFirst) belongs here, not \(found.node.kind).",
      at: found.place,
      found.node.position
    )
  }

  /// `true` or `false`.
  mutating func flag(_ found: (node: MapNode, place: String)?) -> Bool? {
    guard let found, let text = text(found) else { return nil }
    switch text {
    case "true": return true
    case "false": return false
    default:
      report(
        .value,
        "\"\(text)\" is neither true nor false.",
        at: found.place,
        found.node.position,
        suggestion: ["yes", "on", "y"].contains(text.lowercased())
          ? "true"
          : ["no", "off", "n"].contains(text.lowercased())
            ? "false" : nearest(to: text, in: ["true", "false"])
      )
      return nil
    }
  }

  /// A whole number in a range.
  mutating func integer(
    _ found: (node: MapNode, place: String)?,
    in range: ClosedRange<Int>
  ) -> Int? {
    guard let found, let text = text(found) else { return nil }
    guard let value = Int(text), range.contains(value) else {
      let limits =
        range.upperBound == .max
        ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
      report(
        .value,
        "\"\(text)\" is no whole number from \(limits).",
        at: found.place,
        found.node.position
      )
      return nil
    }
    return value
  }

  /// One word of an enumeration.
  mutating func word<Word: RawRepresentable & CaseIterable>(
    _ found: (node: MapNode, place: String)?,
    as type: Word.Type = Word.self
  ) -> Word? where Word.RawValue == String {
    guard let found, let text = text(found) else { return nil }
    let words = Word.allCases.map(\.rawValue)
    guard let index = words.firstIndex(where: { $0.utf8.elementsEqual(text.utf8) }) else {
      report(
        .value,
        "\"\(text)\" is none of \(words.joined(separator: ", ")).",
        at: found.place,
        found.node.position,
        suggestion: nearest(to: text, in: words)
      )
      return nil
    }
    return Word(rawValue: words[index])
  }

  /// A list of words; a single word is a list of one.
  mutating func list(_ found: (node: MapNode, place: String)?) -> [String]? {
    guard let found else { return nil }
    guard case .sequence(let nodes) = found.node.content else { return text(found).map { [$0] } }
    var words: [String] = []
    for (index, node) in nodes.enumerated() {
      let place = "\(found.place).\(index)"
      positions[place] = node.position
      // An empty string in a list is a word ("" among null words); nothing at all is not.
      if let word = text((node, place)) { words.append(word) }
    }
    return words
  }
}

extension String {
  /// The text with its first letter in upper case, to start a sentence.
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
