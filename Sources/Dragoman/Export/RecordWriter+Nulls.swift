import DragomanGraph

/// Where a null is written, and where it is left out.
extension RecordWriter {
  /// Writes a null; false where it is left out.
  mutating func null(_ index: Int, _ node: ExportTree.Node) -> Bool {
    let slot = Int(node.slot)
    if plan.slots[slot].nulls.isLost { note(.null, slot) }
    // A row of one cell is nothing where the cell is, but for the quotes of the empty text.
    if plan.hasOneColumn, !plan.slots[slot].speller.readsEmptyAsNull { note(.null, slot) }
    guard writesNulls || plan.slots[slot].nulls.isNeeded else {
      loseNull(slot)
      return false
    }
    if !plan.slots[slot].nulls.isWritable {
      // What is left out comes back; a row has a cell in any case.
      guard plan.format == .csv else {
        if plan.slots[slot].nulls.isTaken, !node.isNamed { loseNull(slot) }
        return false
      }
      note(.null, slot)
    }
    if node.role == .attribute, !plan.slots[slot].speller.readsEmptyAsNull { return false }
    if node.isTextOnly { return false }
    encoder.null(index, node.role)
    return true
  }

  /// Whether an XML element with a text and other things has to say that all of it is null, as its text would be read
  /// as empty, not as null, beside a null of these.
  func isNil<Row: ExportRow & ~Copyable>(
    _ node: ExportTree.Node,
    _ row: borrowing Row
  ) -> Bool {
    guard node.slot >= 0, !node.isTextOnly, plan.slots[Int(node.slot)].nulls.isWritable,
      hasOnlyNulls(node, row)
    else { return false }
    var isNeeded = writesNulls || plan.slots[Int(node.slot)].nulls.isNeeded
    var isRead = plan.slots[Int(node.slot)].speller.readsEmptyAsNull
    for place in Int(node.start)..<Int(node.end) {
      let child = tree.nodes[Int(tree.order[place])]
      if child.role != .attribute { isRead = false }
      if child.slot >= 0, plan.slots[Int(child.slot)].nulls.isNeeded { isNeeded = true }
    }
    return isNeeded && !isRead
  }

  /// Whether all values in an XML element are null, and taken for it where the element is.
  private func hasOnlyNulls<Row: ExportRow & ~Copyable>(
    _ node: ExportTree.Node,
    _ row: borrowing Row
  ) -> Bool {
    if node.link >= 0 || node.context >= 0 { return false }
    if node.slot >= 0 {
      let slot = Int(node.slot)
      guard plan.slots[slot].constant == nil, plan.slots[slot].nulls.isTaken,
        case .null = row.column(plan.slots[slot].column)
      else { return false }
    }
    for place in Int(node.start)..<Int(node.end) {
      guard hasOnlyNulls(tree.nodes[Int(tree.order[place])], row) else { return false }
    }
    return true
  }

  /// Takes note of a null that was to be written and has no spelling where it stands.
  mutating func loseNull(_ slot: Int) {
    guard plan.writesNulls, plan.format == .xml, lostNulls.insert(slot).inserted else { return }
    let slot = plan.slots[slot]
    lose("\(slot.entity).\(slot.attribute.name): null is left out, as XML cannot say it there")
  }
}
