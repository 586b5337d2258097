import Dragoman
import DragomanGraph
import Foundation
import Synchronization

/// The rejects files that are known: those the console was started with, those of its maps, and of its imports.
struct RejectShelf: Sendable {
  /// One of them.
  struct Item: Sendable {
    let number: Int
    let path: String
    /// The feed of the import from a page that left it; nil of a file that somebody keeps.
    ///
    /// Such a file goes with the console.
    let feed: String?
    /// The file's name; of one that a page's import left the feed's.
    var name: String { feed ?? FilePath.name(of: path) }
    /// Whether it is there.
    var exists: Bool { FileManager.default.fileExists(atPath: path) }
  }

  /// A line of a file.
  struct Line: Sendable {
    let number: Int
    let reject: RejectLine
    /// What changes when the line does.
    var mark: String { RejectShelf.mark(of: reject.bytes) }
  }

  /// Lines of one code, entity and attribute.
  struct Group: Sendable {
    /// The first ones, `RejectShelf.shownCount` at most.
    var lines: [Line] = []
    /// How many there are.
    var count = 0
  }

  /// So many rejects of a file are looked at.
  static let readCount = 100_000
  /// So many of each reason are kept.
  static let shownCount = 15

  let paths: [String]
  let maps: MapShelf
  let jobs: JobBoard
  private let numbers = RejectNumbers()

  init(paths: [String], maps: MapShelf, jobs: JobBoard) {
    self.paths = paths
    self.maps = maps
    self.jobs = jobs
  }

  /// All of them.
  var items: [Item] {
    var all: [(path: String, feed: String?)] = paths.map { ($0, nil) }
    for item in maps.items {
      if case .success(let map) = item.map, let path = map.rejectsPath { all.append((path, nil)) }
    }
    all += jobs.rejects.map { ($0.path, $0.feed) }
    // By what the paths lead to: a map's own is spelled from its folder.
    var seen: Set<String> = []
    return all.compactMap { path, feed in
      let place = Self.place(of: path)
      guard seen.insert(place).inserted else { return nil }
      return Item(number: numbers.number(of: place), path: path, feed: feed)
    }
  }

  private static func place(of path: String) -> String {
    FilePath.file(
      FilePath.name(of: path),
      in: FilePath.resolved(FilePath.openFolder(of: path))
    )
  }

  /// One by its place.
  ///
  /// - Throws: `ConsoleError`, 404, where there is none.
  func item(_ text: String) throws(ConsoleError) -> Item {
    guard let item = items.first(where: { String($0.number) == text }) else {
      throw ConsoleError(404, "There is no such rejects file.", help: "look at the list of rejects")
    }
    return item
  }

  /// The lines of a file by their reasons, in the order of the first ones, as far as they are looked at.
  ///
  /// - Throws: `ReadError` for what is no rejects file.
  static func groups(
    of path: String,
    limit: Int = readCount
  ) throws -> (groups: [Group], isComplete: Bool) {
    guard FileManager.default.fileExists(atPath: path) else { return ([], true) }
    let reader = try RejectLines(path)
    var groups: [Group] = []
    var places: [[String]: Int] = [:]
    var count = 0
    while let reject = try reader.next() {
      guard count < limit else { return (groups, false) }
      count += 1
      let name = [reject.code, reject.entity, reject.attribute ?? ""]
      let place = places[name] ?? groups.count
      if place == groups.count {
        places[name] = place
        groups.append(Group())
      }
      groups[place].count += 1
      if groups[place].lines.count < shownCount {
        groups[place].lines.append(Line(number: reject.number, reject: reject))
      }
    }
    return (groups, true)
  }

  /// One line by its number.
  ///
  /// - Throws: `ConsoleError`, 404, where it is not there any more.
  static func line(_ text: String, of path: String) throws -> Line {
    let reader = try RejectLines(path)
    while let reject = try reader.next() {
      if String(reject.number) == text { return Line(number: reject.number, reject: reject) }
    }
    throw ConsoleError(
      404,
      "There is no reject in line \(text) any more.",
      help: "it may have been imported: look at the list again"
    )
  }

  /// One line by what it was, wherever it stands by now.
  ///
  /// - Parameters:
  ///   - number: Where it stood; of lines that are alike the one there is meant.
  ///   - mark: What it was.
  ///   - path: The file.
  /// - Returns: The line.
  /// - Throws: `ConsoleError`, 409, where there is none.
  static func line(_ number: String, _ mark: String, of path: String) throws -> Line {
    let reader = try RejectLines(path)
    var found: Line?
    while let reject = try reader.next() {
      let line = Line(number: reject.number, reject: reject)
      guard line.mark == mark else { continue }
      if found == nil || String(line.number) == number { found = line }
    }
    guard let found else {
      throw ConsoleError(
        409,
        "This reject is not there any more: it was imported, or changed.",
        help: "load the list again"
      )
    }
    return found
  }

  /// A hash of a line without its end.
  private static func mark(of bytes: [UInt8]) -> String {
    var hash = ContentHash()
    hash.addBytes(bytes.lazy.filter { $0 != 0x0A })
    return hash.digits
  }
}

/// The numbers of rejects files in addresses: whoever comes or goes meanwhile, each keeps its own.
private final class RejectNumbers: Sendable {
  private let numbers = Mutex<[String: Int]>([:])

  /// The number of a file, by what its path leads to; of one that was never seen the next one.
  func number(of place: String) -> Int {
    numbers.withLock { numbers in
      let number = numbers[place] ?? numbers.count
      numbers[place] = number
      return number
    }
  }
}
