import TestSupport
import Testing

@testable import DragomanGraph

/// The registered objects of a context, against a dictionary.
@MainActor @Suite struct IdentityMapTests {
  private let stack: Stack

  init() throws {
    let person = Entity(name: "Person", attributes: [Attribute(name: "name", type: .string)])
    stack = try Stack(Model(entities: [person]), at: .inMemory)
  }

  @Test(
    "Random insertions, removals and look-ups agree with a dictionary",
    arguments: [1, 8, 4096]
  )
  func random(stride: Int64) throws {
    let seed = Seeds.seed()
    var random = SplitMix(state: seed)
    let map = IdentityMap()
    var known: [Int64: ManagedObject] = [:]
    let objects = try (0..<64).map { _ in try stack.main.insert("Person") }
    for step in 0..<20_000 {
      let key = Int64.random(in: -200...200, using: &random) * stride
      let object = objects[Int.random(in: 0..<64, using: &random)]
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1:
        map[key] = object
        known[key] = object
      case 2:
        map[key] = nil
        known[key] = nil
      case 3: map.reserve(Int.random(in: 0...300, using: &random))
      default:
        map.forget(key, object)
        if known[key] === object { known[key] = nil }
      }
      let other = Int64.random(in: -200...200, using: &random) * stride
      try #require(map[other] === known[other], "seed \(seed), step \(step)")
      try #require(map.count == known.count, "seed \(seed), step \(step)")
    }
    #expect(
      Set(map.objects.map(ObjectIdentifier.init)) == Set(known.values.map(ObjectIdentifier.init))
    )
  }

  @Test("Objects that nobody holds leave the map, and those that are held stay in it")
  func letGo() throws {
    let seed = Seeds.seed()
    var random = SplitMix(state: seed)
    let main = stack.main
    for _ in 0..<500 { _ = try main.insert("Person") }
    try main.save()
    let map = main.identities[0]
    #expect(map.count == 0)
    let request = FetchRequest("Person")
    var held: [Int64: ManagedObject] = [:]
    for round in 0..<20 {
      let found = try main.fetch(request)
      try #require(map.count == 500, "seed \(seed), round \(round)")
      for (key, object) in held { #expect(map[key] === object, "seed \(seed), round \(round)") }
      held = [:]
      for object in found where Int.random(in: 0..<4, using: &random) == 0 {
        held[object.place.key] = object
      }
    }
    #expect(map.count == held.count, "seed \(seed)")
    #expect(Set(map.objects.map(\.place.key)) == Set(held.keys), "seed \(seed)")
  }
}
