@testable import DragomanGraph

private let id = Attribute(name: "id", type: .int64, isRequired: true)

private func entity(
  _ name: String = "P",
  _ attributes: [Attribute],
  _ relationships: [Relationship] = [],
  unique: [[String]] = [["id"]],
  parent: String? = nil
) -> Entity {
  Entity(
    name: name,
    table: parent,
    attributes: attributes,
    relationships: relationships,
    uniqueKeys: parent == nil ? unique : [],
    parent: parent
  )
}

private func two(_ first: String, _ second: String = "NULL") -> [String] {
  ["INSERT INTO P (_pk, _v, id, a) VALUES (1, 1, 10, \(first)), (2, 1, 20, \(second))"]
}

/// A family whose relationships lead to C, with a link of a P and one of an S.
private func family(_ kind: Relationship.Kind, of owner: String) -> [Entity] {
  let link = Relationship(name: "c", destination: "C", kind: kind)
  return [
    entity("P", [id], owner == "P" ? [link] : []),
    entity("S", [Attribute(name: "s")], owner == "S" ? [link] : [], parent: "P"),
    entity("C", [id]),
  ]
}
private let kin = [
  "INSERT INTO P (_pk, _v, _entity, id) VALUES (1, 1, 'P', 10), (2, 1, 'S', 20)",
  "INSERT INTO C (_pk, _v, id) VALUES (7, 1, 70)",
]

extension MigrationCase {
  /// Keys that are inherited, spellings, and plans.
  static let further: [MigrationCase] = [
    MigrationCase(
      "An entity that gets a parent has the key of that one, and its own no more",
      [entity("P", [id, Attribute(name: "a"), Attribute(name: "n")])],
      two("'x'", "'y'"),
      to: [
        entity("R", [id, Attribute(name: "a")], unique: [["a"]]),
        entity("P", [Attribute(name: "n")], parent: "R"),
      ],
      after: [
        "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'R'": ["R_unique_a"]
      ]
    ),
    MigrationCase(
      "Texts become the numbers that they were, with an exponent, too",
      [entity("P", [id, Attribute(name: "a"), Attribute(name: "f")])],
      two("'1e+308'", "'-1.5e-07'")
        + ["UPDATE P SET f = CASE id WHEN 10 THEN '1e+22' ELSE '-inf' END"],
      to: [
        entity(
          "P",
          [id, Attribute(name: "a", type: .double), Attribute(name: "f", type: .float)]
        )
      ],
      after: [
        "SELECT a = 1e308 OR a = -1.5e-07, typeof(f) FROM P": ["1|real", "1|real"]
      ]
    ),
    MigrationCase(
      "Texts become compact JSON",
      [entity("P", [id, Attribute(name: "a")])],
      two(#"' [1 , "\u00e9,"]'"#, #"'{"b":  1.0, "c":{"b":2}}'"#),
      to: [entity("P", [id, Attribute(name: "a", type: .json)])],
      after: ["SELECT a FROM P": [#"[1,"é,"]"#, #"{"b":1.0,"c":{"b":2}}"#]]
    ),
    MigrationCase(
      "What is required no more, and stubs, are steps",
      [entity("P", [id, Attribute(name: "a", isRequired: true)])],
      two("'x'", "'y'"),
      to: [entity("P", [id, Attribute(name: "a")]).with { $0.admitsStubs = true }],
      steps: [
        "Admit stubs of P, objects of which only the key is known.", "Make P.a optional.",
      ],
      after: ["SELECT a, _stub FROM P": ["x|-", "y|-"]]
    ),
    MigrationCase(
      "A name of something that goes is free",
      [entity("P", [id, Attribute(name: "a"), Attribute(name: "b")]), entity("C", [id])],
      two("'x'", "'y'") + [
        "UPDATE P SET b = 'old'", "INSERT INTO C (_pk, _v, id) VALUES (1, 1, 1)",
      ],
      to: [
        entity("C", [id, Attribute(name: "b").with { $0.renamedFrom = "a" }]).with {
          $0.renamedFrom = "P"
        }
      ],
      drops: true,
      after: [
        "SELECT _pk, id, b FROM C": ["1|10|x", "2|20|y"],
        "SELECT count(*) FROM sqlite_master WHERE name = 'P'": ["0"],
      ]
    ),
    MigrationCase(
      "An earlier name that nothing has is told",
      [entity("P", [id, Attribute(name: "a")])],
      two("'x'"),
      to: [
        entity(
          "P",
          [
            id, Attribute(name: "a"), Attribute(name: "b").with { $0.renamedFrom = "A" },
          ]
        ),
        entity("C", [id]).with { $0.renamedFrom = "D" },
      ],
      steps: [
        "Add P.b (string); nothing is called A (renamedFrom).",
        "Add the entity C (id); nothing is called D (renamedFrom).",
      ]
    ),
  ]

  static let furtherRefused: [MigrationCase] = [
    MigrationCase(
      "a value of an object that is none of the entity to which the attribute moves",
      [entity("P", [id, Attribute(name: "a")]), entity("S", [Attribute(name: "s")], parent: "P")],
      [kin[0], "UPDATE P SET a = 'x'"],
      to: [
        entity("P", [id]), entity("S", [Attribute(name: "s"), Attribute(name: "a")], parent: "P"),
      ],
      faults: ["S.a cannot move: values stand in 1 object that is no S (10)."]
    ),
    MigrationCase(
      "a to-one of an object that is none of the entity to which it moves",
      family(.toOne, of: "P"),
      kin + ["UPDATE P SET c = 7"],
      to: family(.toOne, of: "S"),
      faults: ["S.c cannot move: links stand in 1 object that is no S (10)."]
    ),
    MigrationCase(
      "links of a to-many in the same way",
      family(.toMany, of: "P"),
      kin + ["INSERT INTO P_c (owner, target) VALUES (1, 7), (2, 7)"],
      to: family(.toMany, of: "S"),
      faults: ["S.c cannot move: links stand in 1 object that is no S (10)."]
    ),
    MigrationCase(
      "a default that would be in a unique key of two objects",
      [entity("P", [id, Attribute(name: "a")])],
      two("'x'", "'y'"),
      to: [
        entity(
          "P",
          [id, Attribute(name: "a"), Attribute(name: "b", isRequired: true, defaultValue: "D")],
          unique: [["id"], ["b"]]
        )
      ],
      faults: ["[b] cannot be a unique key of P: 2 objects share their values (D)."]
    ),
    MigrationCase(
      "JSON with a member twice, and a text that is not there to be seen",
      [entity("P", [id, Attribute(name: "a")])],
      two(#"'{"b":1,"c":[{}],"b":2}'"#, "''"),
      to: [entity("P", [id, Attribute(name: "a", type: .json)])],
      faults: [
        #"P.a cannot become json from string: 2 values do not convert ("{\"b\":1,\"c\":[{}],\"b\":2}" of 10;"#
          + #" "" of 20)."#
      ]
    ),
    MigrationCase(
      "an earlier name of something of another kind",
      [entity("P", [id, Attribute(name: "a")], [.toOne("c", "C")]), entity("C", [id])],
      [],
      to: [
        entity(
          "P",
          [id, Attribute(name: "q", type: .int64).with { $0.renamedFrom = "c" }],
          [.toOne("r", "C").with { $0.renamedFrom = "a" }]
        ), entity("C", [id]),
      ],
      faults: [
        "P.q was called c before (renamedFrom), but that is a relationship in the database.",
        "P.r was called a before (renamedFrom), but that is an attribute in the database.",
      ]
    ),
  ]
}
