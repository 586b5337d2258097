import DragomanGraph

/// Reads records back where not everything is written: whether what one value holds of another one
/// is what that one has.
///
/// A record is written once more, in a document of its own, mapped as an import maps it, and compared
/// with the row. It belongs to one export and one thread.
final class ExportProof {
  private let plan: ExportPlan
  private let proof: ExportReadingPlan
  private let compiled: CompiledPlan
  private let batch = DraftBatch()
  /// Whether an object has a key; nil where nobody knows.
  private let hasObject: ((FetchRequest) throws -> Bool)?

  /// Prepares reading; nil for an export that writes everything.
  ///
  /// - Parameters:
  ///   - plan: The export.
  ///   - hasObject: Whether an object has a key; nil where nobody knows.
  /// - Throws: What compiling the map throws.
  init?(_ plan: ExportPlan, hasObject: ((FetchRequest) throws -> Bool)?) throws {
    guard let proof = plan.proof else { return nil }
    self.hasObject = hasObject
    self.plan = plan
    self.proof = proof
    compiled = try CompiledPlan(proof.reading, mapFile: proof.mapFile)
  }

  /// What would not come back of a record: places among the plan's slots, and why.
  func differences<Row: ExportRow & ~Copyable>(
    _ row: borrowing Row
  ) -> [(slot: Int, fault: SpellingFault)] {
    let other = plan.provesAll ? SpellingFault.reading : .overlap
    var names: [Difference] = []
    do {
      let source = proof.sources[
        plan.level.kinds.isEmpty ? 0 : plan.level.kinds[row.kind(in: plan.level)].tree
      ]
      try read(try document(row), as: source)
      switch batch.drafts.first {
      case .row(let object): compare(object, row, plan.level, isWhole: plan.provesAll, &names)
      case .tombstone:
        let fault = SpellingFault.tombstone
        names.append(Difference(entity: plan.entity.name, name: "deleteWhen", fault: fault))
      case .reject(let issue):
        let issue = batch.issues[issue]
        names.append(Difference(entity: issue.entity, name: issue.attribute ?? "", fault: other))
      case .elsewhere, nil:
        names.append(Difference(entity: plan.entity.name, name: "", fault: other))
      }
    } catch {
      names.append(Difference(entity: plan.entity.name, name: "", fault: other))
    }
    return names.map { (slot(of: $0), $0.fault) }
  }

  // MARK: - Writing and reading

  private func document<Row: ExportRow & ~Copyable>(_ row: borrowing Row) throws -> [UInt8] {
    let buffer = ExportBuffer()
    func write<Encoder: RecordEncoder>(_ encoder: Encoder) throws(ExportError) {
      var writer = RecordWriter(plan, encoder)
      writer.begin()
      try writer.write(row)
      writer.end()
    }
    switch plan.format {
    case .json, .ndjson: try write(JSONRecordEncoder(plan, to: buffer))
    case .xml: try write(XMLRecordEncoder(plan, to: buffer))
    case .csv: try write(CSVRecordEncoder(plan, to: buffer))
    }
    return Array(buffer.bytes)
  }

  private func read(_ bytes: [UInt8], as source: Int) throws {
    batch.removeAll()
    batch.records.removeAll()
    _ = try reader(of: bytes, source).read(into: batch.records, limit: 2)
    for index in batch.records.records.indices {
      compiled.mappers[source].map(index, into: batch)
    }
  }

  private func reader(of bytes: [UInt8], _ source: Int) throws -> any RecordReader {
    let bytes = MemorySource(bytes, name: "export")
    let records = compiled.plan.sources[source].map.records
    switch plan.format {
    case .ndjson: return try NDJSONReader(source: bytes)
    case .json:
      return try JSONReader(
        source: bytes,
        paths: [records?.steps ?? []],
        pointers: [records?.isPointer ?? false],
        keeping: compiled.plan.documentMembers
      )
    case .xml:
      guard let path = records.flatMap(XMLRecordPath.init) else {
        throw ExportError(.map, "Records have no place in XML.")
      }
      return try XMLReader(
        source: PeekableSource(bytes),
        paths: [path],
        keeping: compiled.plan.documentMembers
      )
    case .csv: return CSVReader(source: bytes, separator: plan.separator)
    }
  }

