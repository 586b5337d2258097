import DragomanGraph

/// Why an object is not applied, in words.
struct OutcomeIssue {
  let batch: DraftBatch
  let object: Int
  let plan: EntityPlan
  let origin: Origin

  /// An object that was refused.
  func refused(_ outcome: EntityWriter.Outcome) -> ImportIssue? {
    switch outcome {
    case .inserted, .updated, .unchanged, .skipped, .deleted: return nil
    case .duplicate(let columns):
      return make(
        .keyDuplicate,
        "Another \(plan.name) has the same value of \(columns).",
        value: value(of: columns),
        help: "the value is unique; find out which of the two records is right"
      )
    case .otherEntity(let other):
      return make(
        .keyDuplicate,
        "The object with this key is \(MessageWords.withArticle(other)), and no \(plan.name).",
        help: "an object stays of its sub-entity: find out which of the two records is right"
      )
    case .keyExists:
      return make(
        .keyExists,
        "The \(plan.name) with this key exists, and the mode is insert.",
        help: "import with `mode: .upsert` to update it"
      )
    case .deletedAbove:
      return make(
        .keyDuplicate,
        "The \(plan.name) with this key is deleted in the main context, which has not saved that.",
        help: "save the main context first, or roll it back"
      )
    case .incomplete(let missing):
      return make(
        .incomplete,
        "\(plan.name).\(missing) is required, the record does not give it, and no \(plan.name) with"
          + " this key has a value that could stay.",
        attribute: missing,
        help: "the feed must give it, or the map a default"
      )
    case .tooLarge:
      return make(
        .recordSize,
        "The record is larger than the 1,000,000,000 bytes SQLite takes."
      )
    case .holdsNUL(let property):
      return make(
        .nul,
        "\(plan.name).\(property) holds U+0000, which PostgreSQL cannot hold.",
        attribute: property,
        help: "take the character out of the feed, or out of the value with a closure"
      )
    case .hasTooManyDigits(let property):
      return make(
        .range,
        "\(plan.name).\(property) has more digits than PostgreSQL can hold: 131,072 in front of the decimal point, 16,383 behind"
          + " it.",
        attribute: property,
        help: "round it in the feed, give it a `scale`, or make it a string"
      )
    }
  }

  /// An object without a to-one that is a part of its key.
  func keyless(_ relationship: String) -> ImportIssue {
    make(
      .keyMissing,
      "\(plan.name).\(relationship) leads to nobody, and it is a part of the key.",
      attribute: relationship
    )
  }

  /// An object that a delete rule protects.
  func denied(by relationship: String) -> ImportIssue {
    make(
      .linkDenied,
      "The object cannot be deleted: \(relationship) has the delete rule deny, and targets.",
      help: "delete or unlink its targets first, or give \(relationship) another `onDelete`"
    )
  }

  /// A record that a hook refused.
  func refused(by error: any Error) -> ImportIssue {
    make(
      .recordHook,
      "The hook of \(plan.name) refused the record: \(ErrorText.ended(ErrorText.words(error)))"
    )
  }

  /// A record whose hook gives an object the key of another one.
  func taken(_ columns: String, by entity: String) -> ImportIssue {
    make(
      .keyDuplicate,
      "Another \(entity) has the value of \(columns) that the hook of \(plan.name) has set.",
      help: "the value is unique: find out which of the two objects is right"
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

  /// What the record has in some columns, as SQLite names them: `P.email, P.town`.
  private func value(of columns: String) -> String? {
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    let start = batch.objects[object].start
    let texts = columns.split(separator: ", ").compactMap { name -> String? in
      let column = name.drop { $0 != "." }.dropFirst()
      let slot = plan.slots.firstIndex { slot in
        [slot.attribute.column, slot.attribute.name].contains { $0.utf8.elementsEqual(column.utf8) }
      }
      guard let slot, batch.values[start + slot].kind != .absent else { return nil }
      return plan.slots[slot].attribute.isSensitive
        ? ForeignText.mask
        : ForeignText.shortened(batch.values[start + slot].stored(in: arena).text)
    }
    return texts.isEmpty ? nil : texts.joined(separator: ", ")
  }

  private func make(
    _ code: ImportIssue.Code,
    _ message: String,
    value: String? = nil,
    attribute: String? = nil,
    help: String? = nil
  ) -> ImportIssue {
    ImportIssue(
      code: code,
      entity: plan.name,
      attribute: attribute,
      origin: origin,
      path: nil,
      value: value,
      message: message,
      tried: [],
      map: nil,
      help: help,
      key: Self.key(of: batch, start: batch.objects[object].start, plan),
      isReject: true
    )
  }
}
