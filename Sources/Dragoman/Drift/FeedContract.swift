import DragomanGraph
import Foundation

/// What the contract of a map makes of a feed, before a record of it is imported.
struct FeedContract {
  /// The map, with what keys have become, and with what the contract says of values that do not fit.
  let map: ImportMap
  /// What the feed has otherwise; nil where it was not compared.
  let drift: FeedDrift?
  /// What was known of earlier feeds.
  let kept: KeptContract
  /// What is known now; nil: as before.
  private let seen: SeenKeys?
  private let evolved: [EvolvedAttribute]

  private static let namedCount = 5

  /// Compares a feed with the earlier ones.
  ///
  /// - Parameters:
  ///   - declared: The map, which has a contract.
  ///   - code: Its closures.
  ///   - request: The import.
  ///   - kept: What is known of earlier feeds.
  ///   - stored: The model of the store.
  ///   - cancellation: Ends it; what was found so far means nothing then.
  /// - Throws: As `FeedKeys`; `StoreError`, `.damaged`, where what was kept cannot be read.
  init(
    of declared: ImportMap,
    _ code: ImportCode,
    _ request: ImportRequest,
    _ kept: KeptContract,
    stored: Model,
    _ cancellation: Cancellation
  ) throws {
    self.kept = kept
    // What a migration has dropped since then stays away.
    let known = (try Self.decoded(kept.evolved, as: [EvolvedAttribute].self) ?? []).filter {
      stored.has($0)
    }
    let (map, added) = try declared.adding(known)
    // Rejects were compared when their feed was imported, and a part of a feed tells nothing of the whole.
    guard request.retriedFile == nil, request.limit == nil else {
      self.map = map.discardingChangedTypes(counted: [])
      (drift, seen, evolved) = (nil, nil, added)
      return
    }
    let before = try Self.decoded(kept.seen, as: SeenKeys.self)
    let keys = try FeedKeys(of: request, by: map, code, since: before, cancellation)
    var comparison = FeedComparison(map, before, stored: stored)
    for entity in keys.entities { comparison.compare(entity) }
    self.map = try map.adding(comparison.evolved).map
      .discardingChangedTypes(
        counted: comparison.changes.filter { $0.kind == .changedType }.map { ($0.entity, $0.name) }
      )
    evolved = added + comparison.evolved
    // Of records in memory nothing is known.
    let isCompared = !keys.entities.isEmpty
    drift = isCompared ? FeedDrift(comparedWith: kept.run, changes: comparison.changes) : nil
    seen = isCompared ? comparison.seen : nil
  }

  private static func decoded<Value: Decodable>(
    _ text: String?,
    as type: Value.Type
  ) throws -> Value? {
    guard let text else { return nil }
    do {
      return try JSONDecoder().decode(type, from: Data(text.utf8))
    } catch {
      throw StoreError(
        .damaged,
        "The text in _dragoman_contracts cannot be read: \(error).",
        help: "restore a backup"
      )
    }
  }

  /// Refuses a feed with changes that the contract does not allow.
  ///
  /// - Throws: `.contract`, with the first of them.
  func checkFrozen() throws(ImportError) {
    let frozen = drift?.changes.filter { $0.rule == .freeze } ?? []
    guard !frozen.isEmpty else { return }
    let named = frozen.prefix(Self.namedCount).map(\.message).joined(separator: "; ")
    let more = frozen.count > Self.namedCount ? "; and \(frozen.count - Self.namedCount) more" : ""
    let since = drift?.comparedWith.map { " since import \($0)" } ?? ""
    throw ImportError(
      .contract,
      "The feed has changed\(since), and the contract of the map freezes it: \(named)\(more).",
      help:
        "have the feed corrected; or take the change into the map, or say `report` for one import"
    )
  }

  /// Keeps what the next feed is compared with.
  ///
  /// - Parameters:
  ///   - run: The import's number in the ledger.
  ///   - map: The map's name there.
  ///   - session: With an open transaction.
  /// - Throws: `StoreError`.
  func keep(as run: Int64, of map: String, in session: some ImportSession) throws {
    guard let seen else { return }
    try session.keep(
      KeptContract(
        run: run,
        seen: try JSONDocument.text(seen),
        evolved: try JSONDocument.text(evolved)
      ),
      of: map
    )
  }
}

extension Model {
  fileprivate func has(_ attribute: EvolvedAttribute) -> Bool {
    entities.contains { entity in
      hasSameBytes(entity.name, attribute.entity)
        && entity.attributes.contains { hasSameBytes($0.name, attribute.name) }
    }
  }
}
