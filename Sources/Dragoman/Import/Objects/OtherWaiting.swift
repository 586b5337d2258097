import DragomanGraph

/// What other imports, which are not at their end, let wait: what a record of this one says its object leads to ends
/// that.
///
/// Where there are no others, nothing is noted.
final class OtherWaiting {
  private let context: ManagedObjectContext
  /// Whether a run is another partition of this import, so that no record of this one is about the objects of its
  /// records; nil: it has committed nothing yet.
  var isPartner: (String) throws -> Bool? = { _ in false }
  private var partners: [String: Bool] = [:]
  private var names: [String] = []
  private var lastPending: Int64?
  /// Who was spoken of since it was told last, by relationship.
  private var said: [String: Set<Int64>] = [:]
  /// What of that the record at hand has said.
  private var saidNow: [(relationship: String, owner: Int64)] = []

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Looks who there is, in an open transaction.
  ///
  /// - Returns: Whether more waits in the store since this was asked last.
  func look() throws -> Bool {
    guard let others = try context.records.otherRuns() else { return false }
    for name in others.names where partners[name] == nil { partners[name] = try isPartner(name) }
    names = others.names.filter { partners[$0] == false }
    defer { lastPending = others.lastPending }
    return lastPending.map { $0 != others.lastPending } ?? false
  }

  /// A record says what an owner leads to.
  func say(_ relationship: String, _ owner: Int64) {
    guard !names.isEmpty, said[relationship, default: []].insert(owner).inserted else { return }
    saidNow.append((relationship, owner))
  }

  /// From here on what is said can be undone.
  func mark() { saidNow.removeAll(keepingCapacity: true) }

  func undo() {
    for (relationship, owner) in saidNow { said[relationship]?.remove(owner) }
    mark()
  }

  /// Ends in the open transaction what the others let wait of whom was spoken.
  func tell() throws {
    defer { said.removeAll(keepingCapacity: true) }
    guard !names.isEmpty, said.contains(where: { !$0.value.isEmpty }) else { return }
    try context.records.endWaiting(said, in: names)
  }
}
