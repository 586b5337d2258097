import DragomanGraph

/// What was refused, in words.
extension StoreSink {
  /// Counts a rejected record and writes it to the rejects file.
  func reject(_ issue: ImportIssue, record index: Int, in batch: DraftBatch) throws {
    try rejects?.write(issue, batch.records.records[index], in: batch.records)
    try countReject(issue)
  }

  /// Counts a held record that is rejected in the end.
  func reject(_ issue: ImportIssue, heldText: [UInt8]) throws {
    try rejects?.write(issue, text: heldText, in: held.batch.records)
    try countReject(issue)
  }

  /// A row that the store refused; nil where it took it.
  func describe(
    _ outcome: EntityWriter.Outcome,
    _ batch: DraftBatch,
    object: Int,
    record index: Int,
    _ plan: EntityPlan
  ) -> ImportIssue? {
    switch outcome {
    case .inserted, .updated, .unchanged, .skipped, .deleted: return nil
    default: break
    }
    return describe(
      outcome,
      batch,
      object: object,
      origin: origin(of: object, record: index, in: batch),
      plan
    )
  }

  /// A row that the store refused; nil where it took it.
  func describe(
    _ outcome: EntityWriter.Outcome,
    _ batch: DraftBatch,
    object: Int,
    origin: Origin,
    _ plan: EntityPlan
  ) -> ImportIssue? {
    OutcomeIssue.describe(outcome, batch, object: object, origin: origin, plan)
  }

  /// An object that a delete rule protects.
  func denial(
    _ relationship: String,
    _ batch: DraftBatch,
    object: Int,
    record index: Int,
    _ plan: EntityPlan
  ) -> ImportIssue {
    let origin = origin(of: object, record: index, in: batch)
    return denial(relationship, batch, object: object, origin: origin, plan)
  }

  /// An object that a delete rule protects.
  func denial(
    _ relationship: String,
    _ batch: DraftBatch,
    object: Int,
    origin: Origin,
    _ plan: EntityPlan
  ) -> ImportIssue {
    OutcomeIssue.denial(relationship, batch, object: object, origin: origin, plan)
  }

  /// Where an object of a record stands.
  private func origin(of object: Int, record index: Int, in batch: DraftBatch) -> Origin {
    OutcomeIssue.origin(of: object, record: index, in: batch)
  }

  /// The key of an object as text, for messages.
  func key(of batch: DraftBatch, start: Int, _ plan: EntityPlan) -> String? {
    OutcomeIssue.key(of: batch, start: start, plan)
  }
}
