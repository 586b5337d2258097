import TestSupport
import Testing

@testable import DragomanGraph

/// How much the property tests of live results do: `DRAGOMAN_STEPS` steps, or 60.
enum LiveSettings {
  static var steps: Int { Seeds.setting("DRAGOMAN_STEPS").map { Int($0) } ?? 60 }
}

/// Items in boxes, some of them special.
let shop = Model(
  entities: [
    Entity(
      name: "Item",
      attributes: [
        Attribute(name: "name"), Attribute(name: "count", type: .int32),
        Attribute(name: "price", type: .decimal, rules: AttributeRules(scale: 2)),
        Attribute(name: "weight", type: .double),
      ],
      relationships: [
        .toOne("box", "Box", inverse: "items"), .toMany("tags", "Tag", inverse: "items"),
      ]
    ),
    Entity(name: "Special", attributes: [Attribute(name: "reason")], parent: "Item"),
    Entity(
      name: "Box",
      attributes: [Attribute(name: "name"), Attribute(name: "size", type: .int32)],
      relationships: [.toMany("items", "Item", inverse: "box")]
    ),
    Entity(
      name: "Tag",
      attributes: [Attribute(name: "word")],
      relationships: [.toMany("items", "Item", inverse: "tags")]
    ),
  ]
)

/// Random requests for items, and random changes of the objects of a context.
struct LiveRandom {
  var random: SplitMix

  init(seed: UInt64) { random = SplitMix(state: seed) }

  mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &random)]
  }

  /// A request, and the section key for it.
  mutating func request(allowsPaths: Bool = true) throws -> (FetchRequest, String?) {
    let own = ["name", "name[c]", "name[cd]", "name[l]", "count", "price", "weight"]
    let far = ["box.name", "box.size", "box.items.@count", "tags.@count"]
    var keys: [SortKey] = []
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let text = allowsPaths && chance(4) ? pick(far) : pick(own)
      keys += try SortKey.parse((chance(2) ? "-" : "") + text)
    }
    let plain = [
      "count > 3", "name CONTAINS[c] 'a'", "name != nil", "price < 2.5",
      "NOT (count BETWEEN {2, 6})",
      "name BEGINSWITH 'A' OR count = 1", "weight >= 0", "SELF != nil",
    ]
    let paths = [
      "box.name == 'A'", "box != nil", "ANY tags.word == 'x'", "box.items.@count > 1",
      "NONE box.items.count > 4", "box.name == name",
    ]
    let filter: Filter? =
      chance(3) ? nil : try Filter(parsing: allowsPaths && chance(3) ? pick(paths) : pick(plain))
    var request = FetchRequest(chance(8) ? "Special" : "Item", filter: filter, sortKeys: keys)
    request.limit = chance(2) ? Int.random(in: 0...12, using: &random) : nil
    request.includesSubentities = !chance(6)
    let section = chance(2) ? keys.first?.name : nil
    return (request, section)
  }

  /// Changes a few objects of a context.
  mutating func edit(_ context: ManagedObjectContext) throws {
    for _ in 0..<(chance(10) ? 8 : Int.random(in: 1...2, using: &random)) {
      let items = try context.fetch(FetchRequest("Item"))
      let boxes = try context.fetch(FetchRequest("Box"))
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1:
        let item = try context.insert(chance(4) ? "Special" : "Item")
        for _ in 0..<3 { set(item) }
        if chance(2) { item[one: "box"] = boxes.randomElement(using: &random) }
      case 2 where boxes.count < 10:
        let box = try context.insert("Box")
        box["name"] = text()
      case 3:
        let tags = try context.fetch(FetchRequest("Tag"))
        if tags.count > 8, let tag = tags.randomElement(using: &random) {
          try context.delete(tag)
        } else {
          try context.insert("Tag")["word"] = .text(pick(["x", "y"]))
        }
      case 4 where items.count > 25, 5 where items.count > 40:
        if let item = items.randomElement(using: &random) { try context.delete(item) }
      case 5:
        if let box = boxes.randomElement(using: &random), boxes.count > 3 {
          try context.delete(box)
        }
      case 6:
        if let box = boxes.randomElement(using: &random) {
          box["name"] = text()
          box["size"] = number()
        }
      case 7:
        items.randomElement(using: &random)?[one: "box"] =
          chance(3) ? nil : boxes.randomElement(using: &random)
      case 8:
        let tags = try context.fetch(FetchRequest("Tag"))
        if let item = items.randomElement(using: &random) {
          item[many: "tags"] = tags.shuffled(using: &random).prefix(
            Int.random(in: 0...2, using: &random)
          )
          .map { $0 }
        }
      default:
        if let item = items.randomElement(using: &random) { set(item) }
      }
    }
  }

  private mutating func set(_ item: ManagedObject) {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: item["name"] = text()
    case 1: item["count"] = number()
    case 2:
      item["price"] = chance(4) ? .null : .text(pick(["0.50", "2.00", "2.50", "10.00", "-1.00"]))
    default: item["weight"] = chance(4) ? .null : .real(pick([0, -0.0, 1.5, -2, .infinity]))
    }
  }

  private mutating func text() -> StoredValue {
    chance(5)
      ? .null : .text(pick(["A", "a", "\u{E9}", "e\u{301}", "e", "E", "b", "Ab", "", "z", "Z"]))
  }

  private mutating func number() -> StoredValue {
    chance(5) ? .null : .integer(Int64.random(in: 0...8, using: &random))
  }
}

/// Why a sequence ends; nil: it ends without a reason.
func endReason(of events: ResultEvents) async -> (any Error)? {
  do {
    for try await _ in events {}
    return nil
  } catch {
    return error
  }
}

extension Stack {
  /// A stack in memory with the items a to d, whose counts are 1 to 4.
  @MainActor
  static func withItems() throws -> Stack {
    let stack = try Stack(shop, at: .inMemory)
    for (name, count) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
      let item = try stack.main.insert("Item")
      item["name"] = .text(name)
      item["count"] = .integer(Int64(count))
    }
    try stack.main.save()
    return stack
  }
}

extension ManagedObjectContext {
  /// The item of a name.
  func item(_ name: String) throws -> ManagedObject {
    try #require(
      try fetchOne(FetchRequest("Item", filter: .where("name", .equalTo, .value(.string(name)))))
    )
  }
}
