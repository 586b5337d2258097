extension LinkStage {
  /// Which relationship, and how its links are assigned.
  package struct Plan: Sendable {
    /// The relationship.
    package var link: RelationshipLayout
    /// The parts of the target's key; empty where targets are known by `_pk`.
    package var key: [KeyColumn]
    /// Whether the links staged are all the links of their owner.
    package var replaces: Bool
    /// Whether objects that are unlinked are to be deleted.
    package var deletesUnlinked: Bool
    /// Whether the waiting for a target may end before the import does (`endWaiting`).
    package var mayEndEarly: Bool

    /// Describes a stage.
    package init(
      link: RelationshipLayout,
      key: [KeyColumn],
      replaces: Bool,
      deletesUnlinked: Bool,
      mayEndEarly: Bool = false
    ) {
      self.link = link
      self.key = key
      self.replaces = replaces
      self.deletesUnlinked = deletesUnlinked
      self.mayEndEarly = mayEndEarly
    }
  }

  /// One owner whose links are staged, and the number that its stager gave it.
  package struct Owner: Sendable, Hashable {
    /// The owner's primary key.
    package let key: Int64
    /// The number that `begin` was told.
    package let number: Int

    /// Makes one.
    package init(key: Int64, number: Int) {
      self.key = key
      self.number = number
    }
  }

  /// What a flush did.
  package struct Outcome: Sendable {
    /// The owners whose links are others than before, each once.
    package var changed: [Owner] = []
    /// The owners that lost a target, as far as that is known of each.
    package var lost: Set<Int64> = []
    /// The owners with references that wait, each once.
    package var waiting: [Owner] = []
    /// How many links were made.
    package var linked = 0
    /// How many links were removed.
    package var unlinked = 0
    /// The owners of links that were made and removed in between, one entry a link.
    ///
    /// References of earlier records waited for who is there by now, and later records say otherwise.
    package var between: [Int64] = []
    /// The targets that were unlinked and are to be deleted (`Plan.deletesUnlinked`).
    package var gone: [Int64] = []

    /// Nothing so far.
    package init() {}

    /// Takes note of links in between.
    package mutating func add(between owners: [Int64]) {
      between += owners
      linked += owners.count
      unlinked += owners.count
    }
  }
}
