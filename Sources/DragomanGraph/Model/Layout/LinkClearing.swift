/// What becomes of the stored links between a row that is deleted and others, at one end of a relationship.
///
/// The one place that says so, for the saves of contexts and for deletions straight in the store. `nullify`
/// clears them; so do `cascade` and `deny`, behind which there is nobody left at the other end; a link that
/// no inverse has a rule for is cleared; `noAction` leaves it, unless its other end is deleted as well, and
/// SQLite refuses the commit then.
struct LinkClearing {
  /// Which end of the links is deleted.
  enum End {
    case owner
    case target
  }

  /// The relationship that the links are stored with.
  let link: RelationshipLayout
  /// Which end of them is deleted.
  let end: End
  /// Whether only links go whose other end is deleted, too.
  let leavesLinks: Bool
}

extension ModelLayout {
  /// What becomes of stored links when rows of a table are deleted; links in columns of these rows go with
  /// them.
  func clearings(of table: Int) -> [LinkClearing] {
    var clearings: [LinkClearing] = []
    for link in links where link.isStoredByOwner {
      if entities[link.owner].tableIndex == table, case .joinTable = link.storage {
        let leaves = link.relationship.deleteRule == .noAction
        clearings.append(LinkClearing(link: link, end: .owner, leavesLinks: leaves))
      }
      guard entities[link.destination].tableIndex == table else { continue }
      let leaves = inverse(of: link)?.relationship.deleteRule == .noAction
      // Where the owner's row goes too, its column does.
      if leaves, case .column = link.storage { continue }
      clearings.append(LinkClearing(link: link, end: .target, leavesLinks: leaves))
    }
    return clearings
  }
}
