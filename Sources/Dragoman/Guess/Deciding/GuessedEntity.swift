import DragomanGraph

/// A member of a map's section with its value as YAML spells it.
typealias GuessedEntry = (key: String, value: String)

/// An attribute as it is guessed.
struct GuessedAttribute: Adjustable {
  var name: String
  /// The path as it stands in the map.
  var path: String
  var type: AttributeType = .string
  var entries: [GuessedEntry] = []
  var remarks: [String] = []
  /// Where its values stand; nil for what is no value of the record, such as `$index`.
  var shape: FeedShape?
  /// How its texts are read, so that two of them may be one value.
  var reading = Meanings.Reading.spelled
  /// Whether every record has a value.
  var isAlwaysThere = false
}

/// A relationship as it is guessed.
struct GuessedRelationship {
  var name: String
  var entity: String
  var isToMany: Bool
  var entries: [GuessedEntry] = []
  var remarks: [String] = []
}

/// An entity as it is guessed.
///
/// Large because each property is something that is guessed of an entity, or why.
final class GuessedEntity {
  let name: String
  /// Where its records stand.
  let shape: FeedShape
  /// How many records there are.
  let count: Int
  /// Whether its records are nested in others.
  let isNested: Bool
  /// The to-one that leads to the record around it; nil: it is no part of one.
  let inverse: String?
  /// The entity of whose records these are one kind.
  let parent: GuessedEntity?
  /// The word that tells records of that kind.
  let word: String?
  /// Where the words of kinds stand, and the entities that they tell.
  var discriminator: (path: String, words: [(word: String, entity: String)])?
  /// The attribute that has the word.
  var kindAttribute: String?
  var remarks: [String] = []
  var unique: [String] = []
  var uniqueRemarks: [String] = []
  /// Whether different records may have the same key one day, for all that is known.
  var isKeyUnsure: Bool { uniqueRemarks.contains { $0.hasPrefix("unsure: ") } }
  /// Whether the key is the file and the place in it.
  var isKeyPlace: Bool { attributes.contains { $0.path == "$file" && unique.contains($0.name) } }
  var attributes: [GuessedAttribute] = []
  var relationships: [GuessedRelationship] = []
  /// The entities of its kinds.
  private var kinds: [GuessedEntity] = []
  /// The names of attributes and relationships, in small letters.
  private var names: Set<String> = []

  init(name: String, shape: FeedShape, isNested: Bool, inverse: String?) {
    self.name = name
    self.shape = shape
    self.isNested = isNested
    self.inverse = inverse
    parent = nil
    word = nil
    count = shape.kinds.total
    if let inverse { names.insert(inverse.lowercased()) }
  }

  /// Makes the entity of one kind of another's records.
  init(name: String, shape: FeedShape, parent: GuessedEntity, word: String) {
    self.name = name
    self.shape = shape
    isNested = parent.isNested
    inverse = nil
    self.parent = parent
    self.word = word
    count = shape.kinds.total
    names = parent.names
    parent.kinds.append(self)
  }

  /// A name that no other attribute or relationship has: the wanted one, else a longer one, or with a
  /// number behind it.
  func freeName(_ wanted: String, or longer: String? = nil) -> String {
    if let longer, isTaken(wanted) { return freeName(longer) }
    var name = wanted
    var number = 2
    while isTaken(name) {
      name = wanted + String(number)
      number += 1
    }
    take(name)
    return name
  }

  /// Whether the entity or one of its kinds, which have all that it has, has the name.
  private func isTaken(_ name: String) -> Bool {
    names.contains(name.lowercased()) || kinds.contains { $0.isTaken(name) }
  }

  private func take(_ name: String) {
    names.insert(name.lowercased())
    for kind in kinds { kind.take(name) }
  }

  /// The same for a relationship: no other kind has the name either, as its column cannot be named.
  ///
  /// - Parameters:
  ///   - wanted: The name.
  ///   - longer: What it is if that is taken.
  ///   - replaced: The attribute of this entity that it stands for, whose name is free then.
  /// - Returns: The name.
  func freeRelationshipName(
    _ wanted: String,
    or longer: String? = nil,
    for replaced: String? = nil
  ) -> String {
    let siblings = parent?.kinds.filter { $0 !== self } ?? kinds
    if siblings.contains(where: { $0.names.contains(wanted.lowercased()) }) {
      return freeName(NameWords("\(name) \(wanted)").property)
    }
    return wanted == replaced ? wanted : freeName(wanted, or: longer)
  }
}

/// A source as it is guessed.
struct GuessedSource {
  var name: String
  var entity: String
  /// Where its records stand; nil: the root.
  var records: String?
  /// Patterns for the names of its files; empty: any.
  var files: [String]
}
