import DragomanGraph
import Foundation

/// Lists whose references wait, as text: an import in batches keeps them with what it commits, for one that goes on
/// with it, or for the last of several partitions.
extension ObjectStage {
  /// A target of a list.
  private struct KeptTarget: Codable {
    /// An object.
    var object: Int64?
    /// The key of one that is not there yet.
    var key: [StoredValue]?
    /// Where the reference stands.
    var place: WaitingPlace?
  }

  /// The lists that are others since they were taken last; nil: the owner waits no more.
  func takeChanged() throws -> [(owner: Int64, text: String?)] {
    let encoder = JSONEncoder()
    return try takeChangedOwners().map { owner in
      guard let list = list(of: owner) else { return (owner, nil) }
      let kept = list.map { target in
        switch target {
        case .object(let key): KeptTarget(object: key)
        case .key(let values, let place): KeptTarget(key: values, place: place)
        }
      }
      return (owner, String(decoding: try encoder.encode(kept), as: UTF8.self))
    }
  }

  /// Takes the lists that an earlier part of the import has kept.
  ///
  /// - Throws: `StoreError`, `.damaged`.
  func restore(_ kept: [(owner: Int64, text: String)]) throws {
    for (owner, text) in kept { waiting[owner] = try list(of: text) }
  }

  /// Forgets the list of an owner of whom another import has said since what it leads to, unless this one has said it
  /// again.
  func forgetEnded(of owner: Int64) {
    _ = list(of: owner)
    if !changed.contains(owner) { waiting[owner] = nil }
  }

  /// Takes the lists of other partitions besides those of this one: of two of one owner the later one counts, or
  /// both do, the earlier one first, where lists are joined.
  ///
  /// - Throws: `StoreError`, `.damaged`.
  func join(_ kept: [(owner: Int64, text: String)]) throws {
    func ordinal(_ list: [Target]) -> Int {
      for case .key(_, let place) in list { return place.ordinal }
      return 0
    }
    for (owner, text) in kept {
      let other = try list(of: text)
      guard let own = self.list(of: owner) else {
        waiting[owner] = other
        continue
      }
      let (earlier, later) = ordinal(own) < ordinal(other) ? (own, other) : (other, own)
      waiting[owner] = plan.replaces ? later : earlier + later
    }
  }

  private func list(of text: String) throws -> [Target] {
    do {
      return try JSONDecoder().decode([KeptTarget].self, from: Data(text.utf8)).map { kept in
        guard let key = kept.key, let place = kept.place else { return .object(kept.object ?? 0) }
        return .key(key, place)
      }
    } catch {
      throw StoreError(
        .damaged,
        "What waits of \(name) cannot be read: another version of Dragoman has begun the import, or somebody has changed"
          + " it.",
        help:
          "import the whole feed again, without `resumes` and partitions: what is committed counts as unchanged then"
      )
    }
  }
}
