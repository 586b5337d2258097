import Dispatch

extension ManagedObjectContext {
  /// What changes in this context, from now on: unsaved changes, merges of what children saved,
  /// imports, rollbacks.
  ///
  ///     for await notice in stack.main.changes() { print(notice.updated.keys) }
  ///
  /// Unsaved changes of main are told together at the end of the turn of the main actor in which
  /// they were made, those of other contexts when they are saved or `processChanges()` is called; an
  /// import is told once. The sequence ends with the context. To hear of what is stored, by
  /// whomever, observe `Stack.changes()`.
  public func changes() -> AsyncStream<ChangeNotice> {
    notices.sequence()
  }

  /// Tells observers what was changed since the last time; nothing where nothing was.
  public func processChanges() { notices.tell() }

  /// What results could not look at is told to them again: by main a second later, by others with what they tell next.
  func lookAgain(_ missed: ChangeNotice) {
    notices.miss(missed)
    guard kind == .main else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak root] in
      root?.scheduleProcessing()
    }
  }

  /// The objects of rows; where they cannot be looked up any more the error is recorded, and they are
  /// faults whose rows nobody finds.
  func rows(_ ids: [ObjectID]) -> [ManagedObject] {
    do {
      return try objects(with: ids)
    } catch {
      record(error)
      return ids.compactMap { id in
        layout.entity(named: id.entity).map { entity in
          let place = RowKey(table: entity.tableIndex, key: id.primaryKey)
          return ManagedObject(place, entity, .fault(nil), in: self)
        }
      }
    }
  }
}
