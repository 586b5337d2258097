import DragomanGraph

/// Shows results as they change.
protocol WatchDisplay {
  /// Whether it draws over the whole screen of a terminal, which `finish` gives back.
  var takesScreen: Bool { get }
  /// The rows whose values are needed to show an event, after which there may have been more by now.
  mutating func wanted(_ event: ResultEvent, _ now: ResultSnapshot) -> [ObjectID]
  /// Shows an event; values of rows that are gone by now are missing.
  mutating func show(_ event: ResultEvent, _ values: [ObjectID: [StoredValue]]) throws
  /// Shows the same once more, where the output has another size.
  mutating func redraw() throws
  /// Leaves the output as it should be.
  mutating func finish() throws
}
