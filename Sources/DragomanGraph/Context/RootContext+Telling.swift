/// Main and all others who want to know are told what was stored.
extension RootContext {
  /// Whether anybody but main is told of what is stored.
  var isFollowed: Bool { notices.hasObservers || !followers.isEmpty }

  /// Tells main and every observer what was committed, in the order of the commits.
  func tell() {
    news.tell { item in
      if item.callsMain { listener.withLock { $0 }?(.news) }
      guard !followers.isEmpty || item.isNew && notices.hasObservers else { return }
      let notice = item.notice()
      followers.send(notice)
      if item.isNew { notices.send(notice) }
    }
  }

  /// Adds what an import has committed, while the store's writer is held; `tell()` tells it.
  ///
  /// - Parameters:
  ///   - flushed: What it has written.
  ///   - ofMain: What of that main had unsaved.
  ///   - context: The import's.
  func addNews(
    _ flushed: Flushed,
    _ ofMain: [WrittenChanges] = [],
    by context: ManagedObjectContext
  ) {
    var item = CommitNews.Item { [layout] in flushed.told(layout) }
    item.callsMain = !context.isBelowMain
    if item.callsMain {
      item.main = ofMain.map { .saved($0) }
      if !flushed.tables.isEmpty { item.main.append(.tables(flushed.tables)) }
    }
    news.add(item)
  }

  /// Lets main tell its observers at the end of its turn.
  func scheduleProcessing() { listener.withLock { $0 }?(.unnoticed) }

  /// Tells main and every observer that anything may have changed.
  func announceEverything() {
    let names = layout.tables.map { layout.entities[$0.root].name }
    var item = CommitNews.Item { ChangeNotice(refreshedEntities: Set(names)) }
    item.main = [.tables(Set(layout.tables.indices))]
    news.add(item)
    tell()
  }
}

extension ManagedObjectContext {
  /// Whether the context is main, or a child of main that lives on its thread.
  var isBelowMain: Bool { kind == .main || parent?.isBelowMain == true }
}
