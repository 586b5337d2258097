/// An object that filters and sort keys can be held against in memory.
///
/// Slots and link slots are those of the layout of the object's entity; since inherited properties come
/// first, they are those of its ancestors too.
package protocol FilterSubject {
  /// The value of an attribute.
  func attribute(_ slot: Int) -> StoredValue
  /// The object at the end of a to-one relationship.
  func toOne(_ link: Int) -> Self?
  /// The objects of a to-many relationship; one that comes twice is there twice.
  func toMany(_ link: Int) -> [Self]
  /// The object's id.
  var objectID: ObjectID { get }
  /// The object's entity, as an index into the layout's entities.
  var entityIndex: Int { get }
}
