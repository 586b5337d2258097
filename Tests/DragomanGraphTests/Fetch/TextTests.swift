import Testing

@testable import DragomanGraph

@Suite("Text tests and folding")
struct TextTests {
  @Test(
    "[c] is Unicode case folding, [d] removes diacritics and normal forms",
    arguments: [
      ("ÀB", .caseInsensitive, "àb"), ("ÀB", .diacriticInsensitive, "AB"),
      ("A\u{300}B", [.caseInsensitive, .diacriticInsensitive], "ab"),
      ("Straße ẞ", .caseInsensitive, "strasse ss"), ("ΣΑΣ σας", .caseInsensitive, "σασ σασ"),
      ("İıI", .caseInsensitive, "i\u{307}ıi"),
      ("İ", [.caseInsensitive, .diacriticInsensitive], "i"),
      ("が", .diacriticInsensitive, "が"), ("か\u{3099}", .diacriticInsensitive, "が"),
      ("한국", .diacriticInsensitive, "한국"), ("Łø", .diacriticInsensitive, "Łø"),
      ("Ж", .caseInsensitive, "ж"), ("K", .caseInsensitive, "k"), ("ſ", .caseInsensitive, "s"),
    ] as [(String, Filter.Comparison.Options, String)]
  )
  func folds(text: String, options: Filter.Comparison.Options, folded: String) {
    #expect(StoredValue.text(TextFold.fold(text, options)) == .text(folded))
  }

  @Test(
    "LIKE knows any characters, one scalar, and escapes",
    arguments: [
      ("", "", true), ("", "*", true), ("", "?", false), ("abc", "abc", true), ("abc", "a*", true),
      ("abc", "*c", true), ("abc", "a?c", true), ("abc", "a??c", false), ("abc", "b", false),
      ("a\nc", "a?c", true), ("a*c", #"a\*c"#, true), ("abc", #"a\*c"#, false), ("é", "?", true),
      ("e\u{301}", "?", false), ("e\u{301}", "??", true), ("a\\", #"a\"#, true),
      ("mississippi", "m*iss*p?", true), ("%_", "%_", true), ("ab", "%", false),
    ]
  )
  func like(text: String, pattern: String, isMatch: Bool) throws {
    #expect(try TextTest(.like, pattern, []).admits(text) == isMatch)
  }

  @Test(
    "MATCHES wants the whole text",
    arguments: [
      ("abc", "a.c", true), ("abcd", "a.c", false), ("ab", "a|ab", true), ("", "", true),
      ("ÉTÉ", "été", false), ("a\n", "a", false), ("😀", ".", true),
    ]
  )
  func matches(text: String, pattern: String, isMatch: Bool) throws {
    #expect(try TextTest(.matches, pattern, []).admits(text) == isMatch)
  }

  @Test(
    "[d] takes no character apart: a syllable of Hangul is one, a voiced kana too",
    arguments: [
      (.like, "한국", "??", true), (.like, "がぎ", "??", true), (.like, "がぎ", "か?", false),
      (.endsWith, "한국", "ᆨ", false), (.matches, "한국", "[가-힣]{2}", true),
      (.like, "éa", "??", true),
    ] as [(TextTest.Kind, String, String, Bool)]
  )
  func characters(kind: TextTest.Kind, text: String, pattern: String, isMatch: Bool) throws {
    #expect(try TextTest(kind, pattern, .diacriticInsensitive).admits(text) == isMatch)
  }

  @Test(
    "An expression may end in a comment or in a text without end",
    arguments: [("(?x) A d a # comment", "Ada"), ("\\QA.d", "A.d"), ("(?x)a#", "a")]
  )
  func openEnded(pattern: String, text: String) throws {
    #expect(try TextTest(.matches, pattern, []).admits(text))
    #expect(try !TextTest(.matches, pattern, []).admits(text + "x"))
    let attribute = Attribute(name: "a", rules: AttributeRules(pattern: pattern))
    let model = Model(entities: [Entity(name: "T", attributes: [attribute])])
    #expect(model.validate().isEmpty)
  }

  @Test(
    "An expression whose memory a text exhausts stops the fetch: nobody knows whether it matches",
    arguments: ["(a|b)+", "(((a)|(b)|(c)|(d))+(,|;)?)+"]
  )
  func exhausted(pattern: String) throws {
    let test = try TextTest(.matches, pattern, [])
    #expect(try test.admits(String(repeating: "a", count: 1_000)))
    let failure = #expect(throws: TextTest.Failure.self) {
      try test.admits(String(repeating: "a", count: 200_000))
    }
    #expect(failure?.message.contains("wants too much memory for a text of 200000") == true)
  }

  @Test("MATCHES takes [c] and [d]")
  func matchesOptions() throws {
    #expect(try TextTest(.matches, "été", .caseInsensitive).admits("ÉTÉ"))
    #expect(try TextTest(.matches, "été", .diacriticInsensitive).admits("ete"))
    #expect(try !TextTest(.matches, "été", .diacriticInsensitive).admits("ETE"))
  }

  @Test("An invalid expression is refused", arguments: ["(", "a)|(b", "[", "*", "(?x)(a#)"])
  func invalid(pattern: String) {
    #expect(throws: TextTest.Failure.self) { try TextTest(.matches, pattern, []) }
  }

  @Test("An expression that backtracks without end is stopped")
  func endless() throws {
    let test = try TextTest(.matches, "(a+)+b", [])
    #expect(throws: TextTest.Failure.self) {
      try test.admits(String(repeating: "a", count: 5_000))
    }
  }

  @Test("LIKE takes no more than length times length steps")
  func likeIsBounded() throws {
    let test = try TextTest(.like, String(repeating: "*a", count: 50) + "b", [])
    #expect(try !test.admits(String(repeating: "a", count: 2_000)))
  }

  @Test("The range of a prefix ends before the first text without it")
  func prefixes() {
    #expect(TextPrefix.end(of: "ab") == "ac")
    #expect(TextPrefix.end(of: "a\u{10FFFF}") == "b")
    #expect(TextPrefix.end(of: "\u{D7FF}") == "\u{E000}")
    #expect(TextPrefix.end(of: "") == nil)
    #expect(TextPrefix.end(of: "\u{10FFFF}") == nil)
  }

  @Test("A list survives its JSON spelling bit for bit")
  func listCode() throws {
    let values: [StoredValue] = [
      .integer(.min), .real(-0.1), .real(.infinity), .text(""), .text("a\"\\\u{0}\u{301}"),
      .text("\u{301}x"), .blob([]), .blob([0, 255]), .null,
    ]
    let json = ListCode.json(values)
    let codes = json.dropFirst(2).dropLast(2).split(separator: "\",\"")
    #expect(codes.map { ListCode.value(of: String($0)) } == values)
  }
}
