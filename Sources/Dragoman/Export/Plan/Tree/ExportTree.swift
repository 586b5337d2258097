import DragomanGraph

/// The shape of the records of an export: which member, element or column stands where, and which
/// value belongs into it.
///
/// A tree of plain values in flat arrays, because it is walked for every record. Node 0 is the record
/// itself. Where a record or target may be of a sub-entity, there is a tree for each.
struct ExportTree: Sendable {
  /// What a node is written as.
  enum Role: UInt8, Sendable {
    /// An object, or an element with attributes or child elements.
    case object
    /// A JSON array whose elements are the children, in order.
    case array
    /// A JSON array of linked objects: the only child is written for each of them.
    case list
    /// A JSON object of linked objects: the only child is written for each of them, under its name.
    case dictionary
    /// A value of the record.
    case value
    /// An XML attribute.
    case attribute
    /// A place in an array that no attribute fills; a column that the entity does not have.
    case hole
  }

  /// One place in a record.
  struct Node: Sendable {
    var role: Role
    /// The attribute whose value stands here; -1: none.
    ///
    /// An XML element may have a value and children.
    var slot: Int32 = -1
    /// The relationship whose targets are written here; -1: none.
    ///
    /// A place of the row's level. What stands below belongs to the target. In XML a to-many repeats
    /// the element.
    var link: Int32 = -1
    /// The relationship among all of the export.
    var linkPlan: Int32 = -1
    /// The to-one to whose target it belongs, as members of that stand among those of the record
    /// (`from: "."`): an index into `embedded`; -1: none.
    var context: Int32 = -1
    /// What stands here instead where that target is of another entity: a range of `variants`.
    var firstSubstitute: Int32 = 0
    var substituteCount: Int32 = 0
    /// The trees of sub-entities: a range of `variants`.
    var firstVariant: Int32 = 0
    var variantCount: Int32 = 0
    /// Index into `names`; empty where there is none, or where it differs from record to record.
    var name: Int32
    /// Whether the name differs from record to record.
    var isNamed = false
    /// The attribute whose value is that name; -1: none, names are made up.
    var nameSlot: Int32 = -1
    /// The children: a range of `order`.
    var start: Int32 = 0
    var end: Int32 = 0
    /// Of a to-one: the node whose children are values of the record that is linked, beside those of
    /// the target; -1: none.
    var beside: Int32 = -1
    /// XML: whether the value is `text()`, so that an element without text has none.
    var isTextOnly = false
    /// The node by which the key of a target is written that is not written whole; -1: there is none.
    var reference: Int32 = -1
    /// How many levels its own values reach into it, without those of what it is linked to.
    var height: Int32 = 0

    /// Whether it is written as a record: at the top.
    var isRecord = false

    /// Whether its targets stand in a JSON array or object of their own.
    var isCollection: Bool { role == .list || role == .dictionary }
  }

  /// The name of a member, with its namespace URI in XML.
  struct Name: Sendable, Hashable {
    var local: String
    var namespace = ""

    static func == (left: Name, right: Name) -> Bool {
      left.local.utf8.elementsEqual(right.local.utf8)
        && left.namespace.utf8.elementsEqual(right.namespace.utf8)
    }

    func hash(into hasher: inout Hasher) {
      for byte in local.utf8 { hasher.combine(byte) }
    }
  }

  private(set) var nodes: [Node] = []
  private(set) var names: [Name] = []
  /// The children of all nodes, one node's behind the other.
  private(set) var order: [Int32] = []
  /// The trees of sub-entities, and what stands in one place by turns: those of one place behind each
  /// other.
  private(set) var variants: [Int32] = []
  /// The to-ones whose targets' members stand among those of the record.
  private(set) var embedded: [Embedded] = []

  /// A to-one whose target's members stand among those of its owner.
  struct Embedded: Sendable {
    /// The one to whose target the relationship belongs; -1: it belongs to the record.
    let parent: Int
    /// The relationship's place among the links of its level.
    let link: Int
    /// By which of the trees there the targets are written whose members these are.
    let tree: Int
  }

