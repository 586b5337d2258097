/// What was done to a context since a record began, so that it can be undone whole.
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
  }

  var steps: [Step] = []
}

extension ManagedObjectContext {
  /// From now on what is done can be undone.
  ///
  /// - Returns: Where the record begins, for `endRecord` and `undoRecord`; records may be nested, by
  ///   hooks that import.
  package func beginRecord() -> Int {
    if undoLog == nil { undoLog = UndoLog() }
    return undoLog?.steps.count ?? 0
  }

  /// What was done since the record began stays.
  package func endRecord(_ start: Int) {
    if start == 0 { undoLog = nil }
  }

  /// Undoes everything since the record began.
  package func undoRecord(_ start: Int) {
    let log = undoLog?.steps ?? []
    // What undoing does is not to be undone.
    undoLog = nil
    let steps = log[start...]
    defer { if start > 0 { undoLog = UndoLog(steps: Array(log[..<start])) } }
    for step in steps.reversed() {
      switch step {
      case .changed(let object, let column, let value, let status):
        keyIndex?.remove(object)
        object.changes[column] = value
        restore(status, of: object)
        keyIndex?.insert(object)
        publish(object)
      case .status(let object, let status):
        restore(status, of: object)
        keyIndex?.insert(object)
        publish(object)
      case .inserted(let object):
        keyIndex?.remove(object)
        object.status = .gone
        changed[object.place] = nil
        identities[object.place.table][object.place.key] = nil
        publish(object)
      case .links(let key, let links):
        pendingLinks[key] = links
        publish(key)
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
