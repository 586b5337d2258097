import DragomanGraph

/// Records of a rejects file, read again.
extension FeedReading {
  /// Reads a rejects file: records of one feed and source that stand together make batches.
  ///
  /// - Returns: How many bytes it had; nil when the import is to stop.
  func readRejects(_ path: String, plans: inout [ForeignFormat: CompiledPlan]) throws -> Int? {
    let lines = try RejectLines(path)
    let reader = try RejectedRecordReader()
    var absent: [String: Int] = [:]
    var paths: [ForeignFormat: [ForeignPath]] = [:]
    var missing: [String: Int] = [:]
    var undeclaredCount = 0
    var byteCount = 0
    var line = try lines.next()
    while let first = line {
      guard !cancellation.isCancelled else { return nil }
      byteCount += first.bytes.count
      if first.hasLostBytes {
        retried.keep(first.number)
        let reason =
          "bytes that are no UTF-8 have become \u{FFFD} in the record: import the feed again"
        absent[reason, default: 0] += 1
        line = try lines.next()
        continue
      }
      guard let (format, index) = try source(of: first, &plans), let plan = plans[format] else {
        // It may be a reject of another map.
        retried.keep(first.number)
        absent[absence(of: first), default: 0] += 1
        line = try lines.next()
        continue
      }
      guard let batch = queue.takeFree() else { return nil }
      batch.removeAll()
      batch.records.removeAll()
      try reader.begin(batch.records, with: first, of: plan.plan, source: index)
      line = try lines.next()
      while let next = line, batch.records.records.count < batchSize,
        !next.hasLostBytes, reader.takes(next, into: batch.records)
      {
        byteCount += next.bytes.count
        try reader.add(next, to: batch.records)
        line = try lines.next()
      }
      if paths[format] == nil { paths[format] = plan.plan.documentPaths }
      // What cannot be read is rejected, whatever stands around it.
      let readCount = batch.records.records.count - batch.records.failures.count
      for path in paths[format] ?? [] where readCount > 0 && !batch.records.hasDocument(at: path) {
        missing[path.text, default: 0] += readCount
      }
      if first.lacksDoctype { undeclaredCount += batch.records.records.count }
      hand(batch, of: plan, index, byteCount: byteCount)
    }
    func tellLacking(_ what: String, _ count: Int, _ reason: String) {
      let lines = MessageWords.count(
        count,
        "line of the rejects file does",
        "lines of the rejects file do"
      )
      notices.add("\(lines) not hold \(what): \(reason)")
    }
    for (path, count) in missing.sorted(by: { $0.key < $1.key }) {
      tellLacking(
        path,
        count,
        "the feed had none, or the map did not ask for it when the records were rejected"
      )
    }
    if undeclaredCount > 0 {
      tellLacking(
        "the document type declaration",
        undeclaredCount,
        "it is too long; write out in the records the attributes that it gives by default, and entities"
      )
    }
    for (reason, count) in absent.sorted(by: { $0.key < $1.key }) {
      notices.add("\(count) \(count == 1 ? "reject stays" : "rejects stay"): \(reason)")
    }
    return byteCount
  }

  /// Why a record is read by nothing.
  private func absence(of line: RejectLine) -> String {
    let isStrange = !map.entities.contains { $0.isCalled(line.recordEntity) }
    let hasSource = map.sources.contains { source in
      line.source.map { hasSameBytes(source.name, $0) } ?? true
    }
    return isStrange && hasSource
      ? "the map has no entity \(line.recordEntity)"
      : "the map has no source for \(line.source ?? line.recordEntity)"
  }

  /// Maps the records of a batch, and hands it over.
  private func hand(_ batch: DraftBatch, of plan: CompiledPlan, _ source: Int, byteCount: Int) {
    batch.records.arenaLimit = batch.records.arenaEnd + recordLimit.byteCount
    // Besides its line, which is longer than the record was.
    batch.records.recordByteLimit = recordLimit.byteCount + 2 * batch.records.sourceCount
    plan.mappers[source].use.beginInput()
    for index in batch.records.records.indices { plan.mappers[source].map(index, into: batch) }
    batch.plan = plan.plan
    batch.sources = [source]
    batch.isStrange = false
    batch.consumedByteCount = byteCount
    queue.put(batch)
  }

  /// The format and the source that a record is read by; nil where the map has none.
  private func source(
    of line: RejectLine,
    _ plans: inout [ForeignFormat: CompiledPlan]
  ) throws -> (ForeignFormat, Int)? {
    let known = line.source.flatMap { name in map.sources.first { hasSameBytes($0.name, name) } }
    // A map without sources calls its own by the format: it may have got some since.
    let isUnnamed =
      line.source == nil || !map.sources.isEmpty && line.source == line.format?.rawValue
    let declared = known ?? (isUnnamed ? fittingSource(line) : nil)
    guard let wanted = declared?.name ?? line.source, map.sources.isEmpty || declared != nil else {
      return nil
    }
    guard let format = line.format ?? declared?.format else { return nil }
    if plans[format] == nil {
      do {
        plans[format] = try compile(for: format)
      } catch let error as ImportError where error.code == .request {
        // No source of the map reads the format.
        return nil
      }
    }
    guard let plan = plans[format] else { return nil }
    let index = plan.plan.sources.firstIndex { $0.name.utf8.elementsEqual(wanted.utf8) }
    guard let index, plan.plan.canHave(line.recordEntity, in: index) else { return nil }
    return (format, index)
  }

  /// The only source that a line without one can be of.
  private func fittingSource(_ line: RejectLine) -> SourceMap? {
    let fitting = map.sources.filter { source in
      (line.format.map(source.reads) ?? ((source.format == .xml) == (line.text != nil)))
        && (hasSameBytes(source.entity, line.recordEntity) || map.sources.count == 1)
    }
    return fitting.count == 1 ? fitting[0] : nil
  }
}

extension ImportPlan {
  /// The paths of what stands before the records; lines of CSV and NDJSON have nothing there.
  fileprivate var documentPaths: [ForeignPath] {
    guard format == .json || format == .xml else { return [] }
    var texts: Set<String> = []
    return entities.flatMap(\.paths).filter {
      $0.root == .document && texts.insert($0.text).inserted
    }
  }

  /// Whether a record of a source can be, or hold, an object of an entity: what another map calls by the same name
  /// is something else.
  fileprivate func canHave(_ entity: String, in source: Int) -> Bool {
    var seen: Set<Int> = []
    var next = [sources[source].entity.layout.index]
    while let index = next.popLast() {
      guard seen.insert(index).inserted else { continue }
      let layout = model.entities[index]
      if layout.entity.isCalled(entity) { return true }
      next += layout.family
      next += layout.relationships.map(\.destination)
    }
    return false
  }
}

extension EntityMap {
  /// Whether the entity has this name, or had it before it was renamed.
  fileprivate func isCalled(_ name: String) -> Bool {
    hasSameBytes(self.name, name) || renamedFrom.map { hasSameBytes($0, name) } ?? false
  }
}

extension Entity {
  /// Whether the entity has this name, or had it before it was renamed.
  fileprivate func isCalled(_ name: String) -> Bool {
    hasSameBytes(self.name, name) || renamedFrom.map { hasSameBytes($0, name) } ?? false
  }
}
