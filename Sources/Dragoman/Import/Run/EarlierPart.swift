import DragomanGraph
import Foundation

/// What an import in batches says of itself in the store, with each batch, for one that goes on with it.
///
/// The counts of records stand in the ledger; what waits for the end, in tables of their own
/// (`ImportSession.keepRun()`).
///
/// Large because each property is something that one who goes on has to know.
struct ImportRunState: Codable {
  /// How often something was told.
  struct IssueCount: Codable {
    let code: String
    let entity: String
    let attribute: String?
    let count: Int
  }

  /// Who it is.
  var mark: RunMark
  /// Its row in the ledger.
  var ledger: Int64
  /// The names of its inputs.
  var inputs: [String]
  /// Which of the records are its own; nil: all.
  var partition: ImportPartition?
  /// Whether it is over, and its references wait for other partitions; nil: it is not.
  var isParked: Bool?
  /// The hash of its map; nil: of an earlier version of Dragoman.
  var mapHash: String?
  /// What else of the request decides what becomes of the records.
  var options: String
  /// A hash of the stored model, whose entities the kept tables know by their numbers.
  var model: String
  /// How many records the inputs had so far: those that are committed, and those that are held.
  var passed: Int
  /// A hash of them.
  var records: UInt64
  /// How long the rejects file is; nil where there is none.
  var rejectsByteCount: Int?
  /// A hash of what is in it.
  var rejectsHash: UInt64?
  /// How long it was left by an import that ended behind that, and the hash; nil: nobody knows.
  var leftByteCount: Int?
  var leftHash: UInt64?
  var entities: [String: ImportReport.EntityCounts]
  var relationships: [String: ImportReport.RelationshipCounts]
  var issues: [IssueCount]
}

extension ImportRunState {
  /// Reads what an import has kept.
  init(_ kept: KeptRun) throws {
    try self.init(kept.state)
  }

  /// Reads the text of one.
  init(_ state: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(state.utf8))
  }

  /// Whether it is of no more use once another import begins.
  ///
  /// Partitions leave each other alone, and wait for each other. Where several imports keep their own
  /// (`keepsSeveral`), one of other inputs is none of theirs; one of all records of the same inputs by the same map
  /// takes the place of their partitions.
  ///
  /// - Parameters:
  ///   - request: The other import.
  ///   - isSameMap: Whether both are by a map of one name.
  ///   - keepsSeveral: Whether the store has room for several.
  /// - Returns: Whether it can be dropped.
  func isReplaced(by request: ImportRequest, isSameMap: Bool, keepsSeveral: Bool) -> Bool {
    let isWhole = keepsSeveral && request.partition == nil && isSameMap
    return (partition == request.partition || isWhole)
      && (!keepsSeveral && partition == nil || inputs == request.inputs.map(\.name))
  }

  /// Whether it is another partition of an import, or the same, of whatever version of the feed.
  func isPart(of request: ImportRequest, _ map: ImportMap) -> Bool {
    mapHash == map.fingerprint && isPart(of: request)
  }

  /// The same by whatever map.
  func isPart(of request: ImportRequest) -> Bool {
    func names(_ inputs: [String]) -> [String] {
      inputs.map { String($0.split(separator: "/").last ?? "") }
    }
    return partition?.count == request.partition?.count
      && names(inputs) == names(request.inputs.map(\.name)) && options == request.fingerprint
  }
}

/// The part of an import that an earlier one has committed.
struct EarlierPart {
  let state: ImportRunState
  let kept: KeptRun
  let entry: ImportLedgerEntry

  /// Looks for it.
  ///
  /// - Returns: nil where the last import came to its end, or kept nothing.
  /// - Throws: `.resume` where it was another import than the one that is asked for; `StoreError`.
  init?(_ session: some ImportSession, of map: ImportMap, _ request: ImportRequest) throws {
    guard let kept = try Self.find(session, of: map, request) else {
      guard request.ownRun == nil else {
        throw Self.refusal("What it had kept is gone: the same import was begun anew meanwhile.")
      }
      return nil
    }
    do {
      state = try ImportRunState(kept)
    } catch {
      throw Self.damaged("The text in \(kept.name) cannot be read: \(error).")
    }
    if try session.isRunning(kept.name, state.mark) {
      throw StoreError(
        .busy,
        "The import is still running, as process \(state.mark.process).",
        help: "wait for its end, or stop it",
        path: session.path
      )
    }
    guard var entry = try session.ledgerEntry(state.ledger) else {
      throw Self.damaged("The import \(state.ledger) of \(kept.name) is not in the ledger.")
    }
    let names = request.inputs.map(\.name)
    if state.inputs != names {
      throw Self.refusal(
        "It was of \(state.inputs.joined(separator: " ")), not of \(names.joined(separator: " "))."
      )
    }
    if entry.mapHash != map.fingerprint { throw Self.refusal("The map has changed since.") }
    if state.options != request.fingerprint {
      throw Self.refusal("It had other options: \(state.options) – not \(request.fingerprint).")
    }
    if try state.model != session.storedModel().map(FeedHash.text) {
      throw Self.refusal("The model of the store has changed since.")
    }
    entry.status = .running
    entry.finished = nil
    self.kept = kept
    self.entry = entry
  }

