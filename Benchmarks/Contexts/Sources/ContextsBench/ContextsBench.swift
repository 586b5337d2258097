import Dragoman
import DragomanGraph
import Foundation

/// Measures contexts on the people feed; each command is a whole process and prints one line of JSON.
///
/// `Benchmarks/run.py --contexts` runs it beside the yardstick. Times are seconds. What is read is
/// read from a warm cache, by a context of its own each round; medians of the rounds are printed.
@main
enum ContextsBench {
  static let rounds = 5

  static func main() async throws {
    let words = Array(CommandLine.arguments.dropFirst())
    switch (words.first, words.count) {
    case ("import", 4): try await importing(feed: words[2], map: words[1], database: words[3])
    case ("fetch", 4): try await fetching(People(words), database: words[2])
    case ("save", 4): try await saving(People(words), database: words[2], isSpread: true)
    case ("save", 5): try await saving(People(words), database: words[2], isSpread: false)
    case ("memory", 4): try await holding(People(words), database: words[2])
    case ("live", 4): show(try await Live.figures(People(words), database: words[2]))
    case ("values", 4): try await unboxing(People(words), database: words[2])
    case ("box", 5): try await boxing(People(words), database: words[2], into: words[4])
    default:
      print("usage: contexts-bench import MAP FEED DB | fetch|save|memory|live|values MAP DB COUNT")
      print("       contexts-bench save MAP DB COUNT together")
      print("       contexts-bench box MAP DB COUNT NEW.DB")
      exit(64)
    }
  }

  // MARK: - Import

  /// Dictionaries into objects of a new file, until they are stored.
  private static func importing(feed: String, map: String, database: String) async throws {
    let text = try String(contentsOfFile: feed, encoding: .utf8)
    guard let records = try ForeignValue(json: text).array else {
      print("\(feed) is no array")
      exit(65)
    }
    let stack = try Stack(ImportMap(contentsOf: map).model(), at: .file(database))
    try stack.mappers.register(People.mapper(in: stack.model))
    let start = ContinuousClock().now
    let imported = try await stack.import(records, into: "Person", maximumRejects: 0)
    let seconds = ContinuousClock().now - start
    try stack.close()
    show(["records": Double(imported.ids.count), "import": seconds.inSeconds])
  }

  // MARK: - Fetch

  /// Objects with all attributes, the same and each value asked for, rows as dictionaries, and faults.
  private static func fetching(_ people: People, database: String) async throws {
    let stack = try Stack(ImportMap(contentsOf: people.map).model(), at: .file(database))
    let request = FetchRequest("Person", limit: people.count)
    var faults = request
    faults.returnsFaults = true
    try await people.warmUp(stack)
    var rows: [Double] = []
    var values: [Double] = []
    var ids: [Double] = []
    var keys: [Double] = []
    var sum = 0
    for _ in 0..<rounds {
      let (fetched, read, total) = try await stack.read { context in
        let clock = ContinuousClock()
        let start = clock.now
        let objects = try context.fetch(request)
        let fetched = clock.now - start
        precondition(objects.count == people.count, "\(objects.count) objects")
        let names = People.attributes
        var sum = 0
        for object in objects {
          for name in names { sum &+= try object.value(of: name).weight }
        }
        return (fetched.inSeconds, (clock.now - start).inSeconds, sum)
      }
      rows.append(fetched)
      values.append(read)
      sum = total
      ids.append(
        try await stack.read { [faults] context in
          let start = ContinuousClock().now
          let objects = try context.fetch(faults)
          let seconds = ContinuousClock().now - start
          precondition(objects.count == people.count, "\(objects.count) faults")
          return seconds.inSeconds
        }
      )
      keys.append(
        try await stack.read { context in
          let start = ContinuousClock().now
          let found = try context.fetchIDs(request)
          let seconds = ContinuousClock().now - start
          precondition(found.count == people.count, "\(found.count) ids")
          return seconds.inSeconds
        }
      )
    }
    try stack.close()
    show([
      "records": Double(people.count), "fetch": rows.median, "fetchAndRead": values.median,
      "faults": ids.median, "ids": keys.median, "sum": Double(sum),
    ])
  }

  // MARK: - Save

  /// A thousand stored objects changed in two attributes and saved, the other rows lying still.
  private static func saving(_ people: People, database: String, isSpread: Bool) async throws {
    let stack = try Stack(ImportMap(contentsOf: people.map).model(), at: .file(database))
    let all = try await stack.read { try $0.fetchIDs(FetchRequest("Person")) }
    let stored = all.count
    // Spread over the whole file, every one lies in a page of its own where there are many.
    let ids = stride(from: 0, to: stored, by: isSpread ? max(1, stored / people.count) : 1)
      .prefix(people.count).map { all[$0] }
    var seconds: [Double] = []
    for round in 1...rounds {
      seconds.append(
        try await stack.write { context in
          let objects = try context.objects(with: ids)
          for (index, object) in objects.enumerated() {
            try object.setValue(.integer(Int64(1_000_000 * round + index)), of: "visits")
            try object.setValue(.text("City \(round)"), of: "city")
          }
          let start = ContinuousClock().now
          try context.save()
          return (ContinuousClock().now - start).inSeconds
        }
      )
    }
    try stack.close()
    show(["stored": Double(stored), "changed": Double(ids.count), "save": seconds.median])
  }

