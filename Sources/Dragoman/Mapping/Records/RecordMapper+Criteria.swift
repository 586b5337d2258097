import CSimdJSON
import DragomanGraph

/// Values that decide what becomes of a record: the word of its entity, and the one that deletes its
/// object.
extension RecordMapper {
  /// The mapper of the entity that a walked record says it is; this one where it says nothing.
  func chooseMapper(
    for record: RecordBatch.Record,
    in batch: RecordBatch
  ) -> Result<RecordMapper, Refusal> {
    guard let rule = plan.discriminator else { return .success(self) }
    let found = found(rule.criterion, record, batch)
    if found.state == .repeated {
      return .failure(repeated("discriminator", rule.criterion, found, record, batch))
    }
    if let refusal = blocked("discriminator", rule.criterion, found, record, batch) {
      return .failure(refusal)
    }
    guard found.state == .value else { return .success(self) }
    let node = batch.nodes[Int(found.node)]
    if Int(node.kind) == TAPE_NULL { return .success(self) }
    if let bytes = batch.word(at: found.node) {
      for (word, index) in rule.plans where word.count == bytes.count && bytes.has(word, at: 0) {
        return .success(set.mappers[index])
      }
    }
    var issue = describe(
      .word,
      record,
      node.origin,
      batch,
      "The discriminator of \(plan.name) does not have this word."
    )
    issue.value =
      rule.criterion.isSensitive
      ? ForeignText.mask : ForeignText.excerpt(of: found.node, in: batch)
    issue.tried = rule.plans.map { String(decoding: $0.word, as: UTF8.self) }
    return .failure(Refusal(issue: issue))
  }

  /// Whether the record says that its object is gone.
  @inline(__always)
  func isTombstone(
    _ record: RecordBatch.Record,
    _ batch: RecordBatch
  ) -> Result<Bool, Refusal> {
    guard let rule = plan.tombstone else { return .success(false) }
    let found = found(rule.criterion, record, batch)
    if found.state == .repeated {
      return .failure(repeated("deleteWhen", rule.criterion, found, record, batch))
    }
    if let refusal = blocked("deleteWhen", rule.criterion, found, record, batch) {
      return .failure(refusal)
    }
    guard found.state == .value, let bytes = batch.word(at: found.node) else {
      return .success(false)
    }
    return .success(bytes.count == rule.equals.count && bytes.has(rule.equals, at: 0))
  }

  /// The path of a value that decides what becomes of a record must not run into another value; what a
  /// record is that is no object says nothing.
  func blocked(
    _ rule: String,
    _ criterion: EntityPlan.Criterion,
    _ found: PathWalker.Found,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch
  ) -> Refusal? {
    guard found.state == .blocked, found.node != record.node else { return nil }
    let place = batch.nodes[Int(found.node)].origin
    let message = "The path of `\(rule)` runs through a value that has no members."
    var issue = describe(.path, record, place, batch, message)
    issue.path = criterion.paths[min(Int(found.candidate), criterion.paths.count - 1)].path.text
    return Refusal(issue: issue)
  }

  /// A value that decides what becomes of a record must be one.
  func repeated(
    _ rule: String,
    _ criterion: EntityPlan.Criterion,
    _ found: PathWalker.Found,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch
  ) -> Refusal {
    let place = batch.nodes[Int(found.node)].origin
    let message = "The record gives the value of `\(rule)` more than once."
    var issue = describe(.repeated, record, place, batch, message)
    issue.path = criterion.paths[min(Int(found.candidate), criterion.paths.count - 1)].path.text
    return Refusal(issue: issue)
  }
}
