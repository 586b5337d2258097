/// A kind of value in map files: its shape, how it is read and how it is written.
struct MapKind<Value>: Sendable {
  let shape: MapShape
  /// Reads a value; nil where a fault was told instead.
  let read: @Sendable (inout MapReader, MapReader.Found) -> Value?
  let write: @Sendable (Value, MapWriter) -> MapValue
}

// MARK: Scalars

extension MapKind where Value == String {
  /// Text of any look: what it means is checked behind the reading.
  static var text: MapKind { text(0...Int.max) }

  /// Text of a number of characters, which is checked behind the reading.
  static func text(_ length: ClosedRange<Int>) -> MapKind {
    MapKind(
      shape: .text(length),
      read: { reader, found in reader.text(found) },
      write: { text, _ in .text(text) }
    )
  }

  /// The path to records that are written, kept as its text.
  static func place(of format: ForeignFormat) -> MapKind {
    MapKind(
      shape: .text(1...ForeignPathParser.maximumByteCount),
      read: { reader, found in
        let namespaces = format == .xml ? ImportMap.namespaces(of: reader.sources) : [:]
        let parser = ForeignPathParser(format: format, namespaces: namespaces, leadsToRecords: true)
        guard let text = reader.text(found) else { return nil }
        return reader.path(text, by: parser, at: found.place).map { _ in text }
      },
      write: { text, _ in .text(text) }
    )
  }
}

extension MapKind where Value == Bool {
  static var flag: MapKind {
    MapKind(
      shape: .flag,
      read: { reader, found in reader.flag(found) },
      write: { flag, _ in .flag(flag) }
    )
  }
}

extension MapKind where Value == Int {
  /// Whole megabytes of a number of bytes.
  static func megabytes(_ range: ClosedRange<Int>) -> MapKind {
    MapKind(
      shape: .number(range),
      read: { reader, found in reader.integer(found, in: range).map { $0 << 20 } },
      write: { byteCount, _ in .number(byteCount >> 20) }
    )
  }

  static func number(_ range: ClosedRange<Int>) -> MapKind {
    MapKind(
      shape: .number(range),
      read: { reader, found in reader.integer(found, in: range) },
      write: { number, _ in .number(number) }
    )
  }
}

extension MapKind
where Value: RawRepresentable & CaseIterable & SendableMetatype, Value.RawValue == String {
  /// One word of an enumeration; `others` are words of other tools and what they mean here.
  static func word(others: [String: String] = [:]) -> MapKind {
    MapKind(
      shape: .word(Value.allCases.map(\.rawValue)),
      read: { reader, found in reader.word(found, others: others) },
      write: { word, _ in .text(word.rawValue) }
    )
  }
}

// MARK: Lists and tables

extension MapKind where Value == [String] {
  /// A list of words; a single word is a list of one.
  static var words: MapKind {
    MapKind(
      shape: .either([.anyText, .list(.anyText)]),
      read: { reader, found in reader.list(found) },
      write: { words, _ in .list(words.map { .text($0) }) }
    )
  }
}

extension MapKind where Value == [[String]] {
  /// A name; a list of names, one composite key; a list of lists, several keys.
  static var uniqueKeys: MapKind {
    MapKind(
      shape: .either([.anyText, .list(.anyText), .list(.list(.anyText))]),
      read: { reader, found in reader.uniqueKeys(found) },
      write: { keys, _ in
        keys.count == 1 ? .words(keys[0]) : .list(keys.map { .list($0.map { .text($0) }) })
      }
    )
  }
}

extension MapKind {
  /// A mapping with names of the user's, in any order.
  static func table<Element>(
    _ kind: MapKind<Element>,
    least: Int = 0
  ) -> MapKind where Value == [String: Element] {
    MapKind(
      shape: .table(kind.shape, least: least),
      read: { reader, found in
        reader.members(of: found, least: least).reduce(into: [:]) { table, member in
          table[member.key] = kind.read(&reader, found.member(member))
        }
      },
      write: { table, writer in
        .mapping(table.sorted { $0.key < $1.key }.map { ($0.key, kind.write($0.value, writer)) })
      }
    )
  }

  /// A mapping with names of the user's, whose order is kept.
  static func list<Element>(
    _ shape: MapShape,
    least: Int = 0,
    limit: (count: Int, problem: String)? = nil,
    name: @escaping @Sendable (Element) -> String,
    read: @escaping @Sendable (inout MapReader, MapReader.Found, MapNode.Member) -> Element?,
    write: @escaping @Sendable (Element, MapWriter) -> MapValue
  ) -> MapKind where Value == [Element] {
    MapKind(
      shape: .table(shape, least: least),
      read: { reader, found in
        var members = reader.members(of: found, least: least)
        if let limit, members.count > limit.count {
          reader.report(.limit, "\(limit.problem), these are \(members.count).", at: found)
          members = Array(members.prefix(limit.count))
        }
        return members.compactMap { read(&reader, found.member($0), $0) }
      },
      write: { elements, writer in
        .mapping(elements.map { (name($0), write($0, writer)) })
      }
    )
  }
}

// MARK: Sections

extension MapKind where Value: Sendable {
  /// A mapping with keys of the language; nothing where one is missing that it cannot do without.
  static func section(_ section: MapSection<Value>, _ empty: Value) -> MapKind {
    MapKind(
      shape: .section(section.entry),
      read: { reader, found in
        var value = empty
        return reader.fill(&value, from: found, by: section).isWhole ? value : nil
      },
      write: { .mapping(section.members(of: $0, $1)) }
    )
  }

  /// Values by name, each a section.
  static func list<Element>(
    _ section: MapSection<Element>,
    least: Int = 0,
    limit: (count: Int, problem: String)? = nil,
    name: @escaping @Sendable (Element) -> String,
    start: @escaping @Sendable (inout MapReader, MapNode.Member) -> Element
  ) -> MapKind where Value == [Element] {
    .list(
      .section(section.entry),
      least: least,
      limit: limit,
      name: name,
      read: { reader, found, member in
        var value = start(&reader, member)
        return reader.fill(&value, from: found, by: section).isWhole ? value : nil
      },
      write: { .mapping(section.members(of: $0, $1)) }
    )
  }
}
