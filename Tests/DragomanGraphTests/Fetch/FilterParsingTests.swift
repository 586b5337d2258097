import Testing

@testable import DragomanGraph

@Suite("Filter parsing")
struct FilterParsingTests {
  @Test(
    "A predicate becomes the filter it spells",
    arguments: [
      ("age > 18", Filter.where("age", .greaterThan, 18)),
      ("age >= 18", .where("age", .greaterThanOrEqualTo, 18)),
      ("age => 18", .where("age", .greaterThanOrEqualTo, 18)),
      ("age =< -1.50", .where("age", .lessThanOrEqualTo, .value(.number("-1.50")))),
      ("a = 0x1F", .where("a", .equalTo, 31)),
      ("a == 1e3", .where("a", .equalTo, .value(.number("1e3")))),
      ("a <> nil", .where("a", .notEqualTo, nil)),
      ("a != NULL", .where("a", .notEqualTo, nil)),
      ("a = YES", .where("a", .equalTo, true)),
      ("a = false", .where("a", .equalTo, false)),
      (
        "city ==[cd] 'é'", .where("city", .equalTo, "é", [.caseInsensitive, .diacriticInsensitive])
      ),
      ("a beginswith[c] \"x\"", .where("a", .beginsWith, "x", .caseInsensitive)),
      ("a IN {1, 'b', $c}", .where("a", .in, [1, "b", .variable("c")])),
      ("a IN {}", .where("a", .in, [])),
      ("a BETWEEN {1, 2}", .where("a", .between, [1, 2])),
      (#"a == 'it\'s \u00e9\n\x41\\'"#, .where("a", .equalTo, "it's é\nA\\")),
      (#"a == "\ud83d\ude00""#, .where("a", .equalTo, "😀")),
      ("a == '%@'", .where("a", .equalTo, "%@")),
      ("#and == 1", .where("and", .equalTo, 1)),
      ("#\"first name\" == 1", .where("first name", .equalTo, 1)),
      ("#'it\\'s.a' == 1", .where("it's.a", .equalTo, 1)),
      (
        "boss.#\"first name\" == 1",
        .comparison(.init(.path(FilterPath(steps: ["boss", "first name"])), .equalTo, 1))
      ),
      ("größe == 1", .where("größe", .equalTo, 1)),
      ("TRUEPREDICATE", .constant(true)),
      ("not FALSEPREDICATE", .not(.constant(false))),
      ("!(a == 1)", .not(.where("a", .equalTo, 1))),
      ("((((a == 1))))", .where("a", .equalTo, 1)),
      (
        "a == 1 OR b == 2 AND NOT c == 3",
        .or([
          .where("a", .equalTo, 1),
          .and([.where("b", .equalTo, 2), .not(.where("c", .equalTo, 3))]),
        ])
      ),
      (
        "(a == 1 || b == 2) && c == 3",
        .and([
          .or([.where("a", .equalTo, 1), .where("b", .equalTo, 2)]), .where("c", .equalTo, 3),
        ])
      ),
      (
        "ANY phones.kind == 'work'",
        .comparison(
          .init(
            .path(FilterPath(steps: ["phones", "kind"])),
            .equalTo,
            "work",
            quantifier: .any
          )
        )
      ),
      (
        "phones.@count > 1",
        .comparison(.init(.path(FilterPath(steps: ["phones", "@count"])), .greaterThan, 1))
      ),
      ("18 < age", .comparison(.init(18, .lessThan, .name("age")))),
    ]
  )
  func parses(text: String, expected: Filter) throws {
    #expect(try Filter(parsing: text) == expected)
  }

  @Test("Arguments stand for names, values, lists and numbers")
  func arguments() throws {
    let filter = try Filter(
      parsing: "%K == %@ AND age IN %@ AND pay > %f AND n == %d",
      arguments: [.name("home.town"), "Oslo", .values([.integer(1), .null]), 1.5, 7]
    )
    #expect(
      filter
        == .and([
          .where("home.town", .equalTo, "Oslo"), .where("age", .in, [1, nil]),
          .where("pay", .greaterThan, 1.5), .where("n", .equalTo, 7),
        ])
    )
  }

  @Test("Variables are listed and filled")
  func variables() throws {
    let filter = try Filter(parsing: "NOT (a == $x OR b IN {$y, 2}) AND c IN $list")
    #expect(filter.variables == ["x", "y", "list"])
    #expect(
      filter.substituting(["x": "1", "y": 3, "list": ["u", "v"]])
        == (try Filter(parsing: "NOT (a == '1' OR b IN {3, 2}) AND c IN {'u', 'v'}"))
    )
  }

