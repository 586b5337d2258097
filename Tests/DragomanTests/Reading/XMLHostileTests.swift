import Foundation
import Testing

@testable import Dragoman

@Suite struct XMLHostileTests {
  /// Documents, and what is said about them.
  private static let malformed: [(String, String)] = [
    (
      "",
      """
      input.truncated: memory:1:1 (byte 0): \
      The text is empty: an XML document needs at least its root element.
      """
    ),
    (
      " ",
      """
      input.truncated: memory:1:2 (byte 1): \
      The text ends before its root element does.
      """
    ),
    (
      "<",
      """
      input.truncated: memory:1:2 (byte 1): \
      The text ends before its root element does.
      """
    ),
    (
      "<r",
      """
      input.truncated: memory:1:3 (byte 2): \
      The text ends before its root element does.
      """
    ),
    (
      "<r>",
      """
      input.truncated: memory:1:4 (byte 3): \
      The text ends before its root element does.
      """
    ),
    (
      "<r/>x",
      """
      xml.syntax: memory:1:5 (byte 4): \
      The text is not well-formed XML: Extra content at the end of the document.
      """
    ),
    (
      "<r/><r/>",
      """
      xml.syntax: memory:1:5 (byte 4): \
      The text is not well-formed XML: Extra content at the end of the document.
      """
    ),
    (
      "<r>\n<p>é</q></r>",
      """
      xml.syntax: memory:2:9 (record 1, byte 13): \
      The text is not well-formed XML: Opening and ending tag mismatch: p line 2 and q.
      """
    ),
    (
      "<r><p a='1' a='2'/></r>",
      """
      xml.syntax: memory:1:18 (byte 17): \
      The text is not well-formed XML: Attribute a redefined.
      """
    ),
    (
      "<r><q:p/></r>",
      """
      xml.syntax: memory:1:8 (byte 7): \
      The text is not well-formed XML: Namespace prefix q on p is not defined.
      """
    ),
    (
      "<r><p q:a=''/></r>",
      """
      xml.syntax: memory:1:13 (byte 12): \
      The text is not well-formed XML: Namespace prefix q for a on p is not defined.
      """
    ),
    (
      "<r><p>&ouml;</p></r>",
      """
      xml.syntax: memory:1:13 (record 1, byte 12): \
      The text is not well-formed XML: Entity 'ouml' not defined.
      """
    ),
    (
      "<!DOCTYPE r SYSTEM 'x.dtd'><r><p>&ouml;</p></r>",
      """
      xml.syntax: memory:1:40 (record 1, byte 39): \
      The text is not well-formed XML: Entity 'ouml' not defined.
      """
    ),
    (
      "<!DOCTYPE r SYSTEM 'x.dtd'><r><p a='&ouml;'/></r>",
      """
      xml.syntax: memory:1:43 (byte 42): \
      The text is not well-formed XML: Entity 'ouml' not defined.
      """
    ),
    (
      "<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><r/>",
      """
      xml.external: memory:1:52 (byte 51): \
      The document declares the external entity "x" (file:///etc/passwd), which is never followed.
      """
    ),
    (
      "<!DOCTYPE r [<!ENTITY % x 'y'>]><r/>",
      """
      xml.external: memory:1:30 (byte 29): \
      The document declares the parameter entity "x", which is never followed.
      """
    ),
    (
      "<!DOCTYPE r [<!NOTATION n >]><r/>",
      """
      xml.syntax: memory:1:28 (byte 27): \
      The text is not well-formed XML: the notation "n" has neither a system identifier nor a public \
      one.
      """
    ),
    (
      "<!DOCTYPE r [<!ENTITY lt 'x'>]><r/>",
      """
      xml.syntax: memory:1:29 (byte 28): \
      The text is not well-formed XML: invalid redeclaration of predefined entity.
      """
    ),
  ]

  @Test(
    "Declarations that only a validating reader would mind are passed over",
    arguments: [
      "<!NOTATION n SYSTEM 'x'><!NOTATION n PUBLIC 'y'>", "<!ELEMENT r ANY><!ELEMENT r ANY>",
      "<!ATTLIST r xml:id CDATA #IMPLIED>", "<!ATTLIST r a (x|x) 'x'>", "<!ATTLIST r a ID 'x'>",
      "<!ENTITY e 'x'><!ENTITY e 'y'>", "<!ENTITY lt '&#38;#60;'>",
      "<!ENTITY amp '&#38;#x26;'><!ENTITY gt '&#62;'><!ENTITY quot '&#34;'><!ENTITY apos \"'\">",
    ]
  )
  func validity(declarations: String) throws {
    let document = "<!DOCTYPE r [\(declarations)]><r><p xml:id='1 2'>x</p></r>"
    for stride in [1, .max] {
      let reading = try readXML(MemorySource(document, stride: stride), ["/r/p"])
      #expect(reading.texts.count == 1)
    }
  }

