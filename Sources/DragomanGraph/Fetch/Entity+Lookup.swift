extension Entity {
  /// The attribute of that name, or an error that names the nearest one.
  func requireAttribute(_ name: String) throws(StoreError) -> Attribute {
    if let attribute = attribute(named: name) { return attribute }
    let known = attributes.map(\.name)
    throw StoreError(
      .badRequest,
      "The entity \(self.name) has no attribute \"\(name)\".",
      help: nearest(to: name, in: known).map { "did you mean \"\($0)\"?" }
        ?? "it has \(known.prefix(20).joined(separator: ", "))\(known.count > 20 ? ", …" : "")"
    )
  }
}

extension Model {
  /// The entity of that name, or an error that names the nearest one.
  func requireEntity(_ name: String) throws(StoreError) -> Entity {
    if let entity = entity(named: name) { return entity }
    let known = entities.map(\.name)
    throw StoreError(
      .badRequest,
      "There is no entity \"\(name)\".",
      help: nearest(to: name, in: known).map { "did you mean \"\($0)\"?" }
        ?? (known.isEmpty
          ? "the store is empty"
          : "there are \(known.prefix(20).joined(separator: ", "))\(known.count > 20 ? ", …" : "")")
    )
  }
}
