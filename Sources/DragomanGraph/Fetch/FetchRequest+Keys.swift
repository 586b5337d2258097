extension FetchRequest {
  /// The same request with keys where it asks for objects: people know an order by its number, and
  /// not by the number of its row.
  ///
  /// A to-one relationship among the columns becomes the unique key of its object: one column under
  /// the relationship's name, or `name.part` for each part of a key that has several. Objects without
  /// a unique key stay their primary key. Groups by such a relationship are groups by that key, too. Of an entity that has no attributes all to-ones are shown
  /// where no columns are asked for.
  ///
  /// - Parameter layout: The model of the store.
  /// - Returns: The request.
  /// - Throws: `StoreError.Code.badRequest` for a request that does not fit.
  package func showingKeys(in layout: ModelLayout) throws(StoreError) -> FetchRequest {
    var request = self
    // The place is one among the rows with the keys.
    request.after = nil
    let entity = try ResolvedRequest(request, in: layout).entity
    if columns == nil, entity.attributes.isEmpty {
      request.columns = entity.relationships.filter(\.isToOne).map { FetchColumn($0.name) }
    }
    guard let columns = request.columns else { return self }
    let resolved = try ResolvedRequest(request, in: layout)
    var shown: [String] = []
    request.columns = zip(columns, resolved.columns).flatMap { column, found -> [FetchColumn] in
      guard column.aggregate == nil, let object = found.expression?.object else { return [column] }
      let paths = layout.entities[object].keyPaths(in: layout)
      shown += paths.map { "\(column.path).\($0)" }
      return paths.isEmpty
        ? [column]
        : paths.map { path in
          FetchColumn(
            "\(column.path).\(path)",
            as: paths.count == 1 ? column.name : "\(column.name).\(path)"
          )
        }
    }
    request.after = after
    // In front of the relationships, so that groups come in the order of the keys that are seen.
    if !groupBy.isEmpty { request.groupBy = shown.filter { !groupBy.contains($0) } + groupBy }
    return request
  }
}

extension EntityLayout {
  /// The attributes of the identity, as paths; where a to-one is part of it, those of its target's
  /// identity.
  package func keyPaths(in layout: ModelLayout, depth: Int = 0) -> [String] {
    (uniqueKeys.first ?? []).flatMap { part -> [String] in
      guard case .relationship(let slot) = part.property else { return [part.name] }
      // A chain of to-ones that leads back to itself has no end.
      guard depth < 8 else { return [] }
      let target = layout.entities[relationships[slot].destination]
      return target.keyPaths(in: layout, depth: depth + 1).map { "\(part.name).\($0)" }
    }
  }
}
