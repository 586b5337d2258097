import Foundation
import Testing

@testable import Dragoman

@Suite struct ByteSourceTests {
  private static let gzipHello: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 87, 0, 0, 246, 249, 129, 237, 6, 0, 0,
    0,
  ]
  private static let gzipGzip: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 175, 202, 44, 0, 0, 242, 92, 233, 58, 4, 0, 0, 0,
  ]
  private static let zstd: [UInt8] = [
    0x28, 0xB5, 0x2F, 0xFD, 0x04, 0x58, 0x51, 0x00, 0x00, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x20, 0x7A,
    0x73, 0x74, 0x64, 0xCF, 0xDB, 0x60, 0x9C,
  ]
  private static let skippable: [UInt8] = [0x51, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 7, 7]

  /// All that a source delivers, in reads of some size.
  private func contents(_ source: any ByteSource, by step: Int = 64) throws -> String {
    var bytes: [UInt8] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 1)
    defer { buffer.deallocate() }
    while true {
      let count = try source.read(into: buffer)
      if count == 0 { break }
      bytes.append(contentsOf: buffer[..<count])
    }
    #expect(try source.read(into: buffer) == 0)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let compressed: [([UInt8], String)] = [
    (Array("plain".utf8), "plain"),
    ([], ""),
    ([0x1F], "\u{1F}"),
    (gzipHello, "hello "),
    (gzipHello + gzipGzip, "hello gzip"),
    (gzipHello + [0, 0, 0], "hello "),
    (zstd, "hello zstd"),
    (zstd + zstd, "hello zstdhello zstd"),
    (skippable + zstd, "hello zstd"),
  ]

  @Test("Compressed data is known by its first bytes", arguments: compressed)
  func decompression(bytes: [UInt8], text: String) throws {
    for (stride, step) in [(1, 1), (1, 64), (3, 5), (.max, 1), (.max, 64)] {
      let source = try decoded(MemorySource(bytes, stride: stride))
      #expect(try contents(source, by: step) == text)
      #expect(source.consumedByteCount == bytes.count)
    }
  }

  @Test(
    "An input has at most as many bytes as are asked for, unpacked",
    arguments: [Array("hello ".utf8), gzipHello]
  )
  func bound(bytes: [UInt8]) throws {
    for step in [1, 64] {
      let just = try decoded(MemorySource(bytes, name: "a.json"), maximumByteCount: 6)
      #expect(try contents(just, by: step) == "hello ")
      let error = #expect(throws: ReadError.self) {
        try contents(decoded(MemorySource(bytes, name: "a.json"), maximumByteCount: 5), by: step)
      }
      #expect(error?.code == .limit)
      #expect(error?.message == "The input a.json has more than 5 bytes.")
    }
  }

  /// Bytes that stand for any number of bytes, as a bomb does.
  private final class EndlessSource: ByteSource {
    let name = "bomb.gz"
    let ratio: Int
    private var byteCount = 0
    var consumedByteCount: Int { byteCount / ratio }

    init(ratio: Int) { self.ratio = ratio }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      byteCount += buffer.count
      return buffer.count
    }
  }

  @Test(
    "Packed data that unpacks to more than a gigabyte and to 200 times its size is refused",
    arguments: [(1000, true, true), (150, true, false), (1000, false, false)]
  )
  func bomb(ratio: Int, isPacked: Bool, isRefused: Bool) throws {
    let source = UnpackedSource(
      EndlessSource(ratio: ratio),
      maximumByteCount: nil,
      isPacked: isPacked
    )
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 24, alignment: 1)
    defer { buffer.deallocate() }
    var byteCount = 0
    do {
      while byteCount < 3 << 30 { byteCount += try source.read(into: buffer) }
      #expect(!isRefused)
    } catch {
      #expect(isRefused && byteCount == 1 << 30 && error.code == .limit, "\(error)")
    }
  }

  @Test("Compressed data that is cut is refused everywhere", arguments: [gzipHello, zstd])
  func truncation(bytes: [UInt8]) {
    for count in 4..<bytes.count {
      let error = #expect(throws: ReadError.self) {
        try contents(decoded(MemorySource(Array(bytes[..<count]))))
      }
      #expect(error?.code == .compression)
      #expect(error?.message.contains("is truncated: it ends after \(count) bytes") == true)
    }
  }

  @Test("Compressed data that is damaged or followed by other data is refused")
  func damage() {
    var damaged: [[UInt8]] = [Self.gzipHello + [1, 2, 3], Self.zstd + [1, 2, 3, 4, 5, 6, 7, 8]]
    for index in [12, 18, 22] {
      damaged.append(Self.gzipHello)
      damaged[damaged.count - 1][index] ^= 0x55
    }
    damaged.append(Self.zstd)
    damaged[damaged.count - 1][12] ^= 0x55
    for bytes in damaged {
      let error = #expect(throws: ReadError.self) { try contents(decoded(MemorySource(bytes))) }
      #expect(error?.code == .compression)
    }
  }

  @Test("Files that cannot be feeds are refused by their kind")
  func files() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "dragoman-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "a.txt").path
    try Data("text".utf8).write(to: URL(filePath: file))
    #expect(try contents(openSource(path: file)) == "text")
    #expect(try openSource(path: file).name == file)
    let refused: [(String, ReadError)] = [
      (file + "x", ReadError(.missing, "There is no file \(file)x.")),
      (file + "/x", ReadError(.missing, "There is no file \(file)/x.")),
      (
        folder.path,
        ReadError(
          .unsupported,
          "\(folder.path) is a directory, which cannot be read as a feed."
        )
      ),
      (
        "/dev/null",
        ReadError(.unsupported, "/dev/null is a device, which cannot be read as a feed.")
      ),
    ]
    for (path, error) in refused {
      #expect(throws: error) { try openSource(path: path) }
    }
  }

  @Test("Bytes that were peeked at are read all the same")
  func peeking() throws {
    let source = PeekableSource(MemorySource("0123456789", stride: 3))
    #expect(Array(try source.peek(4)) == Array("0123".utf8))
    #expect(Array(try source.peek(2)) == Array("01".utf8))
    source.skip(1)
    #expect(Array(try source.peek(5)) == Array("12345".utf8))
    #expect(Array(try source.peek(100)) == Array("123456789".utf8))
    #expect(try contents(source, by: 2) == "123456789")
  }

  private static let marked: [([UInt8], String)] = [
    ([0xFF, 0xFE, 0x7B, 0, 0xE9, 0], "{é"),
    ([0xFE, 0xFF, 0, 0x7B, 0xD8, 0x3D, 0xDE, 0], "{😀"),
    ([0xFF, 0xFE, 0, 0, 0x7B, 0, 0, 0], "{"),
    ([0, 0, 0xFE, 0xFF, 0, 0, 0, 0x7B], "{"),
    ([0xEF, 0xBB, 0xBF, 0x7B], "\u{FEFF}{"),
    ([0x7B], "{"),
  ]

  @Test("A text with a wide byte order mark is decoded, any other is left alone", arguments: marked)
  func marks(bytes: [UInt8], text: String) throws {
    for stride in [1, .max] {
      #expect(try contents(decodedByMark(MemorySource(bytes, stride: stride)), by: 7) == text)
    }
  }

  @Test("Bytes that mean nothing in an encoding are told with their place")
  func invalidText() throws {
    let bytes = Array("a\nbc".utf8) + [0x81, 0x64]
    let source = try TextDecoder(MemorySource(bytes), encoding: "windows-1252")
    let error = #expect(throws: ReadError.self) { try contents(source) }
    #expect(
      error
        == ReadError(
          .encoding,
          "The text holds bytes that are not valid in windows-1252, at byte 4 of its encoded form.",
          at: Origin(file: "memory", line: 2, column: 3, byte: 4),
          help: "name the encoding that the file really has"
        )
    )
  }

  @Test(
    "What is packed otherwise, or no feed at all, is told by its first bytes",
    arguments: [
      ([0x42, 0x5A, 0x68, 0x39, 0x31, 0x41], "compressed by bzip2"),
      (Array("Rar!".utf8) + [0x1A, 0x07, 0x01, 0x00], "a rar archive"),
      ([0x1F, 0x9D, 0x90, 0x7B], "compressed by compress"),
      (
        Array("people.json".utf8) + Array(repeating: 0, count: 246) + Array("ustar".utf8),
        "a tar archive"
      ),
      ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0, 0], "compressed by xz"),
      ([0x50, 0x4B, 3, 4, 20, 0], "a zip archive"),
      (Array("SQLite format 3\0".utf8), "a SQLite database"),
    ] as [([UInt8], String)]
  )
  func others(bytes: [UInt8], name: String) {
    let error = #expect(throws: ReadError.self) {
      _ = try decoded(MemorySource(bytes, name: "feed.json"))
    }
    #expect(error?.code == .format)
    #expect(error?.message == "The input is \(name), not a feed.")
    #expect(error?.origin?.file == "feed.json")
  }

  @Test("A path that the system would cut at U+0000 is no file")
  func cutPaths() throws {
    let folder = FileManager.default.temporaryDirectory
    let file = folder.appending(path: "cut-\(UUID().uuidString)").path
    try "[]".write(toFile: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: file) }
    for read in [
      { _ = try FileSource(path: $0) }, { _ = try RejectLines($0) },
      { _ = try MapBytes.read($0) },
    ] as [(String) throws -> Void] {
      #expect(throws: (any Error).self) { try read(file + "\u{0}.json") }
    }
    let error = #expect(throws: ReadError.self) { try FileSource(path: file + "\u{0}.json") }
    #expect(error?.code == .missing)
  }
}