  // MARK: - Values

  /// Rows unboxed into values of a Swift type.
  private static func unboxing(_ people: People, database: String) async throws {
    let stack = try Stack(ImportMap(contentsOf: people.map).model(), at: .file(database))
    try await people.warmUp(stack)
    var seconds: [String: [Double]] = [:]
    var sum = 0
    for (name, count) in [("values", people.count), ("tenThousand", 10_000)] {
      for _ in 0..<rounds {
        let (fetched, read, total) = try await stack.read { context in
          let clock = ContinuousClock()
          let start = clock.now
          let values = try context.query(PersonValue.self, limit: count)
          let fetched = clock.now - start
          precondition(values.count == count, "\(values.count) values")
          var sum = 0
          for value in values { sum &+= value.weight }
          return (fetched.inSeconds, (clock.now - start).inSeconds, sum)
        }
        seconds[name, default: []].append(fetched)
        seconds[name + "AndRead", default: []].append(read)
        if name == "values" { sum = total }
      }
    }
    try stack.close()
    var figures = seconds.mapValues(\.median)
    figures["sum"] = Double(sum)
    show(figures)
  }

  /// Values boxed and saved into a new file; then a thousand of them changed and saved again.
  private static func boxing(_ people: People, database: String, into path: String) async throws {
    let model = try ImportMap(contentsOf: people.map).model()
    let stack = try Stack(model, at: .file(database))
    let stored = try await stack.read { context in
      try context.query(PersonValue.self, limit: people.count).map { person in
        var person = person
        person.objectID = nil
        return person
      }
    }
    try stack.close()
    let other = try Stack(model, at: .file(path))
    let (saved, thousand) = try await other.read { context in
      let clock = ContinuousClock()
      var values = stored
      let start = clock.now
      try context.saveAll(&values)
      let saved = clock.now - start
      precondition(values.allSatisfy { $0.objectID != nil }, "a value has no id")
      var seconds: [Double] = []
      for round in 1...rounds {
        var part = Array(values.prefix(1000))
        for index in part.indices {
          part[index].visits = Int64(round * 1_000_000 + index)
          part[index].city = "City \(round)"
        }
        let start = clock.now
        try context.saveAll(&part)
        seconds.append((clock.now - start).inSeconds)
      }
      return (saved.inSeconds, seconds.median)
    }
    // SwiftyCoreData's other headline: a thousand new objects in one save.
    let cats = try await other.read { context in
      var seconds: [Double] = []
      for round in 1...rounds {
        let new = stored.prefix(1000).map { person in
          var person = person
          person.ticketNumber += "-\(round)"
          return person
        }
        let start = ContinuousClock().now
        try context.saveAll(new)
        seconds.append((ContinuousClock().now - start).inSeconds)
      }
      return seconds.median
    }
    try other.close()
    show(["box": saved, "change": thousand, "thousand": cats])
  }

  // MARK: - Memory

  /// What the process grows by while it holds fetched objects, and how much of it is text.
  private static func holding(_ people: People, database: String) async throws {
    let stack = try Stack(ImportMap(contentsOf: people.map).model(), at: .file(database))
    try await people.warmUp(stack)
    let request = FetchRequest("Person", limit: people.count)
    let (grown, text) = try await stack.read { context in
      // Otherwise the growth is that of the page cache and of code that runs for the first time.
      _ = try context.fetch(FetchRequest("Person", limit: 1))
      let before = residentByteCount()
      let objects = try context.fetch(request)
      let grown = residentByteCount() - before
      var text = 0
      for object in objects {
        for name in People.attributes {
          if case .text(let value) = try object.value(of: name) { text += value.utf8.count }
        }
      }
      return (grown, text)
    }
    try stack.close()
    let count = Double(people.count)
    show([
      "records": count, "bytesPerObject": Double(grown) / count,
      "textPerObject": Double(text) / count, "beyondText": Double(grown - text) / count,
    ])
  }

  /// Bytes of this process that are in memory; 0 where /proc does not tell.
  static func residentByteCount() -> Int {
    guard let line = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
      return 0
    }
    let words = line.split(separator: " ")
    return words.count > 1 ? (Int(words[1]) ?? 0) * 4096 : 0
  }

  private static func show(_ figures: [String: Double]) {
    let members = figures.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
    print("{" + members.joined(separator: ", ") + "}")
  }
}
