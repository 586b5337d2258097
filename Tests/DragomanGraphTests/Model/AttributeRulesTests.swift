import Testing

@testable import DragomanGraph

/// Defaults and limits that are written in code.
@Suite struct AttributeRulesTests {
  private func model(_ attribute: Attribute) -> Model {
    Model(entities: [
      Entity(
        name: "P",
        attributes: [Attribute(name: "id", type: .int64), attribute],
        uniqueKeys: [["id"]]
      )
    ])
  }

  @Test(
    "Rules are made canonical with the model",
    arguments: [
      (
        Attribute(name: "x", type: .decimal, defaultValue: 0, rules: AttributeRules(scale: 2)),
        StoredValue.text("0.00")
      ),
      (Attribute(name: "x", type: .decimal, defaultValue: "1.50"), "1.5"),
      (Attribute(name: "x", type: .double, defaultValue: 3), 3.0),
      (
        Attribute(name: "x", type: .uuid, defaultValue: "0E984725-C51C-4BF4-9960-E1C80E27ABA0"),
        "0e984725-c51c-4bf4-9960-e1c80e27aba0"
      ),
      (Attribute(name: "x", type: .duration, defaultValue: "PT60S"), "PT1M"),
      (Attribute(name: "x", defaultValue: "a"), "a"),
    ] as [(Attribute, StoredValue)]
  )
  func canonical(attribute: Attribute, value: StoredValue) throws {
    let model = model(attribute)
    #expect(model.entities[0].attributes[1].defaultValue == value)
    #expect(model.validate() == [])
    // Also where it is set later, or stored without.
    var changed = model
    changed.entities[0].attributes[1] = attribute
    #expect(ModelLayout(changed).entities[0].attributes[1].defaultValue == value)
  }

  @Test(
    "Limits of decimals hold, however they are written",
    arguments: ["-1", "-0.01", "10.01", "11"],
    [(StoredValue.integer(0), StoredValue.integer(10)), ("0", "10"), ("0.00", "10.0")]
  )
  @MainActor func decimals(value: String, limits: (StoredValue, StoredValue)) throws {
    let attribute = Attribute(
      name: "x",
      type: .decimal,
      rules: AttributeRules(minimum: limits.0, maximum: limits.1, scale: 2)
    )
    let stack = try Stack(model(attribute), at: .inMemory)
    let object = try stack.main.insert("P")
    object["x"] = .text(value)
    #expect(contextCode { try stack.main.save() } == .invalid)
    for value in ["0", "10", "9.99"] {
      object["x"] = .text(value)
      try stack.main.save()
    }
  }

  @Test("A default is found as the value it is")
  @MainActor func defaults() throws {
    let attribute = Attribute(
      name: "x",
      type: .decimal,
      defaultValue: 0,
      rules: AttributeRules(scale: 2)
    )
    let stack = try Stack(model(attribute), at: .inMemory)
    _ = try stack.main.insert("P")
    try stack.main.save()
    #expect(try stack.sql("SELECT x FROM P") == ["0.00"])
    #expect(try stack.main.count(FetchRequest("P", filter: Filter(parsing: "x == 0"))) == 1)
  }

  @Test(
    "Rules that no value can be, or obey, are faults of the model",
    arguments: [
      (Attribute(name: "x", type: .int64, defaultValue: "a"), "The default \"a\" is no int64."),
      (Attribute(name: "x", type: .int16, defaultValue: 40_000), "The default 40000 is no int16."),
      (
        Attribute(name: "x", type: .date, defaultValue: "31.12.1999"),
        "The default \"31.12.1999\" is no date."
      ),
      (
        Attribute(name: "x", type: .decimal, rules: AttributeRules(maximum: "1.25", scale: 1)),
        "The maximum \"1.25\" is no decimal of scale 1."
      ),
      (
        Attribute(name: "x", type: .decimal, rules: AttributeRules(minimum: 0.5)),
        "The minimum 0.5 is no decimal. Write it as text, which is exact: \"0.5\"."
      ),
      (
        Attribute(name: "x", rules: AttributeRules(pattern: "(a")),
        "The pattern (a is no regular expression."
      ),
      (
        Attribute(name: "x", rules: AttributeRules(pattern: "a)(b")),
        "The pattern a)(b is no regular expression."
      ),
      (
        Attribute(name: "x", rules: AttributeRules(minimumLength: 3, maximumLength: 2)),
        "No text has at least 3 and at most 2 characters."
      ),
      (
        Attribute(name: "x", type: .int64, rules: AttributeRules(minimum: 3, maximum: 2)),
        "The minimum 3 is larger than the maximum 2."
      ),
      (
        Attribute(name: "x", type: .int64, defaultValue: 1, rules: AttributeRules(minimum: 2)),
        "The default 1 is beyond the limits."
      ),
      (
        Attribute(name: "x", type: .enum, defaultValue: "c", allowedValues: ["a", "b"]),
        "The default \"c\" is none of a, b."
      ),
      (
        Attribute(name: "x", type: .decimal, rules: AttributeRules(scale: -1)),
        "A scale is 0 to 1000, and cannot be -1."
      ),
      (
        Attribute(name: "x", type: .decimal, rules: AttributeRules(scale: 1_000_000_000)),
        "A scale is 0 to 1000, and cannot be 1000000000."
      ),
    ] as [(Attribute, String)]
  )
  func faults(attribute: Attribute, message: String) throws {
    let model = model(attribute)
    #expect(model.validate().map(\.message) == [message])
    #expect(throws: StoreError.self) { try Stack(model, at: .inMemory) }
    let store = try SQLiteStore(at: .inMemory)
    let error = #expect(throws: StoreError.self) { try store.grow(to: model) }
    #expect(error?.code == .badRequest)
  }
}
