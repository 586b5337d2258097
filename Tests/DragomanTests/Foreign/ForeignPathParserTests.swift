import Testing

@testable import Dragoman

@Suite struct ForeignPathParserTests {
  private static func member(_ name: String, _ namespace: String? = nil) -> ForeignPath.Step {
    .member(name, namespace: namespace)
  }

  @Test(
    "JSON paths",
    arguments: [
      (".", ForeignPath.Root.record, []),
      ("a.b.c", .record, [member("a"), member("b"), member("c")]),
      ("a[0].b[*]", .record, [member("a"), .index(0), member("b"), .all]),
      ("[1][2]", .record, [.index(1), .index(2)]),
      ("currencies.*", .record, [member("currencies"), .anyMember]),
      ("*", .record, [.anyMember]),
      ("@id", .record, [member("@id")]),
      ("a/b", .record, [member("a/b")]),
      ("Total amount", .record, [member("Total amount")]),
      ("a.$oid", .record, [member("a"), member("$oid")]),
      (
        "/a.b/c~1d/e~0f/0/01", .record,
        [
          member("a.b"), member("c/d"), member("e~f"), .index(0), member("01"),
        ]
      ),
      ("/", .record, [member("")]),
      ("/$id", .record, [member("$id")]),
      ("/99999999999999999999", .record, [member("99999999999999999999")]),
      ("/currencies/*", .record, [member("currencies"), .anyMember]),
      ("$index", .index, []),
      ("$file", .file, []),
      ("$file.name", .fileName, []),
      ("$file.stem", .fileStem, []),
      ("a.*[*]", .record, [member("a"), .anyMember, .all]),
      ("/a/*[*]", .record, [member("a"), .anyMember, .all]),
      ("$line", .line, []),
      ("$key", .key, []),
      ("$root.meta.date", .document, [member("meta"), member("date")]),
      ("$parent.id", .parent, [member("id")]),
    ]
  )
  func json(text: String, root: ForeignPath.Root, steps: [ForeignPath.Step]) throws {
    let path = try ForeignPathParser(format: .json).parse(text)
    #expect(path == ForeignPath(root: root, steps: steps, text: text))
  }

  @Test(
    "XML paths",
    arguments: [
      (".", ForeignPath.Root.record, []),
      ("a/c:b", .record, [member("a"), member("b", "urn:c")]),
      ("c:a/@d", .record, [member("a", "urn:c"), .attribute("d", namespace: nil)]),
      (
        "@xml:lang", .record,
        [
          .attribute("lang", namespace: "http://www.w3.org/XML/1998/namespace")
        ]
      ),
      ("text()", .record, [.text]),
      ("a[not(@b)]", .record, [member("a"), .having(.init(name: "b", isNegated: true))]),
      (
        "c:a[@b=\"x/y]\"]/*[@c:d][not(@e='\"')]/@f", .record,
        [
          member("a", "urn:c"), .having(.init(name: "b", value: "x/y]")), .anyMember,
          .having(.init(name: "d", namespace: "urn:c")),
          .having(.init(name: "e", value: "\"", isNegated: true)), .attribute("f", namespace: nil),
        ]
      ),
      ("a/*/text()", .record, [member("a"), .anyMember, .text]),
      ("a.b", .record, [member("a.b")]),
      ("$parent/@id", .parent, [.attribute("id", namespace: nil)]),
      ("$index", .index, []),
    ]
  )
  func xml(text: String, root: ForeignPath.Root, steps: [ForeignPath.Step]) throws {
    let path = try ForeignPathParser(format: .xml, namespaces: ["c": "urn:c"]).parse(text)
    #expect(path == ForeignPath(root: root, steps: steps, text: text))
  }

  @Test("The default namespace holds for elements and not for attributes")
  func defaultNamespace() throws {
    let parser = ForeignPathParser(format: .xml, namespaces: ["": "urn:d"], leadsToRecords: true)
    #expect(
      try parser.parse("/a/b").steps == [Self.member("a", "urn:d"), Self.member("b", "urn:d")]
    )
    let values = ForeignPathParser(format: .xml, namespaces: ["": "urn:d"])
    #expect(try values.parse("@b").steps == [.attribute("b", namespace: nil)])
  }

  @Test("A CSV path is the name of a column, whatever it looks like")
  func csv() throws {
    #expect(try ForeignPathParser(format: .csv).parse("a.b[0]").steps == [Self.member("a.b[0]")])
  }

  @Test("In CSV only the known words after a $ are no columns")
  func csvRoots() throws {
    let parser = ForeignPathParser(format: .csv)
    #expect(try parser.parse("$amount").steps == [Self.member("$amount")])
    #expect(try parser.parse("$key").steps == [Self.member("$key")])
    #expect(try parser.parse("$line").root == .line)
    for text in ["$root.x", "$parent", "$index.a"] {
      #expect(throws: PathFault.self) { try parser.parse(text) }
    }
  }

  @Test(
    "JSON texts that are no paths",
    arguments: [
      ("", 0), ("a..b", 2), ("a.", 2), (".a", 0), ("a[", 1), ("a[-1]", 1), ("a[01]", 1),
      ("a[x]", 1), ("a]", 1), ("a[0]b", 4), ("*.a", 0), ("a.*.b", 2), ("/*/a", 1), ("/a~", 2),
      ("/~2", 2), ("$index.a", 6), ("$root", 5), ("$root.", 6), ("$oid", 0), ("$", 0),
      ("a[99999999999999999999]", 1),
    ]
  )
  func badJSON(text: String, offset: Int) {
    let fault = #expect(throws: PathFault.self) { try ForeignPathParser(format: .json).parse(text) }
    #expect(fault?.offset == offset)
  }

  @Test(
    "XML texts that are no paths",
    arguments: [
      ("/a", 0), ("a//b", 2), ("a/", 2), ("a[1]", 1), ("x:a", 0), ("@x:a", 1), ("@a/b", 0),
      ("text()/a", 0), ("a/../b", 2), ("a b", 0), ("1a", 0), ("a:b:c", 0), (":a", 0), ("@", 1),
    ]
  )
  func badXML(text: String, offset: Int) {
    let fault = #expect(throws: PathFault.self) { try ForeignPathParser(format: .xml).parse(text) }
    #expect(fault?.offset == offset)
  }

  @Test("A path has at most 100 steps and 10,000 bytes")
  func limits() throws {
    let parser = ForeignPathParser(format: .json)
    let hundred = Array(repeating: "a", count: 100).joined(separator: ".")
    #expect(try parser.parse(hundred).steps.count == 100)
    #expect(throws: PathFault.self) { try parser.parse(hundred + ".a") }
    #expect(throws: PathFault.self) { try parser.parse(String(repeating: "a", count: 10_001)) }
  }
}
