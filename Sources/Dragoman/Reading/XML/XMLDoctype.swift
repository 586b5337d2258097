/// The document type declaration of an XML document: what it says of attributes and entities holds for a record
/// that is read for itself, too (XML 1.0, 2.8, 3.3 and 4.2).
enum XMLDoctype {
  /// The most bytes of it that go with a record.
  static let maximumByteCount = 16 << 10

  /// Finds the declaration in front of the root element.
  ///
  /// - Parameter document: The document from its first byte on, as far as it was parsed without fault.
  /// - Returns: Its text; empty where it is longer, and nil where there is none, or where it declares no attributes and no
  ///   entities.
  static func text(in document: UnsafeRawBufferPointer) -> [UInt8]? {
    var place = document.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    while place < document.count, !starts(document, at: place, with: "<!DOCTYPE") {
      if let end = endOfAside(document, at: place) {
        place = end
      } else if document[place] == UInt8(ascii: "<") {
        return nil
      } else {
        place += 1
      }
    }
    guard let end = endOfDeclaration(document, at: place) else { return nil }
    let declares = (place..<end).contains {
      starts(document, at: $0, with: "<!ATTLIST") || starts(document, at: $0, with: "<!ENTITY")
    }
    guard declares else { return nil }
    return end - place > maximumByteCount ? [] : Array(document[place..<end])
  }

  private static func endOfDeclaration(
    _ document: UnsafeRawBufferPointer,
    at start: Int
  ) -> Int? {
    var place = start
    var quote: UInt8?
    var isInSubset = false
    while place < document.count {
      let byte = document[place]
      if let open = quote {
        if byte == open { quote = nil }
      } else if let end = endOfAside(document, at: place) {
        place = end
        continue
      } else {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
        case UInt8(ascii: "["): isInSubset = true
        case UInt8(ascii: "]"): isInSubset = false
        case UInt8(ascii: ">") where !isInSubset: return place + 1
        default: break
        }
      }
      place += 1
    }
    return nil
  }

  /// The place behind a comment or an instruction that starts somewhere; nil: none does.
  private static func endOfAside(_ document: UnsafeRawBufferPointer, at start: Int) -> Int? {
    let isComment = starts(document, at: start, with: "<!--")
    guard isComment || starts(document, at: start, with: "<?") else { return nil }
    let closing: StaticString = isComment ? "-->" : "?>"
    var place = start + (isComment ? 4 : 2)
    while place < document.count, !starts(document, at: place, with: closing) { place += 1 }
    return min(place + closing.utf8CodeUnitCount, document.count)
  }

  private static func starts(
    _ document: UnsafeRawBufferPointer,
    at place: Int,
    with text: StaticString
  ) -> Bool {
    let count = text.utf8CodeUnitCount
    guard place + count <= document.count else { return false }
    return text.withUTF8Buffer { $0.elementsEqual(document[place..<place + count]) }
  }
}
