import DragomanGraph

// The kinds whose spelling is their own: names with entities, properties, paths, parts of keys.

/// A length while it is read: a range with either end.
struct LengthEnds: Sendable {
  var minimum: Int?
  var maximum: Int?
}

/// A part of a relationship's key while it is read, in one of its forms.
struct KeyPartDraft: Sendable {
  var attribute: String?
  var value: String?
  var from: ForeignPaths?
  var split: String?
  var byFormat = ForeignPaths()

  init() {}

  init(_ part: RelationshipMap.KeyPart) {
    switch part {
    case .attribute(let name): attribute = name
    case .value(let text): value = text
    case .path(let paths, let split): (from, self.split) = (paths, split)
    }
  }
}

extension MapKind where Value == [EntityMap] {
  /// They are read twice: what a path means is known when it is known which sources read its entity, and
  /// that is when all entities have been read.
  static var entities: MapKind {
    let kind = MapKind.list(
      MapGrammar.entity,
      least: 1,
      limit: (
        ImportMap.maximumEntityCount, "A map has at most \(ImportMap.maximumEntityCount) entities"
      ),
      name: \.name,
      start: { reader, member in
        reader.context = MapReader.PathContext(of: member.key, reader.reach)
        return EntityMap(name: member.key, attributes: []).with { $0.position = member.keyPosition }
      }
    )
    return MapKind(
      shape: kind.shape,
      read: { reader, found in
        // What is wrong is told by the second reading.
        var draft = reader
        draft.reach = SourceReach(ImportMap(entities: [], sources: reader.sources))
        let entities = kind.read(&draft, found) ?? []
        reader.reach = SourceReach(ImportMap(entities: entities, sources: reader.sources))
        return kind.read(&reader, found)
      },
      write: kind.write
    )
  }
}

extension MapKind where Value == [AttributeMap] {
  /// Each `name: path`, `name:` alone (the path is the name), or the long form.
  static var attributes: MapKind {
    .list(
      .either([.nothing, .paths, .section(MapGrammar.attribute.entry)]),
      limit: columnLimit,
      name: \.name,
      read: { reader, found, member in
        var attribute = AttributeMap(name: member.key)
        attribute.position = member.keyPosition
        if case .mapping = found.node.content {
          _ = reader.fill(&attribute, from: found, by: MapGrammar.attribute)
        } else if !found.node.isNull {
          attribute.from = reader.paths(found)
        }
        return attribute
      },
      write: { attribute, writer in
        let members = MapGrammar.attribute.members(of: attribute, writer)
        // The short form, where one path for every format is all there is to say.
        guard members.count == 1, let from = attribute.from?.shared(writer) else {
          return .mapping(members)
        }
        return .words(from)
      }
    )
  }
}

extension MapKind where Value == [RelationshipMap] {
  static var relationships: MapKind {
    .list(MapGrammar.relationship, limit: columnLimit, name: \.name) { _, member in
      RelationshipMap(name: member.key, entity: "", kind: .toOne)
        .with { $0.position = member.keyPosition }
    }
  }
}

/// A table has no more columns.
private let columnLimit = (
  count: Model.maximumColumnCount,
  problem: "A table has at most \(Model.maximumColumnCount) columns"
)

extension MapKind where Value == [ValueFormat.ValuePair] {
  static var valuePairs: MapKind {
    .list(
      .anyText,
      name: \.foreign,
      read: { reader, found, member in
        reader.text(found).map { ValueFormat.ValuePair(foreign: member.key, local: $0) }
      },
      write: { pair, _ in .text(pair.local) }
    )
  }
}

extension MapKind where Value == String {
  /// What stands between the keys of one text.
  static var split: MapKind {
    MapKind(
      shape: .either([.word(["whitespace"]), .text(1...1)]),
      read: { reader, found in
        guard let text = reader.text(found) else { return nil }
        if text == "whitespace" || text.unicodeScalars.count == 1 { return text }
        reader.report(
          .value,
          "\"\(text)\" is neither \"whitespace\" nor one character.",
          at: found,
          suggestion: nearest(to: text, in: ["whitespace"])
        )
        return nil
      },
      write: { text, _ in .text(text) }
    )
  }
}

extension AttributeRules {
  /// The lengths admitted as a map file says them; nil: any.
  var length: ClosedRange<Int>? {
    get {
      guard minimumLength != nil || maximumLength != nil else { return nil }
      let low = minimumLength ?? 0
      return low...max(low, maximumLength ?? .max)
    }
    set {
      minimumLength = newValue.flatMap { $0.lowerBound > 0 ? $0.lowerBound : nil }
      maximumLength = newValue.flatMap { $0.upperBound < .max ? $0.upperBound : nil }
    }
  }
}

extension MapKind where Value == ClosedRange<Int> {
  /// A number is the longest length; `{ min, max }` gives both ends.
  static var length: MapKind {
    MapKind(
      shape: .either([.number(0...Int.max), .section(MapGrammar.length.entry)]),
      read: { reader, found in
        guard case .mapping = found.node.content else {
          return reader.integer(found, in: 0...Int.max).map { 0...$0 }
        }
        var ends = LengthEnds()
        _ = reader.fill(&ends, from: found, by: MapGrammar.length)
        let (shortest, longest) = (ends.minimum ?? 0, ends.maximum ?? .max)
        guard shortest <= longest else {
          reader.report(
            .value,
            "The shortest length, \(shortest), is more than the longest, \(longest).",
            at: found
          )
          return nil
        }
        return shortest...longest
      },
      write: { length, _ in
        let most = length.upperBound == .max ? [] : [("max", MapValue.number(length.upperBound))]
        return .mapping([("min", .number(length.lowerBound))] + most)
      }
    )
  }
}

extension MapKind where Value == ForeignPaths {
  /// A path, a list of paths, or `{ json, xml, csv }` of them.
  static var paths: MapKind {
    MapKind(
      shape: .either([.paths, .section(MapGrammar.paths.entry)]),
      read: { reader, found in reader.paths(found) },
      write: { paths, writer in
        paths.shared(writer).map { .words($0) }
          ?? .mapping(MapGrammar.paths.members(of: paths, writer))
      }
    )
  }
}

extension MapKind where Value == [ForeignPath] {
  /// The paths of one format.
  static func paths(in format: ForeignFormat) -> MapKind {
    MapKind(
      shape: .paths,
      read: { reader, found in reader.paths(found, in: format) },
      write: { paths, _ in .words(paths.map(\.text)) }
    )
  }
}

extension MapKind where Value == RelationshipMap.KeyPart {
  /// A path, `{ json, xml, csv }`, `{ attribute }`, `{ value }` or `{ from, split }`.
  static var keyPart: MapKind {
    MapKind(
      shape: .either([.paths, .section(MapGrammar.keyPart.entry)]),
      read: { reader, found in
        guard case .mapping = found.node.content else {
          return reader.paths(found).map { .path($0, split: nil) }
        }
        var draft = KeyPartDraft()
        let keys = reader.fill(&draft, from: found, by: MapGrammar.keyPart).keys
        return reader.keyPart(draft, keys, found)
      },
      write: { part, writer in
        if case .path(let paths, nil) = part {
          return MapKind<ForeignPaths>.paths.write(paths, writer)
        }
        return .mapping(MapGrammar.keyPart.members(of: KeyPartDraft(part), writer))
      }
    )
  }
}
