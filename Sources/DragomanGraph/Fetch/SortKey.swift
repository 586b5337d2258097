/// An attribute by which fetched objects are ordered, and the direction.
///
/// Numbers order as numbers (decimals exactly, however long), instants and dates by time, text by
/// its bytes, which for UTF-8 is the order of Unicode scalars. Nulls come first ascending, last
/// descending, as with NSSortDescriptor.
public struct SortKey: Sendable, Hashable {
  /// The attribute's name.
  public var name: String
  /// Whether small values come first.
  public var isAscending: Bool

  /// Makes a sort key.
  public init(_ name: String, ascending: Bool = true) {
    self.name = name
    self.isAscending = ascending
  }

  /// Reads a list such as `lastName,-salary`: a minus means descending, a plus ascending.
  ///
  /// - Throws: `StoreError.Code.badRequest` if a name is empty.
  public static func parse(_ text: String) throws(StoreError) -> [SortKey] {
    var keys: [SortKey] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let word = part.trimmingPrefix { $0 == " " }
      let hasSign = word.hasPrefix("-") || word.hasPrefix("+")
      let name = String(hasSign ? word.dropFirst() : word)
      guard !name.isEmpty else {
        throw StoreError(
          .badRequest,
          "The sort keys \"\(text)\" contain an empty name.",
          help: "write them as a,-b: a ascending, then b descending"
        )
      }
      keys.append(SortKey(name, ascending: !word.hasPrefix("-")))
    }
    return keys
  }

  /// The keys as `parse` reads them.
  public var text: String { (isAscending ? "" : "-") + name }
}
