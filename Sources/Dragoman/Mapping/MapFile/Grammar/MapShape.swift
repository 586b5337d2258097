/// What may stand at a place of a map file, as data: the JSON Schema, lists of keys and help are made of it.
package indirect enum MapShape: Sendable {
  /// Nothing at all, as behind `name:`.
  case nothing
  /// A scalar of any look, with a number of characters.
  case text(ClosedRange<Int>)
  /// `true` or `false`.
  case flag
  /// A whole number.
  case number(ClosedRange<Int>)
  /// One of the words.
  case word([String])
  /// A list.
  case list(MapShape)
  /// A mapping with names of the user's, so many at least.
  case table(MapShape, least: Int)
  /// A mapping with keys of the language.
  case section(MapSectionEntry)
  /// One of several shapes.
  case either([MapShape])

  /// Text of any length.
  static let anyText = MapShape.text(0...Int.max)
  /// A path, or several.
  static let paths = MapShape.either([
    .text(1...ForeignPathParser.maximumByteCount),
    .list(.text(1...ForeignPathParser.maximumByteCount)),
  ])
}

/// A mapping of the language: what is known of it without its values.
package struct MapSectionEntry: Sendable {
  /// Its name in the JSON Schema.
  package let id: String
  /// What it is, in a sentence: `an attribute`.
  package let noun: String
  /// Its keys, in the order in which they are written.
  package let keys: [MapKeyEntry]
}

/// A key of the language: what is known of it without its values.
package struct MapKeyEntry: Sendable {
  /// The key.
  package let name: String
  /// What may stand behind it.
  package let shape: MapShape
  /// What it says, in a line.
  package internal(set) var help = ""
  /// What holds without it; nil where nothing does, or another level decides.
  package internal(set) var standard: String?
  /// What it is for, where that is not everything: `enum and string`.
  package internal(set) var fit: String?
  /// Whether it is always there.
  package internal(set) var isRequired = false
}
