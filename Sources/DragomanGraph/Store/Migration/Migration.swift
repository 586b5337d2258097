/// What changes a file from one model to another, as a plan that can be read before it runs.
///
///     let migration = try store.migration(to: model)
///     print(migration)  // 1. Rename Person.surname to lastName. …
///     try store.migrate(to: model)
///
/// Entities, attributes and relationships are added, renamed (`renamedFrom`), converted to another
/// type and moved between to-one and to-many; what the new model does not name stays, unless drops
/// are asked for. Objects keep their ids and versions.
public struct Migration: Sendable, Hashable {
  /// One change.
  public struct Step: Sendable, Hashable, Codable {
    /// What kind of change it is.
    public enum Kind: String, Sendable, Hashable, Codable {
      /// Something is new.
      case add
      /// Something has another name.
      case rename
      /// Values are written in another form.
      case convert
      /// A rule, key, index or relationship is another.
      case change
      /// Something goes, with its values.
      case drop
    }

    /// What kind of change it is.
    public let kind: Kind
    /// The entity, by its new name where it has one.
    public let entity: String
    /// The attribute or relationship, where one is concerned.
    public let property: String?
    /// The change in words, a full sentence.
    public let sentence: String
  }

  /// The changes, in the order of the model; empty when there is nothing to do.
  public internal(set) var steps: [Step]
  /// What is in the way, a full sentence each; not empty: the migration cannot run.
  ///
  /// A plan made of two models knows only what the models forbid; a store's plan has checked the
  /// data, too.
  public internal(set) var faults: [String]
  /// The model that the store has afterwards.
  public let model: Model
  /// What happens to the tables; nil where the models forbid it.
  let plan: MigrationPlan?

  /// Whether there is nothing to do and nothing in the way.
  public var isEmpty: Bool { steps.isEmpty && faults.isEmpty }

  /// Compares two models.
  ///
  /// - Parameters:
  ///   - old: The model of the store.
  ///   - new: The model that is wanted.
  ///   - drops: Whether what `new` does not name goes, with its values.
  public init(from old: Model, to new: Model, drops: Bool = false) {
    let old = old.completingInverses()
    let wanted = new.completingInverses()
    let first = ModelMatch(from: old, to: wanted, drops: drops)
    model = old.migrated(to: wanted, first, drops: drops).withTablesOfRoots()
    var faults = first.faults
    faults += wanted.validate().map { "The model is faulty: \($0)" }
    if faults.isEmpty {
      faults += model.validate().map {
        "\($0) What the new model does not name stays: let it go (`drops`), or take another name."
      }
    }
    guard faults.isEmpty else {
      self.faults = faults
      steps = []
      plan = nil
      return
    }
    // The same names again, now with what stays.
    let plan = MigrationPlan(
      from: ModelLayout(old),
      to: ModelLayout(model),
      ModelMatch(from: old, to: model, drops: drops)
    )
    self.plan = plan
    self.faults = plan.faults
    steps = MigrationSteps(plan).steps
  }

  /// Compares what a reader sees: steps, faults and the model.
  public static func == (left: Migration, right: Migration) -> Bool {
    left.steps == right.steps && left.faults == right.faults && left.model == right.model
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(steps)
    hasher.combine(faults)
    hasher.combine(model)
  }
}

extension Migration: CustomStringConvertible {
  /// The steps as numbered sentences, a line each, and the faults below.
  public var description: String {
    let lines = steps.enumerated().map { "\($0 + 1). \($1.sentence)" }
    return (lines + faults.map { "In the way: \($0)" }).joined(separator: "\n")
  }
}