  /// Why there is nothing to go on with.
  ///
  /// - Parameters:
  ///   - session: In an open transaction.
  ///   - entry: The row of an import that is like the one that is looked for.
  /// - Returns: The reason, as a clause.
  /// - Throws: `StoreError`.
  static func absence(
    _ session: some ImportSession,
    of entry: ImportLedgerEntry
  ) throws -> String {
    let none = "no import in batches was stopped"
    guard try session.storedModel() != nil else { return none }
    let last = try session.lastLedgerEntry {
      hasSameBytes($0.source, entry.source) && hasSameBytes($0.map, entry.map) && $0.undoes == nil
    }
    guard let last, let number = last.id, [.stopped, .cancelled].contains(last.status) else {
      return none
    }
    var ender: Int64?
    _ = try session.lastLedgerEntry { later in
      guard let id = later.id, id > number else { return true }
      let isEnder =
        !later.mapHash.isEmpty
        // It was ended while the one that did it was under way.
        && (later.finished ?? "~") >= (last.finished ?? "")
        // Where each import keeps its own, those of other inputs leave it alone, and other partitions do.
        && (!session.keepsSeveralRuns
          || [last.source, whole(last.source)].contains { hasSameBytes($0, later.source) })
      if isEnder { ender = id }
      return false
    }
    guard let ender else { return "what import \(number), which was stopped, had kept is gone" }
    return "import \(number) was stopped, and import \(ender) has ended it"
  }

  /// The source of a row of the ledger, without the partition that was imported of it.
  private static func whole(_ source: String) -> String {
    guard source.hasSuffix(")"), let part = source.range(of: " (partition ", options: .backwards)
    else { return source }
    return String(source[..<part.lowerBound])
  }

  /// The run that is asked for; where there is none, another one, which is refused.
  private static func find(
    _ session: some ImportSession,
    of map: ImportMap,
    _ request: ImportRequest
  ) throws -> KeptRun? {
    var other: KeptRun?
    for name in try session.keptRunNames() {
      guard let kept = try session.keptRun(named: name) else { continue }
      let state = try? ImportRunState(kept)
      // Other partitions are nobody's business, and what is over waits for them.
      guard state?.partition == request.partition, state?.isParked != true else { continue }
      // Nor are imports of other feeds, where each keeps its own.
      if session.keepsSeveralRuns, let state, state.inputs != request.inputs.map(\.name) {
        continue
      }
      let isAsked =
        try state?.inputs == request.inputs.map(\.name) && state?.options == request.fingerprint
        && (state?.mapHash ?? map.fingerprint) == map.fingerprint
        && !session.isRunning(name, state?.mark)
      if name == request.ownRun || (isAsked && request.ownRun == nil) { return kept }
      other = kept
    }
    return other
  }

  /// Holds the records read again against those that were committed.
  ///
  /// - Throws: `.resume` where they are others.
  func check(_ count: Int, _ records: UInt64?) throws(ImportError) {
    if count < state.passed {
      throw Self.refusal(
        "The feed has changed: it has \(MessageWords.count(count, "record")), and"
          + " \(MessageWords.count(state.passed, "was", "were")) read before."
      )
    }
    if count > state.passed || records != state.records {
      let first = MessageWords.count(state.passed, "record is another", "records are others")
      throw Self.refusal("The feed has changed: its first \(first).")
    }
  }

  private static func refusal(_ reason: String) -> ImportError {
    ImportError(
      .resume,
      "The import that was stopped cannot be gone on with. \(reason)",
      help: "import without `resumes`: what is committed counts as unchanged then"
    )
  }

  private static func damaged(_ message: String) -> StoreError {
    StoreError(.damaged, message, help: "import without `resumes`, or restore a backup")
  }
}

extension ImportRequest {
  /// What of the request, beside its inputs, decides what becomes of the records.
  var fingerprint: String {
    let named = sourcesByInput.sorted { $0.key < $1.key }.map {
      "\($0.value.joined(separator: ","))=\($0.key)"
    }
    let all: [(String, String?)] = [
      ("mode", mode?.rawValue), ("source", (sources + named).joined(separator: " ")),
      ("limit", limit.map { "\($0)" }), ("prune", prune.map { _ in "yes" }),
    ]
    let given = all.compactMap { name, value in
      value.flatMap { $0.isEmpty ? nil : "\(name) \($0)" }
    }
    return given.isEmpty ? "none" : given.joined(separator: ", ")
  }
}

extension ImportTally {
  /// Takes over what an earlier part counted and left for the end.
  func goOn(behind earlier: EarlierPart) {
    counts = earlier.entry.counts
    entities = earlier.state.entities
    relationships = earlier.state.relationships
    for issue in earlier.state.issues {
      let code = ImportIssue.Code(rawValue: issue.code)
      issues.add(
        issue.count,
        of: IssueGroup(code: code, entity: issue.entity, attribute: issue.attribute)
      )
    }
    for owner in earlier.kept.unchanged {
      unchangedOwners[ObjectPlace(owner.root, owner.key)] = (owner.entity, owner.isTop)
    }
  }
}
