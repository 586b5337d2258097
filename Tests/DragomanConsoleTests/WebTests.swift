import Dragoman
import DragomanGraph
import Foundation
import Testing

@testable import DragomanConsole

/// Addresses, forms, JSON, numbers and drawings.
@Suite("What pages are made of") struct WebTests {
  @Test(
    "A path's steps are decoded one by one",
    arguments: [
      ("/a/b", ["a", "b"]), ("/a%2Fb/c", ["a/b", "c"]), ("//a//", ["a"]), ("/%C3%A9", ["é"]),
      ("/100%", ["100%"]), ("/%+1", ["%+1"]), ("/a+b", ["a+b"]), ("/%2e%2e/x", ["..", "x"]),
      ("/", []),
    ]
  )
  func steps(target: String, path: [String]) {
    #expect(ConsoleRequest(target: target).path == path)
  }

  @Test(
    "An address comes back as its steps and pairs",
    arguments: ["Person", "a/b", "..", "ü ?#&=+%", "x.json"]
  )
  func addresses(name: String) {
    let request = ConsoleRequest(target: WebText.address(["entities", name], [("where", name)]))
    #expect(request.path == ["entities", name])
    #expect(request.value(of: "where") == name)
  }

  @Test("Pluses and escapes of a form are read, and what is cut off is kept")
  func pairs() {
    let pairs = WebText.pairs("a=1+2&b=%26%3D&c&=d&e=%zz")
    #expect(pairs.map(\.name) == ["a", "b", "c", "", "e"])
    #expect(pairs.map(\.value) == ["1 2", "&=", "", "d", "%zz"])
  }

  @Test("A form with a file gives its fields and the bytes of the file as they are")
  func multipart() throws {
    let content = Data([0, 13, 10, 45, 45, 255])
    var body = Data("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nü\r\nz\r\n".utf8)
    body += Data(
      "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a;b.json\"\r\nContent-Type: x/y\r\n\r\n"
        .utf8
    )
    body += content + Data("\r\n--x--\r\n".utf8)
    let form = try ConsoleForm(
      ConsoleRequest(
        "POST",
        target: "/",
        headers: ["Content-Type": "multipart/form-data; boundary=x"],
        body: body
      )
    )
    #expect(form["a"] == "ü\r\nz")
    #expect(form.file?.bytes == content)
  }

  @Test(
    "A body that is no form is refused",
    arguments: [
      "", "text/plain", "application/json", "multipart/form-data",
      "multipart/form-data; boundary=x",
    ]
  )
  func noForm(type: String) {
    let request = ConsoleRequest(
      "POST",
      target: "/",
      headers: ["Content-Type": type],
      body: Data("{}".utf8)
    )
    #expect(throws: ConsoleError.self) { try ConsoleForm(request) }
  }

  @Test(
    "A file's name is its last step without control characters",
    arguments: [
      ("a.json", "a.json"), ("../../etc/passwd", "passwd"), ("C:\\x\\y.csv", "y.csv"),
      ("a\u{1}b\n", "ab"), ("/", "upload"),
    ]
  )
  func names(given: String, plain: String) { #expect(ImportPage.plainName(given) == plain) }

  @Test("JSON that is written can be read, whatever the texts are")
  func json() throws {
    let value: JSONValue = [
      "a\"\\": .string("\u{0}\n\r\t\u{1F}</script>\u{2028}é😀"), "n": .null, "i": .integer(.min),
      "d": .raw("1.50"), "l": [1, true, "x"],
    ]
    let text = value.text
    #expect(!text.contains("<") && !text.contains("\u{2028}"))
    let read = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    )
    #expect(read["a\"\\"] as? String == "\u{0}\n\r\t\u{1F}</script>\u{2028}é😀")
    #expect(read["i"] as? Int == .min)
  }

  @Test("A cell's text, its whole text and its address are escaped")
  func cells() {
    let evil = "<b a='1'>\"&" + String(repeating: "x", count: 200)
    let attribute = Attribute(name: "a")
    let html = CellView.html([
      CellView(.text(evil), attribute), CellView(.text("<&"), attribute, link: "/x?a=\"><"),
      CellView(.null, Attribute(name: "n", type: .int16)),
    ])
    #expect(html.hasPrefix("<td class=\"\"><span title=\"&lt;b a=&#39;1&#39;&gt;&quot;&amp;xxx"))
    let rest =
      "<td class=\"\"><a href=\"/x?a=&quot;&gt;&lt;\">&lt;&amp;</a></td>"
      + "<td class=\"null number\">null</td>"
    #expect(html.hasSuffix(rest))
  }

