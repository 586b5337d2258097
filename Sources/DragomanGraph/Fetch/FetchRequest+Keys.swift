extension FetchRequest {
  /// The same request with keys where it asks for objects: people know an order by its number, and
  /// not by the number of its row.
  ///
  /// A to-one relationship among the columns becomes the unique key of its object: one column under
  /// the relationship's name, or `name.part` for each part of a key that has several. Where all parts may
  /// be null, the primary key stands behind them, as `name._pk`. Objects without a unique key stay their
  /// primary key. Groups by such a relationship are groups by that key, too, and a sort key that names one is
  /// the parts of its key. Of an entity that has no attributes all to-ones are shown where no columns are
  /// asked for.
  ///
  /// - Parameter layout: The model of the store.
  /// - Returns: The request.
  /// - Throws: `StoreError.Code.badRequest` for a request that does not fit.
  package func showingKeys(in layout: ModelLayout) throws(StoreError) -> FetchRequest {
    var request = self
    // They may name columns of keys, which are not there yet; the place is one among the rows with the keys.
    request.having = nil
    request.sortKeys = []
    request.after = nil
    let entity = try layout.requireEntity(self.entity)
    if columns == nil, entity.attributes.isEmpty {
      request.columns = entity.relationships.filter(\.isToOne).map { FetchColumn($0.name) }
    }
    let resolved = try ResolvedRequest(request, in: layout)
    let paths = PathResolver(layout: layout, ground: .entity(entity))
    var shown = self
    var keys: [(name: String, parts: [FetchColumn])] = []
    if let columns = request.columns {
      var all: [FetchColumn] = []
      for (column, found) in zip(columns, resolved.columns) {
        var parts = [column]
        if column.aggregate == nil, let object = found.expression?.object {
          parts = entity.keyColumns(of: column, layout.entities[object], paths)
          keys.append((column.name, parts.filter { !hasSameBytes($0.path, column.path) }))
        }
        // What is named beside a relationship may be a part of its key: that is one column.
        all += parts.filter { part in
          !all.contains { hasSameBytes($0.name, part.name) && hasSameBytes($0.path, part.path) }
        }
      }
      shown.columns = all
    }
    // In front of the relationships, so that groups come in the order of the keys that are seen.
    if !groupBy.isEmpty {
      let parts = keys.flatMap(\.parts).map(\.path)
      shown.groupBy =
        parts.filter { path in !groupBy.contains { hasSameBytes($0, path) } } + groupBy
    }
    shown.sortKeys = sortKeys.flatMap { key -> [SortKey] in
      guard resolved.table != nil else { return paths.parts(of: key) }
      let isColumn = shown.columns?.contains { hasSameBytes($0.name, key.name) } ?? false
      guard !isColumn, let known = keys.first(where: { hasSameBytes($0.name, key.name) }) else {
        return [key]
      }
      return key.instead(by: known.parts.map(\.name))
    }
    return shown
  }
}

extension EntityLayout {
  /// The attributes of the identity, as paths; where a to-one is part of it, those of its target's
  /// identity.
  package func keyPaths(in layout: ModelLayout) -> [String] {
    keySteps(in: layout).map { spelling(of: $0.steps) }
  }

  /// The columns that show an object: the parts of its key, and its primary key where it needs it.
  ///
  /// - Parameters:
  ///   - column: The column of the object, of this entity.
  ///   - target: The entity of the object.
  ///   - paths: Paths of this entity.
  /// - Returns: The columns.
  fileprivate func keyColumns(
    of column: FetchColumn,
    _ target: EntityLayout,
    _ paths: PathResolver
  ) -> [FetchColumn] {
    let parts = target.keySteps(in: paths.layout)
    if parts.isEmpty { return [column] }
    let steps = paths.steps(of: column.path)
    var columns = parts.map { part -> FetchColumn in
      let path = spelling(of: steps + part.steps)
      let name = "\(column.name).\(part.steps.joined(separator: "."))"
      let isTaken = property(named: name) != nil
      return FetchColumn(path, as: parts.count == 1 ? column.name : isTaken ? path : name)
    }
    if parts.allSatisfy(\.mayBeNull) {
      columns.append(FetchColumn(column.path, as: "\(column.name)._pk"))
    }
    return columns
  }

  /// The steps of the paths to the attributes of the identity, and whether an object may have null there.
  fileprivate func keySteps(
    in layout: ModelLayout,
    depth: Int = 0
  ) -> [(steps: [String], mayBeNull: Bool)] {
    (uniqueKeys.first ?? []).flatMap { part -> [(steps: [String], mayBeNull: Bool)] in
      switch part.property {
      case .attribute(let slot): return [([part.name], !attributes[slot].isRequired)]
      case .relationship(let slot):
        // A chain of to-ones that leads back to itself has no end.
        guard depth < 8 else { return [] }
        let link = relationships[slot]
        return layout.entities[link.destination].keySteps(in: layout, depth: depth + 1).map {
          ([part.name] + $0.steps, $0.mayBeNull || !link.relationship.isRequired)
        }
      }
    }
  }
}

extension PathResolver {
  /// A sort key, or those of the key of the object that it names.
  fileprivate func parts(of key: SortKey) -> [SortKey] {
    guard case .entity(let entity) = ground, let found = try? expression(key.name), !found.isMany,
      let object = found.object
    else { return [key] }
    let steps = steps(of: key.name)
    let parts = layout.entities[object].keySteps(in: layout)
    return parts.isEmpty
      ? [key] : key.instead(by: parts.map { entity.spelling(of: steps + $0.steps) })
  }
}

extension SortKey {
  /// The same order by something else.
  fileprivate func instead(by names: [String]) -> [SortKey] {
    names.map { SortKey($0, ascending: isAscending, options: options) }
  }
}
