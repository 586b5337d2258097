import DragomanGraph

/// Records and targets that stand under a name each, in a dictionary or as elements of any name.
extension ExportPlanner {
  /// Whether reading may take the attribute from the name of its record (`$key`).
  func readsName(_ attribute: AttributeMap) -> Bool {
    namePaths(of: attribute).contains(true)
  }

  /// Whether no other path of the attribute is ever read: a name is always there.
  func readsNameFirst(_ attribute: AttributeMap) -> Bool {
    namePaths(of: attribute).first == true
  }

  /// Whether no other path of the attribute is ever read: a record always has a place.
  func readsPlaceFirst(_ attribute: AttributeMap) -> Bool {
    guard !isLocal, let from = attribute.from else { return false }
    return paths(from).first?.root == .index
  }

  /// Whether the attribute is read from the record around its own before anything else.
  func readsParentFirst(_ attribute: AttributeMap) -> Bool {
    guard !isLocal, let from = attribute.from else { return false }
    return paths(from).first?.root == .parent
  }

  /// Which of the attribute's paths are the name of its record.
  private func namePaths(of attribute: AttributeMap) -> [Bool] {
    guard !isLocal, let from = attribute.from else { return [] }
    return paths(from).map { $0.root == .key }
  }

  /// Where the names of records come from that stand under a name each.
  enum Naming {
    /// An attribute holds it.
    case stored
    /// Nothing reads it: any name will do.
    case madeUp
    /// An attribute is read from it, and not exported.
    case impossible
  }

  func naming(of entity: EntityMap) -> Naming {
    if nameAttribute(of: entity) != nil { return .stored }
    let isRead = map.lineage(of: entity).flatMap(\.attributes).contains(where: readsName)
    return isRead ? .impossible : .madeUp
  }

  /// The attribute that is written as the name of its record: one that has no other place, before one
  /// that is read from the name first, before one that is read from it at all.
  func nameAttribute(of entity: EntityMap) -> String? {
    let readers = attributes(of: entity).filter(readsName)
    let alone = readers.first { !namePaths(of: $0).contains(false) }
    return (alone ?? readers.first(where: readsNameFirst) ?? readers.first)?.name
  }

  /// Writes an attribute as the name of its record.
  mutating func addName(
    _ attribute: AttributeMap,
    _ stored: Attribute,
    of visit: Visit,
    column: Int
  ) throws(ExportError) {
    // A name is a text, whatever the format.
    let speller = try speller(of: attribute, format: .csv)
    tree.setName(at: visit.base, slot: slots.count)
    appendSlot(stored, of: visit.map.name, speller, column: column)
    slots[slots.count - 1].closure = closure(of: attribute, visit)
  }

  /// Refuses a map that renames something which the database has by its former name.
  func checkRenamed(_ old: String?, to name: String, of visit: Visit) throws(ExportError) {
    guard let old, visit.layout.property(named: old) != nil else { return }
    throw ExportError(
      .map,
      "The map has \(visit.map.name).\(name), which the database calls \(old).",
      help: "open the store with `onConflict: .migrate`"
    )
  }
}
