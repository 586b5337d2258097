/// A table that has links, seen from the side of their owner: a table of its own, or the targets'
/// table, which has a column for the owner.
struct LinkTable {
  /// The table, quoted.
  let name: String
  /// The columns of the owner and of the target.
  let own: String
  let other: String
  /// The column that orders the targets of an owner, and the one that orders the owners of a target.
  let place: String?
  let otherPlace: String?
  /// Whether each link has a row in both directions.
  let isSymmetric: Bool
  /// Whether the links have a table of their own.
  let isOwnTable: Bool

  /// A table of links.
  init(_ join: RelationshipLayout.JoinTable, isOwner: Bool) {
    name = Schema.quoted(join.name)
    own = isOwner ? "owner" : "target"
    other = isOwner ? "target" : "owner"
    let position = join.hasPosition ? "position" : nil
    let inverse = join.hasInversePosition ? "inverse_position" : nil
    place = isOwner ? position : inverse
    otherPlace = isOwner ? inverse : position
    isSymmetric = join.isSymmetric
    isOwnTable = true
  }

  /// The targets' own table.
  init(_ target: EntityLayout, column: String, order: String?) {
    name = Schema.quoted(target.table)
    own = Schema.quoted(column)
    other = "_pk"
    place = order.map(Schema.quoted)
    otherPlace = nil
    isSymmetric = false
    isOwnTable = false
  }
}

extension LinkStage {
  /// Where the links of a to-many are; nil for a to-one that its owner has as a column.
  var table: LinkTable? {
    switch plan.link.storage {
    case .column: nil
    case .inverseColumn(let column, let order): LinkTable(target, column: column, order: order)
    case .joinTable(let join, let isOwner): LinkTable(join, isOwner: isOwner)
    }
  }

  /// The table of the targets that only one owner may have and that got one, with the last record by then
  /// whose references waited: who named them up to it named them earlier.
  var taken: String { "\(waiting)_taken" }

  /// Whether a target has one owner at most.
  var isExclusive: Bool {
    switch plan.link.storage {
    case .inverseColumn: true
    case .joinTable: false
    case .column:
      plan.link.relationship.inverse.flatMap { target.linkSlot(named: $0) }
        .map { target.relationships[$0].isToOne } ?? false
    }
  }

  /// Whether it counts who gets an owner.
  var notesTaken: Bool { isExclusive && (waitingCount > 0 || hasPending) }

  /// The name of a table of ours, without its schema, as its columns are qualified by it.
  func bare(_ table: String) -> String { String(table.drop { $0 != "." }.dropFirst()) }
}
