import Foundation
import Testing

@testable import DragomanGraph

/// Links that are added one by one: what each costs does not depend on how many there are.
@Suite struct LinkCostTests {
  private static func model(isOrdered: Bool, inverse: Relationship.Kind?) -> Model {
    Model(entities: [
      Entity(
        name: "Owner",
        attributes: [Attribute(name: "name")],
        relationships: [
          Relationship(
            name: "items",
            destination: "Item",
            kind: .toMany,
            isOrdered: isOrdered,
            inverse: inverse == nil ? nil : "owner"
          )
        ]
      ),
      Entity(
        name: "Item",
        attributes: [Attribute(name: "name")],
        relationships: inverse.map {
          [Relationship(name: "owner", destination: "Owner", kind: $0, inverse: "items")]
        } ?? []
      ),
    ])
  }

  /// What the thread has worked so far: how busy the machine is with other tests does not count.
  private var work: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }

  /// Adds objects to one owner one by one, as they are made; the work that took.
  @MainActor private func time(
    _ count: Int,
    in context: ManagedObjectContext,
    isUndoable: Bool
  ) throws -> Duration {
    let owner = try context.insert("Owner")
    let items = try (0..<count).map { _ in try context.insert("Item") }
    let start = work
    for item in items {
      let record = isUndoable ? context.records.beginRecord() : 0
      try owner.add(item, to: "items")
      if isUndoable, item.place.key.isMultiple(of: 250) {
        context.records.undoRecord(record)
        try owner.add(item, to: "items")
      } else if isUndoable {
        context.records.endRecord()
      }
    }
    if !isUndoable { try context.save() }
    let time = work - start
    #expect(try owner.count(of: "items") == count)
    #expect(try owner.targets(of: "items").map(\.place.key) == items.map(\.place.key))
    return time
  }

  @Test(
    "Ten thousand links one by one, and their save, take no more each than a thousand do",
    arguments: [false, true],
    [nil, Relationship.Kind.toOne, .toMany]
  )
  @MainActor func oneByOne(isOrdered: Bool, inverse: Relationship.Kind?) throws {
    let stack = try Stack(Self.model(isOrdered: isOrdered, inverse: inverse), at: .inMemory)
    for isUndoable in [false, true] {
      let few = try time(1000, in: stack.main, isUndoable: isUndoable)
      let many = try time(10_000, in: stack.main, isUndoable: isUndoable)
      // Ten times as many; a hundred times as long where each looks at all others.
      #expect(many < few * 40, "\(isUndoable): \(few) and \(many)")
    }
  }

  @Test("What is undone of links is as it was, listed or not", arguments: [false, true])
  @MainActor func undone(isOrdered: Bool) throws {
    let stack = try Stack(Self.model(isOrdered: isOrdered, inverse: .toMany), at: .inMemory)
    let main = stack.main
    let owner = try main.insert("Owner")
    let items = try (0..<5).map { _ in try main.insert("Item") }
    for item in items.prefix(3) { try owner.add(item, to: "items") }
    try main.save()
    let keys = { try owner.targets(of: "items").map(\.place.key) }
    let before = try keys()
    let record = main.records.beginRecord()
    try owner.remove(items[1], from: "items")
    try owner.add(items[4], to: "items")
    try owner.add(items[1], to: "items")
    try owner.remove(items[0], from: "items")
    try owner.add(items[4], to: "items")
    #expect(try Set(keys()) == Set([1, 2, 4].map { items[$0].place.key }))
    main.records.undoRecord(record)
    #expect(try keys() == before)
    #expect(try items.map { try $0.count(of: "owner") } == [1, 1, 1, 0, 0])
    try main.save()
    #expect(try stack.sql("SELECT count(*) FROM Owner_items") == ["3"])
  }
}
