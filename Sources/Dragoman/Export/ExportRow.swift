import DragomanGraph

/// One object on its way out: the values of its columns, and its links.
protocol ExportRow: ~Copyable {
  /// The row's `_pk`.
  var primaryKey: Int64 { get }
  /// The value of a column, by its place among the columns of its level.
  func column(_ index: Int) -> ColumnValue
  /// The targets of a relationship, by its place among the links of its level.
  func targets(_ link: Int) -> RowBatch.Targets
  /// What it is among the kinds of its level.
  func kind(in level: ExportLevel) -> Int
}

extension ExportLevel {
  /// The place among `kinds` of a row whose own entity is told by a column behind its values.
  func kind<Row: ExportRow & ~Copyable>(of row: borrowing Row) -> Int {
    guard kinds.count > 1, case .text(let name) = row.column(columns.count) else { return 0 }
    return kinds.firstIndex { name.elementsEqual($0.name) } ?? 0
  }
}

/// A row as it comes from SQLite: exports without relationships write it from there.
extension FetchedRow: ExportRow {
  func targets(_ link: Int) -> RowBatch.Targets { RowBatch.Targets(batch: nil, rows: 0..<0) }
  func kind(in level: ExportLevel) -> Int { level.kind(of: self) }
}

/// Copies of rows, with what they are linked to.
///
/// Links are read once a batch, with one statement a relationship; where an entity stands inside of itself once a round,
/// until no round brings new objects. The memory is used again for the next batch.
final class RowBatch {
  /// The targets of one owner: rows of another batch.
  struct Targets {
    let batch: RowBatch?
    let rows: Range<Int>

    /// The first of them; of a to-one the only one.
    var first: Row? {
      guard let batch, let first = rows.first else { return nil }
      return batch[first]
    }
  }

  /// One row of a batch.
  struct Row: ExportRow {
    let batch: RowBatch
    let index: Int

    var primaryKey: Int64 { batch.keys[index] }
    func column(_ column: Int) -> ColumnValue { batch.column(column, of: index) }
    func kind(in level: ExportLevel) -> Int { kind }
    /// The live object that it is of; nil where it was read from the store.
    var object: ManagedObject? { batch.objects.isEmpty ? nil : batch.objects[index] }
    /// What it is among the kinds of its level.
    var kind: Int { batch.kinds.isEmpty ? 0 : batch.kinds[index] }

    func targets(_ link: Int) -> Targets {
      Targets(batch: batch.targets(of: link), rows: batch.links[link].rows[primaryKey] ?? 0..<0)
    }
  }

  private struct Linked {
    /// The targets; nil where they are rows of a batch around this one.
    let own: RowBatch?
    /// The targets of all rows that were asked for them.
    var rows: [Int64: Range<Int>] = [:]
  }

  /// What its rows have.
  let level: ExportLevel
  private let columnCount: Int
  // One thread has a batch, and nothing here runs code of others: exclusive access needs no check at run time.
  @exclusivity(unchecked) private var values: [RowValue] = []
  @exclusivity(unchecked) private var keys: [Int64] = []
  /// What the rows are among the kinds of the level; empty where there is one.
  @exclusivity(unchecked) private var kinds: [Int] = []
  private let texts = ExportBuffer(capacity: 1 << 16)
  @exclusivity(unchecked) private var links: [Linked] = []
  /// The batch of the rows that these are linked from, which has this one; nil: these are the records.
  private unowned let owner: RowBatch?
  /// How many of the rows were asked for what they are linked to.
  @exclusivity(unchecked) private var askedCount = 0
  /// The live objects that the rows are of.
  private var objects: [ManagedObject] = []

  /// Makes an empty batch for the rows of a level.
  init(_ level: ExportLevel, inside owner: RowBatch? = nil) {
    self.level = level
    self.owner = owner
    columnCount = level.columns.count
    links = level.links.map { link in
      Linked(own: link.up == nil ? RowBatch(link.level, inside: self) : nil)
    }
  }

  /// The batch that has the targets of a link.
  private func targets(of link: Int) -> RowBatch {
    if let own = links[link].own { return own }
    var batch = self
    for _ in 0..<(level.links[link].up ?? 0) { batch = batch.owner ?? batch }
    return batch
  }

  /// How many rows there are.
  var count: Int { keys.count }
  /// How many bytes of text they have.
  var textByteCount: Int { texts.count }

  /// A row.
  subscript(index: Int) -> Row { Row(batch: self, index: index) }

  /// Forgets the rows, and what they are linked to.
  func removeAll() {
    askedCount = 0
    objects.removeAll(keepingCapacity: true)
    for index in links.indices {
      links[index].rows.removeAll(keepingCapacity: true)
      links[index].own?.removeAll()
    }
    values.removeAll(keepingCapacity: true)
    keys.removeAll(keepingCapacity: true)
    kinds.removeAll(keepingCapacity: true)
    texts.truncate(to: 0)
  }

  /// Copies a row.
  ///
  /// - Throws: `.request` where the rows of a batch have more text than a batch holds.
  func append(_ row: borrowing FetchedRow) throws(ExportError) {
    keys.append(row.primaryKey)
    if level.kinds.count > 1 { kinds.append(level.kind(of: row)) }
    let start = values.count
    for _ in 0..<columnCount { values.append(.null) }
    var isCopied = false
    while !isCopied {
      isCopied = values.withUnsafeMutableBufferPointer { values in
        guard let first = values.baseAddress else { return true }
        return texts.appendIfRoom {
          row.copy(columnCount, into: first + start, at: texts.count, $0)
        }
      }
      guard texts.count <= UInt32.max else { throw Self.tooLong }
    }
  }

