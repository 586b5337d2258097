import DragomanGraph

/// What a file is that is no feed, told by its first 262 bytes.
struct OtherFormat {
  /// What it is, with its article.
  let name: String
  /// How a feed comes out of it.
  let help: String

  /// How many bytes tell.
  static let byteCount = 262

  /// The format that starts with the bytes; nil where none of those known does.
  init?(_ bytes: [UInt8]) {
    // POSIX pax, "Header Block": what stands behind the first member's name, mode, owner and so on.
    if bytes.count >= Self.byteCount, bytes[257..<Self.byteCount].elementsEqual("ustar".utf8) {
      (name, help) = ("a tar archive", "unpack it first: tar -xf")
      return
    }
    guard let known = Self.known.first(where: { bytes.starts(with: $0.magic) }) else { return nil }
    name = known.name
    help = known.help
  }

  /// Why an input in the format is not read.
  func refusal(of input: String) -> ReadError {
    ReadError(
      .format,
      "The input is \(name), not a feed.",
      at: Origin(file: input, line: 1, column: 1, byte: 0),
      help: help
    )
  }

  private static let known: [(magic: [UInt8], name: String, help: String)] = [
    (Array("BZh".utf8), "compressed by bzip2", "unpack it first: bzip2 -d"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "compressed by xz", "unpack it first: xz -d"),
    ([0x04, 0x22, 0x4D, 0x18], "compressed by lz4", "unpack it first: lz4 -d"),
    (
      [0x50, 0x4B, 0x03, 0x04], "a zip archive",
      "unpack it first: unzip; of an Excel workbook (.xlsx) save a sheet as CSV"
    ),
    ([0x50, 0x4B, 0x05, 0x06], "a zip archive without files", "look at where it came from"),
    ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "a 7z archive", "unpack it first: 7z x"),
    (Array("Rar!".utf8) + [0x1A, 0x07], "a rar archive", "unpack it first: unrar x"),
    ([0x1F, 0x9D], "compressed by compress", "unpack it first: uncompress"),
    (FileHead.databaseMagic, "a SQLite database", "export its tables as JSON or CSV"),
    (Array("%PDF-".utf8), "a PDF document", "ask for the data as JSON, XML or CSV"),
    (Array("PAR1".utf8), "a Parquet file", "convert it to NDJSON or CSV first"),
    (Array("ARROW1".utf8), "an Arrow file", "convert it to NDJSON or CSV first"),
    (Array("Obj".utf8) + [0x01], "an Avro file", "convert it to NDJSON or CSV first"),
    (Array("bplist00".utf8), "a binary property list", "convert it to JSON first"),
    (
      [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "an old Office document (.xls, .doc)",
      "save a sheet as CSV"
    ),
    (
      [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "a PNG image", "look at where it came from"
    ),
    ([0xFF, 0xD8, 0xFF], "a JPEG image", "look at where it came from"),
    (Array("GIF8".utf8), "a GIF image", "look at where it came from"),
    ([0x7F, 0x45, 0x4C, 0x46], "a program", "look at where it came from"),
  ]
}