  @Test(
    "Numbers are grouped by threes",
    arguments: [
      (0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"),
      (.max, "9,223,372,036,854,775,807"), (.min, "-9,223,372,036,854,775,808"),
    ]
  )
  func grouping(number: Int, text: String) { #expect(Figures.grouped(number) == text) }

  @Test("Sizes, shares and durations are as people say them")
  func figures() {
    #expect(Figures.bytes(1) == "1 B" && Figures.bytes(999) == "999 B")
    #expect(Figures.bytes(999_949) == "999.9 kB" && Figures.bytes(999_999) == "1.0 MB")
    #expect(Figures.bytes(1_500) == "1.5 kB" && Figures.bytes(2_000_000_000) == "2.0 GB")
    #expect(Figures.share(1, of: 1000) == "<1 %" && Figures.share(999, of: 1000) == ">99 %")
    #expect(Figures.share(0, of: 0).isEmpty)
    #expect(Figures.duration(0.01) == "< 0.1 s" && Figures.duration(125) == "2 min 5 s")
    #expect(Figures.seconds(from: "2026-02-28 23:59:59.5", to: "2026-03-01 00:00:01") == 1.5)
    #expect(Figures.seconds(from: "nonsense", to: "2026-03-01 00:00:01") == nil)
  }

  @Test("The mark of a fault is at its scalar, and behind the end it is an empty place")
  func carets() throws {
    func fault(_ text: String) throws -> FaultView {
      do throws(StoreError) {
        _ = try Filter(parsing: text)
      } catch {
        return FaultView(ConsoleError(error))
      }
      throw CancellationError()
    }
    let middle = try fault("name == \"é😀\" AND >")
    #expect(middle.before == "name == \"é😀\" AND " && middle.marked == ">" && middle.behind == "")
    let end = try fault("name ==")
    #expect(end.before == "name ==" && end.marked == " ")
  }

  @Test(
    "A record is laid out line by line, and says the same",
    arguments: [
      #"{"a":1.50,"b":[1,{"c":"x,{}:\"y"}],"d":{},"e":[]}"#, #"[]"#, #""x""#, #"{"a":[{}]}"#,
    ]
  )
  func pretty(json: String) throws {
    let text = RejectPage.pretty(json)
    func sorted(_ json: String) throws -> Data {
      try JSONSerialization.data(
        withJSONObject: JSONSerialization.jsonObject(
          with: Data(json.utf8),
          options: .fragmentsAllowed
        ),
        options: [.sortedKeys, .fragmentsAllowed]
      )
    }
    #expect(try sorted(json) == sorted(text))
    #expect(json.contains("1.50") == text.contains("1.50"))
  }

  @Test(
    "In a drawing no two boxes overlap, and each line begins and ends at a box",
    arguments: [1, 2, 3, 4, 5]
  )
  func drawing(seed: UInt64) {
    var random = Numbers(state: seed &* 0x9E37_79B9_7F4A_7C15)
    let count = Int.random(in: 1...14, using: &random)
    var entities = (0..<count).map { number in
      Entity(
        name: "E\(number)",
        attributes: (0..<Int.random(in: 0...12, using: &random)).map { Attribute(name: "a\($0)") }
      )
    }
    for number in 0..<Int.random(in: 0...20, using: &random) {
      let owner = Int.random(in: 0..<count, using: &random)
      let target = Int.random(in: 0..<count, using: &random)
      entities[owner].relationships.append(.toOne("r\(number)", "E\(target)"))
    }
    let drawing = ModelDrawing(Model(entities: entities))
    #expect(drawing.boxes.count == count)
    for (place, one) in drawing.boxes.enumerated() {
      #expect(one.x >= 0 && one.y >= 0 && one.x + one.width <= drawing.width)
      #expect(one.y + one.height <= drawing.height)
      for other in drawing.boxes[(place + 1)...] {
        let apart =
          one.x + one.width <= other.x || other.x + other.width <= one.x
          || one.y + one.height <= other.y || other.y + other.height <= one.y
        #expect(apart, "\(one.name) and \(other.name), seed \(seed)")
      }
    }
    #expect(drawing.edges.count == entities.reduce(0) { $0 + $1.relationships.count })
  }

  @Test(
    "Models that can be drawn without crossings are",
    arguments: [
      [[0, 1]], [[0, 1], [1, 2], [2, 3]], [[0, 1], [0, 2], [0, 3], [0, 4]],
      [[0, 1], [1, 2], [2, 0]],
      [[0, 1], [1, 2], [2, 3], [3, 0]], [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]],
      [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3], [1, 3]], [[0, 1], [0, 1], [1, 0]],
      [[0, 0], [0, 1], [1, 1]],
      [[0, 3], [1, 4], [2, 5], [0, 6], [3, 1], [4, 2]],
      [[0, 1], [0, 2], [1, 3], [1, 4], [2, 5], [2, 6]],
      [[0, 1], [2, 3], [4, 4]], [[0, 2], [0, 3], [1, 2], [1, 3], [0, 4], [4, 2]],
    ]
  )
  func planar(links: [[Int]]) {
    var entities = (0...(links.joined().max() ?? 0)).map {
      Entity(name: "E\($0)", attributes: (0...$0).map { Attribute(name: "a\($0)") })
    }
    for (number, link) in links.enumerated() {
      entities[link[0]].relationships.append(.toOne("r\(number)", "E\(link[1])"))
    }
    #expect(Self.crossings(ModelDrawing(Model(entities: entities))).isEmpty)
  }

