@testable import DragomanGraph

private func person(
  _ attributes: [Attribute],
  _ relationships: [Relationship] = [],
  unique: [[String]] = [["id"]],
  name: String = "P",
  table: String? = nil,
  parent: String? = nil,
  indexes: [[String]] = [],
  renamedFrom: String? = nil
) -> Entity {
  Entity(
    name: name,
    table: table,
    attributes: attributes,
    relationships: relationships,
    uniqueKeys: unique,
    parent: parent
  ).with {
    $0.indexes = indexes
    $0.renamedFrom = renamedFrom
  }
}

private let id = Attribute(name: "id", type: .int64, isRequired: true)
private let three = [
  "INSERT INTO P (_pk, _v, id, a) VALUES (1, 4, 10, 'x'), (2, 1, 20, NULL), (5, 2, 30, 'z')",
  "INSERT INTO _dragoman_keys VALUES ('P', 6)",
]
private let company = Entity(name: "C", attributes: [id], uniqueKeys: [["id"]])
private let linked = [
  "INSERT INTO P (_pk, _v, id) VALUES (1, 1, 10), (2, 1, 20), (3, 1, 30)",
  "INSERT INTO C (_pk, _v, id) VALUES (1, 1, 100), (2, 1, 200)",
]

extension MigrationCase {
  static let attributes: [MigrationCase] = [
    MigrationCase(
      "An attribute, an entity and an index are added",
      [person([id, Attribute(name: "a")])],
      three,
      to: [
        person([id, Attribute(name: "a", isIndexed: true), Attribute(name: "b", type: .date)]),
        company,
      ],
      steps: ["Add an index of P.a.", "Add P.b (date).", "Add the entity C (id)."],
      after: [
        "SELECT * FROM P": ["1|4|10|x|-", "2|1|20|-|-", "5|2|30|z|-"],
        "SELECT * FROM _dragoman_keys": ["P|6"],
      ]
    ),
    MigrationCase(
      "An entity, its table, an attribute and its key are renamed",
      [person([id, Attribute(name: "a", isIndexed: true)], unique: [["id"], ["a", "id"]])],
      three,
      to: [
        person(
          [
            Attribute(name: "number", type: .int64, isRequired: true).with {
              $0.renamedFrom = "id"
            },
            Attribute(name: "b").with {
              $0.column = "bee"
              $0.renamedFrom = "a"
            },
          ],
          unique: [["number"]],
          name: "Q",
          renamedFrom: "P"
        )
      ],
      steps: [
        "Rename the entity P to Q.", "Rename the table P to Q.", "Rename Q.id to number.",
        "Rename Q.a to b.", "Rename the column a of Q.b to bee.",
      ],
      after: [
        "SELECT * FROM Q": ["1|4|10|x", "2|1|20|-", "5|2|30|z"],
        "SELECT * FROM _dragoman_keys": ["Q|6"],
      ]
    ),
    MigrationCase(
      "Two attributes swap their names, and so do two entities",
      [person([id, Attribute(name: "a"), Attribute(name: "b")]), company],
      [
        "INSERT INTO P (_pk, _v, id, a, b) VALUES (1, 1, 10, 'x', 'y')",
        "INSERT INTO C (_pk, _v, id) VALUES (7, 1, 100)",
        "INSERT INTO _dragoman_keys VALUES ('P', 2), ('C', 8)",
      ],
      to: [
        person(
          [
            id, Attribute(name: "b").with { $0.renamedFrom = "a" },
            Attribute(name: "a").with { $0.renamedFrom = "b" },
          ],
          name: "C",
          renamedFrom: "P"
        ),
        Entity(name: "P", attributes: [id], uniqueKeys: [["id"]]).with { $0.renamedFrom = "C" },
      ],
      after: [
        "SELECT _pk, id, a, b FROM C": ["1|10|y|x"], "SELECT * FROM P": ["7|1|100"],
        "SELECT * FROM _dragoman_keys ORDER BY 1": ["C|2", "P|8"],
      ]
    ),
    MigrationCase(
      "A new name is used again for something else",
      [person([id, Attribute(name: "a")])],
      three,
      to: [
        person([
          id, Attribute(name: "b").with { $0.renamedFrom = "a" }, Attribute(name: "a", type: .bool),
        ])
      ],
      after: ["SELECT * FROM P": ["1|4|10|x|-", "2|1|20|-|-", "5|2|30|z|-"]]
    ),
    MigrationCase(
      "Types change where nothing is lost",
      [
        person([
          id, Attribute(name: "a"), Attribute(name: "b", type: .bool),
          Attribute(name: "d", type: .date),
          Attribute(name: "m", type: .decimal, rules: AttributeRules(scale: 2)),
          Attribute(name: "r", type: .double),
        ])
      ],
      [
        """
        INSERT INTO P VALUES (1, 3, 10, '12', 1, '2024-02-29', '1.50', 2.0),
          (2, 1, 20, NULL, 0, NULL, '-0.10', 0.5), (3, 1, 30, '-7', NULL, '1999-12-31', NULL, NULL)
        """
      ],
      to: [
        person([
          Attribute(name: "id", type: .string, isRequired: true),
          Attribute(name: "a", type: .int32), Attribute(name: "b", type: .int16),
          Attribute(name: "d", type: .timestamp),
          Attribute(name: "m", type: .decimal, rules: AttributeRules(scale: 1)),
          Attribute(name: "r", type: .decimal, rules: AttributeRules(scale: 3)),
        ])
      ],
      steps: [
        "Convert P.id from int64 to string.", "Convert P.a from string to int32.",
        "Convert P.b from bool to int16.", "Convert P.d from date to timestamp.",
        "Write P.m with scale 1.", "Convert P.r from double to decimal.",
      ],
      after: [
        "SELECT * FROM P": [
          "1|3|10|12|1|2024-02-29 00:00:00|1.5|2.000", "2|1|20|-|0|-|-0.1|0.500",
          "3|1|30|-7|-|1999-12-31 00:00:00|-|-",
        ],
        "SELECT typeof(id), typeof(a) FROM P WHERE _pk = 1": ["text|integer"],
      ]
    ),
    MigrationCase(
      "A required attribute with a default fills what is null",
      [person([id, Attribute(name: "a")])],
      three,
      to: [
        person([
          id, Attribute(name: "a", isRequired: true, defaultValue: .text("?")),
          Attribute(name: "n", type: .int32, isRequired: true, defaultValue: .integer(7)),
        ])
      ],
      steps: [
        "Make P.a required; null becomes \"?\".", "Change the rules of P.a for new values.",
        "Add P.n (int32), 7 in all objects.",
      ],
      after: ["SELECT * FROM P": ["1|4|10|x|7", "2|1|20|?|7", "5|2|30|z|7"]]
    ),
    MigrationCase(
      "What the model does not name stays",
      [person([id, Attribute(name: "a", isIndexed: true)]), company],
      three,
      to: [person([id])],
      after: [
        "SELECT * FROM P": ["1|4|10|x", "2|1|20|-", "5|2|30|z"],
        "SELECT count(*) FROM C": ["0"],
      ]
    ),
    MigrationCase(
      "What the model does not name goes when that is asked for",
      [person([id, Attribute(name: "a", isIndexed: true)]), company],
      three,
      to: [person([id])],
      drops: true,
      steps: ["Drop P.a with its values.", "Drop the entity C with all its objects."],
      after: [
        "SELECT * FROM P": ["1|4|10", "2|1|20", "5|2|30"],
        "SELECT name FROM sqlite_master WHERE name IN ('C', 'P_a')": [],
      ]
    ),
    MigrationCase(
      "The identity becomes another attribute",
      [person([id, Attribute(name: "a")])],
      three,
      to: [person([id, Attribute(name: "a")], unique: [["a"]], indexes: [["id", "a"]])],
      steps: [
        "Make [a] a unique key of P.", "Remove the unique key [id] of P.",
        "Find objects of P by [a].", "Add an index of P over id, a.",
      ],
      after: [
        "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'P' ORDER BY 1": [
          "P_index_id_a", "P_unique_a",
        ]
      ]
    ),
    MigrationCase(
      "An entity gets a parent above it, and what is new below it",
      [person([id, Attribute(name: "a")])],
      three,
      to: [
        Entity(name: "Base", attributes: [id, Attribute(name: "c")], uniqueKeys: [["id"]]),
        person([Attribute(name: "a")], unique: [], table: "Base", parent: "Base"),
        person([Attribute(name: "q")], unique: [], name: "S", table: "Base", parent: "P"),
      ],
      after: [
        "SELECT _pk, _v, _entity, id, a, c, q FROM Base": [
          "1|4|P|10|x|-|-", "2|1|P|20|-|-|-", "5|2|P|30|z|-|-",
        ],
        "SELECT * FROM _dragoman_keys": ["Base|6"],
      ]
    ),
    MigrationCase(
      "A sub-entity is renamed and another one goes with its objects and the links to them",
      [
        person([id], [.toOne("boss", "P")]),
        person([Attribute(name: "s")], unique: [], name: "S", table: "P", parent: "P"),
        person([Attribute(name: "t")], unique: [], name: "T", table: "P", parent: "P"),
      ],
      [
        """
        INSERT INTO P (_pk, _v, _entity, id, boss, s, t) VALUES (1, 1, 'P', 1, 3, NULL, NULL),
          (2, 1, 'S', 2, 1, 's', NULL), (3, 1, 'T', 3, 2, NULL, 't')
        """
      ],
      to: [
        person([id], [.toOne("boss", "P")]),
        person(
          [Attribute(name: "s")],
          unique: [],
          name: "U",
          table: "P",
          parent: "P",
          renamedFrom: "S"
        ),
      ],
      drops: true,
      after: ["SELECT _pk, _entity, id, boss, s FROM P": ["1|P|1|-|-", "2|U|2|1|s"]]
    ),
  ]

