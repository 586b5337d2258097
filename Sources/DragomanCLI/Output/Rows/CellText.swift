import Dragoman
import DragomanGraph
import Foundation

/// Stored values as people and other programs read them.
enum CellText {
  /// The value's text by the attribute's type, nil for null.
  ///
  /// Booleans are `true` and `false`, bytes are base64, instants ISO 8601 with `T` and `Z`, numbers
  /// the shortest text that reads back as the same number; everything else is as stored.
  static func text(_ value: StoredValue, _ attribute: Attribute) -> String? {
    switch value {
    case .null: nil
    case .integer(let integer):
      attribute.type == .bool && (0...1).contains(integer)
        ? (integer == 1 ? "true" : "false") : String(integer)
    case .real(let real):
      attribute.type == .float ? String(Float(real)) : String(real)
    case .text(let text): attribute.type == .timestamp ? instant(text) : text
    case .blob(let bytes): Data(bytes).base64EncodedString()
    }
  }

  /// The text as `VisibleText` has it.
  static func visible(_ text: String) -> String { VisibleText.of(text) }

  private static func instant(_ text: String) -> String {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    return parts.count == 2 ? "\(parts[0])T\(parts[1])Z" : text
  }
}
