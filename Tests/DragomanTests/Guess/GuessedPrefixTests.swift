import Testing

@testable import Dragoman

/// Prefixes that a guess declares beside those of the map that it is added to.
@Suite("Guessed prefixes") struct GuessedPrefixTests {
  private static func map(_ namespaces: String) -> String {
    """
    version: 1
    entities:
      A: { unique: id, attributes: { id: "@id", e: el:e, o: other:o } }
    sources:
      as: { format: xml, entity: A, records: /as/a, namespaces: \(namespaces) }

    """
  }

  private static let feed = """
    <books xmlns:el="http://x.org/el"><book><id>1</id><el:title>A</el:title></book>
    <book><id>2</id><el:title>B</el:title></book></books>
    """

  /// The sources of a map to which the feed is added.
  private func sources(_ text: String, _ feed: String = Self.feed) throws -> [SourceMap] {
    let input = ImportInput.bytes(Array(feed.utf8), name: "books.xml")
    let map = try ImportMap(yaml: text)
    let guess = try MapGuess(of: [input], addingTo: map, text: text, store: nil)
    // The same feed is known from then on.
    let again = try MapGuess(of: [input], addingTo: guess.map, text: guess.text, store: nil)
    #expect(!again.isNew)
    #expect(again.sources == guess.sources)
    return guess.map.sources
  }

  @Test("A prefix that stands for another namespace is not declared once more")
  func taken() throws {
    let all = try sources(Self.map("{ el: urn:el, other: urn:other }"))
    #expect(all.last?.namespaces == ["el2": "http://x.org/el"])
  }

  @Test("A prefix that stands for the namespace already is used")
  func known() throws {
    let all = try sources(Self.map(#"{ el: urn:el, other: "http://x.org/el" }"#))
    #expect(all.last?.namespaces == ["other": "http://x.org/el"])
  }

  @Test("A namespace has the prefix that the feed has for it, where that stands for no other one")
  func own() throws {
    let feed = """
      <f xmlns:cbc="urn:x:CommonBasic-2"><i xmlns:a="urn:a:one"><cbc:id>1</cbc:id><a:n>x</a:n></i>
      <i xmlns:a="urn:a:two" xmlns:cbc = 'urn:x:CommonBasic-2'><cbc:id>2</cbc:id><a:n>y</a:n></i></f>
      """
    let guess = try MapGuess(of: [.bytes(Array(feed.utf8), name: "f.xml")])
    #expect(
      guess.map.sources[0].namespaces == [
        "cbc": "urn:x:CommonBasic-2", "one": "urn:a:one", "two": "urn:a:two",
      ]
    )
  }

  @Test("A prefix is declared where a path has it, and not where a name ends like it")
  func unused() {
    let spelling = ForeignPathSpelling(.xml, namespaces: ["", "urn:n", "urn:main"])
    #expect(spelling.prefixes == ["", "n", "main"])
    #expect(spelling.namespaces(in: "main:a/b").map { $0.prefix } == ["main"])
    #expect(spelling.namespaces(in: "{ n: main:a, id: @n:id }").map { $0.prefix } == ["n", "main"])
    #expect(spelling.namespaces(in: "{ n: a }").isEmpty)
  }
}