  // MARK: - Comparing

  /// A value that would not come back.
  private struct Difference {
    let entity: String
    let name: String
    var fault = SpellingFault.overlap
  }

  /// Compares an object that was read with the row that was written.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - row: The row.
  ///   - level: What the row has.
  ///   - isWhole: Whether all of it is compared, not only what was not written.
  ///   - found: Gets what differs.
  private func compare<Row: ExportRow & ~Copyable>(
    _ object: Int,
    _ row: borrowing Row,
    _ level: ExportLevel,
    isWhole: Bool,
    _ found: inout [Difference]
  ) {
    let draft = batch.objects[object]
    let entity = compiled.plan.entities[draft.plan]
    let kind = row.kind(in: level)
    let tree = level.kinds.isEmpty ? 0 : level.kinds[kind].tree
    if level.trees[tree].hidesEntity, level.kinds.count > 1,
      !level.kinds[kind].name.elementsEqual(entity.name.utf8)
    {
      found.append(Difference(entity: entity.name, name: "discriminator"))
    }
    for column in isWhole ? level.trees[tree].attributes : level.trees[tree].shadowed {
      let name = level.columns[column].name
      if proof.ignores(name, of: entity.layout, in: compiled.plan.model) { continue }
      let slot = entity.slots.firstIndex { $0.attribute.name.utf8.elementsEqual(name.utf8) }
      let value = slot.map { batch.values[draft.start + $0] } ?? .absent
      if !isSame(value, row.column(column)) {
        let isShadowed = level.trees[tree].shadowed.contains(column)
        let fault = isShadowed ? SpellingFault.overlap : .reading
        found.append(Difference(entity: entity.name, name: name, fault: fault))
      }
    }
    for (index, link) in level.links.enumerated()
    where link.tree == tree && !link.isReference
      && (isWhole || link.isShadowed || link.level.hasShadows || link.up != nil)
    {
      let name = link.layout.name
      let slot = entity.links.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
      let read = batch.links[draft.links].first { $0.slot == slot }
      let isSame = compare(
        read.map { Array(batch.targets[$0.targets]) } ?? [],
        slot.map { entity.links[$0] },
        row.targets(index),
        link,
        beside: level.links.first { $0.isReference && $0.layout == link.layout },
        isWhole: isWhole || link.isShadowed,
        &found
      )
      let fault = link.isShadowed ? SpellingFault.overlap : .reading
      if !isSame { found.append(Difference(entity: entity.name, name: name, fault: fault)) }
    }
  }

  /// Compares targets that were read with those that are stored.
  ///
  /// - Parameters:
  ///   - read: What was read.
  ///   - plan: The relationship as it is read.
  ///   - stored: The targets.
  ///   - link: The relationship.
  ///   - reference: What is written of targets that are not written whole; nil: all are.
  ///   - isWhole: Whether all of a target is compared, not only what was not written.
  ///   - found: Gets what differs in them.
  /// - Returns: Whether they are the same ones; what differs in them is added to `found`.
  private func compare(
    _ read: [DraftBatch.Target],
    _ plan: LinkPlan?,
    _ stored: RowBatch.Targets,
    _ link: ExportLevel.Link,
    beside reference: ExportLevel.Link?,
    isWhole: Bool,
    _ found: inout [Difference]
  ) -> Bool {
    var rest = stored.rows[...]
    for target in read {
      guard let place = rest.first, let row = stored.batch?[place] else {
        return isUnresolved(target, plan, link.level)
      }
      let level = row.batch.level
      switch target {
      case .object(let object):
        if let reference, isBare(object, reference.level) { break }
        compare(object, row, level, isWhole: isWhole, &found)
      case .key(let start, _):
        guard names(row, level, at: start, plan) else {
          // A key that nobody has is passed over, as it was when it was imported.
          if isUnresolved(target, plan, level) { continue }
          return false
        }
      }
      rest = rest.dropFirst()
    }
    return rest.isEmpty
  }

