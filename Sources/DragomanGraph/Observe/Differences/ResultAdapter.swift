/// Something that shows results: a table view, a terminal, a web page.
///
/// A conformance says what each step does to the rows that are shown; `show(_:)` carries an event
/// out, step by step, in the order and with the places that a list wants which is changed one step
/// at a time. A list that is told all steps at once (`UITableView.performBatchUpdates`) wants
/// removals and insertions instead: `ResultSnapshot.collectionDifference(from:)`.
public protocol ResultAdapter {
  /// Everything is new.
  mutating func reload(_ snapshot: ResultSnapshot)
  /// Steps follow.
  mutating func willChange()
  /// A section without rows comes.
  mutating func insertSection(_ value: StoredValue, at place: Int)
  /// A section, which is empty, goes.
  mutating func deleteSection(at place: Int)
  /// A section goes elsewhere with its rows.
  mutating func moveSection(from: Int, to: Int)
  /// A section's value is spelled otherwise.
  mutating func updateSection(_ value: StoredValue, at place: Int)
  /// A row comes.
  mutating func insert(_ id: ObjectID, at place: ResultPlace)
  /// A row goes.
  mutating func delete(_ id: ObjectID, at place: ResultPlace)
  /// A row goes elsewhere.
  mutating func move(_ id: ObjectID, from: ResultPlace, to: ResultPlace)
  /// A row has other values.
  mutating func update(_ id: ObjectID, at place: ResultPlace)
  /// All steps are done; the results became empty, or ceased to be, or neither.
  mutating func didChange(_ emptiness: ResultDifference.Emptiness?)
  /// There will be no more events.
  mutating func end(_ reason: any Error)
}

extension ResultAdapter {
  /// Does nothing.
  public mutating func willChange() {}
  /// Does nothing: for results without sections.
  public mutating func insertSection(_ value: StoredValue, at place: Int) {}
  /// Does nothing: for results without sections.
  public mutating func deleteSection(at place: Int) {}
  /// Does nothing: for results without sections.
  public mutating func moveSection(from: Int, to: Int) {}
  /// Does nothing: for results without sections.
  public mutating func updateSection(_ value: StoredValue, at place: Int) {}
  /// Does nothing.
  public mutating func didChange(_ emptiness: ResultDifference.Emptiness?) {}
  /// Does nothing.
  public mutating func end(_ reason: any Error) {}

  /// Carries an event out.
  public mutating func show(_ event: ResultEvent) {
    switch event {
    case .snapshot(let snapshot): reload(snapshot)
    case .difference(let difference):
      willChange()
      for change in difference.changes { show(change) }
      didChange(difference.emptiness)
    case .ended(let reason): end(reason)
    }
  }

  private mutating func show(_ change: ResultChange) {
    switch change {
    case .sectionInserted(let value, let place): insertSection(value, at: place)
    case .sectionDeleted(let place): deleteSection(at: place)
    case .sectionMoved(let from, let to): moveSection(from: from, to: to)
    case .sectionUpdated(let value, let place): updateSection(value, at: place)
    case .inserted(let id, let place): insert(id, at: place)
    case .deleted(let id, let place): delete(id, at: place)
    case .moved(let id, let from, let to): move(id, from: from, to: to)
    case .updated(let id, let place): update(id, at: place)
    }
  }
}
