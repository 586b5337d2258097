/// Which targets of a record are written whole where an entity stands inside of itself, and which by their key.
///
/// Where a key says as much to an import, each object is written whole once, where it is nearest to the record, so that a
/// record is never longer than what it leads to. Where an import misses what stands beside the key, an object is written
/// whole wherever it does not stand inside of itself.
struct NestedObjects {
  /// An object, whichever batch has it.
  private struct Object: Hashable {
    let root: Int
    let key: Int64
  }

  /// A target of one owner: a row of a batch.
  private struct Place: Hashable {
    let batch: ObjectIdentifier
    let row: Int
  }

  /// The places of objects that no place nearer to the record has, and that were not written yet.
  private var nearest: Set<Place> = []
  /// The objects that stand around the next one, the outermost first.
  private var around: [Object] = []
  /// The objects that were found, and those of them whose targets are still to be looked at.
  private var known: Set<Object> = []
  private var queue: [RowBatch.Row] = []
  private var count = 0

  /// A record holds no more objects where they stand in it several times.
  private static let maximumCount = 100_000

  /// Finds the places of all objects of a record.
  ///
  /// - Parameters:
  ///   - row: The record.
  ///   - level: What is read of it.
  mutating func begin<Row: ExportRow & ~Copyable>(_ row: borrowing Row, _ level: ExportLevel) {
    nearest.removeAll(keepingCapacity: true)
    around.removeAll(keepingCapacity: true)
    known.removeAll(keepingCapacity: true)
    let record = Object(root: level.root, key: row.primaryKey)
    around.append(record)
    known.insert(record)
    count = 0
    addTargets(of: row, level)
    var next = 0
    while next < queue.count {
      let target = queue[next]
      addTargets(of: target, target.batch.level)
      next += 1
    }
    // It holds the batch.
    queue.removeAll(keepingCapacity: true)
  }

  /// Adds what a row leads to, of what inside of itself stands what is new.
  private mutating func addTargets<Row: ExportRow & ~Copyable>(
    of row: borrowing Row,
    _ level: ExportLevel
  ) {
    let tree = level.kinds.isEmpty ? 0 : level.kinds[row.kind(in: level)].tree
    for (index, link) in level.links.enumerated() where link.tree == tree && link.isNested {
      let targets = row.targets(index)
      for place in targets.rows {
        guard let target = targets.batch?[place] else { break }
        let isNew = known.insert(object(target)).inserted
        guard isNew || link.up == nil else { continue }
        if link.up != nil { nearest.insert(self.place(of: target)) }
        queue.append(target)
      }
    }
  }

  /// Whether a target is to be written whole here, and nowhere else.
  func isNearest(_ target: RowBatch.Row) -> Bool { nearest.contains(place(of: target)) }

  /// Takes note that a target is written whole.
  mutating func take(_ target: RowBatch.Row) { nearest.remove(place(of: target)) }

  /// Whether a target stands inside of itself.
  func isAround(_ target: RowBatch.Row) -> Bool { around.contains(object(target)) }

  /// Whether the record holds too many objects.
  var isFull: Bool { count >= Self.maximumCount }

  /// Goes into a target.
  mutating func enter(_ target: RowBatch.Row) {
    around.append(object(target))
    count += 1
  }

  /// Leaves the target.
  mutating func leave() { around.removeLast() }

  private func object(_ row: RowBatch.Row) -> Object {
    Object(root: row.batch.level.root, key: row.primaryKey)
  }

  private func place(of row: RowBatch.Row) -> Place {
    Place(batch: ObjectIdentifier(row.batch), row: row.index)
  }
}

extension ExportLevel.Link {
  /// Whether its targets are written as more than their keys.
  fileprivate var isNested: Bool {
    !isByKey && !isShadowed && !isReference && unwritten == nil
  }
}
