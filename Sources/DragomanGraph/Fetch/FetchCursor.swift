import Foundation

/// A place in the order of a request: behind one row, where the next page begins.
///
///     var request = FetchRequest("Person", sortKeys: [SortKey("name")], limit: 100)
///     repeat {
///       request.after = try store.forEachRow(inPage: request) { print($0.values) }
///     } while request.after != nil
///
/// It holds the values that the row is sorted by, and its key: rows that come, go or change elsewhere in
/// the order move no page, and a page costs the same wherever it is. It fits a request for the same
/// entity, order and groups, whatever the filter, the columns and the limit are.
public struct FetchCursor: Sendable, Hashable {
  /// What the place is one of: the entity, the sort keys, and what breaks ties.
  let order: [String]
  /// The value of each sort key and tie breaker.
  let values: [StoredValue]
  /// The row's `_pk`; 0 of a row that is no object.
  let key: Int64

  /// Whether the text holds a value of a sensitive attribute, and is not to be printed in messages.
  ///
  /// False of a place that was read from its text.
  public let isSensitive: Bool

  init(order: [String], values: [StoredValue], key: Int64, isSensitive: Bool = false) {
    self.order = order
    self.values = values
    self.key = key
    self.isSensitive = isSensitive
  }

  private static let version = "1"

  /// The place as letters, digits, `-` and `_`.
  ///
  /// It is base64url (RFC 4648, section 5) of lines of text: no secret, and nothing to rely on. The values
  /// of the sort keys can be read in it.
  public var text: String {
    let codes = order.map { ListCode.code(.text($0)) } + values.map(ListCode.code)
    let lines = [Self.version, String(key), String(order.count)] + codes
    return Data(lines.joined(separator: "\n").utf8).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Reads the text of a place.
  ///
  /// - Throws: `StoreError.Code.badRequest` for a text that is none.
  public init(_ text: String) throws(StoreError) {
    let letters = text.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - letters.utf8.count % 4) % 4)
    let bytes = Data(base64Encoded: letters + padding) ?? Data()
    let lines = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard lines.count > 3, lines[0] == Self.version, let key = Int64(lines[1]),
      let count = Int(lines[2]), (1...lines.count - 3).contains(count)
    else {
      throw StoreError(
        .badRequest,
        "\"\(text.prefix(40))\(text.count > 40 ? "…" : "")\" is no place in an order.",
        help: "give the text that the page before has told, whole"
      )
    }
    let values = lines[3...].map(ListCode.value(of:))
    self.init(
      order: values.prefix(count).map { if case .text(let name) = $0 { name } else { "" } },
      values: Array(values.dropFirst(count)),
      key: key
    )
  }

  /// Compares the places, whatever is known of them.
  public static func == (left: FetchCursor, right: FetchCursor) -> Bool {
    left.order.map { Array($0.utf8) } == right.order.map { Array($0.utf8) }
      && left.values == right.values && left.key == right.key
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(values)
    hasher.combine(key)
  }
}
