import GRDB

/// The end of an import: references that waited are linked to who came, or given up.
extension LinkStage {
  /// What becomes of references that nobody has at the end of an import.
  package enum Unresolved: Sendable {
    /// They are dropped.
    case clear
    /// An object is made that holds the key only.
    case stub
    /// They are kept in the store until their target comes.
    case pending
  }

  /// What the end of an import made of the references that waited.
  package struct Finish {
    /// Which owners are told where their links changed: of a large feed, millions have changed.
    private let isAsked: (Int64) -> Bool
    /// Those of them whose links changed.
    package private(set) var changed: Set<Int64> = []
    /// How many links were made.
    package var linked = 0
    /// How many links were removed: who had a target that only one may have has it no more.
    package var unlinked = 0
    /// How many references of this import nobody has.
    package var unresolved = 0
    /// How many of them are dropped: those that do not wait on, and that no stub is made for.
    package var cleared = 0
    /// The first of these: the key's parts and the place.
    package var examples: [(key: [StoredValue], place: WaitingPlace)] = []
    /// How many stubs were made.
    package var stubs = 0

    /// Nothing so far.
    ///
    /// - Parameter isAsked: Which owners are told where their links changed.
    package init(asking isAsked: @escaping (Int64) -> Bool) { self.isAsked = isAsked }

    /// The links of an owner changed.
    package mutating func change(_ owner: Int64) {
      if isAsked(owner) { changed.insert(owner) }
    }
  }

  /// Places of a list that its record does not name come behind those that it does.
  private static let firstOtherPlace = 1 << 29
  /// References from earlier imports come behind everything that is there.
  static let firstAdoptedPlace = 1 << 40
  /// Where links stand until their list is put in order.
  private static let firstUnorderedPlace = 1 << 50
  /// When a reference that waits was given: those of earlier imports are adopted last, and came first.
  private static let moment = "CASE ordinal WHEN 0 THEN seq - \(1 << 60) ELSE seq END"

  /// Links what waited and is there by now, and applies the policy to the rest.
  ///
  /// References of earlier imports wait on, whatever becomes of those of this one.
  ///
  /// - Parameters:
  ///   - policy: What becomes of references that nobody has.
  ///   - exampleCount: How many of those that are cleared are described.
  ///   - isAsked: Which owners are told where their links changed.
  /// - Returns: What was linked, and what is left.
  /// - Throws: `StoreError` where the store fails.
  package func finish(
    _ policy: Unresolved,
    exampleCount: Int,
    asking isAsked: @escaping (Int64) -> Bool
  ) throws(StoreError) -> Finish {
    var finish = Finish(asking: isAsked)
    guard waitingCount > 0 else { return finish }
    try run(
      "DELETE FROM \(waiting) WHERE owner NOT IN (SELECT _pk FROM \(Schema.quoted(owner.table)))"
    )
    if let isLinked = isLinked("_w.owner") {
      // What waits has no target of its own: one that it has, a later record gave it by the other side.
      try run("DELETE FROM \(waiting) AS _w WHERE state IS NULL AND \(isLinked)")
      waitingCount -= database.changesCount
    }
    if allowsRepeats, !plan.replaces { try dropJoinedTwice() }
    try resolve(&finish)
    // Records have ordinals from 1; what waits since earlier imports is not this one's.
    let isLeft = "state IS NULL AND ordinal > 0"
    finish.unresolved = try count("SELECT count(*) FROM \(waiting) WHERE \(isLeft)")
    if finish.unresolved > 0, policy == .stub {
      try makeStubs(&finish)
      try resolve(&finish)
    }
    try keepPending(policy == .pending ? "1" : "ordinal = 0")
    if finish.unresolved > 0, policy != .pending {
      finish.cleared = try count("SELECT count(*) FROM \(waiting) WHERE \(isLeft)")
      try describe(exampleCount, &finish)
    }
    // Places that were kept for who did not come.
    if let table, table.place != nil, !plan.replaces {
      try order(table, of: "SELECT owner FROM \(waiting)")
    }
    try run("DELETE FROM \(waiting)")
    waitingCount = 0
    return finish
  }

  /// What a to-one waits for in the store is not waited for any more where its other side has linked it since.
  package func dropLinked() throws(StoreError) {
    guard hasPending, let isLinked = isLinked("_p.owner") else { return }
    try run("DELETE FROM _dragoman_pending AS _p WHERE relationship = ? AND \(isLinked)", [name])
  }

  /// The test of an object that waits, whether it has a target; nil where nobody else can have given it one.
  private func isLinked(_ owner: String) -> String? {
    guard plan.link.isToOne, plan.link.relationship.inverse != nil else { return nil }
    return "EXISTS (SELECT \(LinkQuery(plan.link, in: layout).targets(of: "(\(owner))")))"
  }

