import DragomanGraph

/// What is in the way of taking an import back.
package enum UndoConflictText {
  /// A conflict as a sentence without its end: `Person id 7 was changed since`.
  package static func line(_ conflict: UndoReport.Conflict) -> String {
    var name = VisibleText.of(conflict.entity)
    if let object = conflict.object {
      name +=
        " " + (conflict.key.map { KeyText.line($0, of: object) } ?? "_pk \(object.primaryKey)")
    }
    if let links = conflict.links { name += " (\(links))" }
    switch conflict.reason {
    case .changed: return "\(name) was changed since"
    case .deleted: return "\(name) was deleted since"
    case .taken: return "\(name) is there again, or has the key of one that would come back"
    case .referenced: return "\(name) refers to an object that the import made"
    }
  }
}
