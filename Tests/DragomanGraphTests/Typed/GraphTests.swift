import Foundation
import Testing

@testable import DragomanGraph

/// Values without ids: unique keys, references, cycles, sets and anonymous trees.
@MainActor @Suite struct GraphTests {
  // MARK: - Unique keys

  @Test("A unique value is updated through its identifier, beyond 32 bits")
  func unique() throws {
    let stack = try Stack(library, at: .inMemory)
    let main = stack.main
    let id = Int64(1) << 40
    let first = try main.save(Author(id: id, name: "A"))
    #expect(try main.save(Author(id: id, name: "B")) == first)
    #expect(try main.save(Author(id: id + 1, name: "C")) != first)
    #expect(
      try main.query(Author.self) == [Author(id: id, name: "B"), Author(id: id + 1, name: "C")]
    )
    #expect(try main.delete(Author(id: id, name: "whatever")))
    #expect(try main.query(Author.self).map(\.name) == ["C"])
  }

  @Test("Duplicates inside one batch are one object; the later one wins", arguments: [false, true])
  func duplicates(hasUnsaved: Bool) throws {
    let stack = try Stack(library, at: .inMemory)
    let main = stack.main
    // Unsaved changes of the entity send the batch through objects.
    if hasUnsaved { try main.insert(Author.self).set(\.id, to: 99) }
    try main.saveAll([
      Author(id: 1, name: "A"), Author(id: 2, name: "B"), Author(id: 1, name: "C"),
      Author(id: 2, name: "B"),
    ])
    #expect(try stack.sql("SELECT id, name FROM Author ORDER BY id") == ["1|C", "2|B"])
    try main.saveAll([Author(id: 1, name: "C"), Author(id: 2, name: "D")])
    #expect(try stack.sql("SELECT id, name FROM Author ORDER BY id") == ["1|C", "2|D"])
  }

  @Test("Values with both a key and an id get the id of the object that their key finds")
  func keyAndID() throws {
    let stack = try Stack(staffModel, at: .inMemory)
    var people = [Person("1", name: "Ada"), Person("2"), Person("1", name: "Eve")]
    try stack.main.saveAll(&people)
    #expect(people[0].objectID == people[2].objectID && people[0].objectID != people[1].objectID)
    var again = [Person("2"), Person("1", name: "Eve")]
    try stack.main.saveAll(&again)
    #expect(again.map(\.objectID) == [people[1].objectID, people[2].objectID])
    #expect(try stack.sql("SELECT ticket, name, _v FROM Person") == ["1|Eve|2", "2|-|1"])
    var single = Person("2", name: "Bob")
    try stack.main.save(&single)
    #expect(single.objectID == people[1].objectID)
  }

  @Test("A key without a value finds nothing and pairs with nothing")
  func nullKeys() throws {
    let stack = try Stack(Model(Loose.self), at: .inMemory)
    try stack.main.saveAll([Loose("a", 1), Loose(nil, 2), Loose("b", 3), Loose(nil, 4)])
    try stack.main.saveAll([Loose("a", 10), Loose("b", 30)])
    #expect(
      try stack.main.query(Loose.self) == [
        Loose("a", 10), Loose(nil, 2), Loose("b", 30), Loose(nil, 4),
      ]
    )
  }

  @Test("A value that cannot be saved leaves the object that was there")
  func failing() throws {
    let stack = try Stack(library, at: .inMemory)
    let main = stack.main
    let book = Book("1", authors: [Author(id: 1, name: "A")])
    try main.save(book)
    let missing = Ref<Book>(key: "none")
    #expect(throws: ValueError.self) {
      try main.saveAll([
        Book("2"), Book("1", authors: [Author(id: 1, name: "B")], sequelTo: missing),
      ])
    }
    #expect(try main.query(Book.self) == [book])
    #expect(!main.hasChanges)
  }

  @Test("Inconsistent duplicates among nested values are one object")
  func nestedDuplicates() throws {
    let stack = try Stack(library, at: .inMemory)
    var books = [
      Book("1", authors: [Author(id: 1, name: "old"), Author(id: 2, name: "x")]),
      Book("2", authors: [Author(id: 1, name: "new")]),
    ]
    try stack.main.saveAll(&books)
    #expect(
      try stack.main.query(Book.self).map(\.authors) == [
        [Author(id: 1, name: "new"), Author(id: 2, name: "x")], [Author(id: 1, name: "new")],
      ]
    )
    #expect(try stack.sql("SELECT count(*) FROM Author") == ["2"])
  }

  @Test("Two Unicode normal forms are two keys")
  func normalForms() throws {
    let stack = try Stack(library, at: .inMemory)
    try stack.main.saveAll([Tag("\u{E9}"), Tag("e\u{301}")])
    try stack.main.save(Tag("e\u{301}"))
    #expect(try stack.sql("SELECT hex(word) FROM Tag ORDER BY _pk") == ["C3A9", "65CC81"])
  }

  @Test("A batch finds its objects through the index, without a scan")
  func noScan() throws {
    let stack = try Stack(library, at: .inMemory)
    try stack.main.saveAll((0..<2000).map { Author(id: $0, name: "\($0)") })
    let plan = try stack.sql("EXPLAIN QUERY PLAN SELECT * FROM Author WHERE id = 1")
    #expect(plan.allSatisfy { $0.contains("USING INDEX") || $0.contains("USING COVERING") })
    // Objects that were looked at grow with the batch and not with what is stored.
    let before = stack.main.visitCount
    try stack.main.save(Book("1", authors: [Author(id: 5, name: "five")]))
    #expect(stack.main.visitCount - before < 10)
  }

  // MARK: - References and cycles

  @Test("Many values at once may refer to others by their keys")
  func manyByKey() throws {
    let stack = try Stack(staffModel, at: .inMemory)
    try stack.main.save(Company("Acme"))
    let people = (1...3).map { Person("\($0)", name: "P", employer: Ref(key: "Acme")) }
    try stack.main.saveAll(people)
    #expect(try stack.sql("SELECT count(*) FROM Person WHERE employer NOT NULL") == ["3"])
    let nobody = valueError {
      try stack.main.saveAll([Person("4", name: "P"), Person("5", employer: Ref(key: "None"))])
    }
    #expect(nobody != nil)
    #expect(try stack.sql("SELECT count(*) FROM Person") == ["3"])
  }

  @Test(
    "Who refers to another comes behind the others of its list, many at once or one by one",
    arguments: [false, true]
  )
  func behind(isTogether: Bool) throws {
    let entities = staffModel.entities.map { entity in
      var entity = entity
      for place in entity.relationships.indices where entity.relationships[place].name == "staff" {
        entity.relationships[place].isOrdered = true
      }
      return entity
    }
    let stack = try Stack(Model(entities: entities), at: .inMemory)
    try stack.main.saveAll([Company("Acme"), Company("Bolt")])
    func save(_ tickets: String, at company: String) throws {
      let people = tickets.map { Person(String($0), employer: Ref(key: .text(company))) }
      if isTogether { return try stack.main.saveAll(people) }
      for person in people { try stack.main.save(person) }
    }
    func staff() throws -> [String] {
      try stack.main.query(Company.self).map { $0.staff.map(\.ticket).joined() }
    }
    try save("abc", at: "Acme")
    try save("x", at: "Bolt")
    #expect(try staff() == ["abc", "x"])
    try save("cad", at: "Bolt")
    #expect(try staff() == ["b", "xcad"])
    try save("d", at: "Acme")
    #expect(try staff() == ["bd", "xca"])
  }

  @Test("A cycle goes through references, and each side can be read and saved")
  func cycle() throws {
    let stack = try Stack(staffModel, at: .inMemory)
    let main = stack.main
    var acme = Company("Acme")
    try main.save(&acme)
    var ada = Person("1", name: "Ada", employer: Ref(acme))
    try main.save(&ada)
    try main.save(Person("2", name: "Bob", employer: Ref(key: "Acme")))
    let read = try #require(try main.query(Company.self).first)
    #expect(read.staff.map(\.name) == ["Ada", "Bob"])
    #expect(read.staff[0] == ada)
    #expect(try main.value(of: #require(ada.employer))?.name == "Acme")
    // Saving the side with the nested people changes nothing.
    let versions = "SELECT _v FROM Person UNION ALL SELECT _v FROM Company"
    let before = try stack.sql(versions)
    try main.save(read)
    #expect(try stack.sql(versions) == before)
    var smaller = read
    smaller.staff.removeFirst()
    try main.save(&smaller)
    #expect(try main.query(Person.self).map { $0.employer == nil } == [true, false])
  }

  @Test("A reference that leads nowhere is an error, by id and by key")
  func dangling() throws {
    let stack = try Stack(staffModel, at: .inMemory)
    let main = stack.main
    let byKey = valueError { try main.save(Person("1", employer: Ref(key: "None"))) }
    #expect(byKey?.code == .stale && byKey?.message.contains("Company \"None\"") == true)
    let id = ObjectID(entity: "Company", primaryKey: 77)
    let single = valueError { try main.save(Person("1", employer: Ref(id))) }
    let batch = valueError {
      try main.saveAll([Person("0"), Person("1", employer: Ref(id))])
    }
    #expect(single?.code == .stale && single?.object == id)
    #expect(batch?.code == .stale && batch?.object == id)
    #expect(try stack.sql("SELECT count(*) FROM Person") == ["0"])
    #expect(try main.value(of: Ref<Company>(id)) == nil)
  }

  @Test("A reference to an object that is only pending takes it along")
  func pendingTarget() throws {
    let stack = try Stack(staffModel, at: .inMemory)
    let company = try stack.main.insert(Company.self)
    try company.set(\.name, to: "Acme")
    try stack.main.saveAll([Person("1", employer: Ref(company.objectID))])
    #expect(
      try stack.sql("SELECT c.name FROM Person p JOIN Company c ON p.employer = c._pk") == ["Acme"]
    )
  }

  @Test("A value that would hold itself is an error and no endless recursion")
  func holdsItself() throws {
    let stack = try Stack(forest, at: .inMemory)
    try stack.main.save(Tree(1, Branch("a", Branch("b"))))
    try stack.execute(
      "INSERT INTO Branch_children (owner, position, target) SELECT b._pk, 0, a._pk"
        + " FROM Branch a, Branch b WHERE a.name = 'a' AND b.name = 'b'"
    )
    let stored = valueError { try stack.main.query(Tree.self) }
    #expect(stored?.code == .cycle && stored?.help?.contains("Ref<Branch>") == true)
    let object = try #require(try stack.main.live(Tree.self, \.id == 1))
    #expect(valueError { try object.value }?.code == .cycle)
  }

  // MARK: - Nested values

  @Test("Sets and ordered arrays of values that others share")
  func sharing() throws {
    let stack = try Stack(library, at: .inMemory)
    let main = stack.main
    let (ada, bob) = (Author(id: 1, name: "Ada"), Author(id: 2, name: "Bob"))
    var books = [
      Book("1", authors: [bob, ada], tags: [Tag("x"), Tag("y")]),
      Book("2", authors: [ada, bob], tags: [Tag("y"), Tag("z")]),
    ]
    try main.saveAll(&books)
    #expect(try main.query(Book.self) == books)
    #expect(
      try stack.sql("SELECT (SELECT count(*) FROM Author), (SELECT count(*) FROM Tag)") == ["2|3"]
    )
    books[0].authors = [ada]
    books[0].tags = [Tag("z")]
    books[1].sequelTo = Ref(key: "1")
    try main.saveAll(books)
    let read = try main.query(Book.self)
    #expect(read[0] == books[0])
    #expect(read[1].authors == [ada, bob])
    #expect(try main.value(of: #require(read[1].sequelTo)) == books[0])
    #expect(
      try stack.sql("SELECT (SELECT count(*) FROM Author), (SELECT count(*) FROM Tag)") == ["2|3"]
    )
  }

  @Test("Values without any identity take over the objects of their owner: saving twice adds none")
  func anonymous() throws {
    let stack = try Stack(forest, at: .inMemory)
    let main = stack.main
    var tree = Tree(1, Branch("root", Branch("a", Branch("a1")), Branch("b")))
    for _ in 0..<3 { try main.save(&tree) }
    #expect(try main.query(Tree.self) == [tree])
    #expect(
      try stack.sql("SELECT _pk, _v, name FROM Branch ORDER BY name") == [
        "2|1|a", "3|1|a1", "4|1|b", "1|1|root",
      ]
    )
    tree.root.children.reverse()
    tree.root.children.append(Branch("c"))
    try main.save(&tree)
    #expect(try main.query(Tree.self) == [tree])
    tree.root.children = [Branch("only")]
    try main.save(&tree)
    #expect(try main.query(Tree.self) == [tree])
    #expect(try stack.sql("SELECT name FROM Branch ORDER BY name") == ["only", "root"])
    try main.delete(&tree)
    #expect(try stack.sql("SELECT count(*) FROM Branch") == ["0"])
  }

  @Test("A chain of nested values is read with a statement a level, not one a value")
  func statementCount() throws {
    let stack = try Stack(library, at: .inMemory)
    let books = (0..<1200).map { number in
      Book("\(number)", authors: [Author(id: Int64(number % 7), name: "\(number % 7)")])
    }
    try stack.main.saveAll(books)
    var statements = 0
    let read = try stack.store.withSnapshot { snapshot in
      snapshot.database.trace { event in
        if case .statement = event { statements += 1 }
      }
      defer { snapshot.database.trace(options: []) }
      let request = try ResolvedRequest(FetchRequest("Book"), in: stack.main.layout)
      let values: [Book] = try StoredValues(stack.main, snapshot)
        .values(request, stack.main.binding(Book.self))
      return values
    }
    #expect(read == books)
    // Books, three batches each of the links to authors and tags, authors.
    #expect((1...8).contains(statements), "\(statements)")
  }

  @Test("Too deep a nesting is refused, not a crash")
  func depth() throws {
    let stack = try Stack(forest, at: .inMemory)
    var branch = Branch("leaf")
    for number in 0..<300 { branch = Branch("\(number)", branch) }
    #expect(valueError { try stack.main.save(Tree(1, branch)) }?.code == .cycle)
    #expect(try stack.sql("SELECT count(*) FROM Branch") == ["0"])
  }
}

private struct Loose: EntityValue, Equatable {
  var key: String?
  var number: Int

  struct Fields: Sendable {
    let key = Field(0, "key", \Loose.key, isUnique: true)
    let number = Field(1, "number", \Loose.number)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Loose>("Loose", [fields.key, fields.number])

  init(_ key: String?, _ number: Int) { (self.key, self.number) = (key, number) }

  init(from row: borrowing UnboxingRow) throws {
    key = try row[Self.fields.key]
    number = try row[Self.fields.number]
  }
}
