import Testing

@testable import Dragoman

/// Feeds that are read for their shape, by the bounds of the import.
@Suite struct SampleLimitTests {
  @Test(
    "A record is as large as the request admits, else as the map does",
    arguments: ["json", "ndjson", "xml", "csv"]
  )
  func recordSize(format: String) throws {
    let text = String(repeating: "x", count: 3 << 20)
    let feed =
      switch format {
      case "json": "[{\"a\":\"\(text)\"}]"
      case "ndjson": "{\"a\":\"\(text)\"}\n{\"a\":1}\n"
      case "xml": "<r><e><a>\(text)</a></e></r>"
      default: "a,b\n\(text),1\n"
      }
    let input = ImportInput.bytes(Array(feed.utf8), name: "feed.\(format)")
    func read(_ size: Int?, map: String = "") throws {
      let map = try ImportMap(
        yaml: "version: 1\nentities: { E: { attributes: { a: a } } }\n\(map)"
      )
      var request = ImportRequest([input])
      request.options.maximumRecordByteCount = size
      var reader = SampleReader(try ShapeRecorder(recordLimit: .max), of: request, by: map)
      try reader.read(input)
    }
    try read(nil)
    try read(32 << 20)
    for (size, map) in [(1 << 20, ""), (nil, "import: { maxRecordSize: 1 }")] {
      let error = #expect(throws: ReadError.self) { try read(size, map: map) }
      #expect(error?.code == .limit, "\(String(describing: error))")
    }
    try read(32 << 20, map: "import: { maxRecordSize: 1 }")
  }
}
