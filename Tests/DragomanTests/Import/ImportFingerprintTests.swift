import Foundation
import Testing

@testable import Dragoman

@Suite("Fingerprints of feeds") struct ImportFingerprintTests {
  @Test("A feed behind a link is measured, and known again, by the file that it leads to")
  func links() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("feed.json")
    let link = folder.appendingPathComponent("link.json")
    try FileManager.default.createSymbolicLink(
      atPath: link.path,
      withDestinationPath: "feed.json"
    )
    let input = ImportInput.file(link.path)
    #expect(input.byteCount == nil)
    try Data("[1,2]".utf8).write(to: file)
    #expect(input.byteCount == 5)
    let first = input.fingerprint
    try Data("[1,2,3]".utf8).write(to: file)
    #expect(input.byteCount == 7 && input.fingerprint != first)
    let request = ImportRequest([input])
    #expect(request.readsItself)
  }
}