  /// Whether an object that was read has no more than what is written of one that stands in the record already.
  private func isBare(_ object: Int, _ reference: ExportLevel) -> Bool {
    let draft = batch.objects[object]
    let entity = compiled.plan.entities[draft.plan]
    let hasOther = entity.slots.indices.contains { index in
      let name = entity.slots[index].attribute.name
      return batch.values[draft.start + index].kind != .absent
        && !reference.columns.contains { hasSameBytes($0.name, name) }
    }
    return !hasOther
      && batch.links[draft.links].allSatisfy { read in
        let name = entity.links[read.slot].name
        return reference.links.contains { hasSameBytes($0.layout.name, name) }
      }
  }

  /// Whether a key leads nowhere, and leaves no link.
  private func isUnresolved(
    _ target: DraftBatch.Target,
    _ plan: LinkPlan?,
    _ level: ExportLevel
  ) -> Bool {
    guard case .key(let start, _) = target, let plan,
      plan.onUnresolved == .clear || plan.onUnresolved == .pending
    else { return false }
    guard let hasObject else { return true }
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    let tests = keyParts(of: plan).enumerated().map { index, name in
      let value = batch.values[start + index].stored(in: arena)
      return Filter(level.key(named: name)?.steps ?? [name], equals: value)
    }
    let entity = compiled.plan.model.entities[plan.layout.destination].name
    return (try? !hasObject(FetchRequest(entity, filter: .and(tests), limit: 1))) ?? true
  }

  /// The attributes by which references name their targets.
  private func keyParts(of plan: LinkPlan) -> [String] {
    switch plan.origin {
    case .key(let own): return own.map(\.name)
    // A nested record that gives no more than its key.
    case .nested(let target, _):
      let entity = compiled.plan.entities[target]
      return entity.bareKey.map { entity.slots[$0].attribute.name }
    }
  }

  /// Whether a key is that of a row.
  private func names(
    _ row: RowBatch.Row,
    _ level: ExportLevel,
    at start: Int,
    _ plan: LinkPlan?
  ) -> Bool {
    let parts = plan.map(keyParts) ?? []
    return !parts.isEmpty
      && parts.indices.allSatisfy { index in
        let value = batch.values[start + index]
        if let place = level.key(named: parts[index])?.place {
          return isSame(value, place.value(in: row))
        }
        let column = level.columns.firstIndex { $0.name.utf8.elementsEqual(parts[index].utf8) }
        guard let column else { return false }
        return isSame(value, row.column(column))
      }
  }

  private func isSame(_ read: RowValue, _ stored: ColumnValue) -> Bool {
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    func bytes() -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(rebasing: arena[read.offset..<read.offset + Int(read.length)])
    }
    switch (read.kind, stored) {
    case (.absent, .null), (.null, .null): return true
    case (.integer, .integer(let value)): return read.integer == value
    case (.real, .real(let value)): return read.real == value
    case (.text, .text(let value)), (.blob, .blob(let value)): return bytes().elementsEqual(value)
    default: return false
    }
  }

  /// The slot of what differs; where it has none the first one that is not written.
  private func slot(of difference: Difference) -> Int {
    plan.slots.firstIndex {
      $0.entity.utf8.elementsEqual(difference.entity.utf8)
        && $0.attribute.name.utf8.elementsEqual(difference.name.utf8)
    } ?? plan.slots.firstIndex {
      $0.attribute.name.utf8.elementsEqual(difference.name.utf8)
    } ?? 0
  }
}
