/// Cuts the text where libxml2 is given it.
enum XMLPiece {
  /// How many bytes of the window to give to the parser next.
  ///
  /// A piece ends behind a `>` where there is one: then the parser is left with nothing half read.
  /// Every record ends with a `>`, so a piece with that many of them at most cannot complete more
  /// records than are wanted. A piece without `>` ends between characters.
  static func length(of window: UnsafeRawBufferPointer, tagEnds wanted: Int) -> Int {
    let end = UInt8(ascii: ">")
    // The shortest record, `<a/>`, has four bytes.
    if wanted < window.count / 4, tagEndCount(in: window) > wanted {
      var left = wanted
      for index in window.indices where window[index] == end {
        left -= 1
        if left == 0 { return index + 1 }
      }
    }
    if let last = window.lastIndex(of: end) { return last + 1 }
    return characterBoundary(window)
  }

  private static func tagEndCount(in window: UnsafeRawBufferPointer) -> Int {
    var count = 0
    for byte in window { count &+= byte == UInt8(ascii: ">") ? 1 : 0 }
    return count
  }

  /// The length without the bytes of a character that the end may have cut.
  private static func characterBoundary(_ window: UnsafeRawBufferPointer) -> Int {
    for back in 1...4 {
      let index = window.count - back
      guard index > 0 else { break }
      let byte = window[index]
      if byte < 0x80 { break }
      if byte >= 0xC0 { return index }
    }
    return window.count
  }
}
