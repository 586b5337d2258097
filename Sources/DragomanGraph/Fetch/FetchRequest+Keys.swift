extension FetchRequest {
  /// The same request with keys where it asks for objects: people know an order by its number, and
  /// not by the number of its row.
  ///
  /// A to-one relationship among the columns becomes the unique key of its object: one column under
  /// the relationship's name, or `name.part` for each part of a key that has several. Objects without
  /// a unique key stay their primary key. Of an entity that has no attributes all to-ones are shown
  /// where no columns are asked for.
  ///
  /// - Parameter layout: The model of the store.
  /// - Returns: The request.
  /// - Throws: `StoreError.Code.badRequest` for a request that does not fit.
  package func showingKeys(in layout: ModelLayout) throws(StoreError) -> FetchRequest {
    var request = self
    let entity = try ResolvedRequest(self, in: layout).entity
    if columns == nil, entity.attributes.isEmpty {
      request.columns = entity.relationships.filter(\.isToOne).map { FetchColumn($0.name) }
    }
    guard let columns = request.columns else { return self }
    let resolved = try ResolvedRequest(request, in: layout)
    request.columns = zip(columns, resolved.columns).flatMap { column, found -> [FetchColumn] in
      guard column.aggregate == nil, let object = found.expression?.object else { return [column] }
      let paths = Self.keyPaths(of: layout.entities[object], in: layout, depth: 0)
      return paths.isEmpty
        ? [column]
        : paths.map { path in
          FetchColumn(
            "\(column.path).\(path)",
            as: paths.count == 1 ? column.name : "\(column.name).\(path)"
          )
        }
    }
    return request
  }

  /// The attributes of an identity; where a to-one is part of it, those of its target's.
  private static func keyPaths(
    of entity: EntityLayout,
    in layout: ModelLayout,
    depth: Int
  ) -> [String] {
    (entity.uniqueKeys.first ?? []).flatMap { part -> [String] in
      guard case .relationship(let slot) = part.property else { return [part.name] }
      // A chain of to-ones that leads back to itself has no end.
      guard depth < 8 else { return [] }
      let target = layout.entities[entity.relationships[slot].destination]
      return keyPaths(of: target, in: layout, depth: depth + 1).map { "\(part.name).\($0)" }
    }
  }
}
