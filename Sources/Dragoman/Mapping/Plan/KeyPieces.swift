/// Several keys in one text.
///
/// A sequence of the pieces' places: white space around a piece is not part of it, and what is nothing
/// else is none.
struct KeyPieces: Sequence, IteratorProtocol {
  private let split: LinkPlan.KeyPart.Split
  private let bytes: UnsafeRawBufferPointer
  private var place = 0

  fileprivate init(_ split: LinkPlan.KeyPart.Split, _ bytes: UnsafeRawBufferPointer) {
    self.split = split
    self.bytes = bytes
  }

  /// The place of the next piece.
  mutating func next() -> Range<Int>? {
    while place < bytes.count {
      let start = place
      var width = 0
      while place < bytes.count {
        width = split.width(at: place, of: bytes)
        if width > 0 { break }
        place += 1
      }
      var (first, last) = (start, place)
      place += width
      while first < last, Self.isSpace(bytes[first]) { first += 1 }
      while last > first, Self.isSpace(bytes[last - 1]) { last -= 1 }
      if first < last { return first..<last }
    }
    return nil
  }

  /// Blanks, tabs and the ends of lines and pages.
  fileprivate static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
}

extension LinkPlan.KeyPart.Split {
  /// What the map calls it.
  init(_ separator: String) {
    self = separator == "whitespace" ? .whitespace : .character(Array(separator.utf8))
  }

  /// The places of the keys in a text.
  func pieces(of bytes: UnsafeRawBufferPointer) -> KeyPieces { KeyPieces(self, bytes) }

  /// What is written between two keys.
  var separator: [UInt8] {
    switch self {
    case .whitespace: [32]
    case .character(let bytes): bytes
    }
  }

  /// How many bytes a separator has that stands there; 0 where there is none.
  fileprivate func width(at place: Int, of bytes: UnsafeRawBufferPointer) -> Int {
    switch self {
    case .whitespace: KeyPieces.isSpace(bytes[place]) ? 1 : 0
    case .character(let separator): bytes[place...].starts(with: separator) ? separator.count : 0
    }
  }
}