  @Test(
    "A malformed predicate is refused with the column, what was expected and what was found",
    arguments: [
      ("", "1: expected an attribute, a value or \"(\", found the end"),
      (
        "age",
        "4: expected a comparison (==, !=, <, <=, >, >=, IN, BETWEEN, CONTAINS, LIKE, …), found the end"
      ),
      ("age ~ 3", "5: \"~\" has no meaning in a predicate"),
      ("age > ", "7: expected a value, found the end"),
      ("age > AND", "7: expected a value, found \"AND\""),
      ("age > 1 city", "9: expected AND, OR or the end of the predicate, found \"city\""),
      ("(age > 1", "9: expected \")\" for the \"(\" of column 1, found the end"),
      ("a == 'x", "6: the string that begins here has no closing '"),
      ("a ==[x] 1", "6: expected c, d or cd, found \"x\""),
      ("a IN {1 2}", "9: expected \",\" or \"}\", found \"2\""),
      ("a IN {b}", "7: expected a literal, found \"b\""),
      ("a == 12ab", "8: expected the end of the number, found \"a\""),
      ("a == %@", "6: there is no argument for %@"),
      ("a == %q", "6: %q is none of %@, %K, %d, %f"),
      (#"a == "\ud800x""#, "7: the escape is half of a surrogate pair"),
      (#"a == "\uZZZZ""#, "7: expected 4 hexadecimal digits in the escape"),
      ("a. == 1", "4: expected a name after \".\", found \"==\""),
      ("a == -b", "7: expected a number after \"-\", found \"b\""),
    ]
  )
  func faults(text: String, message: String) {
    let error = #expect(throws: StoreError.self) { try Filter(parsing: text) }
    #expect(error?.message == "The predicate is malformed at column \(message).")
  }

  @Test("Arguments of the wrong kind, and superfluous ones, are refused")
  func wrongArguments() {
    #expect(throws: StoreError.self) { try Filter(parsing: "a == %d", arguments: ["x"]) }
    #expect(throws: StoreError.self) { try Filter(parsing: "a == %@", arguments: [.name("x")]) }
    #expect(throws: StoreError.self) { try Filter(parsing: "%K == 1", arguments: [1]) }
    #expect(throws: StoreError.self) { try Filter(parsing: "a == 1", arguments: [1]) }
  }

  @Test("Depth without end is refused, not a crash", arguments: ["(", "NOT ", "!", "a == 1 AND ("])
  func depth(unit: String) {
    let text = String(repeating: unit, count: 100_000)
    let error = #expect(throws: StoreError.self) { try Filter(parsing: text) }
    #expect(error?.message.contains("more than 100 parentheses or NOTs") == true)
  }

  @Test("A long chain is wide, not deep")
  func wide() throws {
    let text = Array(repeating: "a == 1", count: 50_000).joined(separator: " OR ")
    #expect(
      try Filter(parsing: text) == .or(Array(repeating: .where("a", .equalTo, 1), count: 50_000))
    )
  }

  @Test("Sort keys are read with their direction")
  func sortKeys() throws {
    #expect(
      try SortKey.parse("lastName, -salary,+id")
        == [SortKey("lastName"), SortKey("salary", ascending: false), SortKey("id")]
    )
    #expect(
      try SortKey.parse("name[cd],-company.name[l]")
        == [
          SortKey("name", options: [.caseInsensitive, .diacriticInsensitive]),
          SortKey("company.name", ascending: false, options: .localized),
        ]
    )
    #expect(try SortKey.parse("-a.b[c]").map(\.text) == ["-a.b[c]"])
    #expect(throws: StoreError.self) { try SortKey.parse("a[x]") }
    #expect(throws: StoreError.self) { try SortKey.parse("[c]") }
    #expect(throws: StoreError.self) { try SortKey.parse("a,,b") }
    #expect(throws: StoreError.self) { try SortKey.parse("-") }
  }
}
