import Foundation
import Testing

@testable import DragomanGraph

@Suite("A file that appears when it is whole") struct PublishedFileTests {
  private let folder: String

  init() throws {
    folder = NSTemporaryDirectory() + "published-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private var path: String { "\(folder)/out" }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  private func stand(_ text: String, _ mode: mode_t) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    #expect(chmod(path, mode) == 0)
  }

  private func write(_ text: String, to file: PublishedFile) {
    #expect(Array(text.utf8).withUnsafeBytes { FileOutput.write($0, to: file.descriptor) } == nil)
  }

  private func publish(_ file: PublishedFile, isNew: Bool = false) throws(PublishedFile.Failure) {
    try file.publish(isNew: isNew) { () throws(PublishedFile.Failure) in
    } orThrow: {
      $0
    }
  }

  @Test("Until it is published what stood there stands there; then it is whole, and alone")
  func whole() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try stand("old", 0o644)
    let file = try PublishedFile(beside: path, mode: .likeReplaced(else: 0o666))
    write("new", to: file)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
    #expect(try names().count == 2 && names()[0].hasPrefix(".out."))
    try publish(file)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
    #expect(try names() == ["out"])
    // The name stays with who lets it go afterwards.
    file.discard()
    #expect(try names() == ["out"])
  }

  @Test("What is discarded, refused or let go leaves nothing, with the files of a database")
  func nothing() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try stand("old", 0o644)
    let discarded = try PublishedFile(beside: path, mode: .exactly(0o600))
    for ending in ["-wal", "-shm", "-journal"] {
      try Data("x".utf8).write(to: URL(fileURLWithPath: discarded.temporaryPath + ending))
    }
    discarded.discard()
    #expect(try names() == ["out"])
    _ = try PublishedFile(beside: path, mode: .exactly(0o600))
    #expect(try names() == ["out"])
    struct Refused: Error {}
    let refused = try PublishedFile(beside: path, mode: .exactly(0o600))
    #expect(throws: Refused.self) {
      try refused.publish { () throws(Refused) in
        throw Refused()
      } orThrow: { _ in
        Refused()
      }
    }
    #expect(try names() == ["out"])
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
  }

  @Test("Its permissions are those that were asked for, and until then no more")
  func modes() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for replaced: mode_t in [0o600, 0o640, 0o644, 0o664, 0o444, 0o755] {
      try stand("old", replaced)
      let like = try PublishedFile(beside: path, mode: .likeReplaced(else: 0o666))
      #expect(mode(like.temporaryPath) == 0o600)
      try publish(like)
      #expect(mode(path) == replaced)
      let exact = try PublishedFile(beside: path, mode: .exactly(0o640))
      #expect(mode(exact.temporaryPath) == 0o600)
      try publish(exact)
      #expect(mode(path) == 0o640)
      unlink(path)
    }
    let denied = umask(0o022)
    umask(denied)
    let new = try PublishedFile(beside: path, mode: .likeReplaced(else: 0o666))
    try publish(new)
    #expect(mode(path) == 0o666 & ~denied)
    // Who makes the file private while another one is written means that one, too.
    let late = try PublishedFile(beside: path, mode: .likeReplaced(else: 0o666))
    #expect(chmod(path, 0o600) == 0)
    try publish(late)
    #expect(mode(path) == 0o600)
  }

  @Test("A new file takes the name of none that has come meanwhile")
  func new() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = try PublishedFile(beside: path, mode: .likeReplaced(else: 0o666))
    let second = try PublishedFile(beside: path, mode: .likeReplaced(else: 0o666))
    write("first", to: first)
    try publish(first, isNew: true)
    let failure = #expect(throws: PublishedFile.Failure.self) { try publish(second, isNew: true) }
    #expect(failure?.code == EEXIST && failure?.isNamed == false)
    #expect(try names() == ["out"])
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "first")
  }

  @Test(
    "Every name that the system takes can be published, and made of a database",
    arguments: ["x", "a", "\u{e9}", "\u{754c}", "\u{1f469}", "e\u{301}"]
  )
  func longNames(_ letter: String) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for length in 240...255 {
      let count = letter.utf8.count
      let name =
        String(repeating: letter, count: length / count)
        + String(repeating: "-", count: length % count)
      #expect(name.utf8.count == length)
      let hidden = PublishedFile.hiddenName(of: name)
      #expect("\(hidden)-journal".utf8.count <= 143)
      #expect(!hidden.unicodeScalars.contains("\u{fffd}"))
      try publish(PublishedFile(beside: "\(folder)/\(name)", mode: .exactly(0o600)))
      #expect(try names().map(\.utf8.count) == [length])
      unlink("\(folder)/\(name)")
    }
    #expect(PublishedFile.hiddenName(of: "b.db").hasPrefix(".b.db."))
    #expect(PublishedFile.hiddenName(of: "b.db").hasSuffix(".part"))
  }

  @Test("A folder that cannot be synchronised is overlooked")
  func folders() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try synchronizeFolder(of: path)
    try synchronizeFolder(of: "out")
    try synchronizeFolder(of: "/out")
    try synchronizeFolder(of: "\(folder)/none/out")
    #if os(Linux)
    try synchronizeFolder(of: "/proc/self/out")
    #endif
  }
}
