import DragomanGraph

/// What a mapper says of the values and records that it does not take.
extension RecordMapper {
  /// The refusal of a record for what an attribute's value is not.
  func refuse(
    _ code: ImportIssue.Code,
    _ slot: EntityPlan.Slot,
    _ found: PathWalker.Found?,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch,
    _ what: String
  ) -> Result<RowValue, Refusal> {
    let place = found.map { batch.nodes[Int($0.node)].origin } ?? record.start
    var issue = describe(code, record, place, batch, "\(plan.name).\(slot.attribute.name) \(what).")
    issue.attribute = slot.attribute.name
    issue.path = slot.paths.first?.path.text
    issue.map = mapPlace(slot.position)
    if code == .required || code == .keyMissing {
      let remedy =
        slot.attribute.defaultValue == nil
        ? "or the map a default"
        : "or the map say \(found == nil ? "onMissing" : "onNull"): default"
      issue.help = "the feed must give \(issue.path ?? slot.attribute.name), \(remedy)"
    }
    return .failure(Refusal(issue: issue))
  }

  func describe(
    _ fault: ValueConverter.Fault,
    _ slot: EntityPlan.Slot,
    _ found: PathWalker.Found,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch,
    isReject: Bool
  ) -> ImportIssue {
    let node = batch.nodes[Int(found.node)]
    var message = fault.message(for: slot)
    if fault == .closure, let closureMessage {
      message += " It says: \(ForeignText.shortened(closureMessage))"
    }
    var issue = describe(fault.code, record, node.origin, batch, message)
    issue.attribute = slot.attribute.name
    let candidate = min(Int(found.candidate), slot.paths.count - 1)
    issue.path = candidate >= 0 ? slot.paths[candidate].path.text : nil
    // A computed value has no place of its own: the record is not shown for it.
    issue.value =
      candidate < 0
      ? nil
      : slot.attribute.isSensitive
        ? ForeignText.mask : ForeignText.excerpt(of: found.node, in: batch)
    issue.tried = fault.tried(for: slot)
    issue.map = mapPlace(slot.position)
    let text = batch.bytes(node.text, node.length)
    issue.help = fault.help(
      for: slot,
      isScalar: node.next == found.node + 1,
      decimalSign: Self.decimalSign(of: text),
      isInSpace: fault == .notANumber && slot.converter.isNumberInSpace(text)
    )
    issue.isReject = isReject
    return issue
  }

  func describe(
    _ code: ImportIssue.Code,
    _ record: RecordBatch.Record,
    _ place: UInt32,
    _ batch: RecordBatch,
    _ message: String
  ) -> ImportIssue {
    ImportIssue(
      code: code,
      entity: plan.name,
      attribute: nil,
      origin: batch.origin(at: place, record: record.number),
      path: nil,
      value: nil,
      message: message,
      tried: [],
      map: mapPlace(plan.position),
      help: nil,
      key: key(of: record, in: batch),
      isReject: true
    )
  }

  /// The record's key as text, for messages: `NO, P-001`.
  private func key(of record: RecordBatch.Record, in batch: RecordBatch) -> String? {
    guard record.node != RecordBatch.malformedNode else { return nil }
    let parts = plan.slots.indices.filter { plan.slots[$0].isKey }.map { index -> String? in
      let slot = plan.slots[index]
      guard walker.found[index].state == .value, slot.code == nil,
        case .value(let value) = slot.converter.convert(walker.found[index].node, in: batch)
      else { return nil }
      if slot.attribute.isSensitive { return ForeignText.mask }
      return ForeignText.shortened(value.stored(in: UnsafeRawBufferPointer(batch.arena)).text)
    }
    let known = parts.compactMap { $0 }
    return known.isEmpty || known.count < parts.count ? nil : known.joined(separator: ", ")
  }

  /// The last point or comma of a text that begins as numbers do; a point where it has neither.
  private static func decimalSign(of text: UnsafeRawBufferPointer) -> String? {
    guard let first = text.first, ASCII.isDigit(first) || "+-.".utf8.contains(first) else {
      return nil
    }
    let last = text.last { ".,".utf8.contains($0) }
    return last == UInt8(ascii: ",") ? "," : "."
  }

  func mapPlace(_ position: MapPosition?) -> String? {
    guard let mapFile, let position else { return nil }
    return "\(mapFile):\(position.line):\(position.column)"
  }
}
