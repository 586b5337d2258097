import DragomanGraph
import TestSupport

@testable import Dragoman

/// Random rules for people with a company, skills, a boss and friends.
struct LinkScheme: CustomStringConvertible {
  /// Whether a skill belongs to one person; else several people share it.
  var ownsSkills: Bool
  var ordersSkills: Bool
  var joinsSkills: Bool
  var deletesSkills: Bool
  var ordersFriends: Bool
  var joinsFriends: Bool
  var hasInverses: Bool
  /// What missing does to all four relationships.
  var clearsMissing: Bool

  static func random(_ random: inout SplitMix) -> LinkScheme {
    let owns = random.chance(35)
    let joins = random.chance(30)
    let joinsFriends = random.chance(30)
    return LinkScheme(
      ownsSkills: owns,
      ordersSkills: random.chance(50),
      joinsSkills: joins,
      deletesSkills: owns && !joins && random.chance(40),
      ordersFriends: random.chance(60),
      joinsFriends: joinsFriends,
      hasInverses: random.chance(30),
      clearsMissing: random.chance(25)
    )
  }

  var description: String {
    let missing = clearsMissing ? ", onMissing: clear" : ""
    func inverse(_ name: String) -> String { hasInverses ? ", inverse: \(name)" : "" }
    // A to-many that only its other side names is one of children: several owners are declared.
    let inverseOfSkills =
      ownsSkills
      ? "owner: { entity: P, kind: toOne, inverse: skills, from: owner }"
      : hasInverses ? "people: { entity: P, kind: toMany, inverse: skills, from: people }" : ""
    func list(_ isOrdered: Bool, _ isJoined: Bool) -> String {
      "kind: toMany, ordered: \(isOrdered), assign: \(isJoined ? "union" : "replace")\(missing)"
    }
    return """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: { type: int64 }, name: name }
          relationships:
            company: { entity: C, kind: toOne, from: company\(inverse("staff"))\(missing) }
            skills: { entity: Skill, from: skills, \(list(ordersSkills, joinsSkills)), onUnlink: \(deletesSkills ? "delete" : "keep")\(ownsSkills ? ", inverse: owner" : inverse("people")) }
            boss: { entity: P, kind: toOne, key: { id: boss }\(inverse("reports"))\(missing) }
            friends: { entity: P, key: { id: friends }, \(list(ordersFriends, joinsFriends)) }
        C: { unique: id, attributes: { id: { type: int64 }, name: name } }
        Skill:
          unique: id
          attributes: { id: { type: int64 }, name: name }
          relationships: { \(inverseOfSkills) }
      sources:
        json: { format: json, entity: P }
      """
  }
}

/// What a record says of a member that may be missing or null.
enum Said<Value: Hashable>: Hashable {
  case missing
  case null
  case value(Value)

  /// What becomes of a value under `onMissing` keep or clear, `onNull: clear`.
  func applied(to old: Value?, clearsMissing: Bool = false) -> Value? {
    switch self {
    case .missing: clearsMissing ? nil : old
    case .null: nil
    case .value(let value): value
    }
  }
}

/// A record of a person, as an import gets it and as the naive import does.
struct LinkRecord: Hashable {
  /// A nested company or skill.
  struct Thing: Hashable {
    var id: Int64
    var name: Said<String>
  }

  var id: Int64
  var name: Said<String>
  var company: Said<Thing>
  var skills: Said<[Thing]>
  var boss: Said<Int64>
  var friends: Said<[Int64]>
  /// What makes the record one to be refused; nil: nothing.
  var fault: Fault?

  enum Fault: CaseIterable {
    case noKey
    case invalidName
    case companyWithoutKey
    case companyIsText
    case skillWithoutKey
    case skillWithInvalidName
  }

