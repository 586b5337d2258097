import DragomanGraph
import Testing

@Suite struct ModelValidationTests {
  @Test("A sound model has no faults")
  func sound() {
    let model = Model(entities: [
      Entity(
        name: "Person",
        table: "people",
        attributes: [Attribute(name: "id", type: .int64), Attribute(name: "phones")],
        relationships: [
          Relationship(name: "numbers", destination: "Phone", kind: .toMany, inverse: "owner")
        ],
        uniqueKeys: [["id"]]
      ),
      Entity(
        name: "Phone",
        attributes: [Attribute(name: "kind")],
        uniqueKeys: [["owner", "kind"]]
      ),
    ])
    #expect(model.validate() == [])
  }

  @Test("Every fault is told with entity, property and nearest name")
  func faults() {
    let model = Model(entities: [
      Entity(
        name: "A",
        attributes: [
          Attribute(name: "x"), Attribute(name: "X"), Attribute(name: "_y"),
          Attribute(name: "z").with { $0.column = "x" },
        ],
        relationships: [Relationship(name: "b", destination: "Bee", kind: .toOne)],
        uniqueKeys: [["x", "x"], ["Z1"]]
      ),
      Entity(name: "Beee", table: "a", attributes: []),
      Entity(name: "C", attributes: [], parent: "C"),
      Entity(name: "SQLite_d", attributes: []),
      Entity(
        name: "E",
        attributes: [],
        relationships: [
          Relationship(name: "spouse", destination: "E", kind: .toOne, inverse: "spouse"),
          Relationship(name: "twin", destination: "F", kind: .toOne, inverse: "twin"),
        ],
        uniqueKeys: [[]]
      ),
      Entity(name: "F", attributes: [], parent: "E"),
    ])
    #expect(
      model.validate().map(\.description) == [
        "A.X: The name \"X\" clashes with property \"x\": SQLite ignores case in names.",
        "A._y: Names that start with \"_\" belong to Dragoman.",
        "A.b: There is no entity \"Bee\". (did you mean \"Beee\"?)",
        "A: The name \"x\" clashes with itself in the same key: SQLite ignores case in names.",
        "A: There is no attribute or to-one \"Z1\". (did you mean \"z\"?)",
        "Beee: The name \"a\" clashes with table \"A\": SQLite ignores case in names.",
        "C: An entity cannot be its own ancestor.",
        "SQLite_d: Names that start with \"sqlite_\" belong to SQLite.",
        "E.spouse: A to-one that is its own inverse would be linked on one side only: declare two that are"
          + " each other's inverse, or a to-many.",
        "E.twin: A to-one that is its own inverse would be linked on one side only: declare two that are"
          + " each other's inverse, or a to-many.",
        "E: A unique key of E has no attributes.",
        "A.z: The name \"x\" is taken by column \"x\".",
      ]
    )
  }

  /// People with addresses, of which one names the other as its inverse.
  private func people(
    _ kind: Relationship.Kind,
    key: [String],
    declares: Bool,
    personKey: [String] = ["id"]
  ) -> Model {
    let inverse = Relationship(name: "p", destination: "P", kind: .toOne, inverse: "addr")
    return Model(entities: [
      Entity(
        name: "P",
        attributes: [Attribute(name: "id")],
        relationships: [
          Relationship(name: "addr", destination: "Ad", kind: kind, inverse: "p")
        ],
        uniqueKeys: [personKey]
      ),
      Entity(
        name: "Ad",
        attributes: [Attribute(name: "street")],
        relationships: declares ? [inverse] : [],
        uniqueKeys: [key]
      ),
    ])
  }

  @Test(
    "What a to-one of another entity stores is no part of a key, and the fault says what makes it one",
    arguments: [["p"], ["p", "street"]]
  )
  func keyOfOtherSide(key: [String]) {
    let fault =
      "Ad: There is no attribute or to-one \"p\". It is the other side of the to-one P.addr, which stores"
      + " it: declare p as a to-one of Ad to have it in the key."
    let model = people(.toOne, key: key, declares: false)
    #expect(model.validate().map(\.description) == [fault])
    // A map's model has both sides declared.
    #expect(model.completingInverses().validate().map(\.description) == [fault])
    #expect(people(.toOne, key: key, declares: true).validate().isEmpty)
  }

  @Test("The to-one that a to-many names as its inverse may be a part of a key")
  func keyOfToMany() {
    let model = people(.toMany, key: ["p", "street"], declares: false)
    #expect(model.validate().isEmpty)
    #expect(model.completingInverses().validate().isEmpty)
    let keys = ModelLayout(model).entity(named: "Ad")?.uniqueKeys
    #expect(keys?.map { $0.map(\.name) } == [["p", "street"]])
  }

  @Test("Of two to-ones that are each other's inverse one can be a part of a key")
  func keysOfBothSides() {
    let model = people(.toOne, key: ["p"], declares: true, personKey: ["addr"])
    #expect(
      model.validate().map(\.description) == [
        "Ad: Ad.p is stored by its inverse, and cannot be part of a key: take it out of it, or its inverse out of the"
          + " key of P."
      ]
    )
  }

  @Test(
    "Names that differ in the Unicode form of their letters alone are taken for one, whatever they name"
  )
  func unicodeForms() {
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    let faults = Model(entities: [
      Entity(
        name: "P\(composed)",
        attributes: [Attribute(name: "E\u{301}a"), Attribute(name: "\(composed)A")],
        relationships: [.toMany(composed, "Q"), .toMany(decomposed, "Q")]
      ),
      Entity(name: "P\(decomposed)", attributes: []), Entity(name: "Q", attributes: []),
    ]).validate()
    #expect(faults.count >= 3 && faults.allSatisfy { $0.rule == .clash }, "\(faults)")
    #expect(faults.count { $0.message.contains("(NFC and NFD), and look the same") } >= 2)
  }

  @Test(
    "The nearest name is found, and none where nothing is near",
    arguments: [
      ("entitties", String?.some("entities")), ("entitty", "entities"), ("form", "from"),
      ("Form", "from"),
      ("xml", nil), ("", nil), ("f", nil),
    ]
  )
  func nearestName(word: String, found: String?) {
    #expect(nearest(to: word, in: ["entities", "from", "sources"]) == found)
  }
}
