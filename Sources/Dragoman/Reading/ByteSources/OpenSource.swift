/// Opens an input by the name that a user gave: a path, or `-` for standard input.
///
/// Compressed data is recognised by its first bytes, never by its name.
///
/// - Parameters:
///   - path: The name.
///   - maximumByteCount: How many bytes there may be, unpacked; nil for the bound of packed data.
///   - admitsGrowth: What is asked at the end of a file that has grown since it was opened.
/// - Returns: The bytes, unpacked.
/// - Throws: `ReadError` when the file is missing, may not be read or is no file.
func openSource(
  path: String,
  maximumByteCount: Int? = nil,
  admittingGrowth admitsGrowth: FileWatch.Growth? = nil
) throws(ReadError) -> any ByteSource {
  let source: any ByteSource =
    path == "-"
    ? StandardInputSource(admittingGrowth: admitsGrowth)
    : try FileSource(path: path, admittingGrowth: admitsGrowth)
  return try decoded(source, maximumByteCount: maximumByteCount)
}

/// The bytes of a feed that was fetched, unpacked: what a server has packed for the way may be a packed file.
///
/// - Throws: As for any source.
func decoded(
  _ feed: OpenedFeed,
  name: String,
  maximumByteCount: Int? = nil
) throws(ReadError) -> any ByteSource {
  let source = try decoded(
    OpenedFeedSource(feed, name: name),
    maximumByteCount: maximumByteCount
  )
  return feed.isPackedForTransfer
    ? try decoded(source, maximumByteCount: maximumByteCount) : source
}

/// The source itself, or its decompressed bytes where it starts as gzip or zstd data does.
///
/// - Throws: `.format` for data that is known by its first bytes, and no feed.
func decoded(
  _ source: any ByteSource,
  maximumByteCount: Int? = nil
) throws(ReadError) -> any ByteSource {
  let peekable = PeekableSource(source)
  let magic = Array(try peekable.peek(OtherFormat.byteCount))
  func bounded(_ source: any ByteSource, isPacked: Bool) -> UnpackedSource {
    UnpackedSource(source, maximumByteCount: maximumByteCount, isPacked: isPacked)
  }
  if magic.starts(with: [0x1F, 0x8B]) { return bounded(try GzipSource(peekable), isPacked: true) }
  if magic.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
    return bounded(try ZstdSource(peekable), isPacked: true)
  }
  // A skippable frame may stand before the data (RFC 8878, 3.1.2).
  if magic.count >= 4, magic[0] & 0xF0 == 0x50, magic[1..<4] == [0x2A, 0x4D, 0x18] {
    return bounded(try ZstdSource(peekable), isPacked: true)
  }
  if let other = OtherFormat(magic) {
    throw other.refusal(of: peekable.name)
  }
  return maximumByteCount == nil ? peekable : bounded(peekable, isPacked: false)
}

/// The source itself, or its text as UTF-8 where it starts with a UTF-16 or UTF-32 byte order mark, or is said to be
/// in another encoding and starts with no mark.
///
/// A UTF-8 byte order mark is left to the reader, which counts its three bytes.
///
/// - Parameters:
///   - source: The bytes.
///   - encoding: The encoding of a text that does not say; nil: UTF-8.
///   - doubt: Is told what is decoded.
/// - Returns: The text.
/// - Throws: `.encoding` for what looks like UTF-16 or UTF-32 without a mark, `.format` for what looks like no text.
func decodedByMark(
  _ source: any ByteSource,
  encoding: String? = nil,
  doubt: EncodingDoubt? = nil
) throws(ReadError) -> any ByteSource {
  let peekable = PeekableSource(source)
  let head = Array(try peekable.peek(EncodingGuess.byteCount))
  if let mark = ByteOrderMark(head) {
    guard mark != .utf8 else { return peekable }
    peekable.skip(mark.byteCount)
    return try TextDecoder(peekable, encoding: mark.encoding)
  }
  if let encoding { return try TextDecoder(peekable, encoding: encoding, doubt: doubt) }
  let start = Origin(file: peekable.name, line: 1, column: 1, byte: 0)
  switch EncodingGuess(head, isWhole: head.count < EncodingGuess.byteCount) {
  case .utf8, .other: return peekable
  case .wide(let encoding):
    throw ReadError(
      .encoding,
      "The input looks like \(encoding), but has no byte order mark that says so.",
      at: start,
      help: "name it in the source of the map: `encoding: \(encoding)`"
    )
  case .binary:
    throw ReadError(
      .format,
      "The input looks like binary data, not like a feed.",
      at: start,
      help: "look at it, and at where it came from"
    )
  }
}

/// The byte order marks of Unicode.
enum ByteOrderMark {
  case utf8
  case utf16LittleEndian
  case utf16BigEndian
  case utf32LittleEndian
  case utf32BigEndian

  /// The mark that the bytes start with, or nil; up to four bytes matter.
  init?(_ bytes: [UInt8]) {
    // UTF-32LE first: its mark starts with that of UTF-16LE.
    if bytes.starts(with: [0xFF, 0xFE, 0, 0]) {
      self = .utf32LittleEndian
    } else if bytes.starts(with: [0, 0, 0xFE, 0xFF]) {
      self = .utf32BigEndian
    } else if bytes.starts(with: [0xFF, 0xFE]) {
      self = .utf16LittleEndian
    } else if bytes.starts(with: [0xFE, 0xFF]) {
      self = .utf16BigEndian
    } else if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      self = .utf8
    } else {
      return nil
    }
  }

  /// How many bytes the mark has.
  var byteCount: Int {
    switch self {
    case .utf8: 3
    case .utf16LittleEndian, .utf16BigEndian: 2
    case .utf32LittleEndian, .utf32BigEndian: 4
    }
  }

  /// The name of the encoding it stands for.
  var encoding: String {
    switch self {
    case .utf8: "UTF-8"
    case .utf16LittleEndian: "UTF-16LE"
    case .utf16BigEndian: "UTF-16BE"
    case .utf32LittleEndian: "UTF-32LE"
    case .utf32BigEndian: "UTF-32BE"
    }
  }
}