  static func random(_ random: inout SplitMix) -> LinkRecord {
    func said<Value>(_ make: (inout SplitMix) -> Value) -> Said<Value> {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<3: .missing
      case 3: .null
      default: .value(make(&random))
      }
    }
    let thing = { (random: inout SplitMix) in
      Thing(
        id: .random(in: 1...4, using: &random),
        name: [.missing, .missing, .null, .value("x"), .value("y")].randomElement(using: &random)
          ?? .missing
      )
    }
    let things = { (random: inout SplitMix) in
      (0..<Int.random(in: 0...3, using: &random)).map { _ in thing(&random) }
    }
    let keys = { (random: inout SplitMix) -> [Int64] in
      (0..<Int.random(in: 0...4, using: &random)).map { _ in .random(in: 1...7, using: &random) }
    }
    return LinkRecord(
      id: .random(in: 1...5, using: &random),
      name: said { $0.chance(50) ? "a" : "b" },
      company: said(thing),
      skills: said(things),
      boss: said { .random(in: 1...7, using: &$0) },
      friends: said(keys),
      fault: random.chance(10) ? Fault.allCases.randomElement(using: &random) : nil
    )
  }

  var foreign: ForeignValue {
    var record: ForeignRecord = [:]
    func set<Value>(_ key: String, _ said: Said<Value>, _ spell: (Value) -> ForeignValue) {
      switch said {
      case .missing: break
      case .null: record[key] = .some(.null)
      case .value(let value): record[key] = spell(value)
      }
    }
    func spell(_ thing: Thing) -> ForeignValue {
      var member: ForeignRecord = ["id": .integer(thing.id)]
      switch thing.name {
      case .missing: break
      case .null: member["name"] = .some(.null)
      case .value(let name): member["name"] = .string(name)
      }
      return .object(member)
    }
    record["id"] = .integer(id)
    set("name", name) { .string($0) }
    set("company", company, spell)
    set("skills", skills) { .array($0.map(spell)) }
    set("boss", boss) { .integer($0) }
    set("friends", friends) { .array($0.map { .integer($0) }) }
    let good: ForeignValue = ["id": 1, "name": "never"]
    switch fault {
    case nil: break
    case .noKey: record["id"] = nil
    case .invalidName: record["name"] = 1
    case .companyWithoutKey: record["company"] = ["name": "never"]
    case .companyIsText: record["company"] = "never"
    case .skillWithoutKey: record["skills"] = [good, ["name": "never"]]
    case .skillWithInvalidName: record["skills"] = [good, ["id": 2, "name": true]]
    }
    return .object(record)
  }
}

/// The naive import of people: every link is a list of keys.
struct NaiveLinks {
  struct Person: Hashable {
    var name: String?
    var company: Int64?
    var skills: [Int64] = []
    var boss: Int64?
    var friends: [Int64] = []
  }

  let scheme: LinkScheme
  var people: [Int64: Person] = [:]
  var companies: [Int64: String?] = [:]
  var skills: [Int64: String?] = [:]

  /// Imports records.
  ///
  /// Whoever comes in this import is there for all of its records: that is what
  /// resolving forward references at the end comes to.
  mutating func run(
    _ records: [LinkRecord],
    mode: EntityWriter.Mode?
  ) -> ImportLedgerEntry.Counts {
    var counts = ImportLedgerEntry.Counts()
    let coming = Set(people.keys).union(records.filter { $0.fault == nil }.map(\.id))
    for record in records {
      counts.read += 1
      if record.fault != nil {
        counts.rejected += 1
        continue
      }
      let old = people[record.id]
      if old != nil, mode == .ignore {
        counts.skipped += 1
        continue
      }
      if old != nil, mode == .insert {
        counts.rejected += 1
        continue
      }
      let isReplaced = mode == .replace
      // `replace` is about attributes: links that a record does not name stay.
      let clears = scheme.clearsMissing
      var new = old ?? Person()
      new.name = record.name.applied(to: new.name, clearsMissing: isReplaced)
      new.company = said(record.company) { write($0, &companies) }
        .applied(to: new.company, clearsMissing: clears)
      let skills = said(record.skills) { $0.map { write($0, &self.skills) } }
      new.skills = assign(skills, new.skills, scheme.joinsSkills, clears)
      new.boss = said(record.boss) { $0 }.applied(to: new.boss, clearsMissing: clears)
      if let boss = new.boss, !coming.contains(boss) { new.boss = nil }
      let friends = said(record.friends) { $0.filter(coming.contains) }
      new.friends = assign(friends, new.friends, scheme.joinsFriends, clears)
      people[record.id] = new
      settle(record.id, was: old?.skills ?? [])
      let settled = people[record.id] ?? new
      if let old {
        if same(old, settled) { counts.unchanged += 1 } else { counts.updated += 1 }
      } else {
        counts.inserted += 1
      }
    }
    return counts
  }

