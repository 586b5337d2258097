/// The place of a row among the results: its section and its place there, both from 0.
public struct ResultPlace: Sendable, Hashable {
  /// The section.
  public var section: Int
  /// The place in the section.
  public var row: Int

  /// Makes a place.
  public init(section: Int, row: Int) {
    self.section = section
    self.row = row
  }
}

/// One step from the results as they were to the results as they are.
///
/// Places are those at the moment of the step: the steps of a difference are applied one after the
/// other, each to what the one before it left.
public enum ResultChange: Sendable, Hashable {
  /// A new section, without rows yet; the value that its rows share.
  case sectionInserted(StoredValue, at: Int)
  /// A section, which has no rows any more, goes.
  case sectionDeleted(at: Int)
  /// A section goes elsewhere with its rows; `to` is its place after the step.
  case sectionMoved(from: Int, to: Int)
  /// The section's value is spelled otherwise: its first row is another one.
  case sectionUpdated(StoredValue, at: Int)
  /// A row comes.
  case inserted(ObjectID, at: ResultPlace)
  /// A row goes.
  case deleted(ObjectID, at: ResultPlace)
  /// A row goes elsewhere; `to` is its place after the step.
  case moved(ObjectID, from: ResultPlace, to: ResultPlace)
  /// A row stays where it is and has other values.
  case updated(ObjectID, at: ResultPlace)
}

/// Everything that happened to results at once, as steps in order.
///
/// A difference turns the snapshot that it follows into the next one exactly:
/// `old.applying(difference)` is the new snapshot.
public struct ResultDifference: Sendable, Hashable {
  /// A passage between something and nothing.
  public enum Emptiness: Sendable, Hashable {
    /// There were rows and there are none.
    case becameEmpty
    /// There were no rows and there are some.
    case becameFilled
  }

  /// The steps, in the order in which they are to be applied.
  public var changes: [ResultChange]
  /// Whether the results became empty, or ceased to be; nil: neither.
  public var emptiness: Emptiness?

  /// Makes a difference.
  public init(_ changes: [ResultChange] = [], emptiness: Emptiness? = nil) {
    self.changes = changes
    self.emptiness = emptiness
  }

  /// Whether nothing happened.
  public var isEmpty: Bool { changes.isEmpty }

  init(_ changes: [ResultChange], countBefore: Int, countAfter: Int) {
    self.changes = changes
    emptiness = Self.emptiness(countBefore, countAfter)
  }

  static func emptiness(_ before: Int, _ after: Int) -> Emptiness? {
    switch (before, after) {
    case (0, 1...): .becameFilled
    case (1..., 0): .becameEmpty
    default: nil
    }
  }
}

/// What those who follow results are told.
public enum ResultEvent: Sendable {
  /// Everything, as it is at the beginning.
  case snapshot(ResultSnapshot)
  /// What has changed since the event before.
  case difference(ResultDifference)
  /// There will be no more, for this reason; sequences throw the reason instead.
  case ended(any Error)
}
