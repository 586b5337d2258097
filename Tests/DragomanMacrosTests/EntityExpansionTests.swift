import Testing

/// What the macro writes for declarations that are right.
@Suite struct EntityExpansionTests {
  @Test("A struct gets a field a property, its schema, unboxing and boxing")
  func plain() throws {
    let expansion = try Expansion(
      """
      @Entity struct Person {
        @Unique var ticketNumber: String
        var firstName: String?
        @Attribute(type: .date) var dateOfBirth: Date?
        @Attribute(scale: 2, range: 0...) var salary: Decimal?
        var isActive: Bool = true
      }
      """
    )
    #expect(expansion.faults == [])
    #expect(
      expansion.text == #"""
        struct Fields: Sendable {
            let ticketNumber = DragomanGraph.Field(0, "ticketNumber", \Person.ticketNumber, isUnique: true)
            let firstName = DragomanGraph.Field(1, "firstName", \Person.firstName)
            let dateOfBirth = DragomanGraph.Field(2, "dateOfBirth", \Person.dateOfBirth) {
                $0.type = .date
            }
            let salary = DragomanGraph.Field(3, "salary", \Person.salary, rules: .init(minimum: 0, scale: 2))
            let isActive = DragomanGraph.Field(4, "isActive", \Person.isActive, default: true)
        }

        static let fields = Fields()

        static let schema = DragomanGraph.EntitySchema<Person>("Person", [fields.ticketNumber, fields.firstName, fields.dateOfBirth, fields.salary, fields.isActive])

        mutating func box(into row: inout DragomanGraph.BoxingRow) throws {
            try row.set(Self.fields.ticketNumber, self.ticketNumber)
            try row.set(Self.fields.firstName, self.firstName)
            try row.set(Self.fields.dateOfBirth, self.dateOfBirth)
            try row.set(Self.fields.salary, self.salary)
            try row.set(Self.fields.isActive, self.isActive)
        }

        extension Person: DragomanGraph.EntityValue {
            init(from row: borrowing DragomanGraph.UnboxingRow) throws {
                self.ticketNumber = try row[Self.fields.ticketNumber]
                self.firstName = try row[Self.fields.firstName]
                self.dateOfBirth = try row[Self.fields.dateOfBirth]
                self.salary = try row[Self.fields.salary]
                self.isActive = try row[Self.fields.isActive]
            }
        }
        """#
    )
  }

  @Test(
    "A public struct with an id and nested values is a public PersistentValue that is boxed in place"
  )
  func persistent() throws {
    let expansion = try Expansion(
      """
      @Entity("Shop", unique: [["name", "city"]]) public struct Store {
        public var objectID: ObjectID?
        public var name: String
        public let city: City
        @Relationship(inverse: "shop", deleteRule: .cascade) var staff: [Employee] = []
        var `default`: Ref<Company>?
        @Transient var isOpen: Bool = false
        var title: String { name }
        static let all = 1
      }
      """
    )
    #expect(expansion.faults == [])
    #expect(
      expansion.text == #"""
        public struct Fields: Sendable {
            public let name = DragomanGraph.Field(0, "name", \Store.name)
            public let city = DragomanGraph.Field(1, "city", \Store.city)
            let staff = DragomanGraph.Field(2, "staff", \Store.staff, inverse: "shop", deleteRule: .cascade)
            let `default` = DragomanGraph.Field(3, "default", \Store.`default`)
        }

        public static let fields = Fields()

        public static let schema = DragomanGraph.EntitySchema<Store>("Shop", uniqueKeys: [["name", "city"]], [fields.name, fields.city, fields.staff, fields.`default`])

        public mutating func box(into row: inout DragomanGraph.BoxingRow) throws {
            try row.set(Self.fields.name, self.name)
            try row.set(Self.fields.city, self.city)
            try row.set(Self.fields.staff, &self.staff)
            try row.set(Self.fields.`default`, &self.`default`)
        }

        extension Store: DragomanGraph.EntityValue, DragomanGraph.PersistentValue {
            public init(from row: borrowing DragomanGraph.UnboxingRow) throws {
                self.name = try row[Self.fields.name]
                self.city = try row[Self.fields.city]
                self.staff = try row[Self.fields.staff]
                self.`default` = try row[Self.fields.`default`]
                self.objectID = row.objectID
            }
        }
        """#
    )
  }

  @Test(
    "A property becomes a field with the options that its type, value and markers tell",
    arguments: [
      ("var a: Int", #"(0, "a", \E.a)"#),
      ("var a: Int = -1", #"(0, "a", \E.a, default: -1)"#),
      ("var a: Int? = nil", #"(0, "a", \E.a)"#),
      ("var a: UUID = UUID()", #"(0, "a", \E.a)"#),
      ("var a: Date = .now", #"(0, "a", \E.a)"#),
      ("var a: Date = .distantPast", #"(0, "a", \E.a)"#),
      ("var a: Level = .low", #"(0, "a", \E.a, default: .low)"#),
      ("var a: Level = Level.low", #"(0, "a", \E.a, default: Level.low)"#),
      (#"var a: String = "x\(1)""#, #"(0, "a", \E.a)"#),
      (#"var a: String = "x""#, #"(0, "a", \E.a, default: "x")"#),
      ("var a: [Phone] = []", #"(0, "a", \E.a, default: [])"#),
      ("var a: Int { didSet { print(a) } }", #"(0, "a", \E.a)"#),
      ("@Attribute(name: \"b\") var a: Int", #"(0, "b", \E.a)"#),
      (
        "@Attribute(isIndexed: true, column: \"A\") var a: Int",
        #"(0, "a", \E.a) { $0.isIndexed = true; $0.column = "A" }"#
      ),
      (
        "@Attribute(range: 1...9) var a: Int",
        #"(0, "a", \E.a, rules: .init(minimum: 1, maximum: 9))"#
      ),
      (
        "@Attribute(range: -9 ... -1) var a: Int",
        #"(0, "a", \E.a, rules: .init(minimum: -9, maximum: -1))"#
      ),
      ("@Attribute(range: ...9.5) var a: Double", #"(0, "a", \E.a, rules: .init(maximum: 9.5))"#),
      (
        "@Attribute(length: 1...80) var a: String",
        #"(0, "a", \E.a, rules: .init(minimumLength: 1, maximumLength: 80))"#
      ),
      (
        #"@Attribute(pattern: "[a-z]+") var a: String"#,
        #"(0, "a", \E.a, rules: .init(pattern: "[a-z]+"))"#
      ),
      (
        #"@Attribute(oneOf: ["x"]) var a: String"#,
        #"(0, "a", \E.a) { $0.type = .enum; $0.allowedValues = ["x"] }"#
      ),
      (
        #"@Attribute(isSensitive: true, renamedFrom: "b") var a: Int"#,
        #"(0, "a", \E.a) { $0.isSensitive = true; $0.renamedFrom = "b" }"#
      ),
      ("@Attribute(by: HexColor.self) var a: Color", #"(0, "a", \E.a, by: HexColor.self)"#),
      (
        "@Attribute(codable: true) var a: [String: Int]? = [:]",
        #"(0, "a", \E.a, by: DragomanEntities.CodableTransform<[String: Int]>.self)"#
      ),
      (
        "@Unique @Attribute(type: .date) var a: Date",
        #"(0, "a", \E.a, isUnique: true) { $0.type = .date }"#
      ),
      (
        "@Unique @Relationship(inverse: \"e\") var a: Ref<C>",
        #"(0, "a", \E.a, isUnique: true, inverse: "e")"#
      ),
      ("@Relationship(inverse: nil) var a: [Ref<E>]", #"(0, "a", \E.a)"#),
      (
        "@Relationship(isOrdered: false, maximumCount: 2) var a: [C] = []",
        #"(0, "a", \E.a) { $0.isOrdered = false; $0.maximumCount = 2 }"#
      ),
      ("var a: [E]", #"(0, "a", \E.a)"#),
      ("var a: Swift.Optional<Foundation.Date>", #"(0, "a", \E.a)"#),
    ]
  )
  func field(property: String, arguments: String) throws {
    let expansion = try Expansion("@Entity struct E {\n  \(property)\n}")
    let fields = lines(of: expansion, with: "DragomanGraph.Field(")
    #expect(expansion.faults == [])
    #expect(fields == ["let a = DragomanGraph.Field\(arguments)"])
  }

  @Test(
    "The entity's own options go into the schema",
    arguments: [
      ("@Entity", #"("E", "#), ("@Entity()", #"("E", "#), (#"@Entity("F")"#, #"("F", "#),
      (#"@Entity(table: "es")"#, #"("E", table: "es", "#),
      (
        "@Entity(parent: Base.self, isAbstract: true)",
        #"("E", parent: Base.self, isAbstract: true, "#
      ),
      ("@Entity(isAbstract: false)", #"("E", "#),
      ("@Entity(isAbstract: Flags.isBase)", #"("E", isAbstract: Flags.isBase, "#),
      (
        #"@Entity(unique: [["a", "b"]], indexes: [["c"]], renamedFrom: "D")"#,
        #"("E", uniqueKeys: [["a", "bb"]], indexes: [["c"]], "#
      ),
      (
        #"@Entity(unique: [["inherited"]], parent: Base.self)"#,
        #"("E", parent: Base.self, uniqueKeys: [["inherited"]], "#
      ),
    ]
  )
  func options(marker: String, arguments: String) throws {
    let renaming = marker.contains("renamedFrom") ? #".with { $0.renamedFrom = "D" }"# : ""
    let properties = "var a: Int\n  @Attribute(name: \"bb\") var b: Int\n  var c: Int"
    let expansion = try Expansion("\(marker) struct E {\n  \(properties)\n}")
    let schema = lines(of: expansion, with: "static let schema")
    #expect(expansion.faults == [])
    #expect(
      schema == [
        "static let schema = DragomanGraph.EntitySchema<E>\(arguments)[fields.a, fields.b, fields.c])"
          + renaming
      ]
    )
  }

  @Test("Several names in one declaration have one type")
  func severalNames() throws {
    let expansion = try Expansion("@Entity struct E {\n  var a, b: Int, c: String\n}")
    #expect(expansion.faults == [])
    #expect(expansion.text.contains("[fields.a, fields.b, fields.c]"))
  }

  @Test("A struct in another type is extended by its full name")
  func nested() throws {
    let expansion = try Expansion("@Entity struct E {\n  var a: Int\n}", type: "Space.E")
    #expect(expansion.faults == [])
    #expect(expansion.text.contains("extension Space.E: DragomanGraph.EntityValue {"))
    #expect(expansion.text.contains(#"DragomanGraph.Field(0, "a", \E.a)"#))
  }

  /// The lines that have the part; what a closure sets stands in the line of its call.
  private func lines(of expansion: Expansion, with part: String) -> [String] {
    let text = expansion.text.replacing(#/\{\n((?: *\$0\..*\n)+) *\}/#) { match in
      let settings = match.1.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }
      return "{ \(settings.joined(separator: "; ")) }"
    }
    return text.split(separator: "\n").filter { $0.contains(part) }.map {
      String($0.trimmingPrefix { $0 == " " })
    }
  }
}
