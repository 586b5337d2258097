/// What went wrong with an object or a save, naming the entity, the object and the rule.
public struct ContextError: Error, Sendable, CustomStringConvertible {
  /// A stable name for the kind of error.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The name.
    public let rawValue: String

    /// Makes a code; the ones contexts use are static members.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A name that the entity or the model does not have.
    public static let unknownProperty = Code(rawValue: "object.property")
    /// A value of another type than the attribute's, or an object of another entity.
    public static let type = Code(rawValue: "object.type")
    /// The object was deleted.
    public static let deleted = Code(rawValue: "object.deleted")
    /// The object's row is not in the store (any more).
    public static let missing = Code(rawValue: "object.missing")
    /// The object belongs to another context, or its context has ended.
    public static let foreignContext = Code(rawValue: "object.context")
    /// Objects break the rules of their entities; `faults` lists all.
    public static let invalid = Code(rawValue: "save.invalid")
    /// Another context or process changed the same properties; `conflicts` lists all.
    public static let conflict = Code(rawValue: "save.conflict")
    /// Another object has the same unique key.
    public static let duplicate = Code(rawValue: "save.duplicate")
    /// A delete rule forbids it.
    public static let denied = Code(rawValue: "save.denied")
    /// A hook asks for a save, or drops unsaved changes, while its record is being imported.
    public static let importing = Code(rawValue: "save.importing")
    /// More than one object where one was expected.
    public static let ambiguous = Code(rawValue: "fetch.ambiguous")
    /// The stack was reset or closed.
    public static let stackClosed = Code(rawValue: "stack.closed")
  }

  /// The kind of error.
  public let code: Code
  /// A full sentence for people.
  public let message: String
  /// The object concerned, if it is one.
  public let object: ObjectID?
  /// What to do about it, where there is something to do.
  public let help: String?
  /// Every rule that an object breaks, for `.invalid` and `.denied`.
  public let faults: [ObjectFault]
  /// Every property that was changed elsewhere too, for `.conflict`.
  public let conflicts: [SaveConflict]

  /// Makes an error.
  public init(
    _ code: Code,
    _ message: String,
    object: ObjectID? = nil,
    help: String? = nil,
    faults: [ObjectFault] = [],
    conflicts: [SaveConflict] = []
  ) {
    self.code = code
    self.message = message
    self.object = object
    self.help = help
    self.faults = faults
    self.conflicts = conflicts
  }

  /// The message and the help on one line.
  public var description: String {
    "\(code.rawValue): \(message)\(help.map { " (\($0))" } ?? "")"
  }
}

/// An error that says in a sentence what is wrong.
protocol TellingError: Error {
  var message: String { get }
}

extension ContextError: TellingError {}
extension StoreError: TellingError {}

/// One rule that an object breaks.
public struct ObjectFault: Sendable, Hashable, CustomStringConvertible {
  /// Which kind of rule.
  public enum Rule: String, Sendable, Hashable {
    /// A required property is null or empty.
    case required
    /// A value is below the minimum or above the maximum.
    case range
    /// A text is too short or too long.
    case length
    /// A text does not match the pattern.
    case pattern
    /// A property was set to what it does not take, and stayed as it was.
    case type
    /// A value is none of an enumeration.
    case enumeration
    /// There are more targets than the relationship admits.
    case count
    /// An object cannot be deleted while the relationship has targets.
    case deny
    /// An object of an abstract entity.
    case abstract
  }

  /// The object.
  public let object: ObjectID
  /// The object's entity, which may be below the one its id names.
  public let entity: String
  /// The property; nil: the object itself.
  public let property: String?
  /// The rule.
  public let rule: Rule
  /// What is wrong, a full sentence.
  public let message: String

  /// The message.
  public var description: String { message }
}

/// A property that was changed here and elsewhere since this context read it.
public struct SaveConflict: Sendable, Hashable {
  /// The object.
  public let object: ObjectID
  /// The property; nil: the object was deleted on one side and changed on the other.
  public let property: String?
  /// What both started from; of an ordered list the keys of its objects, as text.
  public let base: StoredValue
  /// What this context wants.
  public let ours: StoredValue
  /// What the store holds by now.
  public let theirs: StoredValue
  /// Whether the attribute is sensitive: messages do not show the values.
  public internal(set) var isSensitive = false

  /// How messages name one of the values.
  func shown(_ value: StoredValue) -> String {
    isSensitive && value != .null ? "•••" : value.summary
  }
}

/// What a save does where another context or process changed the same object.
///
/// Properties that only one side changed never conflict: both changes are kept.
public enum MergePolicy: Sendable, Hashable {
  /// The save throws `.conflict` and writes nothing.
  case error
  /// The store's values win, property by property; a row that is gone stays gone.
  case storeTrumps
  /// This context's values win, property by property; a row that is gone is written again, without the links
  /// that were stored elsewhere: in tables of links and in rows of others.
  case objectTrumps
  /// The row becomes exactly this context's object: its attributes and to-ones. One that is gone is written again, as
  /// with `objectTrumps`.
  case overwrite
  /// This context's changes of the object are dropped.
  case rollback
}

extension ContextError {
  /// Several faults: the first is told, all are listed.
  ///
  /// - Parameters:
  ///   - code: `.invalid` or `.denied`.
  ///   - faults: At least one.
  init(_ code: Code, _ faults: [ObjectFault]) {
    let count = faults.count - 1
    let more = count > 0 ? " (\(MessageWords.count(count, "more fault")))" : ""
    self.init(
      code,
      faults[0].message + more,
      object: faults[0].object,
      help: "mend the objects and save again; nothing was lost",
      faults: faults
    )
  }

  /// A value has the key of an object of another branch of its family.
  static func keyOfRelative(_ other: String, _ entity: String, _ object: ObjectID?) -> ContextError
  {
    ContextError(
      .duplicate,
      "The object with the key of \(MessageWords.withArticle(entity)) that is saved is \(MessageWords.withArticle(other)),"
        + " and stays one.",
      object: object,
      help: "change the key and save again"
    )
  }
}
