import DragomanGraph
import Testing

@testable import Dragoman

/// What `SQLiteStore.contents()` and its parts tell after imports.
@Suite("Contents of a store") struct ContentsTests {
  private static let map = """
    version: 1
    name: shop
    defaults: { onUnresolved: pending }
    entities:
      Document:
        unique: id
        discriminator: { from: kind, values: { book: Book, film: Film } }
        attributes: { id: { type: int64 }, title: { index: true } }
        relationships:
          tags: { entity: Tag, kind: toMany, key: { name: tags }, onUnresolved: clear }
          sequel: { entity: Document, kind: toOne, key: { id: sequel }, inverse: prequel }
      Book: { parent: Document, attributes: { pages: { type: int32 } } }
      Film:
        parent: Document
        relationships:
          basis: { entity: Book, kind: toOne, key: { id: basis }, onUnresolved: stub }
      Tag: { unique: name, attributes: { name: name } }
    sources:
      tags: { format: json, entity: Tag, records: /tags }
      documents: { format: json, entity: Document, records: /documents }
    """
  private static let feed = """
    {"tags":[{"name":"old"},{"name":"new"}],
     "documents":[{"kind":"book","id":1,"title":"One","tags":["old","new"],"sequel":2},
      {"kind":"book","id":2,"tags":["new"],"sequel":90},
      {"kind":"film","id":3,"basis":1,"sequel":91},{"kind":"film","id":4,"basis":80}]}
    """

  /// A key as text: `id=90`.
  private func text(_ key: ObjectKey) -> String {
    key.parts.map { "\($0.path)=\($0.value.text)" }.joined(separator: ",")
  }

  private func text(_ reference: PendingReference) -> String {
    "\(reference.relationship) \(reference.owner.entity)/\(reference.owner.primaryKey)"
      + " \(text(reference.ownerKey)) -> \(reference.target) \(text(reference.key))"
  }

  @Test("Objects are counted by their very entity, links by relationship, from both sides")
  func counts() async throws {
    let fixture = try ImportFixture(Self.map)
    try await fixture.run(Self.feed)
    let contents = try fixture.store.contents()
    let entities = contents.entities.map { entity in
      "\(entity.depth) \(entity.name) \(entity.objectCount) \(entity.stubCount)"
        + " \(entity.uniqueKeys) \(entity.indexes)"
    }
    #expect(
      entities == [
        #"0 Document 0 0 [["id"]] [["title"]]"#, "1 Book 3 1 [] []", "1 Film 2 0 [] []",
        #"0 Tag 2 0 [["name"]] []"#,
      ]
    )
    let links = contents.relationships.map { "\($0.name) \($0.linkCount) \($0.pendingCount)" }
    #expect(
      links == [
        "Document.tags 3 0", "Document.sequel 1 2", "Document.prequel 1 0", "Film.basis 2 0",
      ]
    )
    #expect(contents.stubs.map { "\($0.entity) \(text($0.key))" } == ["Book id=80"])
    #expect(contents.pendingCount == 2)
    #expect(contents.formatVersion == 1)
    #expect(contents.importCount == 1)
    let last = try #require(contents.lastImport)
    #expect([last.source, last.map, last.status.rawValue] == ["feed1", "shop", "done"])
    #expect(last.counts.inserted == 6)
    #expect(try fixture.store.history() == [last])
  }

  @Test("Pending references name both ends by key, and go when the target comes")
  func pending() async throws {
    let fixture = try ImportFixture(Self.map)
    try await fixture.run(Self.feed)
    let all = try fixture.store.pendingReferences()
    #expect(
      all.map(text) == [
        "Document.sequel Document/2 id=2 -> Document id=90",
        "Document.sequel Document/3 id=3 -> Document id=91",
      ]
    )
    #expect(all.flatMap(\.key.parts).map(\.attribute.type) == [.int64, .int64])
    #expect(try fixture.store.pendingReferences(of: "Document.sequel", limit: 1) == [all[0]])
    #expect(try fixture.store.pendingReferences(of: "Film.basis") == [])
    #expect(try fixture.store.contents(examples: 1).pendingReferences == [all[0]])
    #expect(try fixture.store.contents(examples: nil).pendingReferences == all)
    try await fixture.run(#"{"documents":[{"kind":"book","id":90}]}"#)
    #expect(try fixture.store.pendingReferences() == [all[1]])
  }

  @Test("Stubs are listed with those of sub-entities, and are none once their record came")
  func stubs() async throws {
    let fixture = try ImportFixture(Self.map)
    try await fixture.run(Self.feed)
    let stubs = try fixture.store.stubs(of: "Document")
    #expect(stubs.map { "\($0.entity) \(text($0.key))" } == ["Book id=80"])
    #expect(stubs.map(\.objectID.entity) == ["Document"])
    #expect(try fixture.store.stubs(of: "Book") == stubs)
    #expect(try fixture.store.stubs(of: "Film") == [])
    #expect(try fixture.store.stubs(of: "Tag") == [])
    #expect(try fixture.store.stubs(of: "Book", limit: 0) == [])
    try await fixture.run(#"{"documents":[{"kind":"book","id":80,"pages":7}]}"#)
    #expect(try fixture.store.stubs(of: "Document") == [])
  }

  @Test("Stubs of an entity that is not there are an error that names the nearest")
  func unknown() throws {
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: ImportMap(yaml: Self.map).model())
    do throws(StoreError) {
      _ = try store.stubs(of: "Bok")
      Issue.record("no error")
    } catch {
      #expect(error.code == .badRequest)
      #expect(error.message == "The store has no entity \"Bok\".")
      #expect(error.help == "did you mean Book?")
    }
  }

  @Test("An owner whose key leads through a to-one is named by the values at its end")
  func nestedKey() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Line:
          unique: [order, article]
          attributes: { article: article }
          relationships:
            order: { entity: Order, kind: toOne }
            unit: { entity: Unit, kind: toOne, key: { code: unit }, onUnresolved: pending }
        Order:
          unique: number
          attributes: { number: { type: int64 } }
          relationships:
            lines: { entity: Line, kind: toMany, inverse: order }
        Unit: { unique: code, attributes: { code: { sensitive: true } } }
      sources: { json: { format: json, entity: Order } }
      """
    )
    try await fixture.run(#"[{"number":7,"lines":[{"article":"A","unit":"kg"}]}]"#)
    let found = try fixture.store.pendingReferences()
    #expect(found.map(text) == ["Line.unit Line/1 order.number=7,article=A -> Unit code=kg"])
    #expect(found.flatMap(\.key.parts).map(\.attribute.isSensitive) == [true])
  }

  @Test("A store that nothing was put into holds nothing")
  func empty() throws {
    let store = try SQLiteStore(at: .inMemory)
    let contents = try store.contents()
    #expect(contents.entities == [])
    #expect(contents.importCount == 0)
    #expect(contents.lastImport == nil)
    #expect(try store.pendingReferences() == [])
    #expect(try store.history() == [])
  }

  @Test("The history gives the last imports, oldest first")
  func history() async throws {
    let fixture = try ImportFixture(attributes: "name: name")
    for id in 1...3 { try await fixture.run(#"[{"id":\#(id)}]"#) }
    #expect(try fixture.store.history().map(\.id) == [1, 2, 3])
    #expect(try fixture.store.history(limit: 2).map(\.id) == [2, 3])
    let entry = try #require(try fixture.store.history(limit: 1).first)
    #expect(entry.counts.read == 1)
    #expect(entry.byteCount == 10)
    #expect(entry.finished.map { $0 >= entry.started } == true)
  }
}
