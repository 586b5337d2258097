extension ModelLayout {
  /// The entity of that name, or an error that names the nearest one.
  func requireEntity(_ name: String) throws(StoreError) -> EntityLayout {
    if let entity = entity(named: name) { return entity }
    let known = model.entities.map(\.name)
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