  static let links: [MigrationCase] = [
    MigrationCase(
      "A to-one becomes to-many",
      [person([id], [.toOne("c", "C")]), company],
      linked + ["UPDATE P SET c = 2 WHERE _pk IN (1, 3)"],
      to: [person([id], [.toMany("c", "C")]), company],
      steps: ["Make P.c to-many (it was to-one)."],
      after: [
        "SELECT * FROM P": ["1|1|10", "2|1|20", "3|1|30"],
        "SELECT owner, target FROM P_c ORDER BY 1": ["1|2", "3|2"],
      ]
    ),
    MigrationCase(
      "A to-many becomes to-one where nobody has two",
      [person([id], [.toMany("c", "C", isOrdered: true)]), company],
      linked + ["INSERT INTO P_c (owner, position, target) VALUES (1, 0, 2), (3, 0, 1)"],
      to: [person([id], [.toOne("c", "C")]), company],
      after: [
        "SELECT _pk, c FROM P": ["1|2", "2|-", "3|1"],
        "SELECT count(*) FROM sqlite_master WHERE name LIKE 'P_c' AND type = 'table'": ["0"],
      ]
    ),
    MigrationCase(
      "A list that has one target twice becomes to-one, with places in the inverse",
      [
        person([id], [.toMany("c", "C", isOrdered: true).with { $0.allowsRepeats = true }]),
        company,
      ],
      linked + ["INSERT INTO P_c (owner, position, target) VALUES (1, 0, 2), (1, 1, 2), (3, 0, 2)"],
      to: [
        person([id], [.toOne("c", "C", inverse: "ps")]),
        Entity(
          name: "C",
          attributes: [id],
          relationships: [.toMany("ps", "P", inverse: "c", isOrdered: true)],
          uniqueKeys: [["id"]]
        ),
      ],
      after: ["SELECT _pk, c, _ps_order FROM P": ["1|2|0", "2|-|-", "3|2|1"]]
    ),
    MigrationCase(
      "An unordered to-many gets the order of the ids",
      [person([id], [.toMany("c", "C")]), company],
      linked + ["INSERT INTO P_c (owner, target) VALUES (1, 2), (1, 1), (2, 2)"],
      to: [person([id], [.toMany("c", "C", isOrdered: true)]), company],
      steps: ["Make P.c ordered to-many (it was to-many)."],
      after: ["SELECT owner, position, target FROM P_c": ["1|0|1", "1|1|2", "2|0|2"]]
    ),
    MigrationCase(
      "An order is forgotten",
      [person([id], [.toMany("c", "C", isOrdered: true)]), company],
      linked + ["INSERT INTO P_c (owner, position, target) VALUES (1, 0, 2), (1, 1, 1)"],
      to: [person([id], [.toMany("c", "C")]), company],
      after: ["SELECT owner, target FROM P_c": ["1|1", "1|2"]]
    ),
    MigrationCase(
      "A to-one gets an ordered inverse, beside its column",
      [person([id], [.toOne("c", "C")]), company],
      linked + ["UPDATE P SET c = 2 WHERE _pk IN (1, 3)"],
      to: [
        person([id], [.toOne("c", "C", inverse: "ps")]),
        Entity(
          name: "C",
          attributes: [id],
          relationships: [.toMany("ps", "P", inverse: "c", isOrdered: true)],
          uniqueKeys: [["id"]]
        ),
      ],
      steps: ["Let C.ps be the inverse of P.c.", "Add C.ps (ordered to-many P)."],
      after: ["SELECT _pk, c, _ps_order FROM P": ["1|2|0", "2|-|-", "3|2|1"]]
    ),
    MigrationCase(
      "Two relationships become inverses of each other: their links are joined",
      [
        person([id], [.toMany("cs", "C", isOrdered: true)]),
        Entity(
          name: "C",
          attributes: [id],
          relationships: [.toMany("ps", "P")],
          uniqueKeys: [["id"]]
        ),
      ],
      linked + [
        "INSERT INTO P_cs (owner, position, target) VALUES (1, 0, 2), (1, 1, 1)",
        "INSERT INTO C_ps (owner, target) VALUES (2, 1), (2, 3)",
      ],
      to: [
        person([id], [.toMany("cs", "C", inverse: "ps", isOrdered: true)]),
        Entity(
          name: "C",
          attributes: [id],
          relationships: [.toMany("ps", "P", inverse: "cs")],
          uniqueKeys: [["id"]]
        ),
      ],
      after: [
        "SELECT owner, position, target FROM P_cs": ["1|0|2", "1|1|1", "3|0|2"],
        "SELECT count(*) FROM sqlite_master WHERE name = 'C_ps'": ["0"],
      ]
    ),
    MigrationCase(
      "An inverse pair becomes two relationships of their own",
      [
        person([id], [.toOne("c", "C", inverse: "ps")]),
        Entity(
          name: "C",
          attributes: [id],
          relationships: [.toMany("ps", "P", inverse: "c", isOrdered: true)],
          uniqueKeys: [["id"]]
        ),
      ],
      linked + ["UPDATE P SET c = 1, _ps_order = 3 - _pk WHERE _pk < 3"],
      to: [
        person([id], [.toOne("c", "C")]),
        Entity(
          name: "C",
          attributes: [id],
          relationships: [.toMany("ps", "P", isOrdered: true)],
          uniqueKeys: [["id"]]
        ),
      ],
      after: [
        "SELECT _pk, c FROM P": ["1|1", "2|1", "3|-"],
        "SELECT owner, position, target FROM C_ps": ["1|0|2", "1|1|1"],
      ]
    ),
    MigrationCase(
      "Entities and relationships are renamed with their tables of links",
      [person([id], [.toMany("c", "C", isOrdered: true), .toOne("d", "C")]), company],
      linked + [
        "INSERT INTO P_c (owner, position, target) VALUES (1, 0, 2), (1, 1, 1)",
        "UPDATE P SET d = 2 WHERE _pk = 3",
      ],
      to: [
        person(
          [id],
          [
            .toMany("cc", "D", isOrdered: true).with { $0.renamedFrom = "c" },
            .toOne("dd", "D").with { $0.renamedFrom = "d" },
          ],
          name: "Q",
          renamedFrom: "P"
        ),
        Entity(name: "D", attributes: [id], uniqueKeys: [["id"]]).with { $0.renamedFrom = "C" },
      ],
      after: [
        "SELECT owner, position, target FROM Q_cc": ["1|0|2", "1|1|1"],
        "SELECT _pk, dd FROM Q": ["1|-", "2|-", "3|2"],
      ]
    ),
    MigrationCase(
      "A relationship goes with its links",
      [person([id], [.toMany("c", "C"), .toOne("d", "C")]), company],
      linked + ["INSERT INTO P_c (owner, target) VALUES (1, 2)", "UPDATE P SET d = 2"],
      to: [person([id]), company],
      drops: true,
      steps: ["Drop P.c with its links.", "Drop P.d with its links."],
      after: ["SELECT * FROM P": ["1|1|10", "2|1|20", "3|1|30"]]
    ),
  ]

