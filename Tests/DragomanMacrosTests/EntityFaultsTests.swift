import Foundation
import Testing

/// What the macro says of declarations that cannot work, and what its fix-its make of them.
@Suite struct EntityFaultsTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let source: String
    let faults: [String]
    var fixed: [String: String] = [:]

    var testDescription: String { source }
  }

  @Test(
    "What is no struct is refused, with a struct or an attribute's type in its place",
    arguments: [
      Case(
        source: "@Entity final class Person {\n  var name: String = \"\"\n}",
        faults: [
          """
          1:15 @Entity is for structs, and 'Person' is a class: an entity is declared as a value, and \
          Managed<Person> is its live object
          """
        ],
        fixed: ["make it a struct": "@Entity struct Person {\n  var name: String = \"\"\n}"]
      ),
      Case(
        source: "@Entity\npublic actor Person {\n  var name = 1\n}",
        faults: [
          """
          2:8 @Entity is for structs, and 'Person' is an actor: an entity is declared as a value, and \
          Managed<Person> is its live object
          """
        ],
        fixed: ["make it a struct": "@Entity\npublic struct Person {\n  var name = 1\n}"]
      ),
      Case(
        source: "@Entity enum Level: String { case low }",
        faults: [
          """
          1:9 @Entity is for structs, and 'Level' is an enum: an enum with raw values is the type of \
          an attribute
          """
        ],
        fixed: ["make it an AttributeValue": "enum Level: String, AttributeValue { case low }"]
      ),
      Case(
        source: "@Entity enum Level { case low }",
        faults: [
          """
          1:9 @Entity is for structs, and 'Level' is an enum: an enum with raw values is the type of \
          an attribute
          """
        ],
        fixed: ["make it an AttributeValue": "enum Level: String, AttributeValue { case low }"]
      ),
      Case(
        source: "@Entity struct Box<T> {\n  var a: Int\n}",
        faults: [
          "1:19 an entity is one table, so 'Box' cannot be generic; declare a struct for each"
        ]
      ),
      Case(
        source: "@MainActor @Entity struct E {\n  var a: Int\n}",
        faults: ["1:1 an entity is a value for every thread, so 'E' cannot be the main actor's"],
        fixed: ["remove @MainActor": "@Entity struct E {\n  var a: Int\n}"]
      ),
      Case(
        source:
          "@Entity struct E {\n  var a: Int\n  init(from row: borrowing UnboxingRow) throws { a = 1 }\n}",
        faults: ["3:3 @Entity writes init(from:) itself; remove one of the two"],
        fixed: ["remove the initializer": "@Entity struct E {\n  var a: Int\n  }"]
      ),
      Case(
        source: "@Entity struct E {\n  var fields: Int\n}",
        faults: [
          """
          2:7 @Entity declares fields itself; name the property otherwise, and its column by \
          @Attribute(name:)
          """
        ]
      ),
    ]
  )
  func kinds(_ example: Case) throws { try check(example) }

  @Test(
    "What the markers decide is written, and fits the type",
    arguments: [
      Case(
        source: "@Entity struct E {\n  @Attribute(type: .time) var a: Date\n}",
        faults: [
          "2:20 'a' is of type Date, which is stored as .timestamp or .date, not as .time"
        ],
        fixed: [
          "write .timestamp": "@Entity struct E {\n  @Attribute(type: .timestamp) var a: Date\n}"
        ]
      ),
      Case(
        source: "@Entity struct E {\n  @Attribute(type: .date) var a: Int16?\n}",
        faults: [
          "2:20 'a' is of type Int16, which is stored as .int64, .int32 or .int16, not as .date"
        ],
        fixed: ["write .int64": "@Entity struct E {\n  @Attribute(type: .int64) var a: Int16?\n}"]
      ),
      Case(
        source: "@Entity struct E {\n  @Attribute(range: \"a\"...\"z\") var a: Int\n}",
        faults: ["2:21 'a' is of type Int, so its limits are numbers"]
      ),
      Case(
        source: "@Entity struct E {\n  var a: Double??\n}",
        faults: [
          "2:10 'a' is an optional of an optional, and the store has one null; make it one optional"
        ],
        fixed: ["make it one optional": "@Entity struct E {\n  var a: Double?\n}"]
      ),
      Case(
        source: "@Entity struct E {\n  @Attribute(codable: flag) var a: Box\n}",
        faults: [
          "2:23 codable decides what the macro writes and cannot be computed; write true or false"
        ]
      ),
      Case(
        source: "@Entity struct E {\n  @Attribute(codable: flag) var a: [String: Int]\n}",
        faults: [
          "2:23 codable decides what the macro writes and cannot be computed; write true or false"
        ]
      ),
    ]
  )
  func decisions(_ example: Case) throws { try check(example) }

  @Test(
    "Names are written, not computed, and are there",
    arguments: [
      Case(
        source: "@Entity(prefix + \"Person\") struct Person {\n  var a: Int\n}",
        faults: [
          "1:9 The name is part of the database file and cannot be computed; write a string literal"
        ],
        fixed: ["write \"Person\"": "@Entity(\"Person\") struct Person {\n  var a: Int\n}"]
      ),
      Case(
        source: #"@Entity("P\(x)", table: name) struct P { var a: Int }"#,
        faults: [
          "1:9 The name is part of the database file and cannot be computed; write a string literal",
          "1:25 The table is part of the database file and cannot be computed; write a string literal",
        ],
        fixed: [:]
      ),
      Case(
        source: "@Entity struct P {\n  @Attribute(name: names.a) var a: Int\n}",
        faults: [
          "2:20 A name is part of the database file and cannot be computed; write a string literal"
        ],
        fixed: ["write \"a\"": "@Entity struct P {\n  @Attribute(name: \"a\") var a: Int\n}"]
      ),
      Case(
        source: #"@Entity("") struct P { var a: Int }"#,
        faults: ["1:9 a name cannot be empty"]
      ),
      Case(
        source: "@Entity struct P {\n  var _a: Int\n}",
        faults: [
          """
          2:7 names that start with "_" belong to Dragoman; give it another one with @Attribute(name:)
          """
        ]
      ),
      Case(
        source: "@Entity struct P {\n  var name: Int\n  var Name: Int\n}",
        faults: ["3:7 'Name' clashes with 'name': SQLite ignores case in names"]
      ),
      Case(
        source:
          "@Entity(unique: [[\"a\", \"frist\"]]) struct P {\n  var a: Int\n  var first: Int\n}",
        faults: ["1:24 there is no property 'frist'"],
        fixed: [
          "write \"first\"":
            "@Entity(unique: [[\"a\", \"first\"]]) struct P {\n  var a: Int\n  var first: Int\n}"
        ]
      ),
      Case(
        source: "@Entity(indexes: [\"a\"]) struct P {\n  var a: Int\n}",
        faults: ["1:19 write indexes as lists of names: indexes: [[\"a\", \"b\"]]"],
        fixed: ["make it a list": "@Entity(indexes: [[\"a\"]]) struct P {\n  var a: Int\n}"]
      ),
    ]
  )
  func names(_ example: Case) throws { try check(example) }

  @Test(
    "A type that is not written is asked for, and written where the value tells it",
    arguments: [
      ("var a = 1", "var a: Int = 1"), ("var a = -1.5", "var a: Double = -1.5"),
      ("var a = \"x\"", "var a: String = \"x\""), ("var a = [true]", "var a: [Bool] = [true]"),
      ("var a = Date()", "var a: Date = Date()"), ("var a = Level.low", "var a: Level = Level.low"),
      ("var a = make()", "var a: <#Type#> = make()"),
    ]
  )
  func annotations(property: String, fixed: String) throws {
    try check(
      Case(
        source: "@Entity struct P {\n  \(property)\n}",
        faults: ["2:7 the type of 'a' must be written: a macro sees what is written only"],
        fixed: ["write the type": "@Entity struct P {\n  \(fixed)\n}"]
      )
    )
  }

  @Test(
    "Types that no attribute can have are named, with the way out",
    arguments: [
      (
        "var a: (Int, Int)", "10", "a tuple", "declare a struct that is a CodableValue",
        ["mark it @Transient": "@Transient var a: (Int, Int)"]
      ),
      (
        "var a: () -> Int", "10", "a function",
        "transform it by @Attribute(by:), or mark it @Transient",
        ["mark it @Transient": "@Transient var a: () -> Int"]
      ),
      (
        "var a: [Any]", "10", "\"Any\"", "transform it by @Attribute(by:), or mark it @Transient",
        ["mark it @Transient": "@Transient var a: [Any]"]
      ),
      (
        "var a: (any P)?", "10", "an existential",
        "transform it by @Attribute(by:), or mark it @Transient",
        ["mark it @Transient": "@Transient var a: (any P)?"]
      ),
      (
        "var a: [String: Int]", "10", "a dictionary", "store it as JSON: @Attribute(codable: true)",
        ["store it as JSON": "@Attribute(codable: true) var a: [String: Int]"]
      ),
      (
        "var a: Int!", "10", "an implicitly unwrapped optional", "make it optional",
        ["make it optional": "var a: Int?"]
      ),
      (
        "@Unique var a: Int.Type", "18", "a metatype",
        "transform it by @Attribute(by:), or mark it @Transient", [:]
      ),
    ]
  )
  func types(
    property: String,
    column: String,
    what: String,
    wayOut: String,
    fixed: [String: String]
  ) throws {
    try check(
      Case(
        source: "@Entity struct P {\n  \(property)\n}",
        faults: ["2:\(column) 'a' is \(what), which no attribute can be; \(wayOut)"],
        fixed: fixed.mapValues { "@Entity struct P {\n  \($0)\n}" }
      )
    )
  }

  @Test(
    "A value in itself is a cycle, and Ref breaks it",
    arguments: ["Person?", "Person", "Self?", "Optional<Person>"]
  )
  func cycles(type: String) throws {
    try check(
      Case(
        source: "@Entity struct Person {\n  var boss: \(type)\n}",
        faults: [
          "2:13 a value of Person inside of itself has no end; Ref holds which one it is, and no value"
        ],
        fixed: ["write Ref<Person>?": "@Entity struct Person {\n  var boss: Ref<Person>?\n}"]
      )
    )
  }

  @Test(
    "A list of references says what leads back, or that nothing does",
    arguments: [
      (
        "var staff: [Ref<P>]", "14",
        "@Relationship(inverse: \"<#property of the other side#>\") var staff: [Ref<P>]",
        "@Relationship(inverse: nil) var staff: [Ref<P>]"
      ),
      (
        "@Relationship var staff: Set<Ref<P>>", "28",
        "@Relationship(inverse: \"<#property of the other side#>\") var staff: Set<Ref<P>>",
        "@Relationship(inverse: nil) var staff: Set<Ref<P>>"
      ),
      (
        "@Relationship(deleteRule: .deny) var staff: [Ref<P>]", "47",
        """
        @Relationship(inverse: "<#property of the other side#>", deleteRule: .deny) var staff: [Ref<P>]
        """,
        "@Relationship(inverse: nil, deleteRule: .deny) var staff: [Ref<P>]"
      ),
    ]
  )
  func inverses(property: String, column: String, named: String, without: String) throws {
    try check(
      Case(
        source: "@Entity struct P {\n  \(property)\n}",
        faults: [
          """
          2:\(column) 'staff' does not say which relationship leads back, and the links are stored by \
          that; name it, or say inverse: nil where none does
          """
        ],
        fixed: [
          "name the inverse": "@Entity struct P {\n  \(named)\n}",
          "say that there is none": "@Entity struct P {\n  \(without)\n}",
        ]
      )
    )
  }

  @Test(
    "What unboxing could not set, or boxing not read, is refused",
    arguments: [
      (
        "let a: Int = 1", "3",
        """
        'a' has its value already, so what the store holds cannot be put there; make it a variable, \
        or mark it @Transient
        """,
        [
          "make it a variable": "var a: Int = 1",
          "mark it @Transient": "@Transient let a: Int = 1",
        ]
      ),
      (
        "lazy var a: Int = 1", "3",
        "'a' is lazy: boxing would have to compute it; store it, or mark it @Transient",
        [
          "remove lazy": "var a: Int = 1",
          "mark it @Transient": "@Transient lazy var a: Int = 1",
        ]
      ),
      (
        "@Transient var a: Int", "18",
        "'a' is transient: a value that comes from the store needs something to put there",
        ["give it a value to begin with": "@Transient var a: Int = <#value#>"]
      ),
      (
        "var (a, b): (Int, Int)", "7",
        "a pattern cannot be a property of an entity; declare its names one by one", [:]
      ),
      (
        "let objectID: ObjectID?", "3",
        "saving writes the id into the value; make it a variable",
        ["make it a variable": "var objectID: ObjectID?"]
      ),
      (
        "var objectID: ObjectID", "17", "a value has no id before it is saved; make it optional",
        ["make it optional": "var objectID: ObjectID?"]
      ),
      (
        "var a: [Ref<P>]?", "10", "a to-many without objects is empty, not nil",
        ["make it not optional": "var a: [Ref<P>]"]
      ),
    ]
  )
  func storage(property: String, column: String, fault: String, fixed: [String: String]) throws {
    try check(
      Case(
        source: "@Entity struct P {\n  \(property)\n}",
        faults: ["2:\(column) \(fault)"],
        fixed: fixed.mapValues { "@Entity struct P {\n  \($0)\n}" }
      )
    )
  }

  @Test("A stored property under #if is refused: it would make two entities of one name")
  func conditions() throws {
    try check(
      Case(
        source: "@Entity struct P {\n  #if DEBUG\n  var a: Int\n  #endif\n}",
        faults: [
          """
          3:3 a property under #if would make different entities of one name, which is one table; \
          move it out, or mark it @Transient
          """
        ]
      )
    )
  }

  @Test(
    "A marker without a meaning is told",
    arguments: [
      (
        "@Unique static var a: Int = 1", "3",
        "@Unique has no meaning for a static property: an entity has what its values store",
        ["remove @Unique": "static var a: Int = 1"]
      ),
      (
        "@Attribute(scale: 2) var a: Decimal { 1 }", "3",
        "@Attribute has no meaning for a computed property: an entity has what its values store",
        ["remove @Attribute": "var a: Decimal { 1 }"]
      ),
      (
        "@Transient @Unique var a: Int = 1", "14",
        "'a' is transient and so no property of the entity; @Unique has no meaning",
        [
          "remove @Unique": "@Transient var a: Int = 1",
          "remove @Transient": "@Unique var a: Int = 1",
        ]
      ),
      (
        "@Relationship(deleteRule: .deny) var a: Int", "3", "'a' is an attribute: Int is no entity",
        ["remove @Relationship": "var a: Int"]
      ),
      (
        "@Attribute(isIndexed: true) var a: Ref<C>?", "3", "'a' is a relationship",
        ["remove @Attribute": "var a: Ref<C>?"]
      ),
      (
        "@Attribute @Relationship var a: C", "3",
        "a property is an attribute or a relationship, not both",
        ["remove @Attribute": "@Relationship var a: C"]
      ),
      (
        "@Unique var a: [Int]", "3",
        "'a' is a list, and a unique key finds one object by one value",
        ["remove @Unique": "var a: [Int]"]
      ),
      (
        "@Attribute(scale: 2) var a: Int", "21",
        "'a' is of type Int, not Decimal, so scale has no meaning",
        [:]
      ),
      (
        "@Attribute(length: 1...) var a: Date", "22",
        "'a' is of type Date, not String, so length has no meaning", [:]
      ),
      (
        "@Attribute(range: 0..<5) var a: Int", "21",
        "write range in place, with its ends: range: 1...9, 1... or ...9", [:]
      ),
      (
        "@Relationship(inverse: nil, isOrdered: true) var a: Set<Ref<C>>", "42",
        "a Set has no order and no repeats; use an array, so isOrdered has no meaning", [:]
      ),
      (
        "@Relationship(maximumCount: 2) var a: Ref<C>?", "31",
        "'a' leads to one object, so maximumCount has no meaning", [:]
      ),
    ]
  )
  func markers(property: String, column: String, fault: String, fixed: [String: String]) throws {
    try check(
      Case(
        source: "@Entity struct P {\n  \(property)\n}",
        faults: ["2:\(column) \(fault)"],
        fixed: fixed.mapValues { "@Entity struct P {\n  \($0)\n}" }
      )
    )
  }

  @Test(
    "A marker outside of a struct with @Entity is told",
    arguments: [
      ("struct P", false), ("extension P", false), ("@Sendable final class P", false),
      ("@Entity struct P", true), ("@DragomanEntities.Entity(\"Q\") struct P", true),
    ]
  )
  func strayMarkers(owner: String, isEntity: Bool) throws {
    let expansion = try Expansion(property: "@Unique var a: Int", marker: "@Unique", in: owner)
    let fault = """
      1:1 @Unique says something about a stored property of an @Entity struct; here it says nothing
      """
    #expect(expansion.faults == (isEntity ? [] : [fault]))
    #expect(expansion.fixed == (isEntity ? [:] : ["remove @Unique": "var a: Int"]))
  }

  @Test(
    "What stands in a generic type is no entity",
    arguments: ["struct Outer<T>", "final class Outer<T>", "struct Outer"]
  )
  func inGenerics(outer: String) throws {
    let expansion = try Expansion(
      "@Entity struct E {\n  var a: Int\n}",
      type: "Outer.E",
      in: outer
    )
    let isGeneric = outer.contains("<")
    #expect(expansion.text.isEmpty == isGeneric)
    #expect(
      expansion.faults
        == (isGeneric
          ? ["1:16 an entity is one table, so 'E' cannot stand in what is generic; move it out"]
          : [])
    )
  }

  @Test("All faults of a declaration are told together, and nothing is expanded")
  func together() throws {
    let expansion = try Expansion(
      """
      @Entity struct P {
        var a = 1
        var b: Any
        let c: Int = 1
        var d: Int
      }
      """
    )
    #expect(expansion.faults.map { $0.prefix(4) } == ["2:7 ", "3:10", "4:3 "])
    #expect(expansion.text == "")
  }

  @Test("The table of the article says what the macro says")
  func article() throws {
    let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { path, _ in
      path.deletingLastPathComponent()
    }
    let article = "Sources/DragomanEntities/DragomanEntities.docc/AModelInSwift.md"
    let text = try String(contentsOf: root.appending(path: article), encoding: .utf8)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map {
      $0.split(separator: " | ").map { $0.trimmingCharacters(in: ["|", " ", "`"]) }
    }
    #expect(rows.count == 8)
    for row in rows {
      let faults = try Expansion("@Entity \(row[0])").faults
      #expect(faults.map { $0.drop { $0 != " " }.dropFirst() } == [row[1][...]])
    }
  }

  private func check(_ example: Case) throws {
    let expansion = try Expansion(example.source)
    #expect(expansion.faults == example.faults)
    #expect(expansion.text == "")
    if !example.fixed.isEmpty { #expect(expansion.fixed == example.fixed) }
  }
}
