import DragomanGraph

/// Pruning: what the feed has is remembered while it is written; at the end the other objects of the
/// entities that it covers are deleted.
final class FeedPruning {
  private let pruner: EntityPruner
  private let layout: ModelLayout
  private var coverage = Coverage()

  /// Begins, in the open transaction, once the store has grown.
  init(_ session: some ImportSession) throws {
    pruner = try session.pruner()
    layout = session.layout
  }

  /// Which entities the sources of the feed cover.
  private struct Coverage {
    /// The entities that records of a source can be, by the source's name.
    var entities: [String: Set<Int>] = [:]
    /// The sources that brought records.
    var fed: Set<String> = []
  }

  /// Takes note of the entities that the records of a batch's sources can be, and of the sources that
  /// brought records: a source covers its own entity, and the sub-entities that its discriminator tells.
  func cover(_ batch: DraftBatch, _ plan: ImportPlan) {
    for source in batch.sources.map({ plan.sources[$0] })
    where coverage.entities[source.name] == nil {
      var plans: Set<Int> = []
      var next = [source.plan]
      while let index = next.popLast() {
        guard plans.insert(index).inserted else { continue }
        next += plan.entities[index].discriminator?.plans.map(\.plan) ?? []
      }
      coverage.entities[source.name] = Set(plans.map { plan.entities[$0].layout.index })
    }
    guard coverage.fed.count < coverage.entities.count else { return }
    for record in batch.records.records { coverage.fed.insert(plan.sources[record.source].name) }
  }

  /// Remembers that the feed has an object.
  func see(_ key: Int64, of entity: EntityLayout) throws { try pruner.see(key, of: entity) }

  /// Writes down what is remembered, before a commit.
  func flush() throws { try pruner.flush() }

  /// Deletes the objects that the feed does not have; nothing after a reject.
  ///
  /// - Parameters:
  ///   - rule: How carefully.
  ///   - counts: What the feed came to.
  ///   - deleter: What deletes.
  /// - Returns: How many objects were deleted; and what was not, and why.
  /// - Throws: `ImportError.prune` where the feed is empty, or something would be deleted that is not
  ///   to be.
  func prune(
    _ rule: ImportRequest.Prune,
    after counts: ImportLedgerEntry.Counts,
    with deleter: () throws -> ObjectDeleter
  ) throws -> (count: Int, notices: [String]) {
    if counts.rejected > 0 {
      let records = MessageWords.count(counts.rejected, "record was", "records were")
      return (0, ["nothing was pruned: of the feed, \(records) rejected"])
    }
    if counts.read == 0 {
      throw ImportError(.prune, "The feed is empty: pruning would delete everything.")
    }
    let (entities, notices) = covered()
    if let share = rule.maximumShare {
      for entity in entities {
        let (all, missing) = try pruner.count(entity)
        guard Double(missing) <= share * Double(all) else {
          throw ImportError(
            .prune,
            "Pruning would delete \(missing) of \(MessageWords.count(all, "object")) of \(entity.name).",
            help: "if the feed is right, raise `maximumShare`"
          )
        }
      }
    }
    let outcome = try pruner.prune(entities, with: try deleter())
    if let denied = outcome.denied {
      throw ImportError(
        .prune,
        "Pruning would delete objects that the delete rule of \(denied) protects.",
        help: "let the feed have them, or give \(denied) another `onDelete`"
      )
    }
    if let (entity, count) = outcome.seen.first {
      throw ImportError(
        .prune,
        "Pruning would delete \(MessageWords.count(count, "object")) of \(entity) that the feed has: a delete rule takes"
          + " \(count == 1 ? "it" : "them") along with objects that it does not have.",
        help: "let the feed have their owners, or give the relationship another `onDelete`"
      )
    }
    return (outcome.deleted, try notices + companions(of: entities, outcome, rule))
  }

  /// What the delete rules took along, each entity a sentence.
  ///
  /// - Throws: `ImportError.prune` where that is more than may go.
  private func companions(
    of entities: [EntityLayout],
    _ outcome: EntityPruner.Outcome,
    _ rule: ImportRequest.Prune
  ) throws -> [String] {
    var notices: [String] = []
    for (root, count) in outcome.deletedByRoot {
      let isTaken = !entities.contains { $0.root == root.index }
      if let share = rule.maximumShare {
        let all = try count + pruner.familyCount(root)
        guard Double(count) <= share * Double(all) else {
          throw ImportError(
            .prune,
            "Pruning would delete \(count) of \(MessageWords.count(all, "object")) of \(root.name), with"
              + " those that delete rules take along.",
            help: "if the feed is right, raise `maximumShare`"
          )
        }
      }
      if isTaken {
        notices.append(
          "\(count) of \(root.name) went with what \(count == 1 ? "it belongs" : "they belong") to:"
            + " the delete rule of a relationship takes them along"
        )
      }
    }
    return notices
  }

  /// The entities whose objects are deleted, in the order of the model, and what is left alone.
  private func covered() -> (entities: [EntityLayout], notices: [String]) {
    var notices: [String] = []
    var wanted: Set<Int> = []
    for (_, entities) in coverage.entities { wanted.formUnion(entities) }
    // One list that came empty is no proof that there is nothing any more.
    for (source, entities) in coverage.entities.sorted(by: { $0.key < $1.key })
    where !coverage.fed.contains(source) {
      wanted.subtract(entities)
      let names = entities.sorted().map { layout.entities[$0].name }
      notices.append(
        "nothing of \(names.joined(separator: ", ")) was pruned: the source \(source) brought no record"
      )
    }
    var entities: [EntityLayout] = []
    for index in wanted.sorted() {
      let entity = layout.entities[index]
      if entity.uniqueKeys.isEmpty {
        notices.append(
          "nothing of \(entity.name) was pruned: without a unique key nobody can tell its objects"
        )
      } else {
        entities.append(entity)
      }
    }
    return (entities, notices)
  }
}
