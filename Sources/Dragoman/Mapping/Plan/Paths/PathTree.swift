/// All paths of one entity in one format, merged into a tree: a record is walked once, and every
/// member costs one comparison where records list their members in a steady order.
///
/// `Builder` collects the paths; the tree itself is flat arrays of plain values, because it is read
/// for every member of every record.
struct PathTree: Sendable {
  /// What a path that ends at a node is for.
  struct Target: Sendable {
    /// The attribute's slot.
    let slot: Int
    /// Which of the attribute's paths this is: the first one present wins.
    let candidate: UInt16
    /// `text()`: an element without text counts as missing.
    var isTextOnly: Bool
    /// Whether the path is a JSON Pointer: a decimal token of it leads two ways.
    let isPointer: Bool
  }

  /// One step further down: a member, an attribute or a child element.
  struct Child: Sendable {
    let keyStart: Int
    let keyCount: Int
    let isAttribute: Bool
    /// Index into `namespaces`.
    let namespace: Int
    let node: Int
    /// Whether the name is a decimal token of a pointer, which has an element beside it.
    let isPointer: Bool
  }

  /// One step into an array.
  struct Element: Sendable {
    let index: Int
    let node: Int
    /// Whether the index is a decimal token of a pointer, which has a member beside it.
    let isPointer: Bool
  }

  /// A place in a record: ranges of the flat arrays.
  struct Node: Sendable {
    let targets: Range<Int>
    let children: Range<Int>
    let elements: Range<Int>
    /// Children by the hash of their key: open addressing, a power of two in size.
    let table: Range<Int>

    var isInner: Bool { !children.isEmpty || !elements.isEmpty }
  }

  /// The nodes; the first one is the record itself.
  private(set) var nodes: [Node] = []
  private(set) var targets: [Target] = []
  private(set) var children: [Child] = []
  private(set) var elements: [Element] = []
  /// Indexes into `children`; -1 is free.
  private(set) var table: [Int32] = []
  private(set) var keys: [UInt8] = []
  /// The namespace URIs that paths name; the first is "no namespace".
  private(set) var namespaces: [String] = []

  /// FNV-1a over the key's first bytes and its length: keys only have to be spread, not hidden.
  @inline(__always)
  static func hash(_ key: UnsafeRawBufferPointer) -> Int {
    var hash: UInt32 = 2_166_136_261 ^ UInt32(truncatingIfNeeded: key.count)
    for index in 0..<min(key.count, 24) { hash = (hash ^ UInt32(key[index])) &* 16_777_619 }
    return Int(hash ^ hash >> 15)
  }

  /// Collects paths and makes the tree.
  struct Builder {
    private struct Place {
      var targets: [Target] = []
      var children: [Step] = []
      var elements: [Element] = []
    }

    private struct Step {
      let key: [UInt8]
      let isAttribute: Bool
      let namespace: Int
      let node: Int
      var isPointer = false
    }

    /// A pointer with more decimal tokens is followed by itself: each of them doubles its ways.
    private static let maximumTokenCount = 3

    private var places = [Place()]
    private var namespaces = [""]

    /// Whether the walk over a record can follow a path: it starts at the record, and is made of
    /// members, attributes, indexes and a final `text()`, without filters.
    static func takes(_ path: ForeignPath) -> Bool {
      let tokens = path.steps.count { if case .index = $0 { true } else { false } }
      let isManyWays = path.isPointer && tokens > maximumTokenCount
      return path.root == .record && !path.hasWildcard && !path.hasFilter && !isManyWays
    }

    /// Adds a path.
    ///
    /// - Returns: false, and nothing is added, where the walk cannot follow it.
    mutating func add(_ path: ForeignPath, slot: Int, candidate: Int) -> Bool {
      guard Self.takes(path) else { return false }
      let target = Target(
        slot: slot,
        candidate: UInt16(clamping: candidate),
        isTextOnly: false,
        isPointer: path.isPointer
      )
      add(path.steps[...], from: 0, target)
      return true
    }