  static let refused: [MigrationCase] = [
    MigrationCase(
      "values that do not convert",
      [person([id, Attribute(name: "a")])],
      three,
      to: [person([id, Attribute(name: "a", type: .int32)])],
      faults: ["P.a cannot become int32 from string: 2 values do not convert (x of 10; z of 30)."]
    ),
    MigrationCase(
      "types without a rule",
      [person([id, Attribute(name: "a", type: .data)])],
      [],
      to: [person([id, Attribute(name: "a", type: .date)])],
      faults: ["P.a is data and cannot become date: there is no rule for it."]
    ),
    MigrationCase(
      "a lost digit, and a secret",
      [person([id, Attribute(name: "a", type: .decimal).with { $0.isSensitive = true }])],
      ["INSERT INTO P (_pk, _v, id, a) VALUES (1, 1, 10, '1.25')"],
      to: [
        person([
          id,
          Attribute(name: "a", type: .decimal, rules: AttributeRules(scale: 1)).with {
            $0.isSensitive = true
          },
        ])
      ],
      faults: [
        "P.a cannot become decimal with scale 1 from decimal: 1 value does not convert"
          + " (••• of 10)."
      ]
    ),
    MigrationCase(
      "nulls in a required attribute, and values that are not unique, both told",
      [person([id, Attribute(name: "a"), Attribute(name: "b")])],
      three + ["UPDATE P SET b = 'same'"],
      to: [
        person(
          [id, Attribute(name: "a", isRequired: true), Attribute(name: "b")],
          unique: [["id"], ["b"]]
        )
      ],
      faults: [
        "P.a cannot be required without a default: it is null in 1 object (20).",
        "[b] cannot be a unique key of P: 3 objects share their values (same).",
      ]
    ),
    MigrationCase(
      "an owner with two targets",
      [person([id], [.toMany("c", "C")]), company],
      linked + ["INSERT INTO P_c (owner, target) VALUES (1, 2), (1, 1), (2, 2)"],
      to: [person([id], [.toOne("c", "C")]), company],
      faults: ["P.c cannot be to-one: 1 object has several targets (10)."]
    ),
    MigrationCase(
      "a target with two owners where the inverse becomes to-one",
      [person([id], [.toOne("c", "C")]), company],
      linked + ["UPDATE P SET c = 2 WHERE _pk IN (1, 3)"],
      to: [
        person([id], [.toOne("c", "C", inverse: "p")]),
        Entity(
          name: "C",
          attributes: [id],
          relationships: [.toOne("p", "P", inverse: "c")],
          uniqueKeys: [["id"]]
        ),
      ],
      faults: ["C.p cannot be to-one: 1 object has several targets (200)."]
    ),
    MigrationCase(
      "links to another table",
      [person([id], [.toOne("c", "C")]), company],
      linked + ["UPDATE P SET c = 2"],
      to: [person([id], [.toOne("c", "P")]), company],
      faults: [
        "P.c cannot lead to P: 3 objects have links to objects of another table (10; 20; 30)."
      ]
    ),
    MigrationCase(
      "objects that would move between tables",
      [person([id]), Entity(name: "C", attributes: [Attribute(name: "x")])],
      [],
      to: [
        person([id]),
        Entity(name: "C", table: "P", attributes: [Attribute(name: "x")], parent: "P"),
      ],
      faults: [
        "C would leave the table C for P, which holds other objects: objects cannot move between"
          + " tables."
      ]
    ),
    MigrationCase(
      "a name that is taken",
      [person([id, Attribute(name: "a"), Attribute(name: "b")])],
      [],
      to: [person([id, Attribute(name: "b").with { $0.renamedFrom = "a" }])],
      faults: ["P.b was called a before (renamedFrom), but the database has both names."]
    ),
    MigrationCase(
      "objects of an entity that becomes abstract",
      [person([id, Attribute(name: "a")])],
      three,
      to: [
        Entity(
          name: "P",
          attributes: [id, Attribute(name: "a")],
          uniqueKeys: [["id"]],
          isAbstract: true
        )
      ],
      faults: ["P cannot be abstract: it has 3 objects of its own (10; 20; 30)."]
    ),
  ]
}
