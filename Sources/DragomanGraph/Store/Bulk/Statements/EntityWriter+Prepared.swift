import GRDB

extension EntityWriter {
  /// The statements for rows of one shape.
  final class Prepared {
    let write: PreparedSentence
    /// Makes a new object in less time; does nothing where the object is there.
    let insertOnly: PreparedSentence?
    /// Whether the last row made an object: so will the next, most likely.
    @exclusivity(unchecked) var expectsNew = true
    /// Whether the first parameter of `write` is `_pk`; else it only updates.
    let makesObjects: Bool
    /// Whether an update may have taken the next `_pk` as a place.
    let takesPlaces: Bool
    /// The required attribute that rows of this shape lack.
    let missing: String?
    /// Finds out whether the object of a row exists that cannot make one.
    let probe: PreparedSentence?
    /// The columns whose former values are noted.
    let former: [String]
    /// Finds out whether a row that changed nothing was older than its object.
    let newer: PreparedSentence?
    /// Finds an object that has the key of a row, and is of another branch of the family.
    let relative: PreparedSentence?
    /// Find a stub of another key of a row, and give it the row's identity.
    let adoptions: [(find: PreparedSentence, adopt: PreparedSentence, count: PreparedSentence)]

    init(_ statements: EntityStatements, _ present: [Int], in database: Database) throws {
      let keys = statements.keySlots(of: present)
      missing = statements.missing(from: present)
      makesObjects = missing == nil
      takesPlaces = statements.takesPlaces(present)
      former = statements.former(present)
      let sentence = makesObjects ? statements.upsert(present) : statements.update(present)
      write = try PreparedSentence(sentence, in: database)
      insertOnly =
        makesObjects
        ? try statements.insertOnly(present).map { try PreparedSentence($0, in: database) } : nil
      probe =
        makesObjects
        ? nil
        : try keys.map { try PreparedSentence(statements.completed($0, by: present), in: database) }
      if let keys, let version = statements.version, statements.isVersioned(present) {
        newer = try PreparedSentence(
          statements.newer(keys, than: version, for: present),
          in: database
        )
      } else {
        newer = nil
      }
      adoptions = try statements.adoptions(present).map { find, adopt, count in
        (
          try PreparedSentence(find, in: database), try PreparedSentence(adopt, in: database),
          try PreparedSentence(count, in: database)
        )
      }
      relative = try keys.flatMap { statements.relative($0) }.map {
        try PreparedSentence($0, in: database)
      }
    }
  }
}
