import Dragoman
import DragomanGraph
import Foundation

/// A stored value in a table of a page.
struct CellView {
  /// How many characters of a text stand in a table.
  static let shortLength = 90

  /// The text, shortened.
  let text: String
  /// The whole text, where it was shortened.
  let wholeText: String?
  /// The name of the style: `number`, `null`, `bool`, `masked`; empty for text.
  let style: String
  /// Where it leads; nil: nowhere.
  var cellAddress: String?

  init(_ value: StoredValue, _ attribute: Attribute, isShort: Bool = true, link: String? = nil) {
    cellAddress = link
    let full = ValueText.text(value, attribute)
    switch value {
    case _ where attribute.isSensitive && !value.isNull: style = "masked"
    case .null: style = attribute.type.isNumeric ? "null number" : "null"
    case .integer where attribute.type == .bool: style = "bool"
    case .integer, .real: style = "number"
    case .text(""): style = "null"
    case .text: style = attribute.type == .decimal ? "number" : ""
    case .blob: style = "code"
    }
    let shown =
      attribute.isSensitive && full != nil
      ? ValueText.mask : full.map { ValueText.visible($0) } ?? "null"
    if isShort, shown.count > Self.shortLength {
      text = shown.prefix(Self.shortLength - 1) + "…"
      wholeText = String(shown.prefix(2000))
    } else {
      text = shown
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

/// Stored values as text and as JSON, by their attributes' types.
enum ValueText {
  /// What stands for a value of a sensitive attribute.
  static let mask = "•••"

  /// The value's text; nil for null.
  ///
  /// Booleans are `true` and `false`, bytes are base64, instants ISO 8601 with `T` and `Z`; everything else is as
  /// stored.
  static func text(_ value: StoredValue, _ attribute: Attribute) -> String? {
    switch value {
    case .null: return nil
    case .integer(let integer):
      return attribute.type == .bool && (0...1).contains(integer)
        ? (integer == 1 ? "true" : "false") : String(integer)
    case .real(let real): return attribute.type == .float ? String(Float(real)) : String(real)
    case .text(let text):
      guard attribute.type == .timestamp else { return text }
      let parts = text.split(separator: " ", omittingEmptySubsequences: false)
      return parts.count == 2 ? "\(parts[0])T\(parts[1])Z" : text
    case .blob(let bytes): return Data(bytes).base64EncodedString()
    }
  }

  /// Whether what stands for the value is not its text: null, and the empty one.
  static func isBlank(_ value: StoredValue) -> Bool { value.isNull || value == .text("") }

  /// A text that can be seen: what is empty is called so, and what is invisible, or turns the direction of reading, is
  /// spelled as the tool's tables do.
  ///
  /// Line ends and tabs stay: pages show them.
  static func visible(_ text: String) -> String {
    if text.isEmpty { return "(empty)" }
    return text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
      ? text : spelled(text) { $0.isInvisible }
  }

  /// A text that can be seen, of so many characters at most: what is missing is told by an ellipsis.
  static func short(_ text: String, _ length: Int) -> String {
    let shown = visible(text)
    return shown.count > length ? shown.prefix(length - 1) + "…" : shown
  }

  /// A page with its control characters spelled; browsers drop some, and take others for another one.
  ///
  /// What is typed into a form comes back as it was: nothing else is spelled there.
  static func spelled(_ page: String) -> String {
    var last: UInt8 = 0
    let isPlain = page.utf8.allSatisfy { byte in
      // Those from 128 on are of two bytes.
      defer { last = byte }
      if last == 0xC2, byte < 0xA0 { return false }
      return byte >= 0x20 && byte != 0x7F || byte == 0x0A || byte == 0x09 || byte == 0x0D
    }
    return isPlain ? page : spelled(page) { $0.properties.generalCategory == .control }
  }

  private static func spelled(
    _ text: String,
    where isSpelled: (Unicode.Scalar) -> Bool
  ) -> String {
    var spelled = ""
    for scalar in text.unicodeScalars {
      if !["\n", "\t", "\r"].contains(scalar), isSpelled(scalar) {
        spelled += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        spelled.unicodeScalars.append(scalar)
      }
    }
    return spelled
  }

  /// The value as JSON; a value of a sensitive attribute is masked.
  static func json(_ value: StoredValue, _ attribute: Attribute) -> JSONValue {
    guard let text = text(value, attribute) else { return .null }
    if attribute.isSensitive { return .string(mask) }
    switch value {
    case .null: return .null
    case .integer(let integer):
      return attribute.type == .bool && (0...1).contains(integer)
        ? .bool(integer == 1) : .integer(integer)
    case .real(let real): return .real(real)
    case .text:
      switch attribute.type {
      case .decimal where text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?/) != nil:
        return .raw(text)
      case .json where !text.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }): return .raw(text)
      default: return .string(text)
      }
    case .blob: return .string(text)
    }
  }
}
