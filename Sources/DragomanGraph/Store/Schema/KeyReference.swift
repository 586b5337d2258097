/// A unique key by which others name an object, and how it is looked up.
package final class KeyReference: Sendable {
  /// Whose key it is.
  package let entity: EntityLayout
  /// Its parts, in the order of the values.
  package let columns: [KeyColumn]
  /// The names that `_entity` may have; empty where all may be.
  package let entities: [String]
  /// Whether no part is another object.
  package var isPlain: Bool { columns.allSatisfy(\.lookUps.isEmpty) }
  /// Selects an object that has given values.
  let sql: String

  /// Describes a key; nil where a part is a to-one whose target has no key of one part.
  package init?(
    _ parts: [EntityLayout.KeyPart],
    of entity: EntityLayout,
    in layout: ModelLayout
  ) {
    let columns = parts.compactMap { KeyColumn($0, of: entity, in: layout) }
    guard columns.count == parts.count else { return nil }
    self.entity = entity
    self.columns = columns
    entities = entity.familyNames(in: layout)
    let tests = (columns.map { $0.test("?") } + Schema.test(entities)).joined(separator: " AND ")
    sql = "SELECT 1 FROM \(Schema.quoted(entity.table)) WHERE \(tests)"
  }
}