  /// What joins a list that may hold it several times does not where an earlier record has named it for the list.
  private func dropJoinedTwice() throws(StoreError) {
    let isSame = plan.key.indices.map { "_e.k\($0) IS _w.k\($0)" }.joined(separator: " AND ")
    try run(
      "DELETE FROM \(waiting) AS _w WHERE state IS NULL AND EXISTS (SELECT 1 FROM \(waiting) AS _e"
        + " WHERE _e.owner = _w.owner AND _e.ordinal < _w.ordinal AND \(isSame))"
    )
    waitingCount -= database.changesCount
  }

  private func resolve(_ finish: inout Finish) throws(StoreError) {
    let lookUp = "(\(lookUp(in: waiting)))"
    try run("UPDATE \(waiting) SET target = \(lookUp) WHERE state IS NULL")
    try dropOvertaken()
    try run("UPDATE \(waiting) SET state = 1 WHERE state IS NULL AND target NOT NULL")
    guard database.changesCount > 0 else { return }
    if layout.isExclusive(plan.link) { try countOvertaken(&finish) }
    if let table {
      if table.isOwnTable {
        try resolve(in: table, &finish)
      } else {
        try resolveColumn(of: table, &finish)
      }
      // Lists with repeats are stored in their order already, which no target's place tells.
      if table.place != nil, plan.replaces, !allowsRepeats {
        try order(table, of: "SELECT owner FROM \(waiting) WHERE state = 1")
      }
    } else if case .column(let column) = plan.link.storage {
      try resolveOwnColumn(column, &finish)
    }
    try run("UPDATE \(waiting) SET state = 0 WHERE state = 1")
  }

  /// Who was named in an earlier import, and came since, may have been given to another by a later record.
  private func dropOvertaken() throws(StoreError) {
    let isOwned: String
    switch plan.link.storage {
    case .inverseColumn:
      guard let table else { return }
      isOwned = "FROM \(table.name) AS _t WHERE _t._pk = target AND _t.\(table.own) NOT NULL"
    case .column(let column) where layout.isExclusive(plan.link):
      let name = Schema.quoted(owner.table)
      isOwned = "FROM \(name) AS _t WHERE _t.\(Schema.quoted(column)) = target"
    default: return
    }
    try run(
      "DELETE FROM \(waiting) WHERE state IS NULL AND ordinal = 0 AND EXISTS (SELECT 1 \(isOwned))"
    )
  }

  /// Where only one object may have a target, whoever named it before the last one has had it in between, as if each
  /// record came in an import of its own.
  private func countOvertaken(_ finish: inout Finish) throws(StoreError) {
    let key = plan.key.indices.map { "k\($0)" }.joined(separator: ", ")
    // The index of the keys tells at once that nobody was: so it is mostly.
    let isNamedTwice = try count(
      "SELECT EXISTS (SELECT 1 FROM \(waiting) WHERE k0 NOT NULL GROUP BY \(key)"
        + " HAVING count(*) > 1)"
    )
    guard isNamedTwice > 0 else { return }
    let overtaken = try forEachInteger(
      "SELECT owner FROM (SELECT owner, row_number() OVER (PARTITION BY target ORDER BY"
        + " max(\(Self.moment)) DESC) AS place FROM \(waiting) WHERE state = 1"
        + " GROUP BY owner, target) WHERE place > 1"
    ) { finish.change($0) }
    finish.linked += overtaken
    finish.unlinked += overtaken
  }

  private func resolve(in table: LinkQuery, _ finish: inout Finish) throws(StoreError) {
    if allowsRepeats, table.place != nil, plan.replaces {
      return try resolveRepeats(table, &finish)
    }
    let group = allowsRepeats ? "seq" : "owner, target"
    var place = "\(Self.firstUnorderedPlace) + seq"
    if let column = table.place, !plan.replaces {
      // Another import may have taken the place that was kept since the last batch of this one.
      place =
        "CASE WHEN EXISTS (SELECT 1 FROM \(table.name) AS _t WHERE _t.\(table.own) = _w.owner"
        + " AND _t.\(column) = _w.position) THEN \(place) ELSE position END"
    }
    try run(
      "INSERT INTO \(links) (owner, position, target, fresh) SELECT owner, \(place), target, 0"
        + " FROM (SELECT owner, position, target, min(seq) AS seq FROM \(waiting)"
        + " WHERE state = 1 GROUP BY \(group)) AS _w ORDER BY seq"
    )
    var outcome = Outcome()
    var changed: [Int64] = []
    try link(in: table, &outcome, &changed)
    try run("DELETE FROM \(links)")
    finish.linked += outcome.linked
    for owner in changed { finish.change(owner) }
    try bumpVersions(of: Array(Set(changed)))
  }

