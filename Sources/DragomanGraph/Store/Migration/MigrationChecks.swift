import GRDB

/// What the data must be like for a migration, as questions to the old tables.
struct MigrationChecks {
  let plan: MigrationPlan

  /// A question that must find nothing.
  struct Check {
    /// The old table and the rows that are in the way.
    let table: String
    let condition: String
    /// What is shown of such a row: expressions, and whether their values are secret.
    var shown: [(sql: String, isSensitive: Bool)]
    /// The old relationships whose links it asks for.
    var links: [RelationshipLayout] = []
    /// The fault, for the number of rows and examples of them.
    let sentence: (Int, String) -> String
  }

  /// How many rows are named in a fault.
  static let exampleCount = 3

  /// Everything in the data that is in the way, a sentence each.
  ///
  /// Runs `SELECT count(*) … WHERE …` for each check; the conversions must be registered.
  func faults(in database: Database) throws -> [String] {
    var faults: [String] = []
    for check in checks {
      let from = "FROM \(Schema.quoted(check.table)) WHERE \(check.condition)"
      let count = try Int.fetchOne(database, sql: "SELECT count(*) \(from)") ?? 0
      guard count > 0 else { continue }
      let shown = check.shown.map(\.sql).joined(separator: ", ")
      let rows = try Row.fetchAll(
        database,
        sql: "SELECT DISTINCT \(shown) \(from) ORDER BY _pk LIMIT \(Self.exampleCount)"
      )
      let examples = rows.map { row in
        zip(row.databaseValues, check.shown).map { value, shown in
          shown.isSensitive ? "•••" : Self.text(value)
        }.joined(separator: " ")
      }
      faults.append(check.sentence(count, examples.joined(separator: "; ")))
    }
    return faults
  }

  private static func text(_ value: DatabaseValue) -> String {
    switch value.storage {
    case .null: "null"
    case .int64(let integer): String(integer)
    case .double(let real): "\(real)"
    case .string(let text): text.utf8.count > 60 ? text.prefix(60) + "…" : text
    case .blob(let data): "\(data.count) bytes"
    }
  }

  /// The old tables that are asked.
  var tables: Set<String> {
    Set(checks.flatMap { [$0.table] + $0.links.map { LinkMove.table(of: $0, in: plan.old) } })
  }

  private var checks: [Check] {
    attributeChecks + keyChecks + linkChecks + entityChecks
  }

  // MARK: - Attributes

  private var attributeChecks: [Check] {
    var checks: [Check] = []
    for entity in plan.new.entities {
      for (property, attribute) in entity.entity.attributes.enumerated() {
        guard let table = plan.oldTable(of: entity.table) else { continue }
        let name = "\(entity.name).\(attribute.name)"
        let place = plan.match.attributes[entity.index][property]
        let known = place.map { plan.old.entities[$0.entity].entity.attributes[property: $0] }
        if let place, let known {
          checks += strays(of: known, place, to: entity, name, in: table)
          let conversion = ValueConversion(from: known, to: attribute)
          if case .values = conversion.kind,
            let number = source(of: attribute.column, in: entity.table)?.conversion
          {
            let column = Schema.quoted(known.column)
            checks.append(
              Check(
                table: table,
                condition:
                  "\(column) NOT NULL AND \(ConversionFunction.name)(\(column), \(number)) IS NULL",
                shown: [(column, known.isSensitive || attribute.isSensitive)]
                  + key(of: plan.old.entities[place.entity], behind: "of"),
                sentence: { count, examples in
                  "\(name) cannot become \(attribute.described) from \(known.described):"
                    + " \(Self.values(count)) not convert (\(examples))."
                }
              )
            )
          }
        }
        if attribute.isRequired && attribute.defaultValue == nil && known?.isRequired != true {
          let isNull = known.map { "\(Schema.quoted($0.column)) IS NULL" } ?? "1"
          let member = plan.match.entities[entity.index].map { plan.old.entities[$0] }
          // A stub has none of the values that are required.
          let isWhole =
            plan.old.entities.contains { $0.table == table && $0.hasStubColumn }
            ? " AND _stub IS NULL" : ""
          checks.append(
            Check(
              table: table,
              condition: "\(isNull) AND \(membership(of: entity))\(isWhole)",
              shown: key(of: member ?? plan.old.entities[0], behind: nil),
              sentence: { count, examples in
                "\(name) cannot be required without a default:"
                  + " it is null in \(Self.objects(count)) (\(examples))."
              }
            )
          )
        }
      }
    }
    return checks
  }

  /// Values of objects that will not have the attribute any more.
  private func strays(
    of known: Attribute,
    _ place: ModelMatch.Place,
    to entity: EntityLayout,
    _ name: String,
    in table: String
  ) -> [Check] {
    let family = plan.old.entities[place.entity].family
    let kept = Set(entity.family.compactMap { plan.match.entities[$0] })
    let lost = family.filter {
      !kept.contains($0) && plan.match.successor(ofEntity: $0) != nil
    }
    guard !lost.isEmpty else { return [] }
    return [
      Check(
        table: table,
        condition: "\(Schema.quoted(known.column)) NOT NULL AND \(isOne(of: lost))",
        shown: key(of: plan.old.entities[place.entity], behind: nil),
        sentence: { count, examples in
          "\(name) cannot move: a value stands in \(Self.objects(count)) that are no \(entity.name)"
            + " (\(examples))."
        }
      )
    ]
  }

