import DragomanGraph

/// What became of an object that is not applied, in words.
enum OutcomeIssue {
  /// An object that was refused; nil where it was not.
  static func describe(
    _ outcome: EntityWriter.Outcome,
    _ batch: DraftBatch,
    object: Int,
    origin: @autoclosure () -> Origin,
    _ plan: EntityPlan
  ) -> ImportIssue? {
    let refusal: (code: ImportIssue.Code, message: String, help: String?)
    var attribute: String?
    switch outcome {
    case .inserted, .updated, .unchanged, .skipped, .deleted: return nil
    case .duplicate(let columns):
      refusal = (
        .keyDuplicate, "Another \(plan.name) has the same value of \(columns).",
        "the value is unique; find out which of the two records is right"
      )
    case .otherEntity(let other):
      refusal = (
        .keyDuplicate, "The object with this key is a \(other), and no \(plan.name).",
        "an object stays of its sub-entity: find out which of the two records is right"
      )
    case .keyExists:
      refusal = (
        .keyExists, "A \(plan.name) with this key exists, and the mode is insert.",
        "use --mode upsert to update it"
      )
    case .incomplete(let missing):
      attribute = missing
      refusal = (
        .incomplete,
        "\(plan.name).\(missing) is required, the record does not give it, and there is no object with"
          + " this key whose value could stay.", "the feed must give it, or the map a default"
      )
    case .tooLarge:
      refusal = (
        .recordSize, "The record is larger than the 1,000,000,000 bytes SQLite takes.", nil
      )
    }
    var issue = make(
      refusal.code,
      refusal.message,
      help: refusal.help,
      batch,
      object,
      origin(),
      plan
    )
    issue.attribute = attribute
    return issue
  }

  /// An object that a delete rule protects.
  static func denial(
    _ relationship: String,
    _ batch: DraftBatch,
    object: Int,
    origin: Origin,
    _ plan: EntityPlan
  ) -> ImportIssue {
    make(
      .linkDenied,
      "The object cannot be deleted: \(relationship) has the delete rule deny, and targets.",
      help: "delete or unlink its targets first, or give \(relationship) another `onDelete`",
      batch,
      object,
      origin,
      plan
    )
  }

  /// A record that a hook refused.
  static func hook(
    _ error: any Error,
    _ batch: DraftBatch,
    object: Int,
    origin: Origin,
    _ plan: EntityPlan
  ) -> ImportIssue {
    make(
      .recordHook,
      "The hook of \(plan.name) refused the record: \(error).",
      help: nil,
      batch,
      object,
      origin,
      plan
    )
  }

  /// Where an object of a record stands.
  static func origin(of object: Int, record index: Int, in batch: DraftBatch) -> Origin {
    let record = batch.records.records[index]
    guard batch.objects[object].parent >= 0 else {
      return batch.records.origin(at: record.start, record: record.number)
    }
    let start = batch.records.nodes[Int(batch.objects[object].node)].origin
    return batch.records.origin(at: start, record: record.number)
  }

  /// The key of an object as text, for messages.
  static func key(of batch: DraftBatch, start: Int, _ plan: EntityPlan) -> String? {
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    let parts = plan.slots.indices.filter { plan.slots[$0].isKey }.map { index in
      plan.slots[index].attribute.isSensitive
        ? ForeignText.mask : batch.values[start + index].stored(in: arena).text
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private static func make(
    _ code: ImportIssue.Code,
    _ message: String,
    help: String?,
    _ batch: DraftBatch,
    _ object: Int,
    _ origin: Origin,
    _ plan: EntityPlan
  ) -> ImportIssue {
    ImportIssue(
      code: code,
      entity: plan.name,
      attribute: nil,
      origin: origin,
      path: nil,
      value: nil,
      message: message,
      tried: [],
      map: nil,
      help: help,
      key: key(of: batch, start: batch.objects[object].start, plan),
      isReject: true
    )
  }
}
