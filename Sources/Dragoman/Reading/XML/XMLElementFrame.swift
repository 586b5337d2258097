/// An open element inside a record: its node, and the text gathered for it so far.
///
/// Direct text that is one piece of the source stays there; only text that is cut by markup,
/// entities or line ends is copied into the frame's own memory, which the next element at the
/// same depth uses again.
struct XMLElementFrame {
  /// The element's node.
  var node = 0
  /// Whether a child element was seen.
  var hasChildren = false
  /// Whether the element or one around it is `xsi:nil`.
  var isNull = false
  /// Whether the text stands in `copy`; else it stands in the source.
  var isCopied = false
  /// Where the text starts in the batch's source, unless it is copied.
  var start = 0
  /// How many bytes of text there are.
  var length = 0
  /// Where, in the text, the run since the last child element starts.
  var runStart = 0
  /// Where, in the source, a CDATA section's text went on after a carriage return; else -1.
  var afterReturn = -1
  /// Copied text.
  var copy = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  /// Starts over for another element at this depth; keeps the memory.
  @inline(__always)
  mutating func open(node: Int, isNull: Bool) {
    self.node = node
    self.isNull = isNull
    hasChildren = false
    isCopied = false
    length = 0
    runStart = 0
    afterReturn = -1
  }

  /// Adds text that stands in the source.
  @inline(__always)
  mutating func append(source: UnsafeMutableRawPointer, at offset: Int, count: Int) {
    if length == 0 {
      isCopied = false
      start = offset
      length = count
    } else if !isCopied, start + length == offset {
      length += count
    } else {
      append(copying: source + offset, count: count, source: source)
    }
  }

  /// Adds text that stands anywhere.
  mutating func append(
    copying bytes: UnsafeRawPointer,
    count: Int,
    source: UnsafeMutableRawPointer
  ) {
    reserve(length + count)
    guard let base = copy.baseAddress else { return }
    if !isCopied, length > 0 { base.copyMemory(from: source + start, byteCount: length) }
    isCopied = true
    (base + length).copyMemory(from: bytes, byteCount: count)
    length += count
  }

  /// Adds the raw text of a CDATA section: libxml2's push parser leaves its line ends as they are,
  /// XML 1.0, 2.11 wants them to be line feeds.
  mutating func append(section source: UnsafeMutableRawPointer, at offset: Int, count: Int) {
    let lineFeed: UInt8 = 0x0A
    let end = offset + count
    var start = offset
    if afterReturn == offset, byte(source, offset) == lineFeed { start += 1 }
    afterReturn = -1
    var index = start
    while index < end {
      guard byte(source, index) == 0x0D else {
        index += 1
        continue
      }
      append(source: source, at: start, count: index - start)
      withUnsafePointer(to: lineFeed) { append(copying: $0, count: 1, source: source) }
      index += 1
      if index == end {
        // The line feed that belongs to it may come with the next piece.
        afterReturn = end
      } else if byte(source, index) == lineFeed {
        index += 1
      }
      start = index
    }
    if start < end { append(source: source, at: start, count: end - start) }
  }

  /// Ends the run of text before a child element or the end tag: one of only white space is
  /// layout, and dropped.
  @inline(__always)
  mutating func endRun(source: UnsafeMutableRawPointer) {
    if length > runStart {
      let text = isCopied ? UnsafeRawPointer(copy.baseAddress) : UnsafeRawPointer(source + start)
      if let text, Self.isBlank(text + runStart, count: length - runStart) { length = runStart }
    }
    runStart = length
  }

  private func byte(_ source: UnsafeMutableRawPointer, _ offset: Int) -> UInt8 {
    source.load(fromByteOffset: offset, as: UInt8.self)
  }

  func deallocate() {
    copy.deallocate()
  }

  private mutating func reserve(_ byteCount: Int) {
    guard byteCount > copy.count else { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(byteCount, copy.count * 2, 256),
      alignment: 16
    )
    if isCopied { larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: copy[..<length])) }
    copy.deallocate()
    copy = larger
  }

  private static func isBlank(_ text: UnsafeRawPointer, count: Int) -> Bool {
    for index in 0..<count {
      switch text.load(fromByteOffset: index, as: UInt8.self) {
      case 0x20, 0x0A, 0x0D, 0x09: continue
      default: return false
      }
    }
    return true
  }
}