  /// The node by which an object is written.
  ///
  /// - Parameters:
  ///   - node: The node of its place.
  ///   - tree: Which of the trees there: 0 for the entity of the place itself.
  /// - Returns: The node.
  @inline(__always)
  func variant(of node: Int, _ tree: Int) -> Int {
    tree == 0 ? node : Int(variants[Int(nodes[node].firstVariant) + tree - 1])
  }

  /// The nodes by which objects of any entity are written in a place, whole or by their key.
  func alternatives(to node: Int) -> [Int] {
    [node] + (1...).prefix(Int(nodes[node].variantCount)).map { variant(of: node, $0) }
      + [Int(nodes[node].reference)].filter { $0 >= 0 }
  }

  /// The tree of all that a builder collected.
  init(_ builder: Builder) {
    embedded = builder.embedded
    var known: [Int: Int32] = [:]
    add(0, of: builder, &known)
    for (place, node) in known {
      guard let model = builder.model(of: place), let shape = known[model] else { continue }
      nodes[Int(node)].take(nodes[Int(shape)])
    }
    for record in alternatives(to: 0) { nodes[record].isRecord = true }
  }

  /// Adds a place with all below it.
  ///
  /// - Parameters:
  ///   - place: The place.
  ///   - builder: Who has it.
  ///   - known: Gets the numbers of all places.
  /// - Returns: Its number.
  @discardableResult
  private mutating func add(_ place: Int, of builder: Builder, _ known: inout [Int: Int32]) -> Int32
  {
    let (node, children) = builder.node(place, name: number(of: builder.name(place)))
    let index = nodes.count
    nodes.append(node)
    known[place] = Int32(index)
    var numbers: [Int32] = []
    for child in children {
      while node.role == .array, numbers.count < builder.index(child) {
        nodes.append(Node(role: .hole, name: number(of: Name(local: ""))))
        numbers.append(Int32(nodes.count - 1))
      }
      numbers.append(add(child, of: builder, &known))
    }
    nodes[index].height = height(above: numbers)
    nodes[index].start = Int32(order.count)
    order += numbers
    nodes[index].end = Int32(order.count)
    let beside = builder.beside(place)
    if beside >= 0 { nodes[index].beside = add(beside, of: builder, &known) }
    var own: [Int32] = []
    for variant in builder.variants(place) { own.append(add(variant, of: builder, &known)) }
    nodes[index].firstVariant = Int32(variants.count)
    nodes[index].variantCount = Int32(own.count)
    variants += own
    for variant in own { nodes[Int(variant)].beside = nodes[index].beside }
    let reference = builder.reference(place)
    if reference >= 0 {
      nodes[index].reference = add(reference, of: builder, &known)
      nodes[Int(nodes[index].reference)].beside = nodes[index].beside
    }
    var substitutes: [Int32] = []
    for substitute in builder.substitutes(place) {
      substitutes.append(add(substitute, of: builder, &known))
    }
    nodes[index].firstSubstitute = Int32(variants.count)
    nodes[index].substituteCount = Int32(substitutes.count)
    variants += substitutes
    return Int32(index)
  }

  /// How many levels the children reach into what holds them; XML attributes stand in its tag.
  private func height(above children: [Int32]) -> Int32 {
    children.map { nodes[Int($0)] }.filter { $0.role != .attribute }
      .map { $0.link < 0 ? $0.height + 1 : 1 }.max() ?? 0
  }

  private mutating func number(of name: Name) -> Int32 {
    if let known = names.firstIndex(of: name) { return Int32(known) }
    names.append(name)
    return Int32(names.count - 1)
  }
}

extension ExportTree.Node {
  /// Takes over what stands below another node, whose targets are of the same entity.
  fileprivate mutating func take(_ other: ExportTree.Node) {
    role = other.role
    slot = other.slot
    nameSlot = other.nameSlot
    isTextOnly = other.isTextOnly
    start = other.start
    end = other.end
    height = other.height
  }
}
