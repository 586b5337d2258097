import DragomanGraph
import Foundation
import Synchronization
import Testing

@testable import Dragoman

/// Files and pipes that somebody else has, too, while they are read.
@Suite("Inputs that are not this process's alone") struct FileWatchTests {
  private let path = NSTemporaryDirectory() + "watched-\(UUID().uuidString)"

  private func source(
    _ growth: FileWatch.Growth? = nil,
    then change: () throws -> Void
  ) throws -> String {
    try Data("one\ntwo\n".utf8).write(to: URL(fileURLWithPath: path))
    // The time of the last change has only so many digits on some file systems.
    var old = [timeval](repeating: timeval(tv_sec: 1_000_000_000, tv_usec: 0), count: 2)
    utimes(path, &old)
    defer { unlink(path) }
    let source = try FileSource(path: path, admittingGrowth: growth)
    var text = ""
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 3, alignment: 1)
    defer { piece.deallocate() }
    var isFirst = true
    while case let count = try source.read(into: piece), count > 0 {
      text += String(decoding: piece[..<count], as: UTF8.self)
      if isFirst { try change() }
      isFirst = false
    }
    // It is told once.
    #expect(try source.read(into: piece) == 0)
    return text
  }

  private func write(_ text: String, flags: Int32 = 0) throws {
    let descriptor = open(path, O_WRONLY | flags)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    try #require(Foundation.write(descriptor, text, text.utf8.count) == text.utf8.count)
  }

  @Test("A file that was cut or overwritten while it was read is no feed")
  func changed() throws {
    for change in [{ _ = truncate(path, 4) }, { try write("six\nten\n") }] as [() throws -> Void] {
      #expect {
        try source(then: change)
      } throws: {
        ($0 as? ReadError)?.code == .changed
      }
    }
  }

  @Test("One that was written on or replaced is read to its end, and growth may be refused")
  func grown() throws {
    let told = Mutex(0)
    let grow = { try self.write("more", flags: O_APPEND) }
    let text = try source({ told.withLock { $0 += 1 } }, then: grow)
    #expect(text == "one\ntwo\nmore" && told.withLock { $0 } == 1)
    let replaced = try source {
      try Data("other".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
    #expect(replaced == "one\ntwo\n")
    #expect(throws: ReadError.self) {
      try source({ () throws(ReadError) in throw FileWatch.changed("p") }, then: grow)
    }
  }

  @Test("A pipe that never waits is waited for, by who reads and by who writes")
  func withoutWaiting() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    let bytes = [UInt8](repeating: 7, count: 300_000)
    let (input, output) = (ends[0], ends[1])
    let thread = Thread {
      usleep(50_000)
      #expect(bytes.withUnsafeBytes { FileOutput.write($0, to: output) } == nil)
      close(output)
    }
    thread.start()
    var count = 0
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 9_000, alignment: 1)
    defer { piece.deallocate() }
    while case let read = try readDescriptor(input, into: piece, name: "pipe"), read > 0 {
      count += read
      usleep(500)
    }
    close(input)
    #expect(count == bytes.count)
  }
}
