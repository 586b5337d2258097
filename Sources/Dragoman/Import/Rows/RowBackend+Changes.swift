import DragomanGraph

/// What the import changed, told to who asked for it.
extension RowBackend {
  /// Whose changes stand in the log up to a place.
  struct NetMark {
    let place: Int
    let origin: Origin?
    let isPruning: Bool
  }

  var isObserved: Bool { changeLog != nil }

  func tell(at origin: Origin?) throws { try tell(isPruning: false, at: origin) }

  /// Tells the observer what was done since the last time, or remembers who did it.
  func tell(isPruning: Bool, at origin: Origin?) throws {
    guard let changeLog else { return }
    if request.tellsNetChanges {
      let place = try changeLog.place()
      if place > netMarks.last?.place ?? 0 {
        netMarks.append(NetMark(place: place, origin: origin, isPruning: isPruning))
      }
      return
    }
    try changeLog.drain { change in
      guard let change = ImportChange(change, isPruning: isPruning, origin: origin) else { return }
      try request.changes?(change)
    }
  }

  /// Tells the observer what the whole import came to.
  func tellNet() throws {
    guard let changeLog, request.tellsNetChanges else { return }
    try changeLog.drainNet { change, place in
      let mark = place.flatMap { self.mark(at: $0) }
      guard
        let change = ImportChange(
          change,
          isPruning: mark?.isPruning ?? false,
          origin: mark?.origin
        )
      else { return }
      try request.changes?(change)
    }
  }

  private func mark(at place: Int) -> NetMark? {
    var (low, high) = (0, netMarks.count)
    while low < high {
      let middle = (low + high) / 2
      if netMarks[middle].place < place { low = middle + 1 } else { high = middle }
    }
    return low < netMarks.count ? netMarks[low] : nil
  }
}
