import DragomanGraph

/// Records that cannot be written yet: a target of theirs, without which they are to be rejected, may
/// still come.
///
/// They are kept in memory, as the mapper made them, until the end of the import; and with them
/// later records about the same objects, because the order of records about one object counts.
final class HeldRecords {
  /// What tells an object: a unique key of its family, compared byte for byte.
  ///
  /// A part that nobody but the store knows is `.null`: all of them are the same there, so that objects may seem to be one that
  /// are not, and never the other way round.
  struct Key: Hashable {
    private let root: Int
    /// The names of the key's parts, each with its value behind it.
    private var parts: [StoredValue]

    init(_ entity: EntityLayout, _ names: [String], _ values: [StoredValue]) {
      root = entity.root
      parts = zip(names, values).flatMap { [.text($0), $1] }
    }

    /// The key without the values of some parts.
    func masking(_ places: some Sequence<Int>) -> Key {
      var masked = self
      for place in places { masked.parts[2 * place + 1] = .null }
      return masked
    }

    /// The key without any values.
    var blank: Key { masking(0..<parts.count / 2) }

    /// Whether all parts are known.
    var isWhole: Bool { !parts.contains(.null) }
  }

  /// A key of an object that a record brings.
  struct MadeKey {
    let key: Key
    /// The object's entity.
    let entity: Int
    /// The places of parts that the record does not give: the object has them already, or by a default.
    let unknown: [Int]
  }

  /// The keys of the objects that a record speaks of.
  struct Keys {
    /// The identity of the record's own object.
    var own: Key?
    /// The identities of nested records, and whether they say more than their key.
    var nested: [(key: Key, saysMore: Bool)] = []
    /// Every key of each of its objects: what others may need.
    var made: [MadeKey] = []

    /// About what one takes, where it is looked for included.
    static let keyByteCount = 320
    /// About how much memory they take.
    var byteCount: Int {
      (made.count + nested.count + (own == nil ? 0 : 1)) * Self.keyByteCount
    }

    /// Which of some needs the record does not make itself.
    func unmade(of needs: [Need]) -> [Need] {
      if needs.isEmpty { return needs }
      let whole = made.filter(\.key.isWhole)
      let entities = Dictionary(grouping: whole, by: \.key).mapValues { $0.map(\.entity) }
      return needs.filter { need in
        !(entities[need.key]?.contains { need.reference.entity.family.contains($0) } ?? false)
      }
    }
  }

  /// One record.
  struct Record {
    /// The batch that has it, and its plan, and its object there.
    var batch: DraftBatch
    var object: Int
    /// Whether it deletes its object.
    let isTombstone: Bool
    let origin: Origin
    /// Its number in the import, from 1.
    let ordinal: Int
    /// What the rejects file gets of it.
    let reject: RejectedRecord?
    let keys: Keys
    /// What it must not be written without, and does not make itself.
    let needs: [Need]
    /// The primary keys that its objects get, if they are new ones; what is missing gets the next one.
    var reservedKeys: ContiguousArray<Int64> = []
    /// Where what is wrong with it stands among the issues; nil: behind those so far.
    var issuePlace: Int?
    /// Where its nested objects and its references stand: their nodes are numbers of these, from 1.
    fileprivate(set) var places: [Origin] = []

    /// Where a node of its batch stands.
    func place(of node: UInt32) -> Origin {
      let index = Int(node) - 1
      return places.indices.contains(index) ? places[index] : origin
    }
  }

  /// A target that must be there.
  struct Need {
    let key: Key
    /// The relationship.
    let link: LinkPlan
    /// The target's key as the store has it.
    let reference: KeyReference
    let values: [StoredValue]
    /// Whether the target is a part of the identity of its owner.
    let isIdentity: Bool
    /// Which of the record's objects has it, from 0, its own.
    let owner: Int

    /// The key for messages.
    var text: String {
      reference.columns.isSensitive ? ForeignText.mask : values.map(\.text).joined(separator: ", ")
    }
  }

  /// The drafts of all of them, by the format of their plan.
  private var batches: [ForeignFormat: [DraftBatch]] = [:]
  private var records: [Record] = []
  /// The identities of own objects, and whether one of the records deletes it.
  private var ownKeys: [Key: Bool] = [:]
  /// The identities of nested records, and whether one of them says more than its key.
  private var nestedKeys: [Key: Bool] = [:]
  /// The records at the end, when they are written or refused.
  private(set) var taken: [Record] = []

  private let maximumByteCount: Int
  /// Where the memory is of what stands around the last reject.
  private var surroundingsPlace: Int?

  /// Keeps records as long as they take no more memory than this.
  init(maximumByteCount: Int = .max) { self.maximumByteCount = maximumByteCount }

  /// A batch that has that much text takes no further records.
  private static let batchByteCount = 1 << 28

  /// Whether nothing is held.
  var isEmpty: Bool { records.isEmpty }
  /// How many records are held.
  var count: Int { records.count }
  /// About how much memory they take.
  private(set) var byteCount = 0

  /// Whether a record with these keys must not come before one that is held.
  ///
  /// What is nested in both counts for neither: else one record would hold back all that have something
  /// in common with it. A nested record that holds a key only says nothing of its object, but that it is there.
  func concerns(_ keys: Keys, isTombstone: Bool) -> Bool {
    if let own = keys.own {
      if ownKeys[own] != nil { return true }
      if let saysMore = nestedKeys[own], saysMore || isTombstone { return true }
    }
    return keys.nested.contains { nested in
      ownKeys[nested.key].map { nested.saysMore || $0 } ?? false
    }
  }

