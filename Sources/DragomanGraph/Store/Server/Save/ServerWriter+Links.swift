/// Rows of tables of links; the links of to-ones are columns and come with their objects.
extension ServerWriter {
  /// What is to be done to a table of links.
  private struct LinkWork {
    var removals = [ServerArray(.bigint), ServerArray(.bigint)]
    var insertions = [ServerArray(.bigint), ServerArray(.bigint)]
    var wanted: [LinkKey: Set<Int64>] = [:]
    var hasRemovals = false
  }

  func write(_ links: LinkRows) throws {
    let byKey: (LinkKey, LinkKey) -> Bool = { ($0.link, $0.owner) < ($1.link, $1.owner) }
    let owners = try links.owners.sorted(by: byKey).filter { owner in
      let place = rowKey(owner.owner, layout.links[owner.link].owner)
      return try join(owner.link) != nil && !outcome.dropped.contains(place) && !isGone(place)
    }
    for (link, owners) in Dictionary(grouping: owners, by: \.link).sorted(by: { $0.key < $1.key }) {
      guard let join = join(link) else { continue }
      let lists = owners.filter { links.lists[$0] != nil }
      try writePairs(links, owners.filter { links.lists[$0] == nil }, layout.links[link], join)
      for chunk in lists.chunked { try writeLists(links, Array(chunk), layout.links[link], join) }
    }
    for (link, targets) in Dictionary(grouping: links.places.keys.sorted(by: byKey), by: \.link) {
      guard let join = join(link) else { continue }
      var lists = [ServerArray(.bigint), ServerArray(.bigint), ServerArray(.bigint)]
      for target in targets {
        for (owner, place) in links.places[target]?.sorted(by: { $0.key < $1.key }) ?? [] {
          lists[0].append(owner)
          lists[1].append(target.owner)
          lists[2].append(place)
        }
      }
      try connection.run(
        "UPDATE \(Schema.quoted(join.name)) AS t SET inverse_position = n.p"
          + " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS n(o, t, p)"
          + " WHERE t.owner = n.o AND t.target = n.t",
        lists.parameters
      )
    }
  }

  /// Links without places: each is a row that is there or not.
  private func writePairs(
    _ links: LinkRows,
    _ owners: [LinkKey],
    _ link: RelationshipLayout,
    _ join: RelationshipLayout.JoinTable
  ) throws {
    var work = LinkWork()
    for owner in owners {
      let place = rowKey(owner.owner, link.owner)
      let isOwnerKept = outcome.kept.contains(place)
      for (key, isThere) in links.pairs[owner]?.sorted(by: { $0.key < $1.key }) ?? [] {
        let target = rowKey(key, link.destination)
        if !isThere, isOwnerKept || outcome.kept.contains(target) { continue }
        if join.isSymmetric, outcome.dropped.contains(target) { continue }
        if isThere, try isGone(target) {
          outcome.merged.insert(place)
          continue
        }
        if isThere {
          work.insertions[0].append(owner.owner)
          work.insertions[1].append(key)
          work.wanted[owner, default: []].insert(key)
        } else {
          work.removals[0].append(owner.owner)
          work.removals[1].append(key)
          work.hasRemovals = true
        }
      }
    }
    let name = Schema.quoted(join.name)
    if work.hasRemovals {
      try connection.run(
        "DELETE FROM \(name) AS t USING unnest($1::bigint[], $2::bigint[]) AS n(o, t)"
          + " WHERE t.owner = n.o AND t.target = n.t",
        work.removals.parameters
      )
    }
    guard !work.wanted.isEmpty else { return }
    try connection.forEachRow(
      "INSERT INTO \(name) (owner, target) SELECT * FROM unnest($1::bigint[], $2::bigint[])"
        + " ON CONFLICT DO NOTHING RETURNING owner, target",
      work.insertions.parameters
    ) { work.wanted[LinkKey(link: link.id, owner: $0[0].number)]?.remove($0[1].number) }
    for (owner, targets) in work.wanted where !targets.isEmpty { outcome.known[owner] = targets }
  }

