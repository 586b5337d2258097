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
  var remarks: [String] = []
  var unique: [String] = []
  var uniqueRemarks: [String] = []
  var attributes: [GuessedAttribute] = []
  var relationships: [GuessedRelationship] = []
  /// The names of attributes and relationships, in small letters.
  private var names: Set<String> = []

  init(name: String, shape: FeedShape, isNested: Bool, inverse: String?) {
    self.name = name
    self.shape = shape
    self.isNested = isNested
    self.inverse = inverse
    count = shape.kinds.total
    if let inverse { names.insert(inverse.lowercased()) }
  }

  /// A name that no other attribute or relationship has: the wanted one, else a longer one, or with a
  /// number behind it.
  func freeName(_ wanted: String, or longer: String? = nil) -> String {
    if let longer, names.contains(wanted.lowercased()) { return freeName(longer) }
    var name = wanted
    var number = 2
    while !names.insert(name.lowercased()).inserted {
      name = wanted + String(number)
      number += 1
    }
    return name
  }
}

/// A source as it is guessed.
struct GuessedSource {
  var name: String
  var entity: String
  /// Where its records stand; nil: the root.
  var records: String?
  var remarks: [String] = []
}
