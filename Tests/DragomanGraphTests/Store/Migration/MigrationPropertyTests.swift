import Foundation
import GRDB
import TestServer
import TestSupport
import Testing

@testable import DragomanGraph

/// Random changes of random files: the contents must be those of a plain model in Swift.
@Suite("Migration, random changes")
struct MigrationPropertyTests {
  @Test("Contents are those of a naive model, or the fault is foreseen", arguments: 0..<80)
  func agrees(round: Int) throws {
    let seed = Seeds.seed(round)
    var random = SplitMix(state: seed)
    var world = NaiveStore(&random)
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: world.model)
    try store.execute(world.insertions(store.layout))
    #expect(try world.contents == contents(of: store), "seed \(seed), before")
    // Several migrations of one file, each of several changes.
    for step in 0..<3 {
      let before = try store.dump()
      var next = world
      next.settle()
      let drops = Bool.random(using: &random)
      var isRefused = false
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        isRefused = next.change(&random, drops: drops) || isRefused
      }
      let model = next.model
      let place = Comment(rawValue: "seed \(seed), migration \(step), drops \(drops)")
      let migration = try store.migration(to: model, drops: drops)
      guard !isRefused else {
        #expect(!migration.faults.isEmpty, place)
        #expect(throws: StoreError.self, place) { try store.migrate(to: model, drops: drops) }
        #expect(try store.dump() == before, place)
        continue
      }
      #expect(migration.faults == [], place)
      try store.migrate(to: model, drops: drops)
      next.forget()
      let found = Set(try contents(of: store))
      #expect(found.symmetricDifference(next.contents) == [], place)
      #expect(try store.texts("PRAGMA foreign_key_check") == [], place)
      let again = try store.migration(to: model, drops: drops)
      #expect(again.isEmpty, place)
      let fresh = try SQLiteStore(at: .inMemory)
      try fresh.grow(to: store.model)
      #expect(try store.shape() == fresh.shape(), place)
      world = next
    }
  }

  @Test("A server becomes what a file becomes", .enabled(if: TestServer.isThere), arguments: 0..<12)
  func agreesOnServer(round: Int) throws {
    let seed = Seeds.seed(1000 + round)
    var random = SplitMix(state: seed)
    var world = NaiveStore(&random)
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: world.model)
    try store.execute(world.insertions(store.layout))
    let twin = try ServerTwin(store)
    for step in 0..<3 {
      var next = world
      next.settle()
      let drops = Bool.random(using: &random)
      for _ in 0..<Int.random(in: 1...4, using: &random) { _ = next.change(&random, drops: drops) }
      let place = Comment(rawValue: "seed \(seed), migration \(step), drops \(drops)")
      let planned = try store.migration(to: next.model, drops: drops)
      #expect(try twin.server.migration(to: next.model, drops: drops) == planned, place)
      if planned.faults.isEmpty {
        try store.migrate(to: next.model, drops: drops)
        try twin.server.migrate(to: next.model, drops: drops)
        try twin.expectFreshShape(place)
        next.forget()
        world = next
      } else {
        #expect(throws: StoreError.self, place) {
          try twin.server.migrate(to: next.model, drops: drops)
        }
      }
      try twin.expectEqual(place)
    }
  }

  /// `Entity pk.property = value` for everything in the file.
  private func contents(of store: SQLiteStore) throws -> [String] {
    let layout = store.layout
    var lines: [String] = []
    for entity in layout.entities {
      for attribute in entity.attributes {
        lines += try store.texts(
          "SELECT '\(entity.name) ' || _pk || '.\(attribute.name)', typeof(\(attribute.column)),"
            + " \(attribute.column) FROM \(entity.table)"
        )
      }
      for link in entity.relationships {
        let query = LinkMove.query(link, false, layout)
        lines += try store.texts(
          "SELECT '\(entity.name) ' || owner || '.\(link.name)', group_concat(target) FROM"
            + " (SELECT * FROM (\(query)) ORDER BY owner, position, target) GROUP BY owner"
        )
      }
    }
    return lines.sorted()
  }
}

/// What a file holds, without tables.
private struct NaiveStore {
  struct Property {
    var attribute: Attribute
    var values: [Int64: StoredValue]
    var isNamed = true
    /// Whether no file has had it yet.
    var isNew = false
  }

