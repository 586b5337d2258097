import GRDB

/// What the data must be like for a migration, as questions to the old tables.
struct MigrationChecks {
  let plan: MigrationPlan
  /// The unique keys of the old model that nothing has enforced: their indexes are gone.
  var lostKeys: [Schema.Index] = []

  /// A question that must find nothing.
  struct Check {
    /// The old table and the rows that are in the way.
    let table: String
    let condition: String
    /// What is shown of such a row.
    var shown: [Shown]
    /// The old relationships whose links it asks for.
    var links: [RelationshipLayout] = []
    /// The fault, for the number of rows and examples of them.
    let sentence: (Int, String) -> String
  }

  /// A part of what is shown of a row.
  struct Shown {
    /// An expression.
    let sql: String
    /// Whether its values are secret.
    var isSensitive = false
    /// Whether it is a word of the sentence, and no value.
    var isWord = false
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
      let rows = try RawStatement(
        "SELECT DISTINCT \(shown) \(from) ORDER BY _pk LIMIT \(Self.exampleCount)",
        in: database
      )
      var examples: [String] = []
      try rows.forEachRow { row in
        let texts = check.shown.enumerated().map { column, shown in
          if shown.isSensitive { return "•••" }
          let value = row.stored(Int32(column))
          if case .text(let word) = value, shown.isWord { return word }
          return Self.text(value)
        }
        examples.append(texts.joined(separator: " "))
      }
      faults.append(check.sentence(count, examples.joined(separator: "; ")))
    }
    return faults
  }

  static func text(_ value: StoredValue) -> String {
    switch value {
    case .null: return "null"
    case .integer(let integer): return String(integer)
    case .real(let real): return "\(real)"
    case .text(let text):
      let shown =
        text.unicodeScalars.count > 60 ? String(text.unicodeScalars.prefix(60)) + "…" : text
      // What cannot be told from the words around it stands in quotes.
      return shown.utf8.allSatisfy(isPlain) && !text.isEmpty
        ? shown : JSONString.quoted(shown, .lines)
    case .blob(let bytes): return MessageWords.count(bytes.count, "byte")
    }
  }

  /// Letters, digits, and the signs of numbers, dates and names.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...: true
    default: "-+.:_/@".utf8.contains(byte)
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
                shown: [Shown(sql: column, isSensitive: known.isSensitive || attribute.isSensitive)]
                  + key(of: plan.old.entities[place.entity], behind: "of"),
                sentence: { count, examples in
                  "\(name) cannot become \(attribute.described) from \(known.described):"
                    + " \(MessageWords.count(count, "value does", "values do")) not convert (\(examples))."
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
                  + " it is null in \(MessageWords.count(count, "object")) (\(examples))."
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
    let lost = strays(of: place.entity, to: entity)
    guard !lost.isEmpty else { return [] }
    return [
      Check(
        table: table,
        condition: "\(Schema.quoted(known.column)) NOT NULL AND \(isOne(of: lost))",
        shown: key(of: plan.old.entities[place.entity], behind: nil),
        sentence: { count, examples in
          "\(name) cannot move: values stand in \(MessageWords.count(count, "object"))"
            + " \(Self.strangers(count, to: entity)) (\(examples))."
        }
      )
    ]
  }

  /// The old entities below one, itself among them, that stay and are not below the new one.
  func strays(of old: Int, to new: EntityLayout) -> [Int] {
    let kept = Set(new.family.compactMap { plan.match.entities[$0] })
    return plan.old.entities[old].family.filter {
      !kept.contains($0) && plan.match.successor(ofEntity: $0) != nil
    }
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
        old.isUnique && old.table == change.old && !lostKeys.contains(old)
          && Set(old.columns) == Set(columns.compactMap(\.column))
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
        shown: columns.map { Shown(sql: $0.sql, isSensitive: $0.isSensitive) },
        sentence: { count, examples in
          "[\(index.columns.joined(separator: ", "))] cannot be a unique key of \(index.table):"
            + " \(MessageWords.count(count, "object")) share their values (\(examples))."
        }
      )
    }
  }

  private struct KeyPart {
    /// The old column; nil: there is none.
    let column: String?
    let sql: String
    /// Whether it will have other values than it has.
    let isFilled: Bool
    let isSensitive: Bool
  }

  /// A column of a key as it will be; nil where that cannot be said of the old table.
  private func part(of column: String, in change: MigrationPlan.TableChange) -> KeyPart? {
    let found = plan.new.entities.lazy.filter { $0.table == change.new }
      .flatMap { entity in entity.entity.attributes.map { (entity, $0) } }
      .first { hasSameBytes($0.1.column, column) }
    let attribute = found?.1
    let source = change.sources[column]
    var sql = source.map { Schema.quoted($0.column) } ?? "NULL"
    if let number = source?.conversion { sql = "\(ConversionFunction.name)(\(sql), \(number))" }
    // Two values may become one.
    var isFilled = source?.conversion != nil
    if let (entity, attribute) = found, attribute.isRequired, let value = attribute.defaultValue {
      sql =
        "CASE WHEN \(membership(of: entity)) THEN coalesce(\(sql), \(value.literal)) ELSE \(sql) END"
      isFilled = true
    } else if source == nil {
      // It is null in all objects.
      return nil
    }
    return KeyPart(
      column: source?.column,
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
          "\(entity.name) cannot be abstract: it has \(MessageWords.count(count, "object")) of its own"
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
  func key(of entity: EntityLayout, behind word: String?) -> [Shown] {
    let word = word.map { [Shown(sql: "'\($0)'", isWord: true)] } ?? []
    guard let identity = entity.uniqueKeys.first else {
      return word + [Shown(sql: "'_pk ' || _pk", isWord: true)]
    }
    return word
      + identity.map { part in
        guard case .attribute(let slot) = part.property else {
          return Shown(sql: Schema.quoted(part.column))
        }
        return Shown(
          sql: Schema.quoted(part.column),
          isSensitive: entity.attributes[slot].isSensitive
        )
      }
  }

  static func strangers(_ count: Int, to entity: EntityLayout) -> String {
    "that \(count == 1 ? "is" : "are") no \(entity.name)"
  }
}

extension Attribute {
  /// The type, with its scale.
  var described: String {
    type.rawValue + (rules.scale.map { " with scale \($0)" } ?? "")
  }
}
