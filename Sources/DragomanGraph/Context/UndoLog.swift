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
  /// From now on what is done can be undone by `undoRecord()`.
  package func beginRecord() {
    if undoLog == nil { undoLog = UndoLog() } else { undoLog?.steps.removeAll(keepingCapacity: true) }
  }

  /// What was done stays.
  package func endRecord() { undoLog = nil }

  /// Undoes everything since `beginRecord()`.
  package func undoRecord() {
    let steps = undoLog?.steps ?? []
    undoLog = nil
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
      identities[object.place.table][object.place.key] = Unmanaged.passUnretained(object)
    }
  }
}
