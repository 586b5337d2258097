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
    let name = plan.slots[slot].attribute.name
    if let known = issues.firstIndex(where: { $0.attribute.utf8.elementsEqual(name.utf8) }) {
      issues[known].count += 1
    } else {
      let message = error(fault, slot: slot, row).message
      issues.append(ExportReport.Issue(attribute: name, message: message, count: 1))
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
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }
}