  private func said<Value, Other>(_ said: Said<Value>, _ change: (Value) -> Other) -> Said<Other> {
    switch said {
    case .missing: .missing
    case .null: .null
    case .value(let value): .value(change(value))
    }
  }

  private func write(_ thing: LinkRecord.Thing, _ things: inout [Int64: String?]) -> Int64 {
    things[thing.id] = .some(thing.name.applied(to: things[thing.id] ?? nil))
    return thing.id
  }

  private func assign(
    _ said: Said<[Int64]>,
    _ old: [Int64],
    _ isJoined: Bool,
    _ clearsMissing: Bool
  ) -> [Int64] {
    var list = said.applied(to: old, clearsMissing: clearsMissing) ?? []
    // What is joined never takes away.
    if isJoined { list = old + list }
    var seen: Set<Int64> = []
    list.removeAll { !seen.insert($0).inserted }
    return list
  }

  /// A skill that has an owner leaves the one it had; what nobody has any more may go.
  private mutating func settle(_ id: Int64, was: [Int64]) {
    guard scheme.ownsSkills, let now = people[id]?.skills else { return }
    for other in people.keys where other != id {
      people[other]?.skills.removeAll { now.contains($0) }
    }
    guard scheme.deletesSkills else { return }
    for skill in was where !now.contains(skill) { skills[skill] = nil }
  }

  private func same(_ old: Person, _ new: Person) -> Bool {
    var (old, new) = (old, new)
    if !scheme.ordersSkills {
      old.skills.sort()
      new.skills.sort()
    }
    if !scheme.ordersFriends {
      old.friends.sort()
      new.friends.sort()
    }
    return old == new
  }

  /// Everything, as `LinkScheme.contents` reads it from a store.
  var contents: [String] {
    func spell(_ value: Any?) -> String { value.map { "\($0)" } ?? "null" }
    var lines: [String] = []
    for (id, person) in people.sorted(by: { $0.key < $1.key }) {
      lines.append(
        "P \(id)|\(spell(person.name))|\(spell(person.company))|\(spell(person.boss))"
          + " skills \(scheme.ordersSkills ? person.skills : person.skills.sorted())"
          + " friends \(scheme.ordersFriends ? person.friends : person.friends.sorted())"
      )
    }
    lines += companies.sorted { $0.key < $1.key }.map { "C \($0.key)|\(spell($0.value))" }
    lines += skills.sorted { $0.key < $1.key }.map { "S \($0.key)|\(spell($0.value))" }
    return lines
  }
}

extension LinkScheme {
  /// What a store holds: people with their lists, companies, skills.
  func contents(of store: SQLiteStore) throws -> [String] {
    let skills =
      ownsSkills
      ? "SELECT o.id, s.id FROM Skill s JOIN P o ON o._pk = s.owner ORDER BY o.id, "
        + (ordersSkills ? "s._skills_order" : "s.id")
      : "SELECT o.id, s.id FROM P_skills l JOIN P o ON o._pk = l.owner JOIN Skill s ON s._pk = l.target"
        + " ORDER BY o.id, \(ordersSkills ? "l.position" : "s.id")"
    let friends =
      "SELECT o.id, t.id FROM P_friends l JOIN P o ON o._pk = l.owner JOIN P t ON t._pk = l.target"
      + " ORDER BY o.id, \(ordersFriends ? "l.position" : "t.id")"
    let ofSkills = try lists(skills, store)
    let ofFriends = try lists(friends, store)
    let people = try sql(
      store,
      "SELECT p.id, p.name, c.id, b.id FROM P p LEFT JOIN C c ON c._pk = p.company"
        + " LEFT JOIN P b ON b._pk = p.boss ORDER BY p.id"
    )
    return people.map { person in
      let id = String(person.prefix { $0 != "|" })
      return "P \(person) skills \(ofSkills[id] ?? []) friends \(ofFriends[id] ?? [])"
    }
      + (try sql(store, "SELECT id, name FROM C ORDER BY id").map { "C \($0)" })
      + (try sql(store, "SELECT id, name FROM Skill ORDER BY id").map { "S \($0)" })
  }

  private func lists(_ query: String, _ store: SQLiteStore) throws -> [String: [Int64]] {
    var lists: [String: [Int64]] = [:]
    for row in try sql(store, query) {
      let parts = row.split(separator: "|")
      lists[String(parts[0]), default: []].append(Int64(parts[1]) ?? 0)
    }
    return lists
  }
}
