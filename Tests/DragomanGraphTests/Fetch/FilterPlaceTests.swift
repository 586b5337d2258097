import Testing

@testable import DragomanGraph

/// Where in a predicate a fault is, and what may have been meant.
@Suite("Predicates, places of faults")
struct FilterPlaceTests {
  /// The caret stands under the scalar behind `‸`.
  @Test(
    "The caret stands under the fault, and help names what was meant",
    arguments: [
      ("‸nmae == 'x'", "did you mean \"name\"?"), ("age > 1 AND company.‸cty == 'x'", "\"city\"?"),
      ("‸compny.city == 'x'", "\"company\"?"), ("age ‸CONTIANS 'x'", "did you mean CONTAINS?"),
      ("name ‸STARTSWITH 'x'", "did you mean BEGINSWITH?"), ("name ‸is 'x'", "did you mean ==?"),
      ("name ‸NOT IN {'x'}", "put NOT in front"), ("name == 'a' ‸adn age > 1", "did you mean AND?"),
      ("age > 1 ‸|| ", nil), ("age ‸~ 3", "MATCHES"), ("age > 1 ‸& age < 3", "write && or AND"),
      ("name == ‸lower('X')", "name ==[c] 'x'"), ("age > ‸nwo()", "did you mean now(…)?"),
      ("‸median(phones) > 1", "there are now(), today() and SUBQUERY"),
      ("phones.‸@cuont > 1", "did you mean @count?"), ("phones.@sum.‸mintes > 1", "\"minutes\"?"),
      ("age > ‸'x'", nil), ("age == ‸$X", "substituting"), ("age IN ‸5", nil), ("age < ‸nil", nil),
      ("age ‸LIKE 'x'", nil), ("company ‸< 'dragoman:///Company/1'", nil),
      ("name ‸> company.budget", nil), ("‸phones.kind == 'x'", "put ANY"),
      ("ANY ‸company.city == 'x'", nil), ("‸'x' == age", nil), ("age ‸< town", nil),
      ("name LIKE ‸'a%'", "LIKE \"a*\""), ("name MATCHES ‸'('", nil), ("‸1 == 2", nil),
      ("age > now() - 7 ‸dyas", "did you mean days?"), ("age > now() - ‸x", nil),
      ("age > now(‸1)", nil), ("SUBQUERY(‸company, $c, TRUEPREDICATE).@count > 1", nil),
      ("SUBQUERY(phones, ‸p, $p.kind == 'x').@count > 1", nil),
      ("SUBQUERY(phones, $p, $p.‸kidn == 'x').@count > 1", "\"kind\"?"),
      ("SUBQUERY(phones, $p, ‸kind == 'x').@count > 1", "did you mean \"$p.kind\"?"),
      ("SUBQUERY(phones, $p, $p.kind == 'x') ‸> 1", nil),
      ("SUBQUERY(phones, $p, $p.kind == 'x').‸@cont > 1", "did you mean @count?"),
      (
        "SUBQUERY(phones, $p, SUBQUERY(friends, ‸$p, TRUEPREDICATE).@count > 1).@count > 1",
        "another name"
      ),
      ("name == 'é\u{1F600}' AND ‸nmae == 'x'", "\"name\"?"), ("name == ‸'x", nil), ("‸", nil),
      ("‸in == 3", "written #in"), ("any ‸== 3", "written #any"), ("not ‸== 3", "written #not"),
      ("‸true == 1", "written #true"), ("‸'first name' == 'x'", "#\"first name\""),
      ("first ‸name == 'x'", "#\"first name\""), ("first‸-name == 'x'", "#\"first-name\""),
      ("1‸st == 3", "#\"1st\""), ("‸😀 == 3", "#\"first name\""),
      ("SUBQUERY(phones, $p, ‸$q.kind == 'x').@count > 1", "there is $p"),
    ] as [(String, String?)]
  )
  func place(marked: String, words: String?) throws {
    let parts = marked.split(separator: "‸", omittingEmptySubsequences: false)
    let text = parts.joined()
    let error = #expect(throws: StoreError.self) {
      let filter = try Filter(parsing: text)
      _ = try ResolvedRequest(
        FetchRequest("Person", filter: filter),
        in: ModelLayout(RelationshipFetchTests.model)
      )
    }
    let column = parts[0].unicodeScalars.count + 1
    let isInside = marked != "age > 1 ‸|| "
    #expect(error?.place?.text == text)
    if isInside { #expect(error?.place?.column == column, "\(String(describing: error))") }
    if let words { #expect(error?.help?.contains(words) == true, "\(String(describing: error))") }
  }

  @Test("Two filters that differ in their spaces only are equal")
  func equality() throws {
    let one = try Filter(parsing: "a == 1 AND b.c>2")
    let other = try Filter(parsing: "  a   ==   1 and  b.c > 2 ")
    #expect(one == other && one.hashValue == other.hashValue)
  }

  @Test("A filter that was written in code has no places, and its faults neither")
  func code() {
    let error = #expect(throws: StoreError.self) {
      try ResolvedRequest(
        FetchRequest("Person", filter: .where("nmae", .equalTo, 1)),
        in: ModelLayout(RelationshipFetchTests.model)
      )
    }
    #expect(error?.place == nil && error?.help == "did you mean \"name\"?")
  }
}
