// docs: begin modules
import Dragoman
import DragomanEntities
import Foundation
// docs: end
import Testing

// docs: begin model
enum Rig: String, AttributeValue, CaseIterable { case sloop, ketch, schooner }

@Entity struct Port {
  @Unique let code: String
  var name: String?
}

@Entity struct Sailor {
  var objectID: ObjectID?
  var name: String
  var languages: [String] = []
}

@Entity struct Boat {
  @Unique var registration: String
  @Attribute(isIndexed: true, length: 1...80) var name: String
  var rig: Rig = .sloop
  @Attribute(scale: 1, range: 0...) var meters: Decimal
  @Attribute(type: .date) var launched: Date?
  @Relationship(deleteRule: .cascade) var crew: [Sailor] = []
  @Relationship(inverse: "boats") var home: Ref<Port>?
  @Transient var isSelected: Bool = false
}
// docs: end

/// Runs the code of the article "A model in Swift".
@Suite struct AModelInSwiftTests {
  private static let article = DocumentFile(
    path: "Sources/DragomanEntities/DragomanEntities.docc/AModelInSwift.md"
  )

  @Test("The article's code does what the article says")
  func story() async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    let folder = url.path
    let feed = try Self.article.blocks(in: "json").joined()
    try Data(feed.utf8).write(to: url.appending(path: "boats.json"))
    var printed: [String] = []
    func print(_ line: String) { printed.append(line) }
    var outputs = try Self.article.blocks(in: "text")

    // docs: begin stack
    let stack = try Stack(Model(Boat.self, Port.self, Sailor.self), at: .file("\(folder)/boats.db"))
    let ports = stack.repository(of: Port.self)
    let boats = stack.repository(of: Boat.self)
    // docs: end

    // docs: begin save
    try await ports.save([
      Port(code: "NOBGO", name: "Bergen"), Port(code: "DEHAM", name: "Hamburg"),
    ])
    var gudrun = try await boats.save(
      Boat(
        registration: "N-17",
        name: "Gudrun",
        rig: .ketch,
        meters: 14.2,
        crew: [Sailor(name: "Ines"), Sailor(name: "Åse", languages: ["no", "en"])],
        home: Ref(key: "NOBGO")
      )
    )
    // docs: end

    // docs: begin again
    gudrun.crew.swapAt(0, 1)
    gudrun.crew[1].languages.append("pt")
    gudrun = try await boats.save(gudrun)
    let sailors = try await stack.repository(of: Sailor.self).count()
    print("\(try await boats.count()) boat, \(sailors) sailors")
    for sailor in gudrun.crew { print("\(sailor.name): \(sailor.languages)") }
    // docs: end
    #expect(printed.joined(separator: "\n") == outputs.removeFirst())
    printed = []

    // docs: begin fetch
    try await boats.save([
      Boat(registration: "N-18", name: "Fram", rig: .schooner, meters: 39),
      Boat(registration: "D-4", name: "Anna", meters: 8.5, home: Ref(key: "DEHAM")),
    ])
    let long = try await boats.fetch(
      \.meters > 10 && \.rig != .sloop,
      sort: [.descending(\.meters), .ascending(\.name)],
      limit: 10
    )
    for boat in long { print("\(boat.name), \(boat.meters) m") }
    // docs: end
    #expect(printed.joined(separator: "\n") == outputs.removeFirst())
    printed = []

    // docs: begin update
    try await boats.update(\.registration == "N-17") { $0.name = "Gudrun II" }
    // docs: end

    // docs: begin live
    let renamed = try await stack.write { context in
      guard let boat = try context.live(Boat.self, \.registration == "N-17") else { return "" }
      try boat.set(\.name, to: "Gudrun III")
      let port = try boat.home?.name ?? "nowhere"
      return try "\(boat.name) of \(port), with \(boat.crew.count)"
    }
    print(renamed)
    // docs: end
    #expect(printed.joined(separator: "\n") == outputs.removeFirst())
    printed = []

    // docs: begin import
    let map = try ImportMap(
      for: Boat.self,
      [
        .map("reg_no", to: \.registration),
        .map("length.m", to: \.meters),
        .map("built", to: \.launched, dates: ["dd.MM.yyyy"]),
        .keys("home_port", to: \.home),
      ]
    )
    let fleet = try await stack.import("\(folder)/boats.json", into: Boat.self, by: map)
    for boat in fleet { print("\(boat.name), \(boat.rig), \(boat.meters) m") }
    // docs: end
    #expect(printed.joined(separator: "\n") == outputs.removeFirst())
    printed = []

    // docs: begin fault
    do {
      try await boats.save(Boat(registration: "D-6", name: "", meters: -1))
    } catch let error as ContextError {
      for fault in error.faults { print("\(fault)") }
    }
    // docs: end
    #expect(printed.joined(separator: "\n") == outputs.removeFirst())
    try stack.close()
  }
}
