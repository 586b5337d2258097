/// The tables of one `SELECT` while it is written: one, and what paths have joined to it.
///
/// Every place that a path reaches is joined once, however many paths go through it, and only where
/// more of it is wanted than its key: `company == %@` reads the column of the link and joins nothing.
final class FetchScope {
  /// A place reached.
  private struct Node {
    /// The SQL of its primary key.
    var key: String
    /// The alias of its table, once that is joined.
    var alias: String?
    let entity: EntityLayout
  }

  /// Numbers for aliases, one sequence for a whole statement.
  final class Aliases {
    private var count = 0

    func next() -> String {
      defer { count += 1 }
      return "t\(count)"
    }
  }

  private let layout: ModelLayout
  private let aliases: Aliases
  /// What stands behind `FROM`.
  private(set) var sources: String
  /// What joins the scope to the one around it.
  let condition: String?
  /// The scope around the condition of a subquery.
  private var around: FetchScope?
  /// The hops that lead from the first table to the objects of a subquery, at which its paths begin.
  private var base: [ResolvedPath.Hop] = []
  private var nodes: [[Int]: Node] = [:]

  /// The scope of a statement.
  init(_ entity: EntityLayout, in layout: ModelLayout) {
    self.layout = layout
    aliases = Aliases()
    let alias = aliases.next()
    sources = "\(Schema.quoted(entity.table)) AS \(alias)"
    condition = nil
    nodes[[]] = Node(key: "\(alias)._pk", alias: alias, entity: entity)
  }

  /// The scope of a subquery: the objects of a to-many relationship of one object around it.
  ///
  /// - Parameters:
  ///   - hop: The relationship.
  ///   - owner: The SQL of the object's key in the scope around it.
  ///   - outer: The scope around it.
  private init(_ hop: ResolvedPath.Hop, of owner: String, in outer: FetchScope) {
    layout = outer.layout
    aliases = outer.aliases
    let entity = outer.layout.entities[hop.link.destination]
    let alias = aliases.next()
    let links = LinkQuery(hop.link, in: outer.layout)
    sources = "\(links.name) AS \(alias)"
    condition = "\(alias).\(links.own) = \(owner)"
    nodes[[]] = Node(
      key: "\(alias).\(links.other)",
      alias: links.isOfTarget ? alias : nil,
      entity: entity
    )
  }

  /// The subquery's scope for a path through to-many relationships, and the hops that are left in it.
  func subquery(for path: ResolvedPath) -> (scope: FetchScope, hops: [ResolvedPath.Hop]) {
    guard let place = path.hops.firstIndex(where: { !$0.link.isToOne }) else {
      return (self, path.hops)
    }
    let owner = key(of: Array(path.hops[..<place]))
    return (FetchScope(path.hops[place], of: owner, in: self), Array(path.hops[(place + 1)...]))
  }

  /// The scope for the condition of a subquery: its paths begin at one of the objects.
  ///
  /// - Parameter path: The path to the objects.
  /// - Returns: The scope, whose `out(_:)` leads to this one.
  func objects(of path: ResolvedPath) -> FetchScope {
    let (scope, hops) = out(path.level).subquery(for: path)
    scope.around = self
    scope.base = hops
    return scope
  }

  /// The scope so many subqueries further out.
  func out(_ level: Int) -> FetchScope {
    guard level > 0 else { return self }
    guard let around else { preconditionFailure("a path begins outside of the statement") }
    return around.out(level - 1)
  }

  /// The SQL of the primary key of the object at the end of the hops.
  func key(of hops: [ResolvedPath.Hop]) -> String { node(base + hops).key }

  /// The alias of the table of the object at the end of the hops.
  func alias(of hops: [ResolvedPath.Hop]) -> String { joined(base + hops) }

  private func joined(_ hops: [ResolvedPath.Hop]) -> String {
    var node = node(hops)
    if let alias = node.alias { return alias }
    let alias = aliases.next()
    sources +=
      " LEFT JOIN \(Schema.quoted(node.entity.table)) AS \(alias) ON \(alias)._pk = \(node.key)"
    node.alias = alias
    nodes[hops.map(\.slot)] = node
    return alias
  }

  private func node(_ hops: [ResolvedPath.Hop]) -> Node {
    let place = hops.map(\.slot)
    if let known = nodes[place] { return known }
    guard let hop = hops.last else { preconditionFailure("a scope has a first table") }
    let node = join(hop, behind: Array(hops.dropLast()))
    nodes[place] = node
    return node
  }

  private func join(_ hop: ResolvedPath.Hop, behind hops: [ResolvedPath.Hop]) -> Node {
    let entity = layout.entities[hop.link.destination]
    let links = LinkQuery(hop.link, in: layout)
    if links.own == "_pk" {
      return Node(key: "\(joined(hops)).\(links.other)", alias: nil, entity: entity)
    }
    let owner = node(hops).key
    let alias = aliases.next()
    if hop.link.isToOne {
      // Of a one-to-one link the other side has one at most; should a file have more, it is the first.
      let first = aliases.next()
      sources +=
        " LEFT JOIN \(links.name) AS \(alias) ON \(alias)._pk = (SELECT min(\(first)._pk) FROM"
        + " \(links.name) AS \(first) WHERE \(first).\(links.own) = \(owner))"
    } else {
      sources += " JOIN \(links.name) AS \(alias) ON \(alias).\(links.own) = \(owner)"
    }
    return Node(
      key: "\(alias).\(links.other)",
      alias: links.isOfTarget ? alias : nil,
      entity: entity
    )
  }
}
