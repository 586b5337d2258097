/// A mapping of the map language: its keys, and where in a Swift value each is kept.
///
/// The one place that knows the keys: `MapReader` fills a value by it, `members(of:_:)` writes the
/// value, `MapValidator` asks it which keys suit their owner, `entry` describes it to all others.
struct MapSection<Owner: Sendable>: Sendable {
  typealias Member<Value> = any WritableKeyPath<Owner, Value> & Sendable

  let id: String
  let noun: String
  private(set) var keys: [MapKey<Owner>] = []

  init(_ id: String, _ noun: String, _ declare: (inout MapSection) -> Void) {
    self.id = id
    self.noun = noun
    declare(&self)
  }

  var entry: MapSectionEntry { MapSectionEntry(id: id, noun: noun, keys: keys.map(\.entry)) }

  /// The members of a mapping that says what the value does; what needs no word is left out.
  func members(of owner: Owner, _ writer: MapWriter) -> [MapValue.Member] {
    keys.compactMap { key in key.write(owner, writer).map { (key.entry.name, $0) } }
  }

  // MARK: Declaring keys

  /// A key that may be left out; `standard` tells what holds then.
  mutating func add<Value>(
    _ name: String,
    _ member: Member<Value?>,
    _ kind: MapKind<Value>,
    _ help: String = "",
    standard: String? = nil,
    fit: MapFit<Owner>? = nil
  ) {
    let entry = MapKeyEntry(name: name, shape: kind.shape, help: help, standard: standard)
    add(entry, fit: fit) { reader, found, owner in
      owner[keyPath: member] = kind.read(&reader, found)
      return owner[keyPath: member] != nil
    } write: { owner, writer in
      owner[keyPath: member].map { kind.write($0, writer) }
    }
  }

  /// A key that may be left out, of a value that is `standard` then.
  mutating func add<Value: Equatable & Sendable>(
    _ name: String,
    _ member: Member<Value>,
    _ kind: MapKind<Value>,
    _ help: String = "",
    standard: Value,
    fit: MapFit<Owner>? = nil
  ) {
    let word = kind.write(standard, MapWriter()).word
    let entry = MapKeyEntry(name: name, shape: kind.shape, help: help, standard: word)
    add(entry, fit: fit) { reader, found, owner in
      kind.read(&reader, found).map { owner[keyPath: member] = $0 } != nil
    } write: {
      $0[keyPath: member] == standard ? nil : kind.write($0[keyPath: member], $1)
    }
  }

  /// A key that must be there, if a condition holds; it is always written.
  mutating func require<Value>(
    _ name: String,
    _ member: Member<Value>,
    _ kind: MapKind<Value>,
    _ help: String,
    need: MapNeed<Owner> = MapNeed()
  ) {
    add(MapKeyEntry(name: name, shape: kind.shape, help: help), need: need) {
      reader,
      found,
      owner in
      kind.read(&reader, found).map { owner[keyPath: member] = $0 } != nil
    } write: {
      kind.write($0[keyPath: member], $1)
    }
  }

  /// A key whose mapping speaks of members of the owner itself.
  mutating func group(_ name: String, _ section: MapSection, _ help: String) {
    add(MapKeyEntry(name: name, shape: .section(section.entry), help: help)) {
      reader,
      found,
      owner in
      reader.fill(&owner, from: found, by: section).isWhole
    } write: {
      let members = section.members(of: $0, $1)
      return members.isEmpty ? nil : .mapping(members)
    }
  }

  /// The keys of another section, which speak of a part of the owner.
  mutating func include<Part>(_ section: MapSection<Part>, at member: Member<Part>) {
    for key in section.keys {
      add(key.entry) { reader, found, owner in
        key.read(&reader, found, &owner[keyPath: member])
      } write: {
        key.write($0[keyPath: member], $1)
      }
    }
  }

  /// A key that reads and writes in a way of its own; what it is for stands in `fit`, when it must be
  /// there in `need`.
  mutating func add(
    _ entry: MapKeyEntry,
    fit: MapFit<Owner>? = nil,
    need: MapNeed<Owner>? = nil,
    read: @escaping MapKey<Owner>.Reading,
    write: @escaping MapKey<Owner>.Writing
  ) {
    var entry = entry
    entry.fit = fit?.words
    entry.isRequired = need.map { $0.condition == nil } ?? false
    keys.append(MapKey(entry: entry, fit: fit, need: need, read: read, write: write))
  }

  /// What the last key says, where a line of its own is wanted for it.
  mutating func say(_ help: String) { keys[keys.count - 1].entry.help = help }

  /// Has keys read behind all others, since they need what those say.
  mutating func readLate(_ names: String...) {
    for index in keys.indices where names.contains(keys[index].entry.name) {
      keys[index].isLate = true
    }
  }
}

/// A key of the map language: how it is read into its owner and written from it.
struct MapKey<Owner: Sendable>: Sendable {
  typealias Reading = @Sendable (inout MapReader, MapReader.Found, inout Owner) -> Bool
  typealias Writing = @Sendable (Owner, MapWriter) -> MapValue?

  var entry: MapKeyEntry
  /// The owners that it is for; nil: all.
  let fit: MapFit<Owner>?
  /// Where it must be there; nil: nowhere.
  let need: MapNeed<Owner>?
  /// Whether it is read behind the others.
  var isLate = false
  /// Reads what stands behind the key; false where a fault was told instead.
  let read: Reading
  /// What stands behind the key; nil where it is left out.
  let write: Writing
}

/// When a key must be there.
struct MapNeed<Owner: Sendable>: Sendable {
  /// What to write, for the message.
  var rule: String?
  /// Whether the whole value is of no use without it.
  var isVital = true
  /// The owners that need it, as far as they have been read; nil: all.
  var condition: (@Sendable (Owner) -> Bool)?
}

/// The owners that a key is for.
struct MapFit<Owner: Sendable>: Sendable {
  /// In a message: `"scale" is for decimal`.
  let words: String
  let admits: @Sendable (Owner) -> Bool
}

/// What writing needs to know of the whole map.
struct MapWriter: Sendable {
  /// The prefixes of XML paths.
  var namespaces: [String: String] = [:]
}
