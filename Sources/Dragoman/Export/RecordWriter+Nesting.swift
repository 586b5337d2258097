/// Targets whose entity stands inside of itself.
extension RecordWriter {
  /// Whether a target is written whole, and not by its key; what is lost by that is told.
  mutating func isWhole(
    _ target: RowBatch.Row,
    _ cut: ExportLink.Cut,
    _ node: ExportTree.Node,
    _ link: ExportLink
  ) -> Bool {
    let isDue = cut.isHarmless ? nesting.isNearest(target) : !nesting.isAround(target)
    guard isDue else {
      if !cut.isHarmless { lose(target, cut) }
      return false
    }
    let fault: SpellingFault? =
      isTooDeep(node) ? .depth : !cut.isHarmless && nesting.isFull ? .count : nil
    if let fault {
      note(fault, link.slot ?? 0)
      return false
    }
    nesting.take(target)
    return true
  }

  /// The row of a target's key; nil where there is none, or it has no place.
  func reference<Row: ExportRow & ~Copyable>(
    to target: RowBatch.Row,
    number: Int,
    of cut: ExportLink.Cut,
    at node: ExportTree.Node,
    _ owner: borrowing Row
  ) -> RowBatch.Row? {
    guard let link = cut.reference, node.reference >= 0,
      !isTooDeep(tree.nodes[Int(node.reference)])
    else { return nil }
    let keys = owner.targets(link)
    let row = keys.rows.lowerBound + number
    // Both come from one snapshot, in one order.
    guard keys.rows.contains(row), let key = keys.batch?[row], key.primaryKey == target.primaryKey
    else { return nil }
    return key
  }

  /// Tells what an import of a target's key takes away from it.
  private mutating func lose(_ target: RowBatch.Row, _ cut: ExportLink.Cut) {
    guard cut.reference != nil else {
      return lose(
        "\(cut.name): an object without a key that leads back to itself is left out there"
      )
    }
    for (index, link) in target.batch.level.links.enumerated() where !link.isReference {
      guard let fate = cut.missed[Array(link.layout.name.utf8)] else { continue }
      if target.targets(index).rows.isEmpty, fate != .rejected { continue }
      lose(
        "\(cut.name): an object that leads back to itself is written by its key there, and an import \(fate.rawValue)"
      )
    }
  }
}
