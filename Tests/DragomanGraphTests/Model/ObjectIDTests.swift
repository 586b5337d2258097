import Testing

@testable import DragomanGraph

@Suite("Object ids")
struct ObjectIDTests {
  @Test(
    "An id is a URI, and comes back from it byte for byte",
    arguments: [
      ("Person", 12, "dragoman:///Person/12"),
      ("Gr\u{F6}\u{DF}e", 1, "dragoman:///Gr%C3%B6%C3%9Fe/1"),
      ("Gro\u{308}\u{DF}e", 1, "dragoman:///Gro%CC%88%C3%9Fe/1"),
      ("a/b %?#", .max, "dragoman:///a%2Fb%20%25%3F%23/9223372036854775807"),
    ] as [(String, Int64, String)]
  )
  func roundTrip(entity: String, key: Int64, uri: String) throws {
    let id = ObjectID(entity: entity, primaryKey: key)
    #expect(id.uri == uri)
    let back = try ObjectID(uri: uri)
    #expect(back == id)
    #expect(Array(back.entity.utf8) == Array(entity.utf8))
  }

  @Test("Unicode normal forms of a name are different ids")
  func normalForms() {
    let composed = ObjectID(entity: "\u{E9}", primaryKey: 1)
    #expect(composed != ObjectID(entity: "e\u{301}", primaryKey: 1))
    #expect(Set([composed, ObjectID(entity: "e\u{301}", primaryKey: 1)]).count == 2)
  }

  @Test(
    "Anything else is refused",
    arguments: [
      "", "Person/12", "dragoman:///Person", "dragoman:///Person/", "dragoman:////12",
      "dragoman:///Person/0", "dragoman:///Person/-1", "dragoman:///Person/+1",
      "dragoman:///Person/01", "dragoman:///Person/1/2", "dragoman:///Person/9223372036854775808",
      "dragoman:///Pers%4/1", "dragoman:///Pers%/1", "dragoman:///%FF/1", "dragoman:///a b/1",
      "dragoman:///Person/1 ", "DRAGOMAN:///Person/1", "dragoman://host/Person/1",
    ]
  )
  func refused(uri: String) {
    let error = #expect(throws: StoreError.self) { try ObjectID(uri: uri) }
    #expect(error?.code == .badRequest)
  }
}