  @Test(
    "The sample maps are drawn without crossings",
    arguments: [
      "catalogue", "invoices", "observations", "orders", "people", "stations", "stock", "things",
    ]
  )
  func samples(name: String) throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
      .deletingLastPathComponent()
    let map = try ImportMap(contentsOf: root.appendingPathComponent("Maps/\(name).map.yaml").path)
    #expect(Self.crossings(ModelDrawing(map.model())).isEmpty)
  }

  /// Where lines of a drawing cross, as their titles: each is followed as it is drawn.
  private static func crossings(_ drawing: ModelDrawing) -> [String] {
    let lines = drawing.edges.map { edge -> [(x: Double, y: Double)] in
      let n = edge.path.split { "MC ".contains($0) }.compactMap { Double($0) }
      return (0...60).map { step in
        let t = Double(step) / 60
        let (a, b, c, d) = (
          (1 - t) * (1 - t) * (1 - t), 3 * (1 - t) * (1 - t) * t, 3 * (1 - t) * t * t, t * t * t
        )
        return (
          a * n[0] + b * n[2] + c * n[4] + d * n[6], a * n[1] + b * n[3] + c * n[5] + d * n[7]
        )
      }
    }
    func side(_ a: (x: Double, y: Double), _ b: (x: Double, y: Double), _ c: (x: Double, y: Double))
      -> Bool
    {
      (b.x - a.x) * (c.y - a.y) > (b.y - a.y) * (c.x - a.x)
    }
    var found: [String] = []
    for (one, line) in lines.enumerated() {
      for other in lines.indices.dropFirst(one + 1) {
        let cross = zip(line, line.dropFirst()).contains { a, b in
          zip(lines[other], lines[other].dropFirst()).contains { c, d in
            side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b)
          }
        }
        if cross { found.append("\(drawing.edges[one].title) × \(drawing.edges[other].title)") }
      }
    }
    return found
  }

  /// SplitMix64.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  @Test("A value cannot end the attribute that it stands in, nor a cell of CSV")
  func accentedQuotes() async throws {
    let folder = try ConsoleFolder()
    // To Swift the quote and its accent are one character, which is none that markup consists of.
    let quote = "\"\u{301}"
    let name = quote + " onmouseover=alert(1) x=" + quote + String(repeating: "x", count: 100)
    try folder.write(
      #"{"people":[{"id":1,"name":"\#(name.escaping { $0 == 0x22 ? "\\\"" : nil })"}]}"#,
      to: "staff.json"
    )
    try await folder.imports()
    let browser = try TestBrowser(folder.console())
    let typed = WebText.encoded("name == '\(quote) x'")
    for target in [
      "/entities/Person", "/objects/Person/1", "/entities/Person/profile", "/entities/Person/live",
      "/entities/Person?where=\(typed)",
    ] {
      let page = try browser.page(target)
      #expect(page.contains("&quot;\u{301}"), "\(target)")
      let scalars = Array(page.unicodeScalars)
      let raw = scalars.indices.dropLast().contains {
        scalars[$0] == "\"" && scalars[$0 + 1] == "\u{301}"
      }
      #expect(!raw, "\(target)")
    }
    let csv = try browser.page("/entities/Person/download.csv?columns=name")
    #expect(csv == "name\r\n\"\(name.escaping { $0 == 0x22 ? "\"\"" : nil })\"\r\n")
  }
}