    /// Makes a member of the record known that no path in the tree leads to.
    mutating func addKnown(_ step: ForeignPath.Step) {
      switch step {
      case .member(let name, let namespace):
        _ = child(of: 0, name, namespace ?? "", isAttribute: false)
      case .attribute(let name, let namespace):
        _ = child(of: 0, name, namespace ?? "", isAttribute: true)
      default: break
      }
    }

    private mutating func add(
      _ steps: ArraySlice<ForeignPath.Step>,
      from node: Int,
      _ target: Target
    ) {
      guard let step = steps.first else {
        places[node].targets.append(target)
        return
      }
      let rest = steps.dropFirst()
      switch step {
      case .member(let name, let namespace):
        add(rest, from: child(of: node, name, namespace ?? "", isAttribute: false), target)
      case .attribute(let name, let namespace):
        add(rest, from: child(of: node, name, namespace ?? "", isAttribute: true), target)
      case .index(let index):
        add(rest, from: element(of: node, index, isPointer: target.isPointer), target)
        if target.isPointer {
          let name = String(index)
          let member = child(of: node, name, "", isAttribute: false, isPointer: true)
          add(rest, from: member, target)
        }
      case .text:
        var target = target
        target.isTextOnly = true
        add(rest, from: node, target)
      case .all, .anyMember, .having: break
      }
    }

    private mutating func child(
      of node: Int,
      _ name: String,
      _ namespace: String,
      isAttribute: Bool,
      isPointer: Bool = false
    ) -> Int {
      let key = Array(name.utf8)
      let space = number(of: namespace)
      let known = places[node].children.firstIndex {
        $0.key == key && $0.namespace == space && $0.isAttribute == isAttribute
      }
      if let known {
        if isPointer { places[node].children[known].isPointer = true }
        return places[node].children[known].node
      }
      places.append(Place())
      places[node].children.append(
        Step(
          key: key,
          isAttribute: isAttribute,
          namespace: space,
          node: places.count - 1,
          isPointer: isPointer
        )
      )
      return places.count - 1
    }

    private mutating func element(of node: Int, _ index: Int, isPointer: Bool) -> Int {
      let known = places[node].elements.first { $0.index == index && $0.isPointer == isPointer }
      if let known { return known.node }
      places.append(Place())
      places[node].elements.append(
        Element(index: index, node: places.count - 1, isPointer: isPointer)
      )
      return places.count - 1
    }

    private mutating func number(of namespace: String) -> Int {
      if let known = namespaces.firstIndex(where: { $0.utf8.elementsEqual(namespace.utf8) }) {
        return known
      }
      namespaces.append(namespace)
      return namespaces.count - 1
    }

    /// The tree of all paths added.
    func build() -> PathTree {
      var tree = PathTree()
      tree.namespaces = namespaces
      for place in places {
        let firstTarget = tree.targets.count
        tree.targets += place.targets
        let firstElement = tree.elements.count
        tree.elements += place.elements
        let firstChild = tree.children.count
        for child in place.children {
          tree.children.append(
            Child(
              keyStart: tree.keys.count,
              keyCount: child.key.count,
              isAttribute: child.isAttribute,
              namespace: child.namespace,
              node: child.node,
              isPointer: child.isPointer
            )
          )
          tree.keys += child.key
        }
        let firstEntry = tree.table.count
        tree.table += Self.table(place.children.map(\.key), firstChild: firstChild)
        tree.nodes.append(
          Node(
            targets: firstTarget..<tree.targets.count,
            children: firstChild..<tree.children.count,
            elements: firstElement..<tree.elements.count,
            table: firstEntry..<tree.table.count
          )
        )
      }
      return tree
    }

    private static func table(_ keys: [[UInt8]], firstChild: Int) -> [Int32] {
      guard !keys.isEmpty else { return [] }
      var size = 4
      while size < keys.count * 2 { size *= 2 }
      var table = [Int32](repeating: -1, count: size)
      for (number, key) in keys.enumerated() {
        var place = key.withUnsafeBytes { PathTree.hash($0) } & (size - 1)
        while table[place] >= 0 { place = (place + 1) & (size - 1) }
        table[place] = Int32(firstChild + number)
      }
      return table
    }
  }
}
