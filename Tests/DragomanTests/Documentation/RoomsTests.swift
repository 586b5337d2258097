import Foundation
import Testing

/// Holds the folders of the sources to CONTRIBUTING.md's list of rooms, and the arrows between them
/// to its order.
@Suite struct RoomsTests {
  @Test(
    "A room names types of its own and of rooms above it in CONTRIBUTING.md, never of one below",
    arguments: ["DragomanGraph", "Dragoman", "DragomanConsole", "DragomanCLI"]
  )
  func arrows(target: String) throws {
    let house = try House(target)
    var arrows: [String] = []
    for file in house.files {
      for name in try file.names() {
        guard let home = house.home[name], home.room > file.room else { continue }
        arrows.append("\(file.path) names \(name) of \(house.rooms[home.room])")
      }
    }
    #expect(arrows.sorted() == [])
  }

  @Test(
    "What speaks to SQLite is in the store: all else goes through ObjectStore",
    arguments: ["DragomanGraph", "Dragoman"]
  )
  func engine(target: String) throws {
    let speakers = try House(target).files.filter { $0.code.contains(/import (GRDB|GRDBSQLite)\b/) }
    #expect(speakers.map(\.path).filter { !$0.hasPrefix("Store/") } == [])
    #expect(target != "DragomanGraph" || !speakers.isEmpty)
  }

  @Test(
    "Every folder with sources is a room of CONTRIBUTING.md or lies in one, and every room is there",
    arguments: ["DragomanGraph", "Dragoman", "DragomanConsole", "DragomanCLI"]
  )
  func rooms(target: String) throws {
    let house = try House(target)
    #expect(house.homeless == [])
    let used = Set(house.files.map(\.room))
    #expect(house.rooms.indices.filter { !used.contains($0) }.map { house.rooms[$0] } == [])
  }
}

/// A target's sources as rooms, and the types that are declared in each.
private struct House {
  struct File {
    let path: String
    let room: Int
    let code: String

    /// What may be a type's name.
    func names() throws -> Set<String> {
      // Swift's own expressions take half a minute for all sources, without optimisation.
      let name = try NSRegularExpression(pattern: "\\b[A-Z]\\w*")
      let text = code as NSString
      let whole = NSRange(location: 0, length: text.length)
      return Set(name.matches(in: code, range: whole).map { text.substring(with: $0.range) })
    }
  }

  private(set) var rooms: [String] = []
  private(set) var files: [File] = []
  private(set) var homeless: [String] = []
  /// The file in which a top-level type is declared.
  private(set) var home: [String: File] = [:]

  init(_ target: String) throws {
    let lines = try DocumentFile(path: "CONTRIBUTING.md").lines()
    rooms =
      lines
      .drop { !$0.hasPrefix("### `Sources/\(target)`") }.dropFirst()
      .prefix { !$0.hasPrefix("###") }
      .compactMap { $0.firstMatch(of: /^\| `([A-Za-z\/]+)` \|/).map { String($0.output.1) } }
    let root = DocumentFile.root.appending(path: "Sources/\(target)")
    for path in try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
    where path.hasSuffix(".swift") {
      let holding = rooms.indices.filter { path.hasPrefix(rooms[$0] + "/") }
      guard let room = holding.max(by: { rooms[$0].count < rooms[$1].count }) else {
        homeless.append(path)
        continue
      }
      let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
      files.append(File(path: path, room: room, code: try Self.code(text)))
    }
    let declaration =
      /(?:^|\n)(?:@\w+(?:\([^)]*\))?\s+)*((?:[a-z]+\s+)*)(?:struct|class|enum|protocol|actor|typealias)\s+(\w+)/
    for file in files {
      for match in file.code.matches(of: declaration) where !match.output.1.contains("private") {
        home[String(match.output.2)] = file
      }
    }
  }

  /// A source without comments and without what stands in strings.
  private static func code(_ text: String) throws -> String {
    var code = text
    for (pattern, rest) in [(#""(?:\\.|[^"\\\n])*""#, "\"\""), ("//[^\n]*", "")] {
      code = try NSRegularExpression(pattern: pattern)
        .stringByReplacingMatches(
          in: code,
          range: NSRange(location: 0, length: code.utf16.count),
          withTemplate: rest
        )
    }
    return code
  }
}
