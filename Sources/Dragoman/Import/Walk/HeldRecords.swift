import DragomanGraph

/// Records that cannot be written yet: a target of theirs, without which they are to be rejected, may
/// still come.
///
/// They are kept in memory, as the mapper made them, until the end of the import; and with them
/// later records with the same key, because the order of records about one object counts.
final class HeldRecords {
  /// One record.
  struct Record {
    /// Its object in the batch.
    var object: Int
    let origin: Origin
    /// Its number in the import, from 1.
    let ordinal: Int
    /// The line of the rejects file, from the record on.
    let text: [UInt8]
    /// The key of the object that it makes: `Entity` and the key's parts.
    let key: String?
    /// What it must not be written without.
    let needs: [Need]
  }

  /// A target that must be there.
  struct Need {
    /// The key as `Record.key` has it.
    let key: String
    /// The relationship.
    let relationship: String
    /// The key for messages.
    let text: String
    /// The target's entity, and its key as the store has it.
    let entity: EntityLayout
    let columns: [KeyColumn]
    let values: [StoredValue]
  }

  /// The drafts of all of them.
  let batch = DraftBatch()
  private(set) var records: [Record] = []
  private(set) var keys: Set<String> = []
  /// The records at the end, when they are written or refused.
  private(set) var taken: [Record] = []
  /// The record at hand, at the end.
  var current: Record?

  /// Whether nothing is held.
  var isEmpty: Bool { records.isEmpty }

  /// Whether a record about the object of this key is held.
  func holds(_ key: String?) -> Bool { key.map { keys.contains($0) } ?? false }

  /// Where the record at hand stands, if it is a held one.
  func origin(of batch: DraftBatch) -> Origin? { batch === self.batch ? current?.origin : nil }

  /// Keeps a record of a batch: copies it, with everything nested in it; and as the feed has it, where
  /// hooks are given it.
  func add(_ record: Record, of other: DraftBatch, _ plan: ImportPlan, keepsRecord: Bool) {
    batch.plan = other.plan
    let object = record.object
    let end = other.objects[object].end
    let shift = batch.objects.count - object
    for index in object..<end {
      let draft = other.objects[index]
      let entity = plan.entities[draft.plan]
      let start = batch.values.count
      if keepsRecord { batch.keptRecords.append(ForeignRecord(other.records, draft.node)) }
      for value in other.values[draft.start..<draft.start + entity.slots.count] {
        batch.values.append(copy(value, of: other))
      }
      let firstLink = batch.links.count
      for link in draft.links.map({ other.links[$0] }) {
        let first = batch.targets.count
        for target in link.targets.map({ other.targets[$0] }) {
          switch target {
          case .object(let nested): batch.targets.append(.object(nested + shift))
          case .key(let keyStart, _):
            let place = batch.values.count
            let key = entity.links[link.slot].referenceKey(in: plan.model)
            for value in other.values[keyStart..<keyStart + (key?.count ?? 0)] {
              batch.values.append(copy(value, of: other))
            }
            batch.targets.append(.key(start: place, node: 0))
          }
        }
        batch.links.append(DraftBatch.Link(slot: link.slot, targets: first..<batch.targets.count))
      }
      batch.objects.append(
        DraftBatch.Object(
          plan: draft.plan,
          start: start,
          parent: draft.parent < 0 ? -1 : draft.parent + shift,
          node: 0,
          links: firstLink..<batch.links.count,
          end: draft.end + shift
        )
      )
    }
    if let key = record.key { keys.insert(key) }
    var record = record
    record.object += shift
    records.append(record)
  }

  private func copy(_ value: RowValue, of other: DraftBatch) -> RowValue {
    guard value.kind == .text || value.kind == .blob else { return value }
    let bytes = Array(other.records.bytes(UInt32(value.offset), value.length))
    let (start, length) = bytes.withUnsafeBytes { batch.records.append($0) }
    return value.kind == .text
      ? .text(at: start, length: length) : .blob(at: start, length: length)
  }

  /// Takes all records out.
  func takeAll() -> [Record] {
    taken = records
    records = []
    keys = []
    return taken
  }
}
