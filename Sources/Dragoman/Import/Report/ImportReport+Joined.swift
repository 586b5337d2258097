import DragomanGraph

extension ImportReport {
  /// Adds what another part of the same import came to: of feeds that both have read, the records that were its own.
  ///
  /// Each part has a number of its own in the history, and all of them none.
  package mutating func add(_ part: ImportReport) {
    counts = counts.adding(part.counts)
    pruned += part.pruned
    committed += part.committed
    for (name, more) in part.entities {
      entities[name, default: .init()].inserted += more.inserted
      entities[name, default: .init()].updated += more.updated
      entities[name, default: .init()].unchanged += more.unchanged
      entities[name, default: .init()].stubs += more.stubs
      entities[name, default: .init()].deleted += more.deleted
    }
    for (name, more) in part.relationships {
      relationships[name, default: .init()].linked += more.linked
      relationships[name, default: .init()].unlinked += more.unlinked
      relationships[name, default: .init()].unresolved += more.unresolved
    }
    for group in part.issues { add(group) }
    for path in part.unmatchedPaths where !unmatchedPaths.contains(path) {
      unmatchedPaths.append(path)
    }
    for notice in part.notices where !notices.contains(notice) { notices.append(notice) }
    byteCount = max(byteCount, part.byteCount)
    duration = max(duration, part.duration)
    isDryRun = isDryRun || part.isDryRun
    // A part that was stopped, or failed, is what came of the whole.
    let order: [Status] = [.done, .rejected, .cancelled, .failed]
    status =
      (order.firstIndex(of: part.status) ?? 0) > (order.firstIndex(of: status) ?? 0)
      ? part.status : status
  }

  private mutating func add(_ group: Group) {
    let known = issues.firstIndex {
      $0.code == group.code && $0.entity == group.entity && $0.attribute == group.attribute
    }
    guard let known else { return issues.append(group) }
    issues[known].count += group.count
    let room = max(0, RecordMapper.exampleCount - issues[known].examples.count)
    issues[known].examples += group.examples.prefix(room)
  }
}

extension ImportLedgerEntry.Counts {
  /// The sums.
  package func adding(_ other: Self) -> Self {
    var sum = self
    sum.read += other.read
    sum.inserted += other.inserted
    sum.updated += other.updated
    sum.unchanged += other.unchanged
    sum.deleted += other.deleted
    sum.skipped += other.skipped
    sum.rejected += other.rejected
    return sum
  }
}
