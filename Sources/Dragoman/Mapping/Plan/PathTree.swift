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
    let candidate: UInt8
    /// `text()`: an element without text counts as missing.
    let isTextOnly: Bool
  }

  /// One step further down: a member, an attribute or a child element.
  struct Child: Sendable {
    let keyStart: Int
    let keyCount: Int
    let isAttribute: Bool
    /// Index into `namespaces`.
    let namespace: Int
    let node: Int
  }

  /// One step into an array.
  struct Element: Sendable {
    let index: Int
    let node: Int
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
      var children: [(key: [UInt8], isAttribute: Bool, namespace: Int, node: Int)] = []
      var elements: [Element] = []
    }

    private var places = [Place()]
    private var namespaces = [""]

    /// Adds a path made of members, attributes, indexes and a final `text()`.
    mutating func add(_ steps: [ForeignPath.Step], slot: Int, candidate: UInt8) {
      var node = 0
      var isTextOnly = false
      for step in steps {
        switch step {
        case .member(let name, let namespace):
          node = child(of: node, name, namespace ?? "", isAttribute: false)
        case .attribute(let name, let namespace):
          node = child(of: node, name, namespace ?? "", isAttribute: true)
        case .index(let index):
          node = element(of: node, index)
        case .text:
          isTextOnly = true
        case .all, .anyMember:
          preconditionFailure("paths with wildcards are not for the tree")
        }
      }
      places[node].targets.append(Target(slot: slot, candidate: candidate, isTextOnly: isTextOnly))
    }

    private mutating func child(
      of node: Int,
      _ name: String,
      _ namespace: String,
      isAttribute: Bool
    ) -> Int {
      let key = Array(name.utf8)
      let space = number(of: namespace)
      let known = places[node].children.first {
        $0.key == key && $0.namespace == space && $0.isAttribute == isAttribute
      }
      if let known { return known.node }
      places.append(Place())
      places[node].children.append((key, isAttribute, space, places.count - 1))
      return places.count - 1
    }

    private mutating func element(of node: Int, _ index: Int) -> Int {
      if let known = places[node].elements.first(where: { $0.index == index }) { return known.node }
      places.append(Place())
      places[node].elements.append(Element(index: index, node: places.count - 1))
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
              node: child.node
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
