/// Why a stored value cannot be written so that the map reads it back.
enum SpellingFault: Error, Sendable, Hashable {
  /// The column holds another kind of value than the attribute's type (a hand-edited file).
  case type
  /// A number outside of the attribute's type, or no number.
  case number
  /// JSON has no infinity, and no import reads one.
  case infinite
  /// No declared format spells the date.
  case date
  /// The value table has no word for it.
  case word
  /// No declared word means it.
  case boolean
  /// The map reads its spelling as null (`emptyAsNull`, `nulls`).
  case readAsNull
  /// The map trims it.
  case trimmed
  /// The text is not UTF-8.
  case encoding
  /// A control character that the format has no place for.
  case character
  /// The stored text is no JSON.
  case json
  /// JSON that the format cannot hold: numbers and lists of one element in XML, anything but a
  /// string in CSV.
  case jsonShape
  /// Null, where leaving it out or writing it gives another value back.
  case null
  /// A link whose target has not the part of its key that reading takes from the owner, or whose key
  /// holds the separator of keys.
  case link
  /// An empty text in an element that is known by its text or holds other elements.
  case empty
  /// The name of a member or element that is null, empty, a sibling's too, or none in XML.
  case name
  /// What stands inside of another value, which is written, and is not the same there.
  case overlap
  /// A value at the place of the word that tells the object's entity, and is no such word.
  case entity
  /// The word by which a record says that its object is gone.
  case tombstone
  /// A value that breaks a rule of the map.
  case rule
  /// No link, where reading makes one of the owner's own attributes.
  case unlinked
  /// A link to an object whose key is null or empty, which names nobody.
  case key
  /// A target deeper than an import reads.
  case depth
  /// A target of a record that holds too many.
  case count
  /// Another path of it, or of what decides about the record, finds what something else wrote.
  case reading

  /// What is wrong, behind the value's name.
  var message: String {
    switch self {
    case .type: "is stored as another kind of value than its type has"
    case .number: "is no number of its type"
    case .infinite: "is infinite, which no feed can say"
    case .date: "has no spelling in any of its date formats"
    case .word: "has no word in its table of values"
    case .boolean: "has no word in trueValues and falseValues"
    case .readAsNull: "would be read as null: it is empty, or one of nulls"
    case .trimmed: "has white space at its ends, which would be trimmed"
    case .encoding: "is not UTF-8"
    case .character: "holds a control character that the format does not have"
    case .json: "is not JSON"
    case .jsonShape: "is JSON that this format cannot hold"
    case .null: "is null, and would be read as another value, or refused"
    case .link: "names an object that its key cannot lead to"
    case .name: "is no name of one member or element: null, empty, used twice, or none in XML"
    case .overlap: "has the place of another value, and would be read otherwise from there"
    case .entity: "stands where the object's entity is told, and tells another one, or none"
    case .tombstone: "is the word that deletes its object when it is read"
    case .rule: "breaks a rule of the map, and would be refused"
    case .unlinked: "is null, and reading makes a link of the attributes that its key is taken from"
    case .depth: "leads to objects inside of each other deeper than an import reads"
    case .count: "leads to too many objects inside of each other for one record"
    case .key: "names an object whose key is null or empty"
    case .reading: "would be read otherwise: one of its paths leads to what else is written"
    case .empty: "is empty, and would be read as missing"
    }
  }
}
