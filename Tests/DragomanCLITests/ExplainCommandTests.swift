import Foundation
import Testing

@testable import DragomanCLI

/// `dragoman explain`.
@Suite struct ExplainCommandTests {
  /// docs/errors.md as it stands in the package.
  private static var page: String {
    get throws {
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
      return try String(contentsOf: root.appendingPathComponent("docs/errors.md"), encoding: .utf8)
    }
  }

  @Test("The tool carries docs/errors.md as it stands there, and knows every code of it")
  func embedded() throws {
    let page = try Self.page
    #expect(String(decoding: PackageResources.errors_md, as: UTF8.self) == page)
    let headings = page.split(separator: "\n").filter { $0.hasPrefix("### `") }
      .map { $0.dropFirst(5).dropLast() }
    #expect(ErrorPage.all.map(\.code) == headings.map(String.init))
    #expect(ErrorPage.all.allSatisfy { !$0.paragraphs.isEmpty && !$0.group.isEmpty })
    #expect(ErrorPage.all.allSatisfy { !$0.paragraphs.joined().contains("](") })
  }

  @Test("A code is explained in lines of the width, also where it is pasted with its brackets")
  func code() throws {
    let text = try ExplainCommand.text(of: "value.date", width: 60)
    #expect(text.hasPrefix("value.date  (Values)\n\n  No declared format takes the value"))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 60 })
    #expect(try ExplainCommand.text(of: "error[value.date]: people.json:28", width: 60) == text)
    #expect(try ExplainCommand.text(of: "VALUE.DATE", width: 60) == text)
  }

  @Test("A part of a code lists its family, no code lists all")
  func list() throws {
    let family = try ExplainCommand.text(of: "key", width: 80)
    #expect(family.hasPrefix("Keys and records\n  key.missing    An attribute of the unique key"))
    #expect(!family.contains("value."))
    let all = try ExplainCommand.text(of: nil, width: 80)
    #expect(ErrorPage.all.allSatisfy { all.contains("\n  \($0.code) ") })
    #expect(all.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test(
    "A misspelt code is answered with the nearest",
    arguments: [
      ("value.dat", "value.date"), ("date", "value.date"), ("link.unresolvd", "link.unresolved"),
    ]
  )
  func misspelt(word: String, code: String) throws {
    let run = try ToolFolder().run("explain", word)
    #expect(run.status == 64)
    #expect(
      run.errors
        == "error[tool.code]: There is no error code \(word).\n  help     did you mean \(code)?\n"
    )
  }
}
