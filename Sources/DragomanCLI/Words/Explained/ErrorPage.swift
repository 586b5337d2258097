/// What docs/errors.md says of one code.
struct ErrorPage {
  /// The code: `value.date`.
  let code: String
  /// The heading that it stands under: `Values`.
  let group: String
  /// The paragraphs, as text without marks of links.
  let paragraphs: [String]

  /// All codes, in the order of the page, which the tool carries with it.
  static let all: [ErrorPage] = pages(
    of: String(decoding: PackageResources.errors_md, as: UTF8.self)
  )

  /// The first sentence, for a list.
  var summary: String {
    let text = paragraphs.first ?? ""
    guard let end = text.firstMatch(of: /\.(?: |$)/) else { return text }
    return String(text[..<end.range.lowerBound])
  }

  /// Reads a page.
  static func pages(of markdown: String) -> [ErrorPage] {
    var pages: [ErrorPage] = []
    var group = ""
    var code: String?
    var lines: [String] = []
    func end() {
      guard let known = code else { return }
      pages.append(ErrorPage(code: known, group: group, paragraphs: paragraphs(of: lines)))
      code = nil
    }
    for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("## ") {
        end()
        group = String(line.dropFirst(3))
      } else if line.hasPrefix("### ") {
        end()
        // What is no code is a chapter.
        code = line.hasPrefix("### `") ? line.dropFirst(4).filter { $0 != "`" } : nil
        lines = []
      } else {
        lines.append(String(line))
      }
    }
    end()
    return pages
  }

  /// Joins the lines of each paragraph; an item of a list is one for itself.
  private static func paragraphs(of lines: [String]) -> [String] {
    var paragraphs: [String] = []
    var isOpen = false
    for line in lines {
      let text = line.trimmingPrefix(while: \.isWhitespace)
      if text.isEmpty {
        isOpen = false
      } else if isOpen, !text.hasPrefix("- ") {
        paragraphs[paragraphs.count - 1] += " " + text
      } else {
        paragraphs.append(String(text))
        isOpen = true
      }
    }
    return paragraphs.map { $0.replacing(/\[([^\]]*)\]\([^)]*\)/) { String($0.output.1) } }
  }
}
