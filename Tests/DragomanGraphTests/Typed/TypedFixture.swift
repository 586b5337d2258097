import Foundation

@testable import DragomanGraph

// MARK: - CoreValue's example: a shop with an owner and employees

struct Owner: PersistentValue, Hashable {
  var objectID: ObjectID?
  var name: String

  struct Fields: Sendable {
    let name = Field(0, "name", \Owner.name)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Owner>("Owner", [fields.name])

  init(name: String) { self.name = name }

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    name = try row[Self.fields.name]
  }
}

struct Employee: PersistentValue, Hashable {
  var objectID: ObjectID?
  var name: String
  var age: Int16
  var position: String?

  struct Fields: Sendable {
    let name = Field(0, "name", \Employee.name)
    let age = Field(1, "age", \Employee.age, rules: AttributeRules(minimum: 0))
    let position = Field(2, "position", \Employee.position)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Employee>(
    "Employee",
    [fields.name, fields.age, fields.position]
  )

  init(_ name: String, age: Int16, position: String? = nil) {
    (self.name, self.age, self.position) = (name, age, position)
  }

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    name = try row[Self.fields.name]
    age = try row[Self.fields.age]
    position = try row[Self.fields.position]
  }
}

struct Shop: PersistentValue, Hashable {
  var objectID: ObjectID?
  var name: String
  var age: Int32
  var owner: Owner?
  var employees: [Employee]

  struct Fields: Sendable {
    let name = Field(0, "name", \Shop.name)
    let age = Field(1, "age", \Shop.age)
    let owner = Field(2, "owner", \Shop.owner)
    let employees = Field(3, "employees", \Shop.employees, deleteRule: .cascade)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Shop>(
    "Shop",
    [fields.name, fields.age, fields.owner, fields.employees]
  )

  init(_ name: String, age: Int32 = 0, owner: Owner? = nil, employees: [Employee] = []) {
    (self.name, self.age, self.owner, self.employees) = (name, age, owner, employees)
  }

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    name = try row[Self.fields.name]
    age = try row[Self.fields.age]
    owner = try row[Self.fields.owner]
    employees = try row[Self.fields.employees]
  }
}

// MARK: - Unique identifiers, and a graph with cycles

/// Found by its id and nothing else; it is all `let`.
struct Author: EntityValue, Hashable {
  let id: Int64
  let name: String

  struct Fields: Sendable {
    let id = Field(0, "id", \Author.id, isUnique: true)
    let name = Field(1, "name", \Author.name)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Author>("Author", [fields.id, fields.name])

  init(id: Int64, name: String) { (self.id, self.name) = (id, name) }

  init(from row: borrowing UnboxingRow) throws {
    id = try row[Self.fields.id]
    name = try row[Self.fields.name]
  }
}

/// A book with nested authors, in order, and tags as a set.
struct Book: EntityValue, Hashable {
  var isbn: String
  var authors: [Author]
  var tags: Set<Tag>
  var sequelTo: Ref<Book>?

  struct Fields: Sendable {
    let isbn = Field(0, "isbn", \Book.isbn, isUnique: true)
    let authors = Field(1, "authors", \Book.authors)
    let tags = Field(2, "tags", \Book.tags)
    let sequelTo = Field(3, "sequelTo", \Book.sequelTo, inverse: "sequels")
  }
  static let fields = Fields()
  static let schema = EntitySchema<Book>(
    "Book",
    [fields.isbn, fields.authors, fields.tags, fields.sequelTo]
  )

  init(_ isbn: String, authors: [Author] = [], tags: Set<Tag> = [], sequelTo: Ref<Book>? = nil) {
    (self.isbn, self.authors, self.tags, self.sequelTo) = (isbn, authors, tags, sequelTo)
  }

  init(from row: borrowing UnboxingRow) throws {
    isbn = try row[Self.fields.isbn]
    authors = try row[Self.fields.authors]
    tags = try row[Self.fields.tags]
    sequelTo = try row[Self.fields.sequelTo]
  }
}

struct Tag: EntityValue, Hashable {
  var word: String

  struct Fields: Sendable {
    let word = Field(0, "word", \Tag.word, isUnique: true)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Tag>("Tag", [fields.word])

  init(_ word: String) { self.word = word }

  init(from row: borrowing UnboxingRow) throws { word = try row[Self.fields.word] }
}

/// People and their company refer to each other; one side is a reference.
struct Person: PersistentValue, Hashable {
  var objectID: ObjectID?
  var ticket: String
  var name: String?
  var employer: Ref<Company>?

  struct Fields: Sendable {
    let ticket = Field(0, "ticket", \Person.ticket, isUnique: true)
    let name = Field(1, "name", \Person.name)
    let employer = Field(2, "employer", \Person.employer, inverse: "staff")
  }
  static let fields = Fields()
  static let schema = EntitySchema<Person>(
    "Person",
    [fields.ticket, fields.name, fields.employer]
  )

  init(_ ticket: String, name: String? = nil, employer: Ref<Company>? = nil) {
    (self.ticket, self.name, self.employer) = (ticket, name, employer)
  }

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    ticket = try row[Self.fields.ticket]
    name = try row[Self.fields.name]
    employer = try row[Self.fields.employer]
  }
}

struct Company: PersistentValue, Hashable {
  var objectID: ObjectID?
  var name: String
  var staff: [Person]

  struct Fields: Sendable {
    let name = Field(0, "name", \Company.name, isUnique: true)
    let staff = Field(1, "staff", \Company.staff, inverse: "employer") { $0.isOrdered = false }
  }
  static let fields = Fields()
  static let schema = EntitySchema<Company>("Company", [fields.name, fields.staff])

  init(_ name: String, staff: [Person] = []) { (self.name, self.staff) = (name, staff) }

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    name = try row[Self.fields.name]
    staff = try row[Self.fields.staff]
  }
}

/// A tree of values without any identity.
struct Branch: EntityValue, Hashable {
  var name: String
  var children: [Branch]

  struct Fields: Sendable {
    let name = Field(0, "name", \Branch.name)
    let children = Field(1, "children", \Branch.children, deleteRule: .cascade)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Branch>("Branch", [fields.name, fields.children])

  init(_ name: String, _ children: Branch...) { (self.name, self.children) = (name, children) }

  init(from row: borrowing UnboxingRow) throws {
    name = try row[Self.fields.name]
    children = try row[Self.fields.children]
  }
}

/// A tree whose root can be found again.
struct Tree: EntityValue, Hashable {
  var id: Int
  var root: Branch

  struct Fields: Sendable {
    let id = Field(0, "id", \Tree.id, isUnique: true)
    let root = Field(1, "root", \Tree.root, deleteRule: .cascade)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Tree>("Tree", [fields.id, fields.root])

  init(_ id: Int, _ root: Branch) { (self.id, self.root) = (id, root) }

  init(from row: borrowing UnboxingRow) throws {
    id = try row[Self.fields.id]
    root = try row[Self.fields.root]
  }
}

let shopModel = Model(Shop.self, Owner.self, Employee.self)
let library = Model(Book.self, Author.self, Tag.self)
let staffModel = Model(Person.self, Company.self)
let forest = Model(Tree.self, Branch.self)

/// The error that a closure throws, as a ValueError.
func valueError<T>(_ body: () throws -> T) -> ValueError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error as? ValueError
  }
}

extension Stack {
  /// Runs SQL past everything: what another program may have written.
  func execute(_ sql: String) throws {
    try store.write { session in
      try session.begin()
      try session.database.execute(sql: sql)
      try session.commit()
    }
  }
}