  /// Lists that may hold a target several times are stored anew, as their record has them.
  private func resolveRepeats(_ table: LinkQuery, _ finish: inout Finish) throws(StoreError) {
    let own = table.own
    let owners = try integers("SELECT DISTINCT owner FROM \(waiting) WHERE state = 1")
    let isOurs = "IN (SELECT value FROM json_each(?))"
    finish.linked += Int(
      try integers(
        "SELECT count(*) FROM (SELECT owner, target FROM \(waiting) WHERE state = 1 EXCEPT"
          + " SELECT \(own), \(table.other) FROM \(table.name) WHERE \(own) \(isOurs))",
        [list(owners)]
      ).first ?? 0
    )
    // Of those that an earlier import waited for, nobody knows the other targets: they come behind what is there.
    let (place, isThere) = (
      table.place ?? "position", "target IN (SELECT _pk FROM \(Schema.quoted(target.table)))"
    )
    let given = try integers(
      "SELECT DISTINCT owner FROM \(waiting) WHERE owner \(isOurs) AND ordinal IS NOT 0",
      [list(owners)]
    )
    try run("DELETE FROM \(table.name) WHERE \(own) \(isOurs)", [list(given)])
    try run(
      "INSERT INTO \(table.name) (\(own), \(table.other), \(place)) SELECT owner,"
        + " target, row_number() OVER (PARTITION BY owner ORDER BY position, seq) - 1 FROM \(waiting)"
        + " WHERE owner \(isOurs) AND state NOT NULL AND ordinal IS NOT 0 AND \(isThere)",
      [list(given)]
    )
    try run(
      "INSERT INTO \(table.name) (\(own), \(table.other), \(place)) SELECT owner, target,"
        + " (SELECT coalesce(max(_t.\(place)), -1) FROM \(table.name) AS _t WHERE _t.\(own) = _w.owner)"
        + " + row_number() OVER (PARTITION BY owner ORDER BY position, seq) FROM \(waiting) AS _w"
        + " WHERE state = 1 AND ordinal = 0 AND \(isThere)"
    )
    for owner in owners { finish.change(owner) }
    try bumpVersions(of: owners)
  }

  /// The to-one is a column of the owner.
  private func resolveOwnColumn(_ column: String, _ finish: inout Finish) throws(StoreError) {
    let table = Schema.quoted(owner.table)
    let name = Schema.quoted(column)
    var (source, place) = ("(SELECT owner, target FROM \(waiting) WHERE state = 1)", "")
    if layout.isExclusive(plan.link) {
      source =
        "(SELECT owner, target, max(\(Self.moment)) FROM \(waiting) WHERE state = 1 GROUP BY target)"
      try run(
        "UPDATE \(table) SET \(name) = NULL, _v = _v + 1 WHERE \(name) IN"
          + " (SELECT target FROM \(waiting) WHERE state = 1) AND NOT EXISTS (SELECT 1 FROM \(source)"
          + " AS _w WHERE _w.owner = \(table)._pk AND _w.target = \(table).\(name))"
      )
      finish.unlinked += database.changesCount
    } else if let order = layout.order(of: plan.link) {
      // Behind the others of the list, in the order in which they were named.
      source =
        "(SELECT owner, target, \(ownerKeys.next - 1) + row_number() OVER (ORDER BY ordinal, seq)"
        + " AS place FROM \(waiting) WHERE state = 1)"
      place = ", \(Schema.quoted(order)) = _w.place"
      ownerKeys.take(Int64(try count("SELECT count(*) FROM \(waiting) WHERE state = 1")))
    }
    let linked = try forEachInteger(
      "UPDATE \(table) SET \(name) = _w.target\(place), _v = _v + 1 FROM \(source) AS _w"
        + " WHERE \(table)._pk = _w.owner AND \(table).\(name) IS NOT _w.target RETURNING _pk"
    ) { finish.change($0) }
    finish.linked += linked
  }

  /// The links are a column of the targets.
  private func resolveColumn(of table: LinkQuery, _ finish: inout Finish) throws(StoreError) {
    let position = plan.replaces ? "\(Self.firstUnorderedPlace) + seq" : "position"
    let place = table.place.map { ", \($0) = _w.place" } ?? ""
    let last =
      "(SELECT target, owner, \(position) AS place, max(\(Self.moment)) FROM \(waiting)"
      + " WHERE state = 1 GROUP BY target) AS _w"
    finish.unlinked += try count(
      "SELECT count(*) FROM \(last) JOIN \(table.name) AS _t ON _t._pk = _w.target"
        + " WHERE _t.\(table.own) NOT NULL AND _t.\(table.own) IS NOT _w.owner"
    )
    let linked = try forEachInteger(
      "UPDATE \(table.name) SET \(table.own) = _w.owner\(place), _v = _v + 1 FROM \(last) WHERE \(table.name)._pk = _w.target"
        + " AND \(table.name).\(table.own) IS NOT _w.owner RETURNING \(table.own)"
    ) { finish.change($0) }
    finish.linked += linked
  }

