import DragomanGraph

/// How many objects are called, read together.
enum ObjectLabels {
  /// The labels of objects of one entity, in their order; what is not there has none.
  static func labels(
    _ ids: [ObjectID],
    _ entity: String,
    _ store: SQLiteStore
  ) throws -> [ObjectLabel] {
    let found = try labels(of: ids, entity, store)
    return ids.compactMap { found[$0] }
  }

  /// The labels by their objects.
  static func labels(
    of ids: [ObjectID],
    _ entity: String,
    _ store: SQLiteStore
  ) throws -> [ObjectID: ObjectLabel] {
    guard !ids.isEmpty else { return [:] }
    let model = store.model
    let shape = try EntityShape(entity, in: model)
    let paths = shape.labelPaths(in: model)
    let request = FetchRequest(
      entity,
      filter: .comparison(Filter.Comparison(.name("SELF"), .in, .objects(ids))),
      // What has neither key nor name is read all the same.
      columns: paths.isEmpty ? nil : paths.map { FetchColumn($0) }
    )
    let columns = paths.isEmpty ? [] : try store.attributes(of: request)
    var labels: [ObjectID: ObjectLabel] = [:]
    try store.forEachRow(request) { row in
      let own = (try? EntityShape(row.entityName, in: model)) ?? shape
      labels[row.objectID] = ObjectLabel(
        row.objectID,
        own,
        paths.isEmpty ? [] : row.values,
        columns
      )
    }
    return labels
  }
}
