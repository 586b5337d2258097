import DragomanGraph

/// The shape of the records of an export: which member, element or column stands where, and which
/// value belongs into it.
///
/// A tree of plain values in flat arrays, because it is walked for every record. Node 0 is the record
/// itself.
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
    /// A place in an array that no attribute fills.
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

  /// Collects paths and makes the tree.
  struct Builder {
    private struct Place {
      var role: Role?
      var slot = -1
      var link = LinkPlace.none
      var name: Name
      var isNamed = false
      var nameSlot = -1
      var isTextOnly = false
      var children: [Int] = []
      /// Of a to-one: the place of what its owner has in it; -1: nothing.
      var beside = -1
      /// Arrays: the element's place.
      var index = 0
    }

    /// A relationship: its place among the links of its level, and among all of the export.
    struct LinkPlace {
      var local: Int
      var plan: Int

      static let none = LinkPlace(local: -1, plan: -1)
    }

    /// Why a value has no place.
    enum Obstacle: Error {
      /// Another value stands there already.
      case taken(slot: Int)
      /// An object would have to be an array or a value, or to hold what belongs to another record.
      case shape
    }

    private let isXML: Bool
    private var places: [Place]

    /// Begins a tree whose place 0 is the record.
    init(record: Name, isXML: Bool) {
      self.isXML = isXML
      places = [Place(role: isXML ? .object : nil, name: record)]
    }

    /// Gives a value its place below another one; the tree stays as it was where there is none.
    ///
    /// - Parameters:
    ///   - steps: The way to the value.
    ///   - base: The place of the record that the value belongs to.
    ///   - slot: The attribute.
    ///   - link: A to-one of that record, where the value belongs to its target.
    /// - Throws: Why there is no place.
    mutating func add(
      _ steps: [ForeignPath.Step],
      at base: Int,
      slot: Int,
      link: LinkPlace = .none
    ) throws(Obstacle) {
      let before = places
      do throws(Obstacle) {
        let (place, isTextOnly) = try insert(steps, at: base)
        guard places[place].slot < 0 else { throw .taken(slot: places[place].slot) }
        switch places[place].role {
        case nil: places[place].role = .value
        case .attribute: break
        case .object where isXML && link.local < 0: break
        default: throw .shape
        }
        places[place].slot = slot
        if link.local >= 0 { places[place].link = link }
        places[place].isTextOnly = isTextOnly
      } catch {
        places = before
        throw error
      }
    }

    /// Gives a value its place among the members of a to-one's target, which does not have such a
    /// member itself.
    ///
    /// - Parameters:
    ///   - steps: The way to the value, through the target.
    ///   - base: The place of the record that the value belongs to.
    ///   - slot: The attribute.
    /// - Throws: Why there is no place.
    mutating func add(
      _ steps: [ForeignPath.Step],
      besideTargetAt base: Int,
      slot: Int
    ) throws(Obstacle) {
      var place = base
      for (index, step) in steps.enumerated() {
        guard case .member(let local, let namespace) = step else { break }
        let name = Name(local: local, namespace: namespace ?? "")
        let known = places[place].children.first {
          places[$0].name == name && places[$0].role != .attribute
        }
        guard place == base || places[place].link.local < 0 else {
          guard known == nil, places[place].role == .object else { break }
          if places[place].beside < 0 {
            places[place].beside = places.count
            places.append(Place(role: .object, name: Name(local: "")))
          }
          return try add(Array(steps[index...]), at: places[place].beside, slot: slot)
        }
        guard let known else { break }
        place = known
      }
      throw .shape
    }

    /// Names a record, or the targets of a relationship, by the value of an attribute.
    ///
    /// - Parameters:
    ///   - base: The place of the record or target.
    ///   - slot: The attribute.
    mutating func setName(at base: Int, slot: Int) {
      places[base].nameSlot = slot
    }

    /// How the targets of a relationship stand together.
    enum Arrangement {
      /// In the place itself: one target, or a repeated XML element.
      case plain
      /// In a JSON array.
      case list
      /// Under a name each, in a JSON object or an XML element.
      case dictionary
    }

    /// Gives the targets of a relationship their place.
    ///
    /// - Parameters:
    ///   - steps: The way to the target, or to the list of targets.
    ///   - base: The place of the record that is linked.
    ///   - link: The relationship.
    ///   - arrangement: How the targets stand there.
    /// - Returns: The place of a target.
    /// - Throws: Why there is no place.
    mutating func link(
      _ steps: [ForeignPath.Step],
      at base: Int,
      _ link: LinkPlace,
      _ arrangement: Arrangement
    ) throws(Obstacle) -> Int {
      let before = places
      do throws(Obstacle) {
        let (place, isTextOnly) = try insert(steps, at: base)
        if isXML, arrangement == .dictionary {
          // The elements that are not named otherwise.
          guard !isTextOnly, !hasElementValues(place) else { throw .shape }
          let target = try child(of: place, Name(local: ""), nil)
          guard places[target].link.local < 0 else { throw .shape }
          places[target].link = link
          places[target].isNamed = true
          return target
        }
        guard place != base, !isTextOnly, places[place].role == nil, places[place].link.local < 0
        else {
          throw .shape
        }
        places[place].link = link
        guard arrangement != .plain else { return place }
        places[place].role = arrangement == .list ? .list : .dictionary
        let isNamed = arrangement == .dictionary
        places.append(Place(role: nil, name: Name(local: ""), isNamed: isNamed))
        places[place].children.append(places.count - 1)
        return places.count - 1
      } catch {
        places = before
        throw error
      }
    }

    /// Whether elements in a place hold values of its own record: whoever reads elements of any name
    /// there would take them for targets.
    private func hasElementValues(_ place: Int) -> Bool {
      places[place].children.contains { places[$0].role != .attribute && hasValue($0) }
    }

    private func hasValue(_ place: Int) -> Bool {
      guard places[place].link.local < 0 else { return false }
      return places[place].slot >= 0 || places[place].children.contains { hasValue($0) }
    }

    /// The places from a record down to a value; they are made where they are missing.
    private mutating func insert(
      _ steps: [ForeignPath.Step],
      at base: Int
    ) throws(Obstacle) -> (place: Int, isTextOnly: Bool) {
      var place = base
      var isTextOnly = false
      for step in steps {
        // What stands below a link belongs to its target.
        guard place == base || places[place].link.local < 0 else { throw .shape }
        switch step {
        case .member(let name, let namespace):
          place = try child(of: place, Name(local: name, namespace: namespace ?? ""), nil)
        case .attribute(let name, let namespace):
          place = try child(of: place, Name(local: name, namespace: namespace ?? ""), .attribute)
        case .index(let index): place = try element(of: place, index)
        case .text: isTextOnly = true
        case .all, .anyMember, .having: throw .shape
        }
      }
      guard place == base || places[place].link.local < 0 else { throw .shape }
      return (place, isTextOnly)
    }

    private mutating func child(
      of place: Int,
      _ name: Name,
      _ role: Role?
    ) throws(Obstacle) -> Int {
      switch places[place].role {
      case nil: places[place].role = .object
      case .object: break
      case .value where isXML: places[place].role = .object
      default: throw .shape
      }
      let known = places[place].children.first {
        places[$0].name == name && (places[$0].role == .attribute) == (role == .attribute)
      }
      if let known { return known }
      places.append(Place(role: role, name: name))
      places[place].children.append(places.count - 1)
      return places.count - 1
    }

    private mutating func element(of place: Int, _ index: Int) throws(Obstacle) -> Int {
      // Every place before the index is written as null.
      guard 0...Self.maximumHoleCount ~= index else { throw .shape }
      switch places[place].role {
      case nil: places[place].role = .array
      case .array: break
      default: throw .shape
      }
      if let known = places[place].children.first(where: { places[$0].index == index }) {
        return known
      }
      places.append(Place(role: nil, name: Name(local: ""), index: index))
      places[place].children.append(places.count - 1)
      return places.count - 1
    }

    /// The longest array whose holes are written.
    static var maximumHoleCount: Int { 10_000 }

    /// The tree of all values added.
    func build() -> ExportTree {
      var tree = ExportTree()
      tree.add(0, of: self)
      return tree
    }

    fileprivate func node(_ place: Int, name: Int32) -> (node: Node, children: [Int]) {
      let place = places[place]
      var children = place.children
      if place.role == .array { children.sort { places[$0].index < places[$1].index } }
      // Attributes stand in the start tag.
      if isXML {
        children =
          children.filter { places[$0].role == .attribute }
          + children.filter { places[$0].role != .attribute }
      }
      let node = Node(
        role: place.role ?? .object,
        slot: Int32(place.slot),
        link: Int32(place.link.local),
        linkPlan: Int32(place.link.plan),
        name: name,
        isNamed: place.isNamed,
        nameSlot: Int32(place.nameSlot),
        isTextOnly: place.isTextOnly
      )
      return (node, children)
    }

    fileprivate func name(_ place: Int) -> Name { places[place].name }
    fileprivate func beside(_ place: Int) -> Int { places[place].beside }
    fileprivate func index(_ place: Int) -> Int { places[place].index }
  }

  /// Adds a place with all below it and returns its number.
  @discardableResult
  private mutating func add(_ place: Int, of builder: Builder) -> Int32 {
    let (node, children) = builder.node(place, name: number(of: builder.name(place)))
    let index = nodes.count
    nodes.append(node)
    var numbers: [Int32] = []
    for child in children {
      while node.role == .array, numbers.count < builder.index(child) {
        nodes.append(Node(role: .hole, name: number(of: Name(local: ""))))
        numbers.append(Int32(nodes.count - 1))
      }
      numbers.append(add(child, of: builder))
    }
    nodes[index].start = Int32(order.count)
    order += numbers
    nodes[index].end = Int32(order.count)
    let beside = builder.beside(place)
    if beside >= 0 { nodes[index].beside = add(beside, of: builder) }
    return Int32(index)
  }

  private mutating func number(of name: Name) -> Int32 {
    if let known = names.firstIndex(of: name) { return Int32(known) }
    names.append(name)
    return Int32(names.count - 1)
  }
}
