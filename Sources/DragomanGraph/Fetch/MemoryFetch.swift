/// Carries out a request over objects in memory, with the answer that the store would give of them.
///
///     let fetch = MemoryFetch(try ResolvedRequest(request, in: layout))
///     let people = try fetch.objects(of: subjects)
package struct MemoryFetch {
  private let request: ResolvedRequest
  private let evaluator: FilterEvaluator?
  /// Puts objects in the order of the request.
  let comparator: SortComparator

  /// Makes it ready for any number of objects.
  package init(_ request: ResolvedRequest) {
    self.request = request
    evaluator = request.filter.map(FilterEvaluator.init)
    comparator = SortComparator(request.sortKeys + request.tieBreakers)
  }

  /// Whether the object is of a wanted entity and satisfies the filter; the entity's table is not
  /// looked at.
  package func admits(_ subject: some FilterSubject) throws(StoreError) -> Bool {
    if let entities = request.entities, !entities.contains(subject.entityIndex) { return false }
    return try evaluator?.admits(subject) ?? true
  }

  /// The objects of the request out of those of the entity's family, in order, cut by limit and
  /// offset.
  ///
  /// Of a request for a table: the objects that its rows are made of, all, as they come.
  ///
  /// - Throws: `StoreError.Code.badRequest` where the store would be stopped.
  package func objects<Subject: FilterSubject>(
    of subjects: [Subject]
  ) throws(StoreError) -> [Subject] {
    var admitted: [Subject] = []
    for subject in subjects where try admits(subject) { admitted.append(subject) }
    if request.table != nil { return admitted }
    return slice(try comparator.sorted(admitted))
  }

  /// The rows of the request: a value a column.
  package func rows<Subject: FilterSubject>(
    of subjects: [Subject]
  ) throws(StoreError) -> [[StoredValue]] {
    let objects = try objects(of: subjects)
    guard let table = request.table else {
      var rows: [[StoredValue]] = []
      for object in objects { rows.append(try row(of: [object], representing: object)) }
      return rows
    }
    var rows: [[StoredValue]] = []
    for group in try groups(objects, table) {
      rows.append(try row(of: group.members, representing: group.members.first) + group.values)
    }
    if let having = table.having {
      let evaluator = FilterEvaluator(having)
      var admitted: [[StoredValue]] = []
      for row in rows where try evaluator.admits(TableRow(row, 0)) { admitted.append(row) }
      rows = admitted
    }
    if table.isDistinct {
      var seen: Set<[StoredValue]> = []
      rows = rows.map { Array($0.prefix(request.columns.count)) }.filter {
        seen.insert($0).inserted
      }
    }
    let sorted = try comparator.sorted(rows.enumerated().map { TableRow($1, $0) })
    return slice(sorted).map { Array($0.values.prefix(request.columns.count)) }
  }

  private func slice<Element>(_ elements: [Element]) -> [Element] {
    Array(elements.dropFirst(request.offset).prefix(request.limit ?? .max))
  }

  private struct Group<Subject> {
    var values: [StoredValue]
    var members: [Subject]
  }

  /// The objects by the values of the groups; without groups each alone, or all together.
  private func groups<Subject: FilterSubject>(
    _ objects: [Subject],
    _ table: ResolvedRequest.Table
  ) throws(StoreError) -> [Group<Subject>] {
    guard table.isGrouped else { return objects.map { Group(values: [], members: [$0]) } }
    if table.groups.isEmpty { return [Group(values: [], members: objects)] }
    var places: [[StoredValue]: Int] = [:]
    var groups: [Group<Subject>] = []
    for object in objects {
      var values: [StoredValue] = []
      for group in table.groups { values.append(try group.value(of: object)) }
      if let place = places[values] {
        groups[place].members.append(object)
      } else {
        places[values] = groups.count
        groups.append(Group(values: values, members: [object]))
      }
    }
    return groups
  }

  private func row<Subject: FilterSubject>(
    of members: [Subject],
    representing first: Subject?
  ) throws(StoreError) -> [StoredValue] {
    var row: [StoredValue] = []
    for column in request.columns {
      guard let aggregate = column.aggregate else {
        var value = StoredValue.null
        if let first, let expression = column.expression { value = try expression.value(of: first) }
        row.append(value)
        continue
      }
      guard let expression = column.expression else {
        row.append(.integer(Int64(members.count)))
        continue
      }
      var values: [StoredValue] = []
      for member in members { values.append(try expression.value(of: member)) }
      row.append(try aggregate.value(of: values, column.attribute))
    }
    return row
  }
}

/// A row of a table, whose attributes are its columns; told apart from equal ones by its number.
private struct TableRow: FilterSubject {
  let values: [StoredValue]
  let objectID: ObjectID
  let entityIndex = 0

  init(_ values: [StoredValue], _ number: Int) {
    self.values = values
    objectID = ObjectID(entity: "", primaryKey: Int64(number))
  }

  func attribute(_ slot: Int) -> StoredValue { values[slot] }
  func toOne(_ link: Int) -> TableRow? { nil }
  func toMany(_ link: Int) -> [TableRow] { [] }
}
