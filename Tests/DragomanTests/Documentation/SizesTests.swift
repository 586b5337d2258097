import Foundation
import Testing

/// Holds files, types and folders of the sources to the sizes of CONTRIBUTING.md; what is larger says why.
@Suite struct SizesTests {
  private static let maximumFileLength = 400
  private static let maximumTypeLength = 700
  private static let maximumPropertyCount = 12
  private static let maximumFolderSize = 15
  /// How a doc comment begins to say why.
  private static let reason = "/// Large because "

  @Test("No file has more than 400 lines without a reason")
  func files() {
    #expect(Self.sources().count > 500)
    let large = Self.sources().filter { path, lines in
      lines.count > Self.maximumFileLength && !lines.contains { $0.contains(Self.reason) }
    }
    #expect(large.map { "\($0.key): \($0.value.count)" }.sorted() == [])
  }

  @Test("No folder holds more than 15 sources")
  func folders() {
    let folders = Dictionary(grouping: Self.sources().keys) { path in
      path.split(separator: "/").dropLast().joined(separator: "/")
    }
    let large = folders.filter { $0.value.count > Self.maximumFolderSize }
    #expect(large.map { "\($0.key): \($0.value.count)" }.sorted() == [])
  }

  @Test("No type has more than 700 lines or 12 stored properties without a reason")
  func types() {
    let targets = Dictionary(grouping: Self.sources()) { $0.key.prefix { $0 != "/" } }
    var told: [String] = []
    for (target, files) in targets {
      for (name, type) in Types(files.map(\.value)).all where !type.hasReason {
        guard
          type.lineCount > Self.maximumTypeLength
            || type.propertyCount > Self.maximumPropertyCount
        else { continue }
        told.append(
          "\(target) \(name): \(type.lineCount) lines, \(type.propertyCount) properties"
        )
      }
    }
    #expect(told.sorted() == [])
  }

  @Test("Lines of a type and of its extensions are counted, and what it stores")
  func counting() {
    let source = """
      /// A type.
      ///
      /// Large because it is one.
      public final class Thing<T>: Sendable {
        /// First.
        public private(set) var one = 1
        @exclusivity(unchecked) private var two: [Int] = []
        private let three = { 3 }()
        static let none = 0
        var four: Int { 4 }
        struct Inner {
          var five = 5
        }
      }
      extension Thing {
        func six() {}
      }
      struct Other {}
      """
    let types = Types([source.components(separatedBy: "\n")]).all
    #expect(types["Thing"] == Types.Size(lineCount: 14, propertyCount: 3, hasReason: true))
    #expect(types["Other"] == Types.Size(lineCount: 1))
  }

  /// The lines of every source by its path below `Sources`.
  private static func sources() -> [String: [String]] {
    let root = DocumentFile.root.appending(path: "Sources")
    let paths = (try? FileManager.default.subpathsOfDirectory(atPath: root.path)) ?? []
    var found: [String: [String]] = [:]
    for path in paths where path.hasSuffix(".swift") {
      guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else {
        continue
      }
      found[path] = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
        String.init
      )
    }
    return found
  }
}

/// The types that stand at the left margin of formatted sources: each ends at the next brace there.
private struct Types {
  struct Size: Equatable {
    var lineCount = 0
    var propertyCount = 0
    var hasReason = false
  }

  private(set) var all: [String: Size] = [:]

  init(_ sources: [[String]]) {
    for lines in sources { read(lines) }
  }

  private mutating func read(_ lines: [String]) {
    let declaration =
      /^(?:@\w+(?:\([^)]*\))?\s+)*(?:[a-z]+\s+)*(struct|class|enum|actor|protocol|extension)\s+(\w+)/
    let property = /^  (?:@\w+(?:\([^)]*\))? )*((?:[a-z]+(?:\([a-z]+\))? )*)(?:let|var) \w+/
    var open: (name: String, stores: Bool)?
    var hasReason = false
    for line in lines {
      if let match = line.firstMatch(of: declaration) {
        let name = String(match.output.2)
        open = (name, ["struct", "class", "actor"].contains(match.output.1))
        if hasReason { all[name, default: Size()].hasReason = true }
      }
      if line.hasPrefix("///") {
        hasReason = hasReason || line.hasPrefix("/// Large because ")
      } else if !line.hasPrefix("@") {
        hasReason = false
      }
      guard let (name, stores) = open else { continue }
      all[name, default: Size()].lineCount += 1
      if stores, let match = line.firstMatch(of: property), !match.output.1.contains("static") {
        let code = line.replacing(/"(?:\\.|[^"\\])*"/, with: "")
        if !code.contains("{") || code.contains(/=.*\{/) {
          all[name, default: Size()].propertyCount += 1
        }
      }
      if line.hasPrefix("}") || line.hasSuffix("{}") && !line.hasPrefix(" ") { open = nil }
    }
  }
}
