import Dragoman
import DragomanGraph
import Foundation

/// A stored value in a table of a page.
struct CellView {
  /// How many characters of a text stand in a table.
  static let shortLength = 90
  /// How many characters of a text are told where somebody points at it.
  private static let hintLength = 2_000
  /// How many characters of a text stand on the page of its object.
  private static let longLength = 20_000

  /// The text, shortened.
  let text: String
  /// The whole text, where it was shortened.
  let wholeText: String?
  /// The name of the style: `number`, `null`, `bool`, `masked`; empty for text.
  let style: String
  /// Where it leads; nil: nowhere.
  var cellAddress: String?
  /// Whether what stands here is not the value's text: of null, and of the empty one.
  let isBlank: Bool
  /// Whether not all of it stands here.
  let isCut: Bool

  init(_ value: StoredValue, _ attribute: Attribute, isShort: Bool = true, link: String? = nil) {
    cellAddress = link
    isBlank = PageText.isBlank(value)
    let full = ShownValue.text(value, attribute)
    switch value {
    case _ where attribute.isSensitive && !value.isNull: style = "masked"
    case .null: style = attribute.type.isNumeric ? "null number" : "null"
    case .integer where attribute.type == .bool: style = "bool"
    case .integer, .real: style = "number"
    case .text(""): style = "null"
    case .text: style = attribute.type == .decimal ? "number" : ""
    case .blob: style = "code"
    }
    let limit = isShort ? Self.hintLength : Self.longLength
    // Cut by scalars first: a text may have millions of them.
    let head = full.map { text in
      text.utf8.count > limit
        ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit))) : text
    }
    isCut = head?.utf8.count != full?.utf8.count
    let shown = head.map(PageText.visible) ?? "null"
    if isShort, shown.count > Self.shortLength {
      text = shown.prefix(Self.shortLength - 1) + "…"
      wholeText = String(shown.prefix(Self.hintLength))
    } else {
      text = isCut ? shown + "…" : shown
      wholeText = nil
    }
  }
}

/// Cells as HTML.
extension CellView {
  /// A row's cells: a page has hundreds of them, and a template looks each of their names up by reflection.
  ///
  /// - Parameter cells: The cells in order.
  /// - Returns: A `td` each, in which every text is escaped.
  static func html(_ cells: [CellView]) -> String {
    var html = ""
    for cell in cells {
      html += "<td class=\"\(cell.style)\">"
      if let address = cell.cellAddress {
        html += "<a href=\"\(escaped(address))\">\(escaped(cell.text))</a>"
      } else if let whole = cell.wholeText {
        html += "<span title=\"\(escaped(whole))\">\(escaped(cell.text))</span>"
      } else {
        html += escaped(cell.text)
      }
      html += "</td>"
    }
    return html
  }

  /// Text without what markup consists of.
  static func escaped(_ text: String) -> String {
    text.escaping { byte in
      switch byte {
      case UInt8(ascii: "<"): "&lt;"
      case UInt8(ascii: ">"): "&gt;"
      case UInt8(ascii: "&"): "&amp;"
      case UInt8(ascii: "\""): "&quot;"
      case UInt8(ascii: "'"): "&#39;"
      default: nil
      }
    }
  }
}

/// Texts of stored values as pages show them.
enum PageText {
  /// Whether what stands for the value is not its text: null, and the empty one.
  static func isBlank(_ value: StoredValue) -> Bool { value.isNull || value == .text("") }

  /// A text that can be seen: what is empty is called so, and what is invisible, or turns the direction of reading, is
  /// spelled as the tool's tables do.
  ///
  /// Line ends and tabs stay: pages show them.
  static func visible(_ text: String) -> String {
    text.isEmpty ? "(empty)" : VisibleText.keepingLines(text)
  }

  /// A text that can be seen, of so many characters at most: what is missing is told by an ellipsis.
  static func short(_ text: String, _ length: Int) -> String {
    let shown = visible(text)
    return shown.count > length ? shown.prefix(length - 1) + "…" : shown
  }
}

extension JSONValue {
  /// A stored value; one of a sensitive attribute is masked.
  init(_ value: StoredValue, _ attribute: Attribute) {
    self = .raw(ShownValue.json(value, attribute))
  }
}