  struct Link {
    var relationship: Relationship
    let destination: Int
    var targets: [Int64: [Int64]]
    var isNamed = true
  }

  struct Kind {
    var name: String
    var renamedFrom: String?
    let keys: [Int64]
    var properties: [Property]
    var links: [Link]
    var unique: [[Int]] = [[0]]
  }

  private var kinds: [Kind] = []
  private var nameCount = 0

  init(_ random: inout SplitMix) {
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let keys = (0..<Int64.random(in: 0...4, using: &random)).map { $0 * 2 + 1 }
      let id = Attribute(name: "id", type: .int64, isRequired: true)
      let values = keys.map { ($0, StoredValue.integer($0 * 10)) }
      let first = Property(attribute: id, values: Dictionary(uniqueKeysWithValues: values))
      kinds.append(Kind(name: newName(), keys: keys, properties: [first], links: []))
    }
    for index in kinds.indices {
      for _ in 0..<Int.random(in: 0...3, using: &random) { addProperty(to: index, &random) }
      for _ in 0..<Int.random(in: 0...2, using: &random) { addLink(to: index, &random) }
    }
  }

  private mutating func newName() -> String {
    nameCount += 1
    return "n\(nameCount)"
  }

  private static let types: [AttributeType] = [.string, .int16, .bool, .date, .decimal, .double]

  private mutating func addProperty(to kind: Int, _ random: inout SplitMix) {
    let type = Self.types.randomElement(using: &random) ?? .string
    let attribute = Attribute(
      name: newName(),
      type: type,
      isIndexed: Bool.random(using: &random)
    )
    var values: [Int64: StoredValue] = [:]
    for key in kinds[kind].keys {
      let number = Int64.random(in: 0...3, using: &random)
      values[key] =
        switch (Int.random(in: 0..<4, using: &random), type) {
        case (0, _): .null
        case (_, .int16): .integer(number)
        case (_, .bool): .integer(number & 1)
        case (_, .date): .text("200\(number)-02-03")
        case (_, .decimal): .text(number == 0 ? "0" : "-\(number).25")
        case (_, .double): .real(Double(number) / 2)
        default: .text(number == 3 ? "three" : "\(number)")
        }
    }
    kinds[kind].properties.append(Property(attribute: attribute, values: values))
  }

  private mutating func addLink(to kind: Int, _ random: inout SplitMix) {
    let destination = Int.random(in: 0..<kinds.count, using: &random)
    let isToMany = Bool.random(using: &random)
    let relationship = Relationship(
      name: newName(),
      destination: "",
      kind: isToMany ? .toMany : .toOne,
      isOrdered: isToMany && Bool.random(using: &random)
    )
    var targets: [Int64: [Int64]] = [:]
    for key in kinds[kind].keys {
      let some = kinds[destination].keys.shuffled(using: &random)
        .prefix(Int.random(in: 0...(isToMany ? 2 : 1), using: &random))
      if !some.isEmpty {
        targets[key] = relationship.isOrdered ? Array(some) : some.sorted()
      }
    }
    kinds[kind].links.append(
      Link(relationship: relationship, destination: destination, targets: targets)
    )
  }

  var model: Model {
    Model(
      entities: kinds.map { kind in
        Entity(
          name: kind.name,
          attributes: kind.properties.filter(\.isNamed).map(\.attribute),
          relationships: kind.links.filter(\.isNamed).map { link in
            var relationship = link.relationship
            relationship.destination = kinds[link.destination].name
            return relationship
          },
          uniqueKeys: kind.unique.map { $0.map { kind.properties[$0].attribute.name } }
        ).with { $0.renamedFrom = kind.renamedFrom }
      }
    )
  }

  var contents: [String] {
    var lines: [String] = []
    for kind in kinds {
      for property in kind.properties {
        for key in kind.keys {
          let name = "\(kind.name) \(key).\(property.attribute.name)"
          switch property.values[key] ?? .null {
          case .null: lines.append("\(name)|null|-")
          case .integer(let integer): lines.append("\(name)|integer|\(integer)")
          case .real(let real): lines.append("\(name)|real|\(real)")
          case .text(let text): lines.append("\(name)|text|\(text)")
          case .blob: break
          }
        }
      }
      for link in kind.links {
        for (key, targets) in link.targets {
          let list = targets.map(String.init).joined(separator: ",")
          lines.append("\(kind.name) \(key).\(link.relationship.name)|\(list)")
        }
      }
    }
    return lines.sorted()
  }

  /// The statements that write the contents into fresh tables.
  func insertions(_ layout: ModelLayout) -> [String] {
    var statements: [String] = []
    for kind in kinds {
      for key in kind.keys {
        statements.append("INSERT INTO \(kind.name) (_pk, _v) VALUES (\(key), 1)")
        for property in kind.properties {
          let text =
            switch property.values[key] ?? .null {
            case .integer(let integer): "\(integer)"
            case .real(let real): "\(real)"
            case .text(let text): "'\(text)'"
            default: "NULL"
            }
          statements.append(
            "UPDATE \(kind.name) SET \(property.attribute.name) = \(text) WHERE _pk = \(key)"
          )
        }
      }
    }
    for kind in kinds {
      for link in kind.links {
        let table = "\(kind.name)_\(link.relationship.name)"
        for (key, targets) in link.targets {
          for (position, target) in targets.enumerated() {
            statements.append(
              link.relationship.kind == .toOne
                ? "UPDATE \(kind.name) SET \(link.relationship.name) = \(target) WHERE _pk = \(key)"
                : link.relationship.isOrdered
                  ? "INSERT INTO \(table) (owner, position, target)"
                    + " VALUES (\(key), \(position), \(target))"
                  : "INSERT INTO \(table) (owner, target) VALUES (\(key), \(target))"
            )
          }
        }
      }
    }
    return statements
  }

  // MARK: - Changes

  /// Forgets former names before the next changes.
  mutating func settle() {
    for kind in kinds.indices {
      kinds[kind].renamedFrom = nil
      for index in kinds[kind].properties.indices {
        kinds[kind].properties[index].attribute.renamedFrom = nil
        kinds[kind].properties[index].isNew = false
      }
      for index in kinds[kind].links.indices {
        kinds[kind].links[index].relationship.renamedFrom = nil
      }
    }
  }

  /// Drops what a migration that drops was not told of; keeps the rest as named.
  mutating func forget() {
    for kind in kinds.indices {
      for index in kinds[kind].properties.indices {
        kinds[kind].properties[index].isNamed = true
      }
      for index in kinds[kind].links.indices { kinds[kind].links[index].isNamed = true }
    }
  }

  /// One random change; says whether the data forbids it.
  mutating func change(_ random: inout SplitMix, drops: Bool) -> Bool {
    let kind = Int.random(in: 0..<kinds.count, using: &random)
    // What was renamed or left out in this migration is left alone.
    let properties = kinds[kind].properties.indices.filter {
      $0 > 0 && kinds[kind].properties[$0].isNamed
        && kinds[kind].properties[$0].attribute.renamedFrom == nil
    }
    let links = kinds[kind].links.indices.filter { kinds[kind].links[$0].isNamed }
    let name = newName()
    switch Int.random(in: 0..<10, using: &random) {
    case 0 where kinds[kind].renamedFrom == nil:
      (kinds[kind].renamedFrom, kinds[kind].name) = (kinds[kind].name, name)
    case 1:
      guard let index = properties.randomElement(using: &random) else { return false }
      kinds[kind].properties[index].attribute.renamedFrom =
        kinds[kind].properties[index].attribute.name
      kinds[kind].properties[index].attribute.name = name
      kinds[kind].properties[index].attribute.column = name
    case 2:
      guard let index = links.randomElement(using: &random),
        kinds[kind].links[index].relationship.renamedFrom == nil
      else { return false }
      kinds[kind].links[index].relationship.renamedFrom =
        kinds[kind].links[index].relationship.name
      kinds[kind].links[index].relationship.name = name
    case 3:
      let type = Self.types.randomElement(using: &random) ?? .string
      var property = Property(attribute: Attribute(name: name, type: type), values: [:])
      property.isNew = true
      kinds[kind].properties.append(property)
    case 4, 5:
      guard let index = properties.randomElement(using: &random) else { return false }
      return convert(kind, index, &random)
    case 6, 7:
      guard let index = links.randomElement(using: &random) else { return false }
      return changeKind(kind, index, &random)
    case 8:
      leaveOut(kind, properties, links, drops, &random)
    default:
      guard let index = properties.randomElement(using: &random),
        !kinds[kind].unique.contains([index])
      else { return false }
      kinds[kind].unique.append([index])
      let values = kinds[kind].properties[index].values.values.filter { $0 != .null }
      return Set(values).count < values.count
    }
    return false
  }

  private mutating func leaveOut(
    _ kind: Int,
    _ properties: [Int],
    _ links: [Int],
    _ drops: Bool,
    _ random: inout SplitMix
  ) {
    if Bool.random(using: &random), let index = links.randomElement(using: &random) {
      let relationship = kinds[kind].links[index].relationship
      guard relationship.renamedFrom == nil, !isMoved.contains(relationship.name) else { return }
      if drops {
        kinds[kind].links.remove(at: index)
      } else {
        kinds[kind].links[index].isNamed = false
      }
    } else if let index = properties.last, !kinds[kind].properties[index].isNew,
      !kinds[kind].unique.contains([index]),
      index == kinds[kind].properties.count - 1,
      !isConverted.contains(kinds[kind].properties[index].attribute.name)
    {
      if drops {
        kinds[kind].properties.remove(at: index)
      } else {
        kinds[kind].properties[index].isNamed = false
      }
    }
  }

  /// Another type, with the values written by hand-made rules.
  private mutating func convert(
    _ kind: Int,
    _ index: Int,
    _ random: inout SplitMix
  ) -> Bool {
    let old = kinds[kind].properties[index].attribute
    let type: AttributeType
    let rule: (StoredValue) -> StoredValue?
    switch (old.type, Bool.random(using: &random)) {
    case (.string, true):
      type = .int64
      rule = { if case .text(let text) = $0 { Int64(text).map { .integer($0) } } else { nil } }
    case (.string, false):
      type = .decimal
      rule = { $0 == .text("three") || "\($0)".contains("-02-03") ? nil : $0 }
    case (.int16, true):
      type = .decimal
      rule = { if case .integer(let integer) = $0 { .text("\(integer)") } else { nil } }
    case (.int16, false), (.bool, true):
      type = .int64
      rule = { $0 }
    case (.bool, false):
      type = .string
      rule = { .text($0 == .integer(1) ? "true" : "false") }
    case (.date, _):
      type = .timestamp
      rule = { if case .text(let text) = $0 { .text(text + " 00:00:00") } else { nil } }
    case (.double, _):
      type = .int32
      rule = {
        if case .real(let real) = $0 { Int64(exactly: real).map { .integer($0) } } else { nil }
      }
    default: return false
    }
    // A text that came of another type in this migration would be converted in one go.
    guard old.renamedFrom == nil, !isConverted.contains(old.name) else { return false }
    if old.type == .string,
      kinds[kind].properties[index].values.values.contains(where: {
        if case .text(let text) = $0 { text == "true" || text == "false" } else { false }
      })
    {
      return false
    }
    isConverted.insert(old.name)
    kinds[kind].properties[index].attribute.type = type
    var isRefused = false
    for (key, value) in kinds[kind].properties[index].values where value != .null {
      let converted = rule(value)
      isRefused = isRefused || converted == nil
      kinds[kind].properties[index].values[key] = converted
    }
    return isRefused
  }

  /// Attributes that were converted once; each only once.
  private var isConverted: Set<String> = []

  private mutating func changeKind(
    _ kind: Int,
    _ index: Int,
    _ random: inout SplitMix
  ) -> Bool {
    var link = kinds[kind].links[index]
    // By its former name: it may have been renamed in this migration.
    let name = link.relationship.renamedFrom ?? link.relationship.name
    guard isMoved.insert(name).inserted else { return false }
    var isRefused = false
    if link.relationship.kind == .toMany && Bool.random(using: &random) {
      link.relationship.kind = .toOne
      link.relationship.isOrdered = false
      isRefused = link.targets.values.contains { $0.count > 1 }
    } else {
      link.relationship.kind = .toMany
      link.relationship.isOrdered.toggle()
      if !link.relationship.isOrdered { link.targets = link.targets.mapValues { $0.sorted() } }
    }
    kinds[kind].links[index] = link
    return isRefused
  }

  /// Relationships that changed; each only once.
  private var isMoved: Set<String> = []
}
