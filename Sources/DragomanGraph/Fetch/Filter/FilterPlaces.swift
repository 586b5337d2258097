/// Where the parts of something stand in the text of a predicate, for messages.
///
/// It is no part of what a predicate means: all of them are equal. It takes the room of a pointer, because
/// the parser has many of them on its stack.
struct FilterPlaces: Sendable, Hashable {
  private final class Storage: Sendable {
    let text: String
    let columns: [Int]

    init(_ text: String, _ columns: [Int]) {
      self.text = text
      self.columns = columns
    }
  }

  private let storage: Storage?

  /// Nowhere: of what was written in code.
  static let none = FilterPlaces()

  private init() { storage = nil }

  /// Makes places.
  ///
  /// - Parameters:
  ///   - text: The predicate.
  ///   - columns: The columns of the parts, in Unicode scalars from 1: of a path its steps, of a comparison
  ///     left side, relation, right side.
  init(text: String, columns: [Int]) { storage = Storage(text, columns) }

  /// The place of a part; nil where there is none.
  func place(of part: Int) -> TextPlace? {
    guard let storage, storage.columns.indices.contains(part) else { return nil }
    return TextPlace(text: storage.text, column: storage.columns[part])
  }

  /// The places of a comparison whose sides are exchanged.
  var mirrored: FilterPlaces {
    storage.map { FilterPlaces(text: $0.text, columns: $0.columns.reversed()) } ?? self
  }

  static func == (left: FilterPlaces, right: FilterPlaces) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}

extension StoreError {
  /// The error with the place of a part of a predicate, unless it has one.
  func at(_ part: Int, of places: FilterPlaces) -> StoreError {
    guard place == nil, let place = places.place(of: part) else { return self }
    var error = self
    error.place = place
    return error
  }
}
