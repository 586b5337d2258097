import DragomanGraph

/// What is read of one entity at one place of a record: its columns, and the relationships from there.
struct ExportLevel: Sendable {
  /// The attributes to read, in the order of a row's columns.
  var columns: [Attribute] = []
  /// The relationships to read, in the order of a row's links.
  var links: [Link] = []
  /// The columns of the attributes that records say something of.
  private(set) var attributes: [Int] = []
  /// Those of them that are not written, because something else holds them.
  private(set) var shadowed: [Int] = []

  /// One relationship.
  struct Link: Sendable {
    let layout: RelationshipLayout
    /// What is read of the targets.
    var level: ExportLevel
    /// Whether it is not written, because something else holds it.
    var isShadowed = false
  }

  /// Whether something of it is not written, here or further inside.
  var hasShadows: Bool {
    !shadowed.isEmpty || links.contains { $0.isShadowed || $0.level.hasShadows }
  }

  /// The place of an attribute that is written.
  mutating func attribute(_ attribute: Attribute) -> Int {
    let column = column(of: attribute)
    if !attributes.contains(column) { attributes.append(column) }
    return column
  }

  /// The place of an attribute that is not written, because something else holds it.
  mutating func shadow(_ stored: Attribute) -> Int {
    let column = attribute(stored)
    shadowed.append(column)
    return column
  }

  /// The place of an attribute among the columns; it is added where it is not among them.
  mutating func column(of attribute: Attribute) -> Int {
    if let known = columns.firstIndex(where: { $0.name.utf8.elementsEqual(attribute.name.utf8) }) {
      return known
    }
    columns.append(attribute)
    return columns.count - 1
  }
}

/// How one relationship is written.
struct ExportLink: Sendable {
  let isToMany: Bool
  /// Parts of the target's key that are not written, because reading takes them from the owner: the
  /// columns that must be equal.
  var shared: [(owner: Int, target: Int)] = []
  /// Columns of the targets for which the map has a value of its own.
  var constants: [(target: Int, value: StoredValue)] = []
  /// Several keys in one text: what stands between them.
  var separator: [UInt8]?
  /// XML: whether the element around the targets is written where there are none, as it tells that
  /// the list is empty.
  var hasWrapper = false
}