  /// Whether a batch has held records.
  func owns(_ batch: DraftBatch) -> Bool {
    batches.values.contains { $0.contains { $0 === batch } }
  }

  /// The batch for records of a plan.
  private func batch(for plan: ImportPlan) -> DraftBatch {
    if let last = batches[plan.format]?.last, last.records.arenaEnd < Self.batchByteCount {
      return last
    }
    let made = DraftBatch()
    made.plan = plan
    batches[plan.format, default: []].append(made)
    return made
  }

  /// Keeps a record: copies it, with everything nested in it; and as the feed has it, where hooks are
  /// given it.
  ///
  /// - Throws: `.tooManyWaiting` where they take too much memory.
  func add(_ record: Record, _ plan: ImportPlan, keepsRecord: Bool) throws(ImportError) {
    let (other, object) = (record.batch, record.object)
    let batch = batch(for: plan)
    let (firstByte, firstValue) = (batch.records.arenaEnd, batch.values.count)
    func copy(_ value: RowValue) {
      guard value.kind == .text || value.kind == .blob else { return batch.values.append(value) }
      let bytes = Array(other.records.bytes(UInt32(value.offset), value.length))
      let (start, length) = bytes.withUnsafeBytes { batch.records.append($0) }
      batch.values.append(
        value.kind == .text
          ? .text(at: start, length: length) : .blob(at: start, length: length)
      )
    }
    var nodes: [UInt32] = []
    func place(of node: UInt32) -> UInt32 {
      nodes.append(node)
      return UInt32(nodes.count)
    }
    let end = other.objects[object].end
    let shift = batch.objects.count - object
    for index in object..<end {
      let draft = other.objects[index]
      let entity = plan.entities[draft.plan]
      let start = batch.values.count
      if keepsRecord { batch.keptRecords.append(ForeignRecord(other.records, draft.node)) }
      other.values[draft.start..<draft.start + entity.slots.count].forEach(copy)
      let firstLink = batch.links.count
      for link in draft.links.map({ other.links[$0] }) {
        let first = batch.targets.count
        for target in link.targets.map({ other.targets[$0] }) {
          switch target {
          case .object(let nested): batch.targets.append(.object(nested + shift))
          case .key(let keyStart, let node):
            let width = entity.links[link.slot].reference?.columns.count ?? 0
            batch.targets.append(.key(start: batch.values.count, node: place(of: node)))
            other.values[keyStart..<keyStart + width].forEach(copy)
          }
        }
        batch.links.append(DraftBatch.Link(slot: link.slot, targets: first..<batch.targets.count))
      }
      batch.objects.append(
        DraftBatch.Object(
          plan: draft.plan,
          start: start,
          parent: draft.parent < 0 ? -1 : draft.parent + shift,
          node: draft.parent < 0 ? 0 : place(of: draft.node),
          links: firstLink..<batch.links.count,
          end: draft.end + shift
        )
      )
    }
    if let own = record.keys.own {
      ownKeys[own] = record.isTombstone || ownKeys[own] ?? false
    }
    for (key, saysMore) in record.keys.nested {
      nestedKeys[key] = saysMore || nestedKeys[key] ?? false
    }
    if let reject = record.reject {
      byteCount += reject.bytes.count
      // One memory has them for all records of a batch.
      let place = reject.surroundings.withUnsafeBufferPointer {
        $0.baseAddress.map(Int.init(bitPattern:))
      }
      if place != surroundingsPlace { byteCount += reject.surroundings.count }
      surroundingsPlace = place
    }
    byteCount += (batch.records.arenaEnd - firstByte)
    byteCount += (batch.values.count - firstValue) * MemoryLayout<RowValue>.stride
    byteCount += nodes.count * MemoryLayout<Origin>.stride
    byteCount += record.keys.byteCount + record.needs.count * Keys.keyByteCount
    byteCount += MemoryLayout<Record>.stride
    guard byteCount <= maximumByteCount else {
      throw ImportError(
        .tooManyWaiting,
        "More than \(maximumByteCount >> 20) MB of records wait for objects that have not come.",
        help:
          "let the feed bring objects before those that need them, give the relationship another"
          + " `onUnresolved` than `reject`, or raise `maxWaitingSize` under `import:`"
      )
    }
    var record = record
    record.places = Self.places(of: nodes, record.origin, in: other.records)
    record.batch = batch
    record.object += shift
    records.append(record)
  }

  /// Where nodes of a record stand that begins at a place.
  private static func places(
    of nodes: [UInt32],
    _ origin: Origin,
    in records: RecordBatch
  ) -> [Origin] {
    if nodes.isEmpty { return [] }
    let starts = nodes.map { records.nodes[Int($0)].origin }
    var places = nodes.map { _ in origin }
    // Lines are counted forwards: asked for in another order, they are counted from the first one again.
    for index in starts.indices.sorted(by: { starts[$0] < starts[$1] }) {
      places[index] = records.origin(at: starts[index], record: origin.record)
    }
    return places
  }

  /// Takes all records out.
  func takeAll() -> [Record] {
    taken = records
    records = []
    ownKeys = [:]
    nestedKeys = [:]
    byteCount = 0
    return taken
  }
}
