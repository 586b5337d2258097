import DragomanGraph
import Testing

@testable import Dragoman

/// The worked example of docs/maps.md, loaded into exactly the value it describes.
@Suite struct ExampleMapTests {
  @Test("The worked example loads into exactly the value it describes")
  func example() throws {
    let file = "\(Shared.folder)/example/crm.map.yaml"
    guard Shared.has(file) else { return }
    let map = Self.withoutPositions(try ImportMap(contentsOf: file))
    let expected = try Self.expected(file)
    #expect(map.defaults == expected.defaults)
    for (entity, other) in zip(map.entities, expected.entities) { #expect(entity == other) }
    #expect(map.sources == expected.sources)
    #expect(map == expected)
  }

  @Test(
    "The example has two warnings: a version that null takes away, an inverse that is declared nowhere"
  )
  func lints() throws {
    let file = "\(Shared.folder)/example/crm.map.yaml"
    guard Shared.has(file) else { return }
    let lints = try ImportMap(contentsOf: file).lint()
    #expect(
      lints.map { "\($0.position?.line ?? 0) \($0.code.rawValue)" } == [
        "61 lint.version", "69 lint.inverse",
      ]
    )
  }

  @Test("The example survives JSON, YAML and Codable")
  func roundTrip() throws {
    let file = "\(Shared.folder)/example/crm.map.yaml"
    guard Shared.has(file) else { return }
    try MapWritingTests.expectRoundTrip(ImportMap(contentsOf: file))
  }

  /// Optional positions make a map from a file unequal to one built in code.
  private static func withoutPositions(_ map: ImportMap) -> ImportMap {
    var map = map
    for index in map.entities.indices {
      map.entities[index].position = nil
      for place in map.entities[index].attributes.indices {
        map.entities[index].attributes[place].position = nil
      }
      for place in map.entities[index].relationships.indices {
        map.entities[index].relationships[place].position = nil
      }
    }
    for index in map.sources.indices { map.sources[index].position = nil }
    return map
  }

  private static func expected(_ file: String) throws -> ImportMap {
    ImportMap(
      name: "crm",
      defaults: ImportMap.Defaults(
        timeZone: "Europe/Oslo",
        dates: ["iso8601", "dd.MM.yyyy HH:mm", "unix"],
        numbers: NumberFormat(decimal: ",", group: "."),
        strings: StringFormat(trim: true, emptyAsNull: true),
        onUnresolved: .clear,
        policies: ValuePolicies(
          onMissing: .keep,
          onNull: .clear,
          onInvalid: .reject,
          ignoreOptionalNullValues: true
        )
      ),
      entities: [try company(), try team(), try phone(), try skill(), try person()],
      sources: [
        SourceMap(
          name: "people-json",
          format: .json,
          entity: "Person",
          records: ForeignPath(
            steps: [.member("data", namespace: nil), .member("people", namespace: nil)],
            text: "/data/people"
          )
        ),
        SourceMap(name: "people-feed", format: .ndjson, entity: "Person"),
        SourceMap(
          name: "people-xml",
          format: .xml,
          entity: "Person",
          records: ForeignPath(
            steps: ["crm", "people", "person"].map { .member($0, namespace: "urn:example:crm:1") },
            text: "/c:crm/c:people/c:person"
          ),
          namespaces: ["c": "urn:example:crm:1"]
        ),
      ],
      importOptions: ImportMap.ImportOptions(
        batchSize: 1000,
        commit: .all,
        rejectsFile: "rejects.ndjson",
        maximumRejects: 100
      ),
      exportOptions: ImportMap.ExportOptions(
        entity: "Person",
        style: ExportStyle(names: .foreign, nulls: .omit, isPretty: true),
        sort: ["country", "personID"],
        include: [
          "company": .nested, "phones": .nested, "manager": .key, "skills": .values,
          "teams": .keys,
        ],
        jsonAt: "/data/people",
        xmlAt: "/c:crm/c:people/c:person"
      ),
      file: file
    )
  }

  private static func company() throws -> EntityMap {
    EntityMap(
      name: "Company",
      table: "companies",
      uniqueKeys: [["id"]],
      attributes: [
        AttributeMap(name: "id", from: try paths("id", "@id"), type: .int64, isRequired: true),
        AttributeMap(name: "name", from: try paths("name", "text()")),
        AttributeMap(
          name: "founded",
          from: try paths("founded", "@founded"),
          type: .date,
          format: ValueFormat(dates: ["iso8601-date"])
        ),
        AttributeMap(name: "city", from: try paths("address.city", "c:city")),
        AttributeMap(name: "zip", from: try paths("address.zip", "c:zip")),
      ]
    )
  }

  private static func team() throws -> EntityMap {
    EntityMap(
      name: "Team",
      table: "teams",
      uniqueKeys: [["id"]],
      attributes: [
        AttributeMap(name: "id", type: .int64, isRequired: true),
        AttributeMap(name: "name", from: try paths("name", "name", csv: "name")),
      ]
    )
  }

