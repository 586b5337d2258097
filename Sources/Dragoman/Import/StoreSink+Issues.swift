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

  private func countReject(_ issue: ImportIssue) throws {
    counts.rejected += 1
    issues.add(issue)
    if let maximumRejects, counts.rejected > maximumRejects {
      throw ImportError(
        .tooManyRejects,
        maximumRejects == 0
          ? "A record was rejected, and none may be."
          : "More than \(maximumRejects) records were rejected.",
        help: "mend the feed or the map, or raise --max-rejects"
      )
    }
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
    let (code, attribute, message, help): (ImportIssue.Code, String?, String, String?)
    switch outcome {
    case .inserted, .updated, .unchanged, .skipped, .deleted: return nil
    case .duplicate(let columns):
      (code, attribute, message, help) = (
        .keyDuplicate, nil, "Another \(plan.name) has the same value of \(columns).",
        "the value is unique; find out which of the two records is right"
      )
    case .keyExists:
      (code, attribute, message, help) = (
        .keyExists, nil, "A \(plan.name) with this key exists, and the mode is insert.",
        "use --mode upsert to update it"
      )
    case .incomplete(let missing):
      (code, attribute, message, help) = (
        .incomplete, missing,
        "\(plan.name).\(missing) is required, the record does not give it, and there is no object with"
          + " this key whose value could stay.",
        "the feed must give it, or the map a default"
      )
    case .tooLarge:
      (code, attribute, message, help) = (
        .recordSize, nil, "The record is larger than the 1,000,000,000 bytes SQLite takes.", nil
      )
    }
    return ImportIssue(
      code: code,
      entity: plan.name,
      attribute: attribute,
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
    ImportIssue(
      code: .linkDenied,
      entity: plan.name,
      attribute: nil,
      origin: origin,
      path: nil,
      value: nil,
      message: "The object cannot be deleted: \(relationship) has the delete rule deny, and targets.",
      tried: [],
      map: nil,
      help: "delete or unlink its targets first, or give \(relationship) another `onDelete`",
      key: key(of: batch, start: batch.objects[object].start, plan),
      isReject: true
    )
  }

  /// Where an object of a record stands.
  private func origin(of object: Int, record index: Int, in batch: DraftBatch) -> Origin {
    let record = batch.records.records[index]
    guard batch.objects[object].parent >= 0 else {
      return batch.records.origin(at: record.start, record: record.number)
    }
    let start = batch.records.nodes[Int(batch.objects[object].node)].origin
    return batch.records.origin(at: start, record: record.number)
  }

  /// The key of an object as text, for messages.
  func key(of batch: DraftBatch, start: Int, _ plan: EntityPlan) -> String? {
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    let parts = plan.slots.indices.filter { plan.slots[$0].isKey }.map { index in
      plan.slots[index].attribute.isSensitive
        ? ForeignText.mask : batch.values[start + index].stored(in: arena).text
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
