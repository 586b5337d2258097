import DragomanGraph

/// What does not come back: told with the record, or counted.
extension RecordWriter {
  mutating func note(_ fault: SpellingFault?, _ slot: Int) {
    guard let fault, !faults.contains(where: { $0.slot == slot }) else { return }
    faults.append((slot, fault))
  }

  /// Ends the export with the first fault of the record, or counts all of them.
  mutating func settle<Row: ExportRow & ~Copyable>(_ row: borrowing Row) throws(ExportError) {
    defer { faults.removeAll(keepingCapacity: true) }
    guard plan.isLossy else { throw error(faults[0].fault, slot: faults[0].slot, row) }
    for (slot, fault) in faults { count(fault, slot, row) }
  }

  mutating func count<Row: ExportRow & ~Copyable>(
    _ fault: SpellingFault,
    _ slot: Int,
    _ row: borrowing Row
  ) {
    let (entity, name) = (plan.slots[slot].entity, plan.slots[slot].attribute.name)
    let known = issues.firstIndex {
      hasSameBytes($0.attribute, name) && hasSameBytes($0.entity, entity)
    }
    if let known {
      issues[known].count += 1
    } else {
      let message = error(fault, slot: slot, row).message
      issues.append(ExportReport.Issue(entity: entity, attribute: name, message: message, count: 1))
    }
  }

  private func error<Row: ExportRow & ~Copyable>(
    _ fault: SpellingFault,
    slot: Int,
    _ row: borrowing Row
  ) -> ExportError {
    let attribute = plan.slots[slot].attribute
    let key = plan.keyColumns.map { column, isMasked in
      isMasked ? ForeignText.mask : ForeignText.shortened(row.column(column).text)
    }.joined(separator: ", ")
    let name = key.isEmpty ? "with _pk \(row.primaryKey)" : key
    let owner = plan.slots[slot].entity
    let place = owner.utf8.elementsEqual(plan.entity.name.utf8) ? "" : "\(owner) in "
    return ExportError(
      .value,
      "\(attribute.name) of \(place)\(plan.entity.name) \(name) \(fault.message).",
      help: "mend the value or the map, or export with `isLossy` to write it as well as can be"
    )
  }

  /// Takes note of what was not written, or does not come back.
  mutating func lose(_ loss: String) {
    if !losses.contains(loss) { losses.append(loss) }
  }

  /// Whether the values of a target stand deeper than an import reads.
  func isTooDeep(_ node: ExportTree.Node) -> Bool {
    encoder.depth - outerDepth + 1 + Int(node.height) > plan.maximumDepth
  }

  /// Whether two slots are of attributes of one name.
  func isSameAttribute(_ one: Int, _ other: Int) -> Bool {
    hasSameBytes(plan.slots[one].attribute.name, plan.slots[other].attribute.name)
  }
}

extension ColumnValue {
  /// The value as text, for messages.
  fileprivate var text: String {
    switch self {
    case .null: "null"
    case .integer(let value): String(value)
    case .real(let value): String(value)
    case .text(let bytes): String(decoding: bytes, as: UTF8.self)
    case .blob(let bytes): MessageWords.count(bytes.count, "byte")
    }
  }
}