  /// Writes all rows of owners anew, with what others have changed of them; what the inverse has put in order stays
  /// so.
  private func writeLists(
    _ links: LinkRows,
    _ owners: [LinkKey],
    _ link: RelationshipLayout,
    _ join: RelationshipLayout.JoinTable
  ) throws {
    var stored: [Int64: [Int64]] = [:]
    var places: [LinkKey: StoredValue] = [:]
    try connection.forEachRow(
      LinkQuery(link, in: layout).listsSQL(of: "= ANY($1::bigint[])") + locking(" FOR UPDATE"),
      [ServerParameter(owners.map(\.owner))]
    ) { row in
      stored[row[0].number, default: []].append(row[1].number)
      if join.hasInversePosition, case .integer(let place) = row[2] {
        places[LinkKey(link: Int(row[1].number), owner: row[0].number)] = .integer(place)
      }
    }
    var changed: [Int64] = []
    var lists = (0..<(join.hasInversePosition ? 4 : 3)).map { _ in ServerArray(.bigint) }
    for owner in owners {
      let place = rowKey(owner.owner, link.owner)
      guard let list = links.lists[owner], !outcome.kept.contains(place) else { continue }
      let former = stored[owner.owner] ?? []
      let targets = try settle(list, over: former, of: place, link)
      outcome.lists[owner] = targets
      if targets == former { continue }
      changed.append(owner.owner)
      for (position, target) in targets.enumerated() {
        lists[0].append(owner.owner)
        lists[1].append(target)
        lists[2].append(Int64(position))
        guard join.hasInversePosition else { continue }
        try lists[3].append(places[LinkKey(link: Int(target), owner: owner.owner)] ?? .null)
      }
    }
    guard !changed.isEmpty else { return }
    let name = Schema.quoted(join.name)
    try connection.run(
      "DELETE FROM \(name) WHERE owner = ANY($1::bigint[])",
      [ServerParameter(changed)]
    )
    let inverse = join.hasInversePosition ? ", inverse_position" : ""
    try connection.run(
      "INSERT INTO \(name) (owner, target, position\(inverse)) SELECT * FROM \(lists.unnested)",
      lists.parameters
    )
  }

  // MARK: - What an import says

  /// Writes what an import says of rows besides their values: stubs, sub-entities, references that wait.
  func writeMarks(_ sorted: [(place: RowKey, change: RowChange)]) throws {
    var stubs: [Int: [ServerArray]] = [:]
    var entities: [Int: [ServerArray]] = [:]
    var resolved: [Int64] = []
    var waits = [ServerArray(.bigint), ServerArray(.text), ServerArray(.text), ServerArray(.text)]
    var isWaiting = false
    for (place, change) in sorted where change.kind != .deleted {
      guard let mark = change.mark else { continue }
      if let isStub = mark.isStub {
        var lists = stubs[place.table] ?? [ServerArray(.bigint), ServerArray(.bigint)]
        lists[0].append(place.key)
        try lists[1].append(isStub ? .integer(1) : .null)
        stubs[place.table] = lists
      }
      if mark.isSpecialized {
        var lists = entities[place.table] ?? [ServerArray(.bigint), ServerArray(.text)]
        lists[0].append(place.key)
        try lists[1].append(.text(layout.entities[Int(change.entity)].name))
        entities[place.table] = lists
      }
      resolved += mark.resolved.compactMap(\.id)
      for reference in mark.waits {
        isWaiting = true
        waits[0].append(place.key)
        try waits[1].append(.text(reference.relationship))
        try waits[2].append(.text(reference.entity))
        try waits[3].append(.text(try PendingKeyCode.shared.text(of: reference.key)))
      }
    }
    try set("_stub", stubs)
    try set("_entity", entities)
    if !resolved.isEmpty {
      try connection.run(
        "DELETE FROM _dragoman_pending WHERE id = ANY($1::bigint[])",
        [ServerParameter(resolved)]
      )
    }
    guard isWaiting else { return }
    try connection.run(
      "INSERT INTO _dragoman_pending (owner, relationship, entity, key)"
        + " SELECT o, r, e, k FROM \(waits.unnested) WITH ORDINALITY AS n(o, r, e, k, i) ORDER BY i",
      waits.parameters
    )
  }

  private func set(_ column: String, _ rows: [Int: [ServerArray]]) throws {
    for (table, lists) in rows {
      try connection.run(
        "UPDATE \(Schema.quoted(layout.tables[table].name)) AS t SET \(column) = n.v"
          + " FROM \(lists.unnested) AS n(k, v)"
          + " WHERE t._pk = n.k",
        lists.parameters
      )
    }
  }
}
