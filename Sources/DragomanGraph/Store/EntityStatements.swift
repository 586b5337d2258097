/// The SQL by which the rows of one entity are written, by their shape.
///
/// Pure text: which statement a shape gets can be read and tested without a database.
struct EntityStatements {
  let entity: Entity
  /// The attributes that rows give, in the order of their values.
  let slots: [Attribute]
  let mode: EntityWriter.Mode
  /// The slot of the attribute that tells newer rows from older ones.
  let version: Int?

  /// One statement: its SQL, and which slot is bound to which parameter.
  struct Sentence: Equatable {
    var sql: String
    /// The slots bound, to the parameters from `firstParameter` on.
    var slots: [Int]
    var firstParameter = 1
    /// Constants bound to the parameters behind those of the slots.
    var constants: [StoredValue] = []
  }

  /// The slots of the identity, if the shape gives all of them.
  func keySlots(of present: [Int]) -> [Int]? {
    guard let identity = entity.identity else { return nil }
    let found = identity.compactMap { name in present.first { slots[$0].name == name } }
    return found.count == identity.count ? found : nil
  }

  /// A required attribute that the shape lacks, so that it can make no object; nil: none.
  func missing(from present: [Int]) -> String? {
    let given = names(of: present)
    return entity.attributes.first {
      $0.isRequired && $0.defaultValue == nil && !given.contains($0.name)
    }?.name
  }

  /// Whether rows of the shape may be older than what is stored.
  func isVersioned(_ present: [Int]) -> Bool {
    guard let version, keySlots(of: present) != nil else { return false }
    return present.contains(version) && (mode == .upsert || mode == .replace)
  }

  /// Makes the object, or updates the one that has the key.
  ///
  /// Parameter 1 is `_pk`.
  func upsert(_ present: [Int]) -> Sentence {
    let given = names(of: present)
    let defaults = entity.attributes.filter { !given.contains($0.name) && $0.defaultValue != nil }
    let columns = present.map { slots[$0].column } + defaults.map(\.column)
    let parameters = columns.indices.map { "?\($0 + 2)" }
    let sql =
      "INSERT INTO \(table) ("
      + (["_pk", "_v"] + columns.map(Schema.quoted)).joined(separator: ", ") + ") VALUES ("
      + (["?1", "1"] + parameters).joined(separator: ", ") + ")"
      + conflictClause(present, given: given)
    return Sentence(
      sql: sql,
      slots: present,
      firstParameter: 2,
      constants: defaults.map { $0.defaultValue ?? .null }
    )
  }

  /// Completes the object that has the key; makes none.
  func update(_ present: [Int]) -> Sentence {
    guard let keys = keySlots(of: present), mode == .upsert else {
      return Sentence(sql: "UPDATE \(table) SET _v = _v WHERE 0", slots: [])
    }
    let settable = present.filter { !keys.contains($0) }
    let columns = settable.map(column)
    let parameters = columns.indices.map { "?\(keys.count + $0 + 1)" }
    let assignments = zip(columns, parameters).map { "\($0) = \($1)" } + ["_v = _v + 1"]
    let differences = zip(columns, parameters).map { "\($0) IS NOT \($1)" }
    var sql =
      "UPDATE \(table) SET " + assignments.joined(separator: ", ")
      + " WHERE \(keyTest(keys)) AND ("
      + (differences.isEmpty ? "0" : differences.joined(separator: " OR ")) + ")"
    if isVersioned(present), let version, let place = settable.firstIndex(of: version) {
      sql += " AND \(isNotOlder(parameters[place]))"
    }
    return Sentence(sql: sql, slots: keys + settable)
  }

  /// Finds the object that has the key.
  func probe(_ keys: [Int]) -> Sentence {
    Sentence(sql: "SELECT 1 FROM \(table) WHERE \(keyTest(keys))", slots: keys)
  }

  /// Finds the object that has the key, if it is newer than the row.
  func newer(_ keys: [Int], than version: Int) -> Sentence {
    let test = isNotOlder("?\(keys.count + 1)")
    return Sentence(
      sql: "SELECT 1 FROM \(table) WHERE \(keyTest(keys)) AND NOT (\(test))",
      slots: keys + [version]
    )
  }

  /// Deletes the object that has the key, unless it is newer than the row.
  func delete(_ present: [Int]) -> Sentence? {
    guard let keys = keySlots(of: present) else { return nil }
    var sentence = Sentence(sql: "DELETE FROM \(table) WHERE \(keyTest(keys))", slots: keys)
    if let version, present.contains(version) {
      sentence.sql += " AND \(isNotOlder("?\(keys.count + 1)"))"
      sentence.slots.append(version)
    }
    return sentence
  }

  // MARK: - Parts

  private var table: String { Schema.quoted(entity.table) }

  private func names(of present: [Int]) -> Set<String> { Set(present.map { slots[$0].name }) }

  private func column(_ slot: Int) -> String { Schema.quoted(slots[slot].column) }

  private func keyTest(_ keys: [Int]) -> String {
    keys.enumerated().map { "\(column($1)) = ?\($0 + 1)" }.joined(separator: " AND ")
  }

  /// Whether a value of the version attribute is not older than the stored one; one that is not
  /// known on either side is not.
  private func isNotOlder(_ value: String) -> String {
    guard let version else { return "1" }
    let stored = column(version)
    let isDecimal = slots[version].type == .decimal
    let collation = isDecimal ? " COLLATE \(FetchFunctions.decimalCollation)" : ""
    return "(\(stored) IS NULL OR \(value) IS NULL OR \(value) >= \(stored)\(collation))"
  }

  /// What to do where the key exists.
  private func conflictClause(_ present: [Int], given: Set<String>) -> String {
    guard let identity = entity.identity else { return "" }
    let target = identity.map { Schema.quoted(entity.attribute(named: $0)?.column ?? $0) }
      .joined(separator: ", ")
    let settable = entity.attributes.filter { attribute in
      !identity.contains(attribute.name) && (mode == .replace || given.contains(attribute.name))
    }
    guard mode == .upsert || mode == .replace, !settable.isEmpty else {
      return " ON CONFLICT (\(target)) DO NOTHING"
    }
    let columns = settable.map { Schema.quoted($0.column) }
    let assignments = columns.map { "\($0) = excluded.\($0)" } + ["_v = _v + 1"]
    let differences = columns.map { "\($0) IS NOT excluded.\($0)" }.joined(separator: " OR ")
    var clause =
      " ON CONFLICT (\(target)) DO UPDATE SET " + assignments.joined(separator: ", ") + " WHERE "
    if isVersioned(present), let version {
      clause += "(\(differences)) AND \(isNotOlder("excluded.\(column(version))"))"
    } else {
      clause += differences
    }
    return clause
  }
}
