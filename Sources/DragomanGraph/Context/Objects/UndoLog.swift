/// What was done to a context since a record began, so that it can be undone whole.
///
/// There is one as long as a record is open: what is changed outside an import costs nothing.
struct UndoLog {
  enum Step {
    /// A column was set.
    case changed(ManagedObject, Int, StoredValue?, ManagedObject.Status)
    /// The status was changed and nothing else.
    case status(ManagedObject, ManagedObject.Status)
    /// An object was made.
    case inserted(ManagedObject)
    /// A to-many was changed.
    case links(LinkKey, PendingLinks?)
    /// One target of a to-many was added or removed.
    case link(LinkKey, PendingLinks.Mark)
    /// Something was said of a row besides its values.
    case mark(RowKey, RowMark?)
    /// The object became one of a more special entity.
    case layout(ManagedObject, EntityLayout)
  }

  var steps: [Step] = []
  /// Records that are open; those of hooks that import lie inside the first.
  var recordCount = 0
}

extension ManagedObjectContext {
  /// From now on what is done can be undone.
  ///
  /// - Returns: Where the record begins, for `undoRecord`; records may be nested, by hooks that
  ///   import.
  package func beginRecord() -> Int {
    if undoLog == nil { undoLog = UndoLog() }
    undoLog?.recordCount += 1
    return undoLog?.steps.count ?? 0
  }

  /// What was done since the record began stays, unless a record around it is undone.
  package func endRecord() {
    undoLog?.recordCount -= 1
    if undoLog?.recordCount == 0 { undoLog = nil }
  }

  /// Undoes everything since the record began, and ends it.
  package func undoRecord(_ start: Int) {
    guard let log = undoLog else { return }
    // What undoing does is not to be undone.
    undoLog = nil
    defer {
      if log.recordCount > 1 {
        undoLog = UndoLog(
          steps: Array(log.steps.prefix(start)),
          recordCount: log.recordCount - 1
        )
      }
    }
    for step in log.steps.dropFirst(start).reversed() {
      switch step {
      case .changed(let object, let column, let value, let status):
        keyIndex?.remove(object)
        object.changes[column] = value
        restore(status, of: object)
        keyIndex?.insert(object)
        publish(object)
      case .status(let object, let status):
        let wasDeleted = object.isDeleted
        restore(status, of: object)
        if wasDeleted { noteRollback(of: object) }
        keyIndex?.insert(object)
        publish(object)
      case .inserted(let object):
        keyIndex?.remove(object)
        object.status = .gone
        changed[object.place] = nil
        identities[object.place.table][object.place.key] = nil
        noteRollback(of: object)
        publish(object)
      case .links(let key, let links):
        pendingLinks[key] = links
        publish(key)
      case .link(let key, let mark):
        pendingLinks[key]?.restore(mark)
        publish(key)
      case .mark(let place, let mark): marks[place] = mark
      case .layout(let object, let entity): object.layout = entity
      }
    }
  }

  private func restore(_ status: ManagedObject.Status, of object: ManagedObject) {
    object.status = status
    changed[object.place] = status == .clean || status == .gone ? nil : object
    if status != .gone, identities[object.place.table][object.place.key] == nil {
      identities[object.place.table][object.place.key] = object
    }
  }
}
