/// The rows of one entity that are to be written, and the SQL by which they are, by their shape.
///
/// Pure text: which statement a shape gets can be read and tested without a database.
package struct EntityStatements: Adjustable {
  package let entity: EntityLayout
  /// What rows give, in the order of their values.
  package let slots: [RowSlot]
  /// What happens to objects that exist.
  package let mode: EntityWriter.Mode
  /// The slot of the attribute that tells newer rows from older ones; nil: the last one wins.
  package let version: Int?
  /// The columns whose former values the statements note, with the object they met; nil: neither, which
  /// is a little faster.
  package var noted: [String]?
  /// Whether the statements note the values of attributes that they overwrite.
  package var notesFormer = false
  /// Which rows complete a stub.
  package var completesStubs: StubRule = .never
  /// The names of the entity and of everything below it.
  var family: [String]
  /// The more general entities whose objects rows may be of: those become of the entity.
  var ancestors: [EntityLayout] = []
  /// The names of the entities below it that require more: their stubs get the values of rows, and stay stubs.
  var demanding: [String] = []

  package init(
    entity: EntityLayout,
    slots: [RowSlot],
    mode: EntityWriter.Mode,
    version: Int? = nil
  ) {
    self.entity = entity
    self.slots = slots
    self.mode = mode
    self.version = version
    family = [entity.name]
  }

  /// Why a server cannot hold a row: the first property whose text holds U+0000, or that is a decimal of too many
  /// digits.
  package func firstMisfit(
    in row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer
  ) -> EntityWriter.Outcome? {
    for slot in slots.indices where row[slot].kind == .text {
      let text = UnsafeRawBufferPointer(
        start: arena + row[slot].offset,
        count: Int(row[slot].length)
      )
      if text.contains(0) { return .holdsNUL(slots[slot].name) }
      if text.count > DecimalText.serverFractionCount,
        case .attribute(let attribute) = slots[slot].kind,
        attribute.type == .decimal, !DecimalText.fitsServer(text)
      {
        return .hasTooManyDigits(slots[slot].name)
      }
    }
    return nil
  }

  /// Which rows make a whole object of a stub.
  package enum StubRule: Sendable {
    /// None: the table has no stubs.
    case never
    /// Those that give more than the key, where the key makes no object: without more a nested record is a
    /// reference.
    case withValues
    /// All.
    case always
  }

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
    entity.uniqueKeys.first.flatMap { self.slots(of: $0, present) }
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
    insert(present, conflictClause(present, given: columns(of: present)))
  }

  /// Makes the object, and leaves the one alone that has the key; nil where `upsert` costs no more.
  ///
  /// Before a statement that can set a foreign key of a row that is there, SQLite copies each page
  /// that it changes, so that the statement alone can be undone
  /// (https://www.sqlite.org/tempfiles.html#stmtjrnl). For a new object that is several times the
  /// work of inserting it.
  func insertOnly(_ present: [Int]) -> Sentence? {
    guard mode == .upsert || mode == .replace, let target = conflictTarget,
      present.contains(where: { slots[$0].isLink })
    else { return nil }
    return insert(present, " ON CONFLICT (\(target)) DO NOTHING")
  }

  /// Makes an object, of whose keys it is known that nobody has them.
  ///
  /// Parameter 1 is `_pk`.
  func insert(_ present: [Int]) -> Sentence { insert(present, "") }

  private func insert(_ present: [Int], _ conflictClause: String) -> Sentence {
    let given = columns(of: present)
    let defaults = entity.attributes.filter { !given.contains($0.column) && $0.defaultValue != nil }
    let values = merged(values(of: present, from: 2)) + places(ofNew: present)
    let own = entity.hasEntityColumn ? ["_pk", "_v", "_entity"] : ["_pk", "_v"]
    let ownValues = ["?1", "1"] + (entity.hasEntityColumn ? [Schema.literal(entity.name)] : [])
    let first = present.count + 2
    let sql =
      "INSERT INTO \(table) ("
      + (own + (values.map(\.column) + defaults.map(\.column)).map(Schema.quoted))
      .joined(separator: ", ") + ") VALUES ("
      + (ownValues + values.map(\.value) + defaults.indices.map { "?\($0 + first)" })
      .joined(separator: ", ") + ")" + conflictClause
    return Sentence(
      sql: sql,
      slots: present,
      firstParameter: 2,
      constants: defaults.map { $0.defaultValue ?? .null }
    )
  }

  /// Changes the object that has the key; makes none, and none whole.
  ///
  /// Parameter 1 is the next `_pk` where rows of the shape may take a place (`takesPlaces`).
  func update(_ present: [Int]) -> Sentence {
    guard let keys = keySlots(of: present), mode == .upsert else {
      return Sentence(sql: "UPDATE \(table) SET _v = _v WHERE 0", slots: [])
    }
    let settable = present.filter { !keys.contains($0) && slots[$0].kind != .place }
    let start = takesPlaces(present) ? 2 : 1
    let values = values(of: settable, from: start + keys.count)
    let own = ownChanges(completes: false)
    let isWhole = isWhole(hasValues: !settable.isEmpty)
    let gained = gained(present)
    let first = start + keys.count + settable.count
    let assignments =
      values.map { "\(Schema.quoted($0.column)) = \($0.value)" } + own.map(\.assignment)
      + places(settable, from: start + keys.count)
      + gained.enumerated().map { $1.assignment("?\($0 + first)") } + ["_v = _v + 1"]
    let differences =
      values.map { "\(Schema.quoted($0.column)) IS NOT \($0.value)" } + own.map(\.difference)
    var test = "(\(Schema.any(differences)))"
    if isVersioned(present), let version, let place = settable.firstIndex(of: version) {
      test += " AND \(isNotOlder("?\(start + keys.count + place)"))"
    }
    return Sentence(
      sql: "UPDATE \(table) SET " + assignments.joined(separator: ", ")
        + " WHERE \(keyTest(keys, from: start))\(isWhole)\(hasLacking(present)) AND"
        + " \(noting(ofEntity(test), former: former(present)))",
      slots: keys + settable,
      firstParameter: start,
      constants: gained.map(\.value)
    )
  }

  /// Finds the object that has the key and is of another branch of the family; nil where there is
  /// none.
  func relative(_ keys: [Int]) -> Sentence? {
    entityTest.map { test in
      Sentence(
        sql: "SELECT _entity FROM \(table) WHERE \(keyTest(keys)) AND NOT \(test)",
        slots: keys
      )
    }
  }

  /// Finds the object that has the key.
  func probe(_ keys: [Int]) -> Sentence {
    Sentence(sql: "SELECT _pk FROM \(table) WHERE \(ofEntity(keyTest(keys)))", slots: keys)
  }

  /// Finds the object that has the key of a row which can make none, or leaves objects alone; what the
  /// row would have to make whole is not there.
  func probe(_ keys: [Int], for present: [Int]) -> Sentence {
    var sentence = probe(keys)
    let hasValues = present.contains { !keys.contains($0) && slots[$0].kind != .place }
    sentence.sql += isWhole(hasValues: hasValues)
    return sentence
  }

  /// Finds the object that a row of a shape leaves alone; nil where rows of the shape do not.
  func keeper(_ keys: [Int], for present: [Int]) -> Sentence? {
    if leavesObjects { return probe(keys, for: present) }
    guard isVersioned(present), let version else { return nil }
    return newer(keys, than: version, for: present)
  }

  /// Finds the object that has the key, if it is newer than a row; a stub is not.
  func newer(_ keys: [Int], than version: Int, for present: [Int]) -> Sentence {
    var sentence = probe(keys, for: present)
    sentence.sql += " AND NOT (\(isNotOlder("?\(keys.count + 1)")))"
    sentence.slots.append(version)
    return sentence
  }

  /// Deletes the object that has the key, unless it is newer than the row.
  func delete(_ present: [Int]) -> Sentence? {
    aged("DELETE", present)
  }

  /// Finds the object that has the key, unless it is newer than the row.
  func find(_ present: [Int]) -> Sentence? {
    aged("SELECT _pk", present)
  }

  // MARK: - Parts

  var table: String { Schema.quoted(entity.table) }

  private func aged(_ verb: String, _ present: [Int]) -> Sentence? {
    guard let keys = keySlots(of: present) else { return nil }
    var sentence = Sentence(
      sql: "\(verb) FROM \(table) WHERE \(ofEntity(keyTest(keys)))",
      slots: keys
    )
    if let version, present.contains(version) {
      sentence.sql += " AND \(isNotOlder("?\(keys.count + 1)"))"
      sentence.slots.append(version)
    }
    return sentence
  }

  func columns(of present: [Int]) -> Set<String> { Set(present.map { slots[$0].column }) }

  /// The columns that a shape gives with their values, given the first parameter of its slots.
  ///
  /// Places are apart (`places(ofNew:)`), and so is whether look-ups are noted for the writer.
  func values(
    of present: [Int],
    from parameter: Int,
    isNoted: Bool = true
  ) -> [(column: String, value: String)] {
    let plain = present.indices.filter {
      !slots[present[$0]].isFurtherPart && slots[present[$0]].kind != .place
    }
    return plain.map { place in
      let slot = slots[present[place]]
      guard case .key(let reference, _) = slot.kind else {
        return (slot.column, "?\(parameter + place)")
      }
      let parts = reference.columns.indices.map { "?\(parameter + place + $0)" }
      let found = "(\(reference.select(parts)))"
      return (slot.column, isNoted ? "_dragoman_link(\(reference.number), \(found))" : found)
    }
  }

  /// The values with each column once: a to-one whose target rows may give by its primary key, or else by its own.
  func merged(
    _ values: [(column: String, value: String)]
  ) -> [(column: String, value: String)] {
    var merged: [(column: String, value: String)] = []
    for (column, value) in values {
      if let place = merged.firstIndex(where: { hasSameBytes($0.column, column) }) {
        merged[place].value = "ifnull(\(merged[place].value), \(value))"
      } else {
        merged.append((column, value))
      }
    }
    return merged
  }

  func keyTest(_ keys: [Int], from parameter: Int = 1) -> String {
    let tests = values(of: keys, from: parameter).map {
      "\(Schema.quoted($0.column)) = \($0.value)"
    }
    return tests.joined(separator: " AND ")
  }

  /// A test that is made after the object it is made for was noted.
  private func noting(_ test: String, former: [String] = []) -> String {
    guard let noted else { return test }
    var test = test
    if !former.isEmpty {
      test = "(\(test)) AND _dragoman_former(\(former.map(Schema.quoted).joined(separator: ", ")))"
    }
    let columns = ["_pk"] + noted.prefix(RowNote.maximumCount - 1).map(Schema.quoted)
    return "CASE WHEN _dragoman_found(\(columns.joined(separator: ", "))) THEN \(test) END"
  }

  /// Whether a value of the version attribute is not older than the stored one; one that is not
  /// known on either side is not.
  private func isNotOlder(_ value: String) -> String {
    guard let version else { return "1" }
    let stored = Schema.quoted(slots[version].column)
    var collation = ""
    if case .attribute(let attribute) = slots[version].kind, attribute.type == .decimal {
      collation = " COLLATE \(FetchFunctions.decimalCollation)"
    }
    return "(\(stored) IS NULL OR \(value) IS NULL OR \(value) >= \(stored)\(collation))"
  }

  /// Whether rows leave objects alone that are there; a stub is not.
  var leavesObjects: Bool { mode == .ignore || mode == .insert }

  /// What a row changes of our own columns: it completes a stub, and makes an object of a more
  /// special entity of one that was known by a more general one.
  private func ownChanges(completes: Bool) -> [(assignment: String, difference: String)] {
    var changes: [(assignment: String, difference: String)] = []
    if completes {
      let stays = demanding.isEmpty ? nil : "CASE WHEN \(Self.isOne(of: demanding)) THEN _stub END"
      changes.append(("_stub = \(stays ?? "NULL")", isCompleted))
    }
    if hasRelatives, !ancestors.isEmpty {
      let general = Self.isOne(of: ancestors.map(\.name))
      let name = Schema.literal(entity.name)
      changes.append(("_entity = CASE WHEN \(general) THEN \(name) ELSE _entity END", general))
    }
    return changes
  }

  /// Whether the table has objects that are not of the entity.
  private var hasRelatives: Bool { entity.hasEntityColumn && entity.root != entity.index }

  /// The test that an object is of the entity, or becomes so; nil where all are.
  private var entityTest: String? {
    hasRelatives ? Self.isOne(of: family + ancestors.map(\.name)) : nil
  }

  static func isOne(of names: [String]) -> String {
    "_entity IN (\(names.map(Schema.literal).joined(separator: ", ")))"
  }

  /// A test of objects of the entity only: an object stays of its branch of the family.
  func ofEntity(_ test: String) -> String {
    entityTest.map { "\(test) AND \($0)" } ?? test
  }

  /// The columns of the identity.
  private var conflictTarget: String? {
    entity.uniqueKeys.first?.map { Schema.quoted($0.column) }.joined(separator: ", ")
  }

  /// What to do where the key exists.
  private func conflictClause(_ present: [Int], given: Set<String>) -> String {
    guard let identity = entity.uniqueKeys.first, let target = conflictTarget else { return "" }
    let keys = Set(identity.map(\.column))
    let attributes = entity.attributes.filter { mode == .replace || given.contains($0.column) }
    let links = present.map { slots[$0] }.filter { $0.isLink && !$0.isFurtherPart }
    let columns = (attributes.map(\.column) + links.map(\.column)).filter { !keys.contains($0) }
      .map(Schema.quoted)
    let own = ownChanges(completes: completes(hasValues: !columns.isEmpty))
    let isKept = leavesObjects && !completes(hasValues: !columns.isEmpty)
    guard !isKept, !columns.isEmpty || !own.isEmpty else {
      return " ON CONFLICT (\(target)) DO "
        + (noted == nil ? "NOTHING" : "UPDATE SET _v = _v WHERE \(noting("0"))")
    }
    let gained =
      mode == .replace ? [] : gained(present).map { $0.assignment("excluded.\($0.column)") }
    let assignments =
      columns.map { "\($0) = excluded.\($0)" } + own.map(\.assignment) + places(present) + gained
      + ["_v = _v + 1"]
    var test = Schema.any(
      columns.map { "\($0) IS NOT excluded.\($0)" } + own.map(\.difference)
    )
    if leavesObjects {
      test = isCompleted
    } else if isVersioned(present), let version {
      var isNewer = isNotOlder("excluded.\(Schema.quoted(slots[version].column))")
      // The version of a stub is nobody's: a default.
      if completes(hasValues: !columns.isEmpty) { isNewer = "(\(isCompleted) OR \(isNewer))" }
      test = "(\(test)) AND \(isNewer)"
    } else if hasRelatives {
      test = "(\(test))"
    }
    test = ofEntity(test)
    return " ON CONFLICT (\(target)) DO UPDATE SET " + assignments.joined(separator: ", ")
      + " WHERE \(noting(test, former: former(present)))"
  }

  /// The columns of attributes whose values rows of a shape overwrite, as far as they are noted.
  func former(_ present: [Int]) -> [String] {
    guard notesFormer else { return [] }
    let given = columns(of: present)
    let keys = Set(entity.uniqueKeys.first?.map(\.column) ?? [])
    return entity.attributes.map(\.column)
      .filter { given.contains($0) && !keys.contains($0) }
      .prefix(RowNote.maximumCount).map { $0 }
  }
}
