import DragomanEntities
import Foundation
import Testing

/// Entities that are declared by the macro, compiled and used.
@Suite struct EntityMacroTests {
  @Test("The macro describes the same entity as the conformance by hand")
  func sameAsByHand() {
    #expect(MacroPerson.entity == HandPerson.entity)
    #expect(
      MacroPerson.entity
        == Entity(
          name: "Person",
          attributes: [
            Attribute(name: "ticketNumber", isRequired: true), Attribute(name: "firstName"),
            Attribute(name: "dateOfBirth", type: .date),
            Attribute(name: "salary", type: .decimal, rules: AttributeRules(scale: 2)),
            Attribute(name: "isActive", type: .bool, isRequired: true, defaultValue: .integer(1)),
          ],
          uniqueKeys: [["ticketNumber"]]
        )
    )
  }

  @Test("The types, initial values and markers of properties make the attributes")
  func attributes() {
    let expected = Entity(
      name: "Everything",
      attributes: [
        Attribute(name: "identifier", type: .int64, isRequired: true).with { $0.column = "id" },
        Attribute(name: "bool", type: .bool, isRequired: true, defaultValue: .integer(0)),
        Attribute(name: "int", type: .int64, isRequired: true),
        Attribute(name: "int8", type: .int16, isRequired: true),
        Attribute(name: "int16", type: .int16, isRequired: true),
        Attribute(name: "int32", type: .int32, isRequired: true),
        Attribute(name: "int64", type: .int64, isRequired: true, defaultValue: .integer(-1)),
        Attribute(name: "uint", type: .int64, isRequired: true),
        Attribute(name: "uint8", type: .int16, isRequired: true),
        Attribute(name: "uint16", type: .int32, isRequired: true),
        Attribute(name: "uint32", type: .int64, isRequired: true),
        Attribute(
          name: "float",
          type: .float,
          isRequired: true,
          rules: AttributeRules(minimum: .real(0), maximum: .real(100))
        ),
        Attribute(
          name: "double",
          type: .double,
          isRequired: true,
          rules: AttributeRules(maximum: .real(1.5))
        ),
        Attribute(
          name: "decimal",
          type: .decimal,
          isRequired: true,
          rules: AttributeRules(minimum: .text("0.00"), scale: 2)
        ),
        Attribute(name: "date", type: .timestamp, isRequired: true, isIndexed: true),
        Attribute(name: "day", type: .date), Attribute(name: "data", type: .data, isRequired: true),
        Attribute(name: "uuid", type: .uuid, isRequired: true),
        Attribute(name: "lasts", type: .duration), Attribute(name: "url", type: .url),
        Attribute(
          name: "text",
          isRequired: true,
          defaultValue: .text("x"),
          rules: AttributeRules(minimumLength: 1, maximumLength: 80, pattern: "[a-z]+")
        ),
        Attribute(name: "letter", type: .enum, allowedValues: ["a", "b"]),
        Attribute(
          name: "size",
          type: .enum,
          isRequired: true,
          defaultValue: .text("small"),
          allowedValues: ["small", "large"]
        ),
        Attribute(name: "default", type: .enum, allowedValues: ["small", "large"]),
        Attribute(name: "place", type: .json),
        Attribute(name: "counts", type: .json, isRequired: true),
        Attribute(name: "range", type: .json),
        Attribute(name: "color", isRequired: true), Attribute(name: "background"),
        Attribute(name: "tags", type: .json, isRequired: true, defaultValue: .text("[]")),
        Attribute(name: "numbers", type: .json, isRequired: true),
      ],
      uniqueKeys: [["identifier"]]
    )
    let entity = Everything.entity
    #expect(entity.attributes.count == expected.attributes.count)
    for (attribute, wanted) in zip(entity.attributes, expected.attributes) {
      #expect(attribute == wanted)
    }
    #expect(entity == expected)
  }

  @Test("Values, lists and references make the relationships, and a model of types has them all")
  func relationships() {
    let model = Model(
      Trade.Shop.self,
      Trade.City.self,
      Trade.Shelf.self,
      Trade.Brand.self,
      Trade.Clerk.self,
      Trade.Manager.self
    )
    #expect(
      model.entities == [
        Entity(
          name: "Shop",
          attributes: [Attribute(name: "name", isRequired: true)],
          relationships: [
            .toOne("city", "City"),
            .toMany("shelves", "Shelf", isOrdered: true, deleteRule: .cascade),
            .toMany("brands", "Brand"), .toMany("staff", "Clerk", inverse: "employer"),
            .toMany("partners", "Shop"), .toOne("manager", "Clerk"),
          ],
          uniqueKeys: [["name"]]
        ),
        Entity(
          name: "City",
          attributes: [Attribute(name: "code", isRequired: true), Attribute(name: "name")],
          uniqueKeys: [["code"]]
        ),
        Entity(
          name: "Shelf",
          attributes: [Attribute(name: "number", type: .int64, isRequired: true)]
        ),
        Entity(
          name: "Brand",
          attributes: [Attribute(name: "name", isRequired: true)],
          uniqueKeys: [["name"]]
        ),
        Entity(
          name: "Clerk",
          attributes: [
            Attribute(name: "first", isRequired: true), Attribute(name: "last", isRequired: true),
          ],
          relationships: [.toOne("employer", "Shop")],
          uniqueKeys: [["first", "last"]]
        ).with { $0.indexes = [["last", "first"]] },
        Entity(
          name: "Manager",
          table: "Clerk",
          attributes: [Attribute(name: "car")],
          parent: "Clerk"
        ),
      ]
    )
    #expect(model.completingInverses().validate() == [])
  }

  @Test("Names in a declaration mean what they mean where it stands")
  func scopes() {
    #expect(
      Scope.Leaf.entity
        == Entity(
          name: "Leaf",
          table: "Root",
          attributes: [
            Attribute(
              name: "level",
              type: .enum,
              isRequired: true,
              defaultValue: .text("high")
            ),
            Attribute(
              name: "kind",
              type: .enum,
              isRequired: true,
              defaultValue: .text("plain")
            ),
            Attribute(name: "code", isRequired: true),
            Attribute(
              name: "count",
              type: .int64,
              isRequired: true,
              rules: AttributeRules(minimum: .integer(3))
            ),
            Attribute(
              name: "mood",
              type: .enum,
              isRequired: true,
              defaultValue: .text("good")
            ),
          ],
          parent: "Root"
        )
    )
  }

  @Test("A struct with an id is a PersistentValue, one without is none")
  func persistence() {
    let types: [any EntityValue.Type] = [Trade.Shop.self, Trade.City.self, Trade.Shelf.self]
    #expect(types.map { $0 is any PersistentValue.Type } == [true, false, true])
  }

  @Test(
    "A value that the macro boxes comes back from the store as it was, ids of nested values included"
  )
  func roundTrip() async throws {
    let model = Model(
      Trade.Shop.self,
      Trade.City.self,
      Trade.Shelf.self,
      Trade.Brand.self,
      Trade.Clerk.self,
      Everything.self
    )
    let stack = try Stack(model, at: .inMemory)
    let shops = stack.repository(of: Trade.Shop.self)
    let shop = try await shops.save(
      Trade.Shop(
        name: "Acme",
        city: Trade.City(code: "B", name: "Bergen"),
        shelves: [Trade.Shelf(number: 2), Trade.Shelf(number: 1)],
        brands: [Trade.Brand(name: "x"), Trade.Brand(name: "y")]
      )
    )
    #expect(shop.objectID != nil)
    #expect(shop.shelves.map { $0.objectID == nil } == [false, false])
    let found = try await shops.fetchAll()
    #expect(found == [shop])

    let everything = Everything(
      id: 7,
      int: 1,
      int8: -2,
      int16: 3,
      int32: -4,
      uint: 5,
      uint8: 255,
      uint16: 65535,
      uint32: .max,
      float: 1.5,
      double: 0.25,
      decimal: 12.5,
      date: Date(timeIntervalSince1970: 1_000),
      day: Date(timeIntervalSince1970: 86_400),
      data: Data([0, 1]),
      uuid: UUID(),
      lasts: CalendarDuration(days: 1, microseconds: 1),
      url: URL(string: "https://example.org/a"),
      letter: "b",
      default: .large,
      place: Place(street: "Strandgaten 1", city: "Bergen"),
      counts: ["a": 1],
      range: 1...3,
      color: Color(red: 1, green: 2, blue: 255),
      tags: ["x", "y"],
      numbers: [1, 2]
    )
    let all = stack.repository(of: Everything.self)
    try await all.save(everything)
    let answer = try await all.fetch(\.id == 7 && \.size == .small)
    #expect(answer == [everything])
  }

  @Test("The memberwise initializer is still there, with the initial values")
  func memberwise() {
    let person = MacroPerson(ticketNumber: "A14", firstName: nil, dateOfBirth: nil, salary: 1)
    #expect(person.isActive)
  }

  @Test("Two entities that are each other's inverse by values are refused, with both names")
  func inverseValues() async throws {
    let stack = try Stack(Model(Endless.Ship.self, Endless.Hand.self), at: .inMemory)
    let error = await #expect(throws: ValueError.self) {
      try await stack.repository(of: Endless.Ship.self).fetchAll()
    }
    #expect(
      error?.description == """
        box.cycle: Ship.crew and Hand.ship are each other's inverse and both hold values: a value \
        would hold itself. (declare one of them with Ref, Hand.ship as Ref<Ship>, say)
        """
    )
  }
}