  /// Puts lists in order: what their record named stands as the record has it, what came to them
  /// by other ways behind it.
  private func order(_ table: LinkQuery, of owners: String) throws(StoreError) {
    guard let place = table.place else { return }
    let (name, own, other) = (table.name, table.own, table.other)
    // What has none in a file of an earlier version comes last.
    var rank = "_t.\(place) IS NULL, _t.\(place)"
    if plan.replaces {
      rank =
        "coalesce((SELECT min(_w.position) FROM \(waiting) AS _w WHERE _w.owner = _t.\(own)"
        + " AND _w.target = _t.\(other)), \(Self.firstOtherPlace) + _t.\(place), \(Self.firstUnorderedPlace))"
    }
    let ranks =
      "SELECT _t.\(own) AS owner, _t.\(other) AS target, _t.\(place) AS old,"
      + " row_number() OVER (PARTITION BY _t.\(own) ORDER BY \(rank), _t.\(place), _t.\(other)) - 1"
      + " AS place"
      + " FROM \(name) AS _t WHERE _t.\(own) IN (\(owners))"
    let version = table.isOwnTable ? "" : ", _v = _v + 1"
    let moved = try integers(
      "UPDATE \(name) SET \(place) = -1 - _r.place\(version) FROM (\(ranks)) AS _r"
        + " WHERE \(name).\(own) = _r.owner AND \(name).\(other) = _r.target"
        + " AND \(name).\(place) IS _r.old AND _r.old IS NOT _r.place RETURNING \(own)"
    )
    if !moved.isEmpty { try settlePlaces(place, in: table, of: moved) }
  }

  /// Makes an object for each key that nobody has: the key, and the defaults.
  private func makeStubs(_ finish: inout Finish) throws(StoreError) {
    let parts = plan.key.indices.map { "k\($0)" }.joined(separator: ", ")
    // Two objects cannot both have the default of a unique attribute.
    let given = Set((plan.key.map(\.column) + target.uniqueKeys.joined().map(\.column)))
    let defaults = target.attributes.filter { $0.defaultValue != nil && !given.contains($0.column) }
    var columns = ["_pk", "_v", "_stub"]
    var values = ["? + row_number() OVER (ORDER BY first) - 1", "1", "1"]
    if target.hasEntityColumn {
      columns.append("_entity")
      values.append(Schema.literal(target.name))
    }
    columns += plan.key.map { Schema.quoted($0.column) } + defaults.map { Schema.quoted($0.column) }
    let key = plan.key.enumerated().map { $1.value("k\($0)") }
    // A relative of another entity may have the key: nobody of this one can.
    let tests = zip(plan.key, key).map { "_t.\(Schema.quoted($0.column)) = \($1)" }
    let isFree =
      target.hasEntityColumn
      ? " AND NOT EXISTS (SELECT 1 FROM \(Schema.quoted(target.table)) AS _t WHERE"
        + " \(tests.joined(separator: " AND ")))" : ""
    values += key + defaults.map { _ in "?" }
    try run(
      "INSERT INTO \(Schema.quoted(target.table)) (\(columns.joined(separator: ", ")))"
        + " SELECT \(values.joined(separator: ", ")) FROM"
        + " (SELECT \(parts), min(seq) AS first FROM \(waiting) WHERE state IS NULL AND ordinal > 0"
        // A part that is the key of nobody makes no key.
        + " AND \(key.map { "\($0) NOT NULL" }.joined(separator: " AND "))\(isFree) GROUP BY \(parts))",
      binding: [.integer(primaryKeys.next)] + defaults.map { $0.defaultValue ?? .null }
    )
    finish.stubs = database.changesCount
    primaryKeys.take(Int64(finish.stubs))
  }

  private func describe(_ count: Int, _ finish: inout Finish) throws(StoreError) {
    let parts = plan.key.indices.map { ", k\($0)" }.joined()
    try StoreError.naming(path) {
      let rows = try RawStatement(
        "SELECT file, line, \"column\", byte, record, ordinal\(parts) FROM \(waiting)"
          + " WHERE state IS NULL AND ordinal > 0 ORDER BY ordinal, seq LIMIT \(count)",
        in: database
      )
      try rows.forEachRow { row in
        let place = WaitingPlace(
          file: row.text(0),
          line: Int(row.integer(1)),
          column: Int(row.integer(2)),
          byte: Int(row.integer(3)),
          record: Int(row.integer(4)),
          ordinal: Int(row.integer(5))
        )
        finish.examples.append((plan.key.indices.map { row.stored(Int32($0) + 6) }, place))
      }
    }
  }
}
