import Testing

@testable import Dragoman

/// What the paths of an entity mean by the sources that read it (docs/maps.md, "Sources").
@Suite("Namespaces") struct NamespaceTests {
  /// Products in XML, in which categories are nested that have a source of their own.
  private static func products(_ label: String) -> String {
    """
    version: 1
    entities:
      Product:
        unique: id
        attributes: { id: "@id" }
        relationships: { category: { entity: Category, kind: toOne, from: category } }
      Category:
        unique: code
        attributes: { code: code, label: \(label) }
    sources:
      products: { format: xml, entity: Product, records: /r/product, namespaces: { dc: "urn:dc" } }
      categories: { format: json, entity: Category }
    """
  }

  @Test(
    "A prefix is known to entities whose records are nested in those of its source",
    arguments: ["dc:label", #"{ from: { json: label, xml: "dc:label" } }"#]
  )
  func nested(label: String) async throws {
    let fixture = try ImportFixture(Self.products(label))
    try await fixture.run(
      """
      <r xmlns:x="urn:dc"><product id="1"><category><code>c</code><x:label>C</x:label></category></product></r>
      """
    )
    #expect(try fixture.rows("Category", ["code", "label"]) == ["c|C"])
  }

  @Test("A prefix is known to sub-entities that its source finds, and to what they inherit")
  func family() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Thing:
          unique: id
          discriminator: { from: { xml: "@kind" }, values: { car: Car } }
          attributes: { id: { from: { json: id, xml: "@id" } }, colour: v:colour }
        Car: { parent: Thing, attributes: { doors: v:doors } }
        Boat: { parent: Thing, attributes: { mast: w:mast } }
      sources:
        things: { format: xml, entity: Thing, records: /r/t, namespaces: { v: "urn:v" } }
        cars: { format: json, entity: Car }
        boats: { format: xml, entity: Boat, records: /r/b, namespaces: { w: "urn:w", v: "urn:v" } }
      """
    )
    try await fixture.run(
      """
      <r xmlns:v="urn:v"><t id="1" kind="car"><v:doors>4</v:doors><v:colour>red</v:colour></t>
      <b id="2"><mast xmlns="urn:w">2</mast><v:colour>blue</v:colour></b></r>
      """
    )
    #expect(try fixture.rows("Car", ["id", "doors", "colour"]) == ["1|4|red"])
    #expect(try fixture.rows("Boat", ["id", "mast", "colour"]) == ["2|2|blue"])
  }

  @Test("JSON paths of what is nested in XML are told, whatever source the entity has of its own")
  func lints() throws {
    func codes(_ from: String) throws -> [String] {
      let yaml = Self.products(#"{ from: "labels[0]" }"#).replacing("code: code", with: from)
      return try ImportMap(yaml: yaml).lint().map(\.code.rawValue)
    }
    // Nothing is left that would need the prefix.
    #expect(try codes("code: code") == ["lint.path", "lint.prefix"])
    #expect(
      try codes("code: { from: { json: code } }")
        == ["lint.unmapped", "lint.path", "lint.prefix"]
    )
  }

  @Test("An entity that no records of a format are of is not asked for paths of it")
  func otherSources() throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          A: { unique: id, attributes: { id: id }, relationships: { b: { entity: B, kind: toOne, from: b } } }
          B: { unique: id, attributes: { id: { from: { json: id } }, list: "list[0]" } }
          C: { attributes: { c: c } }
        sources:
          a: { format: json, entity: A }
          c: { format: xml, entity: C, records: /r/c }
        """
    )
    #expect(map.lint().map(\.description) == [])
  }

  /// The faults of a map with two XML sources of these namespaces, which read the same entity.
  private func faults(_ first: String, _ second: String, _ path: String) -> [String] {
    let yaml = """
      version: 1
      entities:
        A: { attributes: { t: \(path) } }
        B: { attributes: { b: b }, relationships: { a: { entity: A, kind: toOne, from: "*" } } }
      sources:
        x: { format: xml, entity: A, records: /r/a, namespaces: \(first) }
        y: { format: xml, entity: B, records: /r/b, namespaces: \(second) }
      """
    do throws(MapFaults) {
      _ = try ImportMap(yaml: yaml)
      return []
    } catch {
      return error.faults.map { "\($0.position?.line ?? 0) \($0.code.rawValue): \($0.message)" }
    }
  }

  @Test("A prefix means one namespace in all sources that read an entity with it")
  func twoMeanings() {
    #expect(
      faults("{ a: urn:1 }", "{ a: urn:2 }", "a:t") == [
        "3 map.value: The prefix \"a\" means urn:1 in source x and urn:2 in source y, and both read A."
      ]
    )
    // In a condition, too; a prefix that the entity does not use may mean anything.
    #expect(faults("{ a: urn:1 }", "{ a: urn:2 }", #"'t[@a:l="x"]/@v'"#).count == 1)
    #expect(faults("{ a: urn:1 }", "{ a: urn:2 }", "t") == [])
    #expect(faults("{ a: urn:1 }", "{ b: urn:1 }", "[a:t, b:t]") == [])
    #expect(faults("{ a: urn:1 }", "{}", "a:t") == [])
  }

  @Test("Names without a prefix are in one namespace in all sources that read an entity with them")
  func twoDefaults() {
    let message =
      "3 map.value: A name without a prefix means urn:1 in source x and no namespace in source y, and both"
      + " read A."
    // B is read by y alone.
    #expect(faults(#"{ "": urn:1 }"#, "{}", "t") == [message])
    // The name of an attribute that says no path is such a name.
    #expect(faults(#"{ "": urn:1 }"#, "{}", "{}") == [message])
    #expect(faults(#"{ "": urn:1 }"#, #"{ "": urn:1 }"#, "t") == [])
    #expect(faults(#"{ "": urn:1 }"#, "{}", #""@t""#) == [])
  }

  @Test("What says no path is read by its name, as if that were written")
  func ownNames() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: id, title: , size: { type: int32 } }
          relationships: { maker: { entity: M, kind: toOne } }
        M: { unique: name, attributes: { name: } }
      sources: { x: { format: xml, entity: P, records: /r/p, namespaces: { "": "urn:d" } } }
      """
    )
    let report = try await fixture.run(
      """
      <r xmlns="urn:d"><p><id>1</id><title>T</title><size>3</size><maker><name>M</name></maker></p></r>
      """
    )
    #expect(report.unmatchedPaths.isEmpty)
    #expect(try fixture.rows("P", ["id", "title", "size"]) == ["1|T|3"])
    #expect(try fixture.rows("M", ["name"]) == ["M"])
  }

  @Test(
    "Reserved prefixes and namespaces are faults, told once (Namespaces in XML 1.0, section 3)",
    arguments: [
      ("xmlns", "urn:a", "is reserved"), ("xmlns", "http://www.w3.org/2000/xmlns/", "is reserved"),
      ("xml", "urn:a", "always stands for http://www.w3.org/XML/1998/namespace"),
      ("a", "http://www.w3.org/2000/xmlns/", "No prefix can stand for"),
      ("xml", "http://www.w3.org/2000/xmlns/", "No prefix can stand for"),
      ("", "http://www.w3.org/2000/xmlns/", "No prefix can stand for"),
      ("a", "http://www.w3.org/XML/1998/namespace", "Only the prefix \"xml\""),
      ("", "http://www.w3.org/XML/1998/namespace", "Only the prefix \"xml\""),
      ("a", "", "is empty"),
    ]
  )
  func reserved(prefix: String, uri: String, message: String) {
    let error = #expect(throws: MapFaults.self) {
      try ImportMap(
        yaml: """
          version: 1
          entities: { A: { attributes: { a: "@a" } } }
          sources: { x: { format: xml, entity: A, records: /r/a, namespaces: { "\(prefix)": "\(uri)" } } }
          """
      )
    }
    #expect(error?.faults.map(\.code) == [.value])
    #expect(error?.faults.first?.position?.line == 3)
    #expect(error?.faults.first?.message.contains(message) == true)
  }

  @Test("The prefix xml may be declared as what it is")
  func declaredXML() throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities: { A: { attributes: { a: "@xml:lang" } } }
        sources:
          x: { format: xml, entity: A, records: /r/a, namespaces: { xml: "http://www.w3.org/XML/1998/namespace" } }
        """
    )
    #expect(map.sources[0].namespaces.count == 1)
  }

  @Test("A prefix is used that stands in a condition alone, and not one that stands in its value")
  func conditions() throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities: { A: { attributes: { a: 't[@p:l="q:de"]/@x', b: 't[not(@o:l)]/@x' } } }
        sources:
          x: { format: xml, entity: A, records: /r/a, namespaces: { o: urn:o, p: urn:p, q: urn:q } }
        """
    )
    #expect(map.lint().map(\.place) == ["sources.x.namespaces.q"])
  }
}
