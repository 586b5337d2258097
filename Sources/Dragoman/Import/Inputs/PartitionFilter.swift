import DragomanGraph

/// Tells the records of one partition from those of the others, by their keys.
struct PartitionFilter {
  private let partition: ImportPartition
  /// The slots of the identity, by plan.
  private let keys: [[Int]]

  /// Looks at the keys of a plan.
  ///
  /// - Throws: `ImportError`, `.request`, for a map whose records cannot be divided.
  init(_ partition: ImportPartition, _ plan: ImportPlan) throws(ImportError) {
    self.partition = partition
    var open = plan.sources.map(\.plan)
    var seen: Set<Int> = []
    while let index = open.popLast() {
      guard seen.insert(index).inserted else { continue }
      open += plan.entities[index].discriminator?.plans.map(\.plan) ?? []
    }
    var keys: [[Int]] = plan.entities.map { _ in [] }
    for index in seen {
      let entity = plan.entities[index]
      let parts = entity.layout.uniqueKeys.first ?? []
      let slots = parts.compactMap { part in
        entity.slots.firstIndex { hasSameBytes($0.attribute.column, part.column) }
      }
      guard !parts.isEmpty else {
        throw Self.refusal(
          "\(entity.name) has no unique key: a partition that is begun again would make its objects twice."
        )
      }
      guard slots.count == parts.count else {
        throw Self.refusal("The unique key of \(entity.name) has a relationship.")
      }
      keys[index] = slots
    }
    self.keys = keys
    for entity in plan.entities {
      for link in entity.links {
        let name = "\(entity.name).\(link.name)"
        if link.onUnresolved == .reject {
          throw Self.refusal("\(name) rejects records whose target another partition may bring.")
        }
        if case .key = link.origin, entity.isIdentity(link) {
          throw Self.refusal(
            "\(name) is part of a key, and another partition may bring its target."
          )
        }
        let isPlaced = plan.model.inverse(of: link.layout)?.relationship.isOrdered == true
        if isPlaced || link.layout.relationship.isOrdered && !link.replaces {
          throw Self.refusal(
            "\(name) puts its objects behind those that are there, in the order of the feed."
          )
        }
        if plan.model.isExclusive(link.layout) {
          throw Self.refusal("A target of \(name) has one owner: who comes last has it.")
        }
      }
    }
  }

  private static func refusal(_ reason: String) -> ImportError {
    ImportError(
      .request,
      "This map cannot be imported in partitions. \(reason)",
      help: "import without a partition"
    )
  }

  /// Whether the draft that was mapped last is of the partition: one with a key by that, one without by its number.
  func takesLast(of batch: DraftBatch) -> Bool {
    let record = batch.drafts.count - 1
    switch batch.drafts[record] {
    case .row(let object), .tombstone(let object):
      let draft = batch.objects[object]
      var hash = ContentHash()
      for slot in keys[draft.plan] {
        let value = batch.values[draft.start + slot]
        switch value.kind {
        case .absent, .null: return takes(number: batch.records.records[record].number)
        case .integer, .real: hash.add(value.bits)
        case .text, .blob: hash.add(batch.records.bytes(UInt32(value.offset), value.length))
        }
      }
      return takes(hash.value)
    case .reject: return takes(number: batch.records.records[record].number)
    case .elsewhere: return false
    }
  }

  private func takes(number: Int) -> Bool { takes(UInt64(truncatingIfNeeded: number)) }

  private func takes(_ hash: UInt64) -> Bool {
    hash % UInt64(partition.count) == UInt64(partition.number - 1)
  }
}