  /// Copies the values of a live object.
  ///
  /// - Throws: as `append(_:)` for a row, and what reading the object throws.
  func append(_ object: ManagedObject) throws {
    objects.append(object)
    keys.append(object.objectID.primaryKey)
    for attribute in level.columns {
      // A to-one in a key: who it leads to has the value.
      if level.links.contains(where: { hasSameBytes($0.layout.name, attribute.name) }) {
        values.append(.null)
        continue
      }
      switch try object.value(of: attribute.name) {
      case .null: values.append(.null)
      case .integer(let integer): values.append(.integer(integer))
      case .real(let real): values.append(.real(real))
      case .text(let text): try append(Array(text.utf8)) { .text(at: $0, length: $1) }
      case .blob(let bytes): try append(bytes) { .blob(at: $0, length: $1) }
      }
    }
  }

  private func append(
    _ bytes: [UInt8],
    _ value: (UInt32, UInt32) -> RowValue
  ) throws(ExportError) {
    let start = bytes.withUnsafeBytes { bytes in
      Result { () throws(ExportError) in try place(of: bytes) }
    }
    values.append(value(try start.get(), UInt32(bytes.count)))
    bytes.withUnsafeBytes { texts.append($0) }
  }

  /// Reads what live objects are linked to, level by level.
  func readLinks(_ context: ManagedObjectContext) throws {
    while askedCount < count {
      let rows = askedCount..<count
      askedCount = count
      for (index, link) in level.links.enumerated() {
        let batch = targets(of: index)
        for row in rows where links[index].rows[keys[row]] == nil {
          let owner = objects[row]
          let start = batch.count
          for target in try context.links.targets(of: link.layout, owner) {
            try batch.append(target)
          }
          links[index].rows[keys[row]] = start..<batch.count
        }
        try links[index].own?.readLinks(context)
      }
    }
  }

  private func place(of bytes: UnsafeRawBufferPointer) throws(ExportError) -> UInt32 {
    guard let place = UInt32(exactly: texts.count),
      UInt32(exactly: texts.count + bytes.count) != nil
    else { throw Self.tooLong }
    return place
  }

  private static var tooLong: ExportError {
    ExportError(
      .request,
      "The objects that belong to a few hundred records have more than 4 GB of text.",
      help: "leave the relationship out, with export: none, or export it by its keys"
    )
  }

  /// Reads what the rows are linked to, level by level.
  func readLinks(_ readers: [LinkTree]) throws {
    if readers.isEmpty { return }
    // Rows of an entity that stands inside of itself come while what the first ones are linked to is read.
    while askedCount < count {
      let rows = askedCount..<count
      askedCount = count
      for (index, tree) in readers.enumerated() {
        let batch = targets(of: index)
        let owners = owners(in: rows, of: index)
        if !owners.isEmpty {
          try tree.reader.read(owners: owners) { owner, row in
            try batch.append(row)
            let known = links[index].rows[owner, default: 0..<0]
            let start = known.isEmpty ? batch.count - 1 : known.lowerBound
            links[index].rows[owner] = start..<batch.count
          }
        }
        try links[index].own?.readLinks(tree.links)
      }
    }
  }

  /// The rows that have a link, each object once, and only those that were not asked before.
  private func owners(in rows: Range<Int>, of link: Int) -> [Int64] {
    let tree = level.links[link].tree
    var owners: [Int64] = []
    for row in rows where kinds.isEmpty || level.kinds[kinds[row]].tree == tree {
      guard links[link].rows[keys[row]] == nil else { continue }
      links[link].rows[keys[row]] = 0..<0
      owners.append(keys[row])
    }
    return owners.sorted()
  }

  private func column(_ column: Int, of row: Int) -> ColumnValue {
    let value = values[row * columnCount + column]
    switch value.kind {
    case .absent, .null: return .null
    case .integer: return .integer(value.integer)
    case .real: return .real(value.real)
    case .text: return .text(bytes(of: value))
    case .blob: return .blob(bytes(of: value))
    }
  }

  private func bytes(of value: RowValue) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: texts.bytes[value.offset..<value.offset + Int(value.length)])
  }
}

/// The prepared statements of a level's links, and of theirs.
struct LinkTree {
  let reader: LinkReader
  let links: [LinkTree]

  /// Prepares the statements of a level.
  ///
  /// - Parameters:
  ///   - level: The level.
  ///   - snapshot: What is read.
  ///   - outer: The levels around it, the outermost first.
  /// - Returns: A tree for each of its links.
  /// - Throws: `StoreError`.
  static func prepare(
    _ level: ExportLevel,
    in snapshot: StoreSnapshot,
    inside outer: [ExportLevel] = []
  ) throws -> [LinkTree] {
    let levels = outer + [level]
    return try level.links.map { link in
      let targets = link.up.map { levels[levels.count - 1 - $0] } ?? link.level
      return LinkTree(
        reader: try snapshot.links(
          link.layout,
          reading: targets.columns,
          andWaiting: link.isByKey
        ),
        // Rows of a level around this one are asked there.
        links: link.up == nil ? try prepare(link.level, in: snapshot, inside: levels) : []
      )
    }
  }
}

extension ExportLevel.KeyPlace {
  /// The value; null where a to-one leads to nobody.
  func value<Row: ExportRow & ~Copyable>(in row: borrowing Row) -> ColumnValue {
    // References that wait are rows without a `_pk`.
    guard let first = links.first, row.primaryKey != 0 else { return row.column(column) }
    var targets = row.targets(first)
    for link in links.dropFirst() {
      guard let target = targets.first else { return .null }
      targets = target.targets(link)
    }
    guard let target = targets.first else { return .null }
    return target.column(last)
  }
}
