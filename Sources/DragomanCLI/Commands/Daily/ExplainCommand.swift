import ArgumentParser
import DragomanGraph
import Foundation

/// `dragoman explain CODE`: what an error code means, and what to do about it.
struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Print what an error code means and what to do about it; without a code, all codes.",
    discussion: """
      What docs/errors.md says, without a network. A part of a code (value) prints all codes that begin so.

        dragoman explain value.date

      Exit codes: 0 done, 64 no such code.
      """
  )

  @Argument(
    help: "A code, as it stands in brackets behind error and warning.",
    completion: .custom { _, _, _ in ErrorPage.all.map(\.code) }
  )
  var code: String?

  func run() throws {
    let width = min(
      Terminal.columnCount(of: STDOUT_FILENO) ?? WrappedText.widest,
      WrappedText.widest
    )
    try OutputBuffer.print(Self.text(of: code, width: width))
  }

  /// What is printed.
  ///
  /// - Throws: `ToolError` for a code that there is not.
  static func text(of word: String?, width: Int) throws -> String {
    guard let word else { return list(ErrorPage.all, width: width) }
    let code = word.firstMatch(of: /\[([a-z.]+)\]/).map { String($0.output.1) } ?? word.lowercased()
    if let page = ErrorPage.all.first(where: { $0.code == code }) { return text(of: page, width) }
    let family = ErrorPage.all.filter { $0.code.hasPrefix(code.hasSuffix(".") ? code : code + ".") }
    guard family.isEmpty else { return list(family, width: width) }
    let last = ErrorPage.all.first { $0.code.split(separator: ".").last.map(String.init) == code }
    throw ToolError.noCode(
      word,
      nearest: last?.code ?? nearest(to: code, in: ErrorPage.all.map(\.code))
    )
  }

  private static func text(of page: ErrorPage, _ width: Int) -> String {
    let paragraphs = page.paragraphs.map { WrappedText.lines(of: $0, width: width, indent: "  ") }
    return "\(page.code)  (\(page.group))\n\n" + paragraphs.joined(separator: "\n")
  }

  private static func list(_ pages: [ErrorPage], width: Int) -> String {
    let longest = pages.map(\.code.count).max() ?? 0
    var text = ""
    var group: String?
    for page in pages {
      if page.group != group {
        text += (group == nil ? "" : "\n") + page.group + "\n"
        group = page.group
      }
      let room = max(10, width - longest - 4)
      text += "  " + page.code + String(repeating: " ", count: longest + 2 - page.code.count)
      text += DisplayWidth.truncate(page.summary, to: room) + "\n"
    }
    return text
  }
}
