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
          throw Self.refusal("\(name) and its inverse are to-ones: who comes last has the target.")
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
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      func add(_ word: UInt64) {
        // The finalizer of MurmurHash3 (https://github.com/aappleby/smhasher, public domain).
        hash ^= word
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
        hash ^= hash >> 33
      }
      for slot in keys[draft.plan] {
        let value = batch.values[draft.start + slot]
        switch value.kind {
        case .absent, .null: return takes(number: batch.records.records[record].number)
        case .integer, .real: add(value.bits)
        case .text, .blob:
          let bytes = batch.records.bytes(UInt32(value.offset), value.length)
          add(UInt64(bytes.count))
          var place = 0
          while place + 8 <= bytes.count {
            add(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian)
            place += 8
          }
          var rest: UInt64 = 0
          while place < bytes.count {
            rest = rest << 8 | UInt64(bytes[place])
            place += 1
          }
          add(rest)
        }
      }
      return takes(hash)
    case .reject: return takes(number: batch.records.records[record].number)
    case .elsewhere: return false
    }
  }

  private func takes(number: Int) -> Bool { takes(UInt64(truncatingIfNeeded: number)) }

  private func takes(_ hash: UInt64) -> Bool {
    hash % UInt64(partition.count) == UInt64(partition.number - 1)
  }
}