  private static func phone() throws -> EntityMap {
    EntityMap(
      name: "Phone",
      table: "phones",
      uniqueKeys: [["owner", "kind"]],
      attributes: [
        AttributeMap(
          name: "kind",
          from: try paths("type", "@type"),
          type: .enum,
          format: ValueFormat(
            values: ["mobile": "mobile", "work": "work", "home": "home"],
            unknown: "other"
          )
        ),
        AttributeMap(name: "number", from: try paths("number", "text()"), isRequired: true),
      ]
    )
  }

  private static func skill() throws -> EntityMap {
    EntityMap(
      name: "Skill",
      table: "skills",
      uniqueKeys: [["name"]],
      attributes: [
        AttributeMap(name: "name", from: try paths(".", ".", csv: "."), isRequired: true)
      ]
    )
  }

  private static func person() throws -> EntityMap {
    try EntityMap(
      name: "Person",
      table: "people",
      uniqueKeys: [["country", "personID"]],
      attributes: try personAttributes(),
      relationships: try personRelationships()
    ).with {
      $0.version = "updatedAt"
      $0.deleteWhen = EntityMap.Tombstone(from: try paths("deleted", "@deleted"), equals: "true")
      $0.hooks = EntityMap.Hooks(
        afterRecord: ["normalisePhoneNumbers"],
        afterImport: ["rebuildSearchIndex"]
      )
    }
  }

  private static func personAttributes() throws -> [AttributeMap] {
    [
      AttributeMap(name: "personID", from: try paths("person_id", "@id"), isRequired: true),
      AttributeMap(
        name: "country",
        from: try paths("country", "@country"),
        isRequired: true,
        defaultValue: "NO"
      ),
      AttributeMap(name: "firstName", from: try paths("name.first", "c:name/c:first")),
      AttributeMap(
        name: "lastName",
        from: try paths("name.last", "c:name/c:last")
      ).with { $0.isIndexed = true },
      AttributeMap(
        name: "email",
        from: ForeignPaths(
          json: try paths("e_mail", "a").json + (try paths("contact.email", "a").json),
          xml: try paths("a", "c:email").xml
        )
      ).with { $0.policies = ValuePolicies(onNull: .keep) },
      AttributeMap(
        name: "bornOn",
        from: try paths("dob", "c:dob"),
        type: .date,
        format: ValueFormat(dates: ["dd.MM.yyyy", "iso8601-date"])
      ).with { $0.policies = ValuePolicies(onInvalid: .clear) },
      AttributeMap(name: "updatedAt", from: try paths("updated", "c:updated"), type: .timestamp),
      AttributeMap(
        name: "salary",
        from: try paths("salary", "c:salary"),
        type: .decimal,
        rules: AttributeRules(scale: 2)
      ),
      AttributeMap(
        name: "isActive",
        from: try paths("is_active", "@active"),
        type: .bool,
        defaultValue: "true"
      ).with {
        $0.format.trueValues = ["Y", "1"]
        $0.format.falseValues = ["N", "0"]
      },
      AttributeMap(
        name: "employment",
        from: try paths("employment", "c:employment"),
        type: .enum,
        format: ValueFormat(values: ["FT": "full_time", "PT": "part_time"])
      ),
      AttributeMap(
        name: "nickname"
      ).with { $0.policies = ValuePolicies(ignoreNullValueOverwrites: true) },
      AttributeMap(name: "displayName").with { $0.compute = "displayName" },
      AttributeMap(
        name: "raw",
        from: try paths(".", ".", csv: "."),
        type: .json
      ).with { $0.isExported = false },
    ]
  }

  private static func personRelationships() throws -> [RelationshipMap] {
    [
      RelationshipMap(
        name: "company",
        entity: "Company",
        kind: .toOne,
        from: try paths("company", "c:company"),
        inverse: "employees"
      ),
      RelationshipMap(
        name: "manager",
        entity: "Person",
        kind: .toOne,
        key: [
          "country": .attribute("country"),
          "personID": .path(try paths("manager_id", "c:manager/@ref"), split: nil),
        ]
      ).with { $0.onUnresolved = .stub },
      RelationshipMap(
        name: "phones",
        entity: "Phone",
        kind: .toMany,
        from: try paths("phones", "c:phone"),
        inverse: "owner",
        assign: .replace
      ).with {
        $0.isOrdered = true
        $0.onDelete = .cascade
        $0.onUnlink = .delete
      },
      RelationshipMap(
        name: "skills",
        entity: "Skill",
        kind: .toMany,
        from: try paths("skills", "c:skill"),
        assign: .replace
      ),
      RelationshipMap(
        name: "teams",
        entity: "Team",
        kind: .toMany,
        key: ["id": .path(try paths("team_ids[*]", "c:team/@ref"), split: nil)],
        assign: .union
      ).with { $0.onUnresolved = .stub },
    ]
  }

  private static func paths(
    _ json: String,
    _ xml: String,
    csv: String? = nil
  ) throws -> ForeignPaths {
    let namespaces = ["c": "urn:example:crm:1"]
    return ForeignPaths(
      json: [try ForeignPathParser(format: .json).parse(json)],
      xml: [try ForeignPathParser(format: .xml, namespaces: namespaces).parse(xml)],
      csv: try csv.map { [try ForeignPathParser(format: .csv).parse($0)] } ?? []
    )
  }
}
