import CSimdJSON
import DragomanGraph

/// Slots with closures, and keys that a mapper does not know: what only mappers in code have.
extension RecordMapper {
  /// Maps a slot that has a closure, which sees neither missing values nor nulls: they are for the
  /// policies.
  func mapByCode(
    _ found: PathWalker.Found,
    slot index: Int,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch,
    _ drafts: DraftBatch
  ) -> Result<RowValue, Refusal> {
    guard let code = plan.slots[index].code else {
      return map(found, slot: index, record, batch, drafts)
    }
    var found = found
    let result: Result<StoredValue, any Error>
    switch code.closure {
    case .record(let closure):
      found = PathWalker.Found(state: .value, node: record.node)
      let value = recordValue ?? ForeignRecord(batch, record.node)
      recordValue = value
      result = Result { try closure(value) }
    case .value(let closure):
      guard found.state == .value, Int(batch.nodes[Int(found.node)].kind) != TAPE_NULL else {
        return map(found, slot: index, record, batch, drafts)
      }
      result = Result { try closure(ForeignValue(batch, found.node)) }
    }
    let conversion: ValueConverter.Conversion
    switch result {
    case .success(let value):
      let admitted = code.admitted(value)
      conversion =
        switch admitted {
        case .null?: .null
        case let value?: .value(ValueConverter.rowValue(of: value, in: batch))
        case nil: .invalid(code.hasTooManyDigits(value) ? .tooManyDigits : .closureType)
        }
    case .failure(let error):
      closureMessage = ErrorText.words(error)
      conversion = .invalid(.closure)
    }
    return apply(conversion, found, slot: index, record, batch, drafts)
  }

  /// The record has a key that the mapper does not know, and takes none such.
  func unknownKey(of record: RecordBatch.Record, in batch: RecordBatch) -> ImportIssue {
    let node = batch.nodes[Int(walker.unknown)]
    let key = ForeignText.shortened(batch.text(node.key, node.keyLength))
    var issue = describe(
      .recordKey,
      record,
      node.origin,
      batch,
      "The record has a key \"\(key)\", and \(plan.name) has no attribute for it."
    )
    let names = plan.slots.map { $0.paths.first?.path.text ?? $0.attribute.name }
    issue.path = key
    issue.help =
      nearest(to: key, in: names).map { "did you mean \"\($0)\"?" }
      ?? "map the key, or register a mapper that leaves it out"
    return issue
  }
}