  @Test(
    "The name of a namespace need not be a URI (Namespaces in XML 1.0, 7)",
    arguments: ["http://e/ü", "urn:x ", "C:\\x", "http://e/a|b", "a b", "x"]
  )
  func namespaceNames(name: String) throws {
    for document in [
      "<r xmlns:q='\(name)'><q:p>1</q:p></r>", "<r xmlns='urn:r'><p xmlns='\(name)'>1</p></r>",
    ] {
      let reading = try readXML(MemorySource(document), ["/*/q:p"], namespaces: ["q": name])
      #expect(reading.records.count == 1)
    }
  }

  @Test(
    "A character that XML does not take is no fault of the encoding, in CDATA sections either",
    arguments: [("a\u{1}b", "U+0001"), ("\u{1}", "U+0001"), ("a\u{FFFE}", "U+FFFE")]
  )
  func characters(text: String, name: String) {
    for stride in [1, .max] {
      let error = #expect(throws: ReadError.self) {
        let document = "<r><p><![CDATA[\(text)]]></p></r>"
        _ = try readXML(MemorySource(document, stride: stride), ["/r/p"])
      }
      #expect(error?.code == .xml)
      #expect(
        error?.message
          == "The text is not well-formed XML: the character \(name) cannot stand there."
      )
    }
    let latin = #expect(throws: ReadError.self) {
      let bytes = Array("<r><p><![CDATA[a".utf8) + [0xE9] + Array("b]]></p></r>".utf8)
      _ = try readXML(MemorySource(bytes), ["/r/p"])
    }
    #expect(latin?.code == .encoding)
  }

  @Test("A bare & that no semicolon follows for 10 MB is told as one")
  func bareReference() {
    let error = #expect(throws: ReadError.self) {
      let text = String(repeating: "x", count: 10_100_000)
      _ = try readXML(MemorySource("<r><p>a & \(text)</p></r>"), ["/r/p"])
    }
    #expect(error?.code == .xml)
    #expect(error?.message.contains("an \"&\" has no \";\"") == true)
  }

  @Test("A document that is not well-formed is refused, with its place", arguments: malformed)
  func refused(document: String, message: String) {
    for stride in [1, .max] {
      let error = #expect(throws: ReadError.self) {
        try readXML(MemorySource(document, stride: stride), ["/r/p"])
      }
      #expect(error?.description == message)
    }
  }

  @Test("Every proper prefix of a document is refused")
  func prefixes() {
    let document = """
      \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE r [<!ENTITY e "x"><!ELEMENT r ANY>]>
      <!-- c --><?pi d?>
      <r xmlns:a="u"><p a:k="é>'" j='&lt;'>a&e;b<![CDATA[ c > ]]><n/><!-- - --></p>李</r>
      """
    let bytes = Array(document.utf8)
    #expect(throws: Never.self) { try readXML(MemorySource(bytes), ["/r/p"]) }
    for count in 0..<bytes.count {
      for stride in [1, .max] {
        let source = MemorySource(Array(bytes[..<count]), stride: stride)
        #expect(throws: ReadError.self) { try readXML(source, ["/r/p"]) }
      }
    }
  }

  @Test("The records before a fault stay in the batch, the faulty one does not")
  func recordsBeforeFault() throws {
    let source = MemorySource("<r><p>1</p><p>2</p><p><n>3</n></p><p><n>4</n></q></r>")
    let reader = try XMLReader(source: source, paths: [recordPath("/r/p")])
    let batch = RecordBatch()
    #expect(try reader.read(into: batch, limit: 2))
    let first = #expect(throws: ReadError.self) { try reader.read(into: batch, limit: 10) }
    #expect(batch.records.map { tapeText(batch, Int($0.node)) } == [#"p [n "3"]"#])
    let second = #expect(throws: ReadError.self) { try reader.read(into: batch, limit: 10) }
    #expect(second == first)
    #expect(batch.records.isEmpty)
  }

  @Test(
    "Limits are told as limits",
    arguments: [
      "\(String(repeating: "<r>", count: 300))",
      "<r><p a='\(String(repeating: "x", count: 10_000_001))'/></r>",
      "<r><p>\(String(repeating: "x", count: 10_000_001))</p></r>",
      "<r><\(String(repeating: "x", count: 50_001))/></r>",
      "<r><!--\(String(repeating: "<'> ", count: 3_000_000))--></r>",
      "<r>\((0..<100_001).map { "<p a\($0)='1'/>" }.joined())</r>",
      "<r><p \((0..<10_001).map { "a\($0)='1'" }.joined(separator: " "))/></r>",
      "<!DOCTYPE r [\((0..<20_000).map { "<!ELEMENT a\($0) ANY>" }.joined())]><r><p/></r>",
      "<!DOCTYPE r [\((0..<20_000).map { "<!ENTITY a\($0) 'b'>" }.joined())]><r><p/></r>",
      "<!DOCTYPE r [<!ATTLIST p a (\((0..<60_000).map { "b\($0)" }.joined(separator: "|"))) 'b1'>]><r><p/></r>",
    ]
  )
  func limits(document: LongText) {
    let error = #expect(throws: ReadError.self) {
      try readXML(MemorySource(document.text), ["/r/p"])
    }
    #expect(error?.code == .limit)
  }

  @Test(
    "What stands behind a long document type declaration is read batch by batch",
    arguments: [
      "\((0..<2_000).map { "<!ENTITY e\($0) 'some ]> text \"'>" }.joined())",
      "<!-- it's ]> -->\((0..<3_000).map { "<!ELEMENT e\($0) ANY>\n" }.joined())<?pi ]> isn't ?>",
      "<!ENTITY a '\(String(repeating: "x]>", count: 30_000))'>",
    ]
  )
  func behindDeclarations(declarations: LongText) throws {
    let record = "<p><n>\(String(repeating: "x", count: 100))</n></p>\n"
    let document =
      "<!DOCTYPE r [\(declarations.text)] ><r>" + String(repeating: record, count: 50_000) + "</r>"
    let reader = try XMLReader(
      source: MemorySource(document, stride: 1 << 16),
      paths: [recordPath("/r/p")]
    )
    let batch = RecordBatch()
    var count = 0
    while try reader.read(into: batch, limit: 1000) {
      #expect(batch.records.count <= 1000)
      #expect(batch.source.count <= 1 << 20)
      count += batch.records.count
    }
    #expect(count + batch.records.count == 50_000)
  }

  @Test(
    "Entities that expand without bounds are refused",
    arguments: [
      ("<!ENTITY a '%'>", "<p><n>&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;</n></p>", 300),
      ("<!ENTITY a '%'>", "<p n='&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'/>", 300),
      ("<!ENTITY a '%'>", "<q>&a;</q>", 3000),
      ("<!ENTITY a '<n/><n/>%'>", "<p>&a;&a;&a;&a;</p>", 3000),
      ("<!ATTLIST p a CDATA '%'>", "<p/>", 3000),
    ]
  )
  func expansion(declaration: String, record: String, count: Int) {
    let text = String(repeating: "abcde", count: 10_000)
    let document =
      "<!DOCTYPE r [\(declaration.split(separator: "%").joined(separator: text))]><r>"
      + String(repeating: record, count: count) + "</r>"
    let error = #expect(throws: ReadError.self) { try readXML(MemorySource(document), ["/r/p"]) }
    #expect(error?.code == .limit)
  }

  @Test(
    "HTML is recognised where XML fails",
    arguments: ["<!DOCTYPE html><br>", "\n<HTML><p></HTML>"]
  )
  func html(document: String) {
    let error = #expect(throws: ReadError.self) { try readXML(MemorySource(document), ["/r/p"]) }
    #expect(
      error?.help == "this looks like an HTML page, not like a feed: check where it came from"
    )
  }

  @Test("The hostile files are accepted and refused as their manifest says")
  func manifest() throws {
    let folder = URL(filePath: #filePath).appending(path: "../../../../../shared/hostile/synthetic")
      .standardized
    let manifest = folder.appending(path: "manifest.tsv")
    guard FileManager.default.fileExists(atPath: manifest.path) else {
      print("skipped: there is no \(manifest.path)")
      return
    }
    var wrong: [String] = []
    for line in try String(contentsOf: manifest, encoding: .utf8).split(separator: "\n") {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count >= 3, fields[1] == "xml" else { continue }
      let verdict = fields[2] == "policy" ? Self.policies[fields[0]] : fields[2]
      let result: String
      do throws(ReadError) {
        let source = try openSource(path: folder.appending(path: fields[0]).path)
        let reader = try XMLReader(source: source, paths: [recordPath("/*/*")])
        let batch = RecordBatch()
        while try reader.read(into: batch, limit: 100) {}
        result = "accept"
      } catch {
        result = "reject"
      }
      if result != verdict { wrong.append("\(fields[0]): \(result)") }
    }
    #expect(wrong == [])
  }

  /// What we do where the manifest leaves the choice.
  private static let policies = [
    "x_entity_small.xml": "accept", "x_xxe_doctype_system.xml": "accept",
    "x_xinclude.xml": "accept", "x_doctype_deep_param.xml": "reject",
    "x_windows1252.xml": "accept", "x_shift_jis.xml": "accept", "x_enc_lie_utf16.xml": "reject",
    "x_xml11.xml": "accept", "x_mixed.xml": "accept", "x_ns_prefix_swap.xml": "accept",
    "x_ns_undeclared.xml": "reject", "x_attr_vs_child.xml": "accept",
    "x_empty_kinds.xml": "accept", "x_whitespace.xml": "accept", "x_deep_10000.xml": "reject",
    "x_many_attrs_10000.xml": "accept", "x_many_attrs_hash.xml": "accept",
    "x_long_name.xml": "reject", "x_repeat_child.xml": "accept",
  ]
}