  // MARK: - Keys

  private var keyChecks: [Check] {
    plan.newSchema.indexes.compactMap { index in
      guard index.isUnique, let change = plan.tables.first(where: { $0.new == index.table }) else {
        return nil
      }
      let parts = index.columns.map { part(of: $0, in: change) }
      guard !parts.contains(where: { $0 == nil }) else { return nil }
      let columns = parts.compactMap { $0 }
      let wasUnique = plan.oldSchema.indexes.contains { old in
        old.isUnique && old.table == change.old && Set(old.columns) == Set(columns.map(\.column))
      }
      if wasUnique && !columns.contains(where: \.isFilled) { return nil }
      let expressions = columns.map(\.sql)
      let list = expressions.joined(separator: ", ")
      let notNull = expressions.map { "\($0) NOT NULL" }.joined(separator: " AND ")
      let condition =
        "(\(list)) IN (SELECT \(list) FROM \(Schema.quoted(change.old)) WHERE \(notNull)"
        + " GROUP BY \(list) HAVING count(*) > 1)"
      return Check(
        table: change.old,
        condition: condition,
        shown: columns.map { ($0.sql, $0.isSensitive) },
        sentence: { count, examples in
          "[\(index.columns.joined(separator: ", "))] cannot be a unique key of \(index.table):"
            + " \(Self.objects(count)) share their values (\(examples))."
        }
      )
    }
  }

  private struct KeyPart {
    let column: String
    let sql: String
    /// Whether it will have other values than it has.
    let isFilled: Bool
    let isSensitive: Bool
  }

  /// A column of a key as it will be; nil where that cannot be said of the old table.
  private func part(of column: String, in change: MigrationPlan.TableChange) -> KeyPart? {
    let attribute = plan.new.entities.lazy.filter { $0.table == change.new }
      .flatMap(\.entity.attributes).first { $0.column.utf8.elementsEqual(column.utf8) }
    guard let source = change.sources[column] else { return nil }
    var sql = Schema.quoted(source.column)
    if let number = source.conversion { sql = "\(ConversionFunction.name)(\(sql), \(number))" }
    // Two values may become one.
    var isFilled = source.conversion != nil
    if let attribute, attribute.isRequired, let value = attribute.defaultValue {
      sql = "coalesce(\(sql), \(value.literal))"
      isFilled = true
    }
    return KeyPart(
      column: source.column,
      sql: sql,
      isFilled: isFilled,
      isSensitive: attribute?.isSensitive ?? false
    )
  }

  // MARK: - Entities

  private var entityChecks: [Check] {
    plan.new.entities.compactMap { entity in
      guard entity.entity.isAbstract, let known = plan.match.entities[entity.index],
        !plan.old.entities[known].entity.isAbstract
      else { return nil }
      let layout = plan.old.entities[known]
      return Check(
        table: layout.table,
        condition: isOne(of: [known]),
        shown: key(of: layout, behind: nil),
        sentence: { count, examples in
          "\(entity.name) cannot be abstract: it has \(Self.objects(count)) of its own"
            + " (\(examples))."
        }
      )
    }
  }

  /// Which rows of the old table become objects of a new entity or of those below it.
  private func membership(of entity: EntityLayout) -> String {
    isOne(of: entity.family.compactMap { plan.match.entities[$0] })
  }

  /// Which rows of their table are objects of exactly these old entities.
  func isOne(of entities: [Int]) -> String {
    guard let first = entities.first else { return "0" }
    let root = plan.old.entities[plan.old.entities[first].root]
    guard root.hasEntityColumn else { return entities.contains(root.index) ? "1" : "0" }
    let names = entities.map { Schema.literal(plan.old.entities[$0].name) }
    return "_entity IN (\(names.joined(separator: ", ")))"
  }

  func oldEntity(_ new: Int) -> Int? {
    plan.match.entities[new]
      ?? plan.new.entities[new].family.lazy.compactMap { plan.match.entities[$0] }.first
  }

  private func source(of column: String, in table: String) -> MigrationPlan.Source? {
    plan.tables.first { $0.new == table }?.sources[column]
  }

  /// How a row is called: its identity, else its `_pk`.
  func key(of entity: EntityLayout, behind word: String?) -> [(String, Bool)] {
    let word = word.map { [("'\($0)'", false)] } ?? []
    guard let identity = entity.uniqueKeys.first else { return word + [("'_pk ' || _pk", false)] }
    return word
      + identity.map { part in
        guard case .attribute(let slot) = part.property else {
          return (Schema.quoted(part.column), false)
        }
        return (Schema.quoted(part.column), entity.attributes[slot].isSensitive)
      }
  }

  static func objects(_ count: Int) -> String {
    count == 1 ? "1 object" : "\(count) objects"
  }

  static func objects(_ count: Int, _ one: String, _ many: String) -> String {
    "\(objects(count)) \(count == 1 ? one : many)"
  }

  private static func values(_ count: Int) -> String {
    count == 1 ? "1 value does" : "\(count) values do"
  }
}

extension Attribute {
  /// The type, with its scale.
  fileprivate var described: String {
    type.rawValue + (rules.scale.map { " with scale \($0)" } ?? "")
  }
}
