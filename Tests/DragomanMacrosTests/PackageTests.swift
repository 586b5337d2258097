import Foundation
import Testing

/// Who has to compile swift-syntax.
@Suite struct PackageTests {
  @Test("Neither the tool nor the libraries without macros depend on swift-syntax")
  func dependencies() throws {
    let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { path, _ in
      path.deletingLastPathComponent()
    }
    let package = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
    let code = package.split(separator: "\n").filter { !$0.contains("// ") }.joined(separator: "\n")
    let targets = code.split(separator: "  targets: [")[1].split(separator: "\n    .")
    let users = targets.filter { target in
      ["swift-syntax", "DragomanMacros\"", "DragomanEntities\""].contains { target.contains($0) }
    }
    let names = users.map { target in
      target.split(separator: "name: \"")[1].prefix { $0 != "\"" }
    }
    #expect(
      names == ["DragomanEntities", "DragomanMacros", "DragomanMacrosTests", "DragomanTests"]
    )
  }
}
