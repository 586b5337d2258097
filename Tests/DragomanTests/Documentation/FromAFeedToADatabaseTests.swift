// docs: begin modules
import Dragoman
import DragomanGraph
// docs: end
import Foundation
import Testing

/// Runs the code of the article "From a feed to a database", with the article's feed and map.
@Suite struct FromAFeedToADatabaseTests {
  private static let article = DocumentFile(
    path: "Sources/Dragoman/Dragoman.docc/FromAFeedToADatabase.md"
  )

  @Test("The article's code does what the article says")
  func story() async throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var printed: [String] = []
    func print(_ line: String) { printed.append(line) }

    // docs: begin import
    let map = try ImportMap(contentsOf: "\(folder)/people.map.yaml")
    let store = try SQLiteStore(at: .file("\(folder)/people.db"))
    let importer = Importer(map: map, store: store)
    let report = try await importer.run(ImportRequest([.file("\(folder)/people.json")]))
    // docs: end

    // docs: begin report
    print("\(report.counts.inserted) inserted, \(report.counts.rejected) rejected")
    for group in report.issues {
      print("\(group.count) × \(group.code.rawValue)")
      for issue in group.examples {
        print("line \(issue.origin.line), \(issue.path ?? ""): \(issue.message)")
      }
    }
    // docs: end
    var outputs = try Self.article.blocks(in: "text")
    #expect(printed.joined(separator: "\n") == outputs.removeFirst())
    printed = []

    // docs: begin failure
    do {
      _ = try await importer.run(ImportRequest([.file("\(folder)/nobody.json")]))
    } catch {
      switch error.cause {
      case let cause as ReadError where cause.code == .missing: print("No feed: \(cause.message)")
      case let cause as StoreError where cause.code == .busy: print("Try again: \(cause.message)")
      default: throw error
      }
    }
    // docs: end
    #expect(printed.count == 1 && printed.first?.hasPrefix("No feed: ") == true)
    printed = []

    // docs: begin memory
    let delivery = """
      { "people": [
        { "ticket_number": "T-1001", "salary": 135500.00 },
        { "ticket_number": "T-1003", "address": { "city": null } },
        { "ticket_number": "T-1004", "name": { "first": "Ines", "last": "Keller" } }
      ] }
      """
    let second = try await importer.run(
      ImportRequest([.bytes(Array(delivery.utf8), name: "delivery.json")])
    )
    print("\(second.counts.inserted) inserted, \(second.counts.updated) updated")
    // docs: end
    #expect(printed.joined(separator: "\n") == outputs.removeFirst())

    // docs: begin progress
    let run = importer.start(ImportRequest([.file("\(folder)/people.json")]))
    for await progress in run.progress {
      print("\(progress.counts.read) records, \(progress.byteCount) bytes")
    }
    let third = try await run.report()
    // docs: end
    var counts = ImportLedgerEntry.Counts()
    counts.read = 3
    counts.updated = 2
    counts.rejected = 1
    #expect(third.counts == counts)
    printed = []

    // docs: begin fetch
    let request = FetchRequest(
      "Person",
      filter: try Filter(parsing: "salary > 90000 AND city == %@", arguments: ["Paris"]),
      sortKeys: [SortKey("lastName"), SortKey("salary", ascending: false)],
      limit: 10,
      columns: ["firstName", "lastName", "salary"]
    )
    try store.forEachRow(request) { row in
      if case .text(let name) = row[0], case .text(let salary) = row[2] {
        print("\(row.objectID.entity) \(row.objectID.primaryKey): \(name), \(salary)")
      }
    }
    let total = try store.count(FetchRequest("Person"))
    // docs: end
    #expect(printed.joined(separator: "\n") == outputs.removeFirst())
    #expect(total == 3)

    // docs: begin filter
    let same = Filter.and([
      .where("salary", .greaterThan, 90_000),
      .where("city", .equalTo, "Paris"),
    ])
    // docs: end
    #expect(same == request.filter)

    // docs: begin map
    let json = ForeignPathParser(format: .json)
    let stations = ImportMap(
      entities: [
        EntityMap(
          name: "Station",
          uniqueKeys: [["code"]],
          attributes: [
            AttributeMap(name: "code"),
            AttributeMap(name: "opened", type: .date, format: ValueFormat(dates: ["dd.MM.yyyy"])),
            AttributeMap(
              name: "longitude",
              from: ForeignPaths(json: [try json.parse("position[0]")]),
              type: .decimal
            ),
          ]
        )
      ]
    )
    let faults = stations.validate()
    // docs: end
    #expect(faults == [])
    #expect(try ImportMap(yaml: stations.yaml()).yaml() == stations.yaml())

    // docs: begin trial
    let feed = #"[{ "code": "BRG", "opened": "31.12.1883", "position": [5.333, 60.390] }]"#
    let trial = try await Importer(map: stations, store: SQLiteStore(at: .inMemory)).run(
      ImportRequest([.bytes(Array(feed.utf8), name: "stations.json")], isDryRun: true)
    )
    // docs: end
    #expect(trial.isDryRun && trial.counts.inserted == 1 && trial.status == .done)
    printed = []

    // docs: begin cancel
    let task = Task {
      try await importer.run(
        ImportRequest([.file("\(folder)/people.json")], options: .init(commit: .batch))
      )
    }
    task.cancel()
    let stopped = try await task.value
    print("\(stopped.status): \(stopped.committed) records are in the database")
    // docs: end
    // Three records are one batch: whether it was committed before the cancelling is a race.
    let endings = [
      "cancelled: 0 records are in the database", "cancelled: 3 records are in the database",
      "rejected: 3 records are in the database",
    ]
    #expect(endings.contains(printed.joined()))
    try store.close()
  }

  /// A folder with the feed and the map of the article.
  private static func folder() throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (language, name) in [("json", "people.json"), ("yaml", "people.map.yaml")] {
      let block = try #require(try article.blocks(in: language).first)
      try Data((block + "\n").utf8).write(to: folder.appending(path: name))
    }
    return folder.path
  }
}
