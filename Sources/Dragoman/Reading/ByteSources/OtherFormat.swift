/// What a file is that is no feed, told by its first bytes.
struct OtherFormat {
  /// What it is, with its article.
  let name: String
  /// How a feed comes out of it.
  let help: String

  /// The format that starts with the bytes; nil where none of those known does.
  init?(_ bytes: [UInt8]) {
    guard let known = Self.known.first(where: { bytes.starts(with: $0.magic) }) else { return nil }
    name = known.name
    help = known.help
  }

  private static let known: [(magic: [UInt8], name: String, help: String)] = [
    (Array("BZh".utf8), "compressed by bzip2", "unpack it first: bzip2 -d"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "compressed by xz", "unpack it first: xz -d"),
    ([0x04, 0x22, 0x4D, 0x18], "compressed by lz4", "unpack it first: lz4 -d"),
    ([0x50, 0x4B, 0x03, 0x04], "a zip archive", "unpack it first: unzip"),
    ([0x50, 0x4B, 0x05, 0x06], "a zip archive without files", "look at where it came from"),
    ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "a 7z archive", "unpack it first: 7z x"),
    (Array("SQLite format 3".utf8), "a SQLite database", "export its tables as JSON or CSV"),
    (Array("%PDF-".utf8), "a PDF document", "ask for the data as JSON, XML or CSV"),
    (Array("PAR1".utf8), "a Parquet file", "convert it to NDJSON or CSV first"),
  ]
}
