import DragomanGraph
import Testing

@testable import Dragoman

@Suite struct ImportMapModelTests {
  @Test("A map's model has its columns, keys, defaults and raw values")
  func model() throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          Person:
            table: people
            unique: [[id], [email]]
            attributes:
              id: { type: int64 }
              email: { index: true, length: 80, pattern: ".+@.+", sensitive: true }
              salary: { type: decimal, scale: 2, default: 1.5, min: "-10" }
              kind: { type: enum, values: { a: x, b: y, c: x }, unknown: z, column: k }
          Boss:
            parent: Person
            attributes: { level: { type: int16, required: true, renamedFrom: rank } }
            relationships: { chief: { entity: Boss, kind: toOne, onDelete: deny } }
        """
    )
    #expect(
      map.model()
        == Model(entities: [
          Entity(
            name: "Person",
            table: "people",
            attributes: [
              Attribute(name: "id", type: .int64, isRequired: true),
              Attribute(
                name: "email",
                isIndexed: true,
                rules: AttributeRules(maximumLength: 80, pattern: ".+@.+")
              ).with { $0.isSensitive = true },
              Attribute(
                name: "salary",
                type: .decimal,
                defaultValue: .text("1.50"),
                rules: AttributeRules(minimum: .text("-10.00"), scale: 2)
              ),
              Attribute(name: "kind", type: .enum, allowedValues: ["x", "y", "z"]).with {
                $0.column = "k"
              },
            ],
            uniqueKeys: [["id"], ["email"]]
          ),
          Entity(
            name: "Boss",
            table: "people",
            attributes: [
              Attribute(name: "level", type: .int16, isRequired: true).with {
                $0.renamedFrom = "rank"
              }
            ],
            relationships: [
              Relationship(name: "chief", destination: "Boss", kind: .toOne, deleteRule: .deny)
            ],
            parent: "Person"
          ),
        ])
    )
  }

  @Test("An identity that says required: false is not required")
  func optionalIdentity() throws {
    let map = try ImportMap(
      yaml: "version: 1\nentities: { A: { unique: a, attributes: { a: { required: false } } } }"
    )
    #expect(map.model().entities[0].attributes == [Attribute(name: "a")])
  }

  @Test(
    "A literal becomes what the store holds, or nothing",
    arguments: [
      (AttributeType.string, "", StoredValue?.some(.text(""))), (.int16, "32767", .integer(32767)),
      (.int16, "32768", nil), (.int32, "-2147483648", .integer(-2_147_483_648)),
      (.int64, "1.0", nil), (.double, "1e3", .real(1000)), (.double, "1e999", nil),
      (.double, "nan", nil), (.float, "0.5", .real(0.5)), (.decimal, "-0", .text("0")),
      (.decimal, "1e2", .text("100")), (.decimal, "1,5", nil), (.bool, "true", .integer(1)),
      (.bool, "1", nil), (.date, "2024-02-29", .text("2024-02-29")), (.date, "2023-02-29", nil),
      (.time, "13:00", .text("13:00:00")), (.time, "24:00", nil),
      (.timestamp, "2024-02-29T13:00:00+01:00", .text("2024-02-29 12:00:00")),
      (.timestamp, "2024-02-29 13:00:00.50", .text("2024-02-29 13:00:00.5")),
      (.timestamp, "tomorrow", nil),
      (
        .uuid, "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
        .text("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
      ), (.uuid, "6ba7", nil), (.url, "https://example.org/a", .text("https://example.org/a")),
      (.url, "not a url", nil), (.data, "AQI=", .blob([1, 2])), (.data, "", .blob([])),
      (.data, "?", nil), (.json, "{\"a\": [1]}", .text("{\"a\":[1]}")), (.json, "{a: 1}", nil),
      (.enum, "any", .text("any")),
    ]
  )
  func literals(type: AttributeType, text: String, value: StoredValue?) {
    #expect(AttributeMap(name: "a", type: type).storedValue(ofLiteral: text) == value)
  }

  @Test(
    "Literals compare by their type",
    arguments: [
      (AttributeType.int64, "10", "9"), (.decimal, "10", "9"), (.decimal, "-9", "-10"),
      (.decimal, "0.1", "-0.1"), (.decimal, "1.10", "1.01"), (.decimal, "1.5", "1"),
      (.double, "1.5", "1"), (.date, "2024-01-01", "2023-12-31"),
      (.timestamp, "2024-01-01T00:00:00.5", "2024-01-01T00:00:00"),
    ]
  )
  func order(type: AttributeType, larger: String, smaller: String) throws {
    let attribute = AttributeMap(name: "a", type: type)
    let large = try #require(attribute.storedValue(ofLiteral: larger))
    let small = try #require(attribute.storedValue(ofLiteral: smaller))
    #expect(large.isLarger(than: small, as: type))
    #expect(!small.isLarger(than: large, as: type))
    #expect(!large.isLarger(than: large, as: type))
  }

  @Test("A map built in code passes the same rules")
  func builtInCode() {
    let map = ImportMap(entities: [
      EntityMap(
        name: "_A",
        uniqueKeys: [["idd"]],
        attributes: [AttributeMap(name: "id", type: .bool, defaultValue: "maybe")]
      )
    ])
    #expect(map.validate().map(\.code) == [.name, .reference, .literal])
    #expect(map.validate().map(\.position) == [nil, nil, nil])
  }
}
