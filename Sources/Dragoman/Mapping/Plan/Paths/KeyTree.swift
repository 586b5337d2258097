/// The paths of a key's parts, merged as far as they go together: what follows a common list belongs to
/// one element of it.
struct KeyTree: Sendable {
  /// What stands at one place on the way: parts that end there, and the ways on.
  struct Level: Sendable {
    var leaves: [Leaf] = []
    var branches: [Branch] = []

    /// Whether every part leads into a list from here, which may be empty.
    var leadsIntoLists: Bool {
      leaves.isEmpty && branches.allSatisfy { $0.isMany || $0.level.leadsIntoLists }
    }
  }

  /// A part whose path ends.
  struct Leaf: Sendable {
    /// The part's place in the key.
    let part: Int
    /// Whether the members of what is there are meant: `currencies.*`.
    let walksMembers: Bool
  }

  /// A step that parts have in common.
  struct Branch: Sendable {
    let step: ForeignPath.Step
    /// The filters behind it: what they leave out is not in the list.
    let tests: [ForeignPath.AttributeTest]
    let isPointer: Bool
    /// Whether it leads to any number of values; in XML every element may be repeated.
    let isMany: Bool
    /// The places of the parts in the key.
    var parts: [Int]
    var level = Level()

    /// Whether its elements are the values themselves.
    var isPlain: Bool {
      level.branches.allSatisfy { $0.step == .text && $0.level.branches.isEmpty }
    }
  }

  /// The ways from each root; where others than records begin, there are no ways on.
  private(set) var roots: [(root: ForeignPath.Root, path: ForeignPath, level: Level)] = []

  /// Adds the path of a part.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - leaf: The part.
  ///   - format: The format that is read.
  mutating func add(_ path: ForeignPath, _ leaf: Leaf, _ format: ForeignFormat) {
    var index = roots.firstIndex { $0.root == path.root }
    if index == nil {
      roots.append((path.root, path, Level()))
      index = roots.count - 1
    }
    guard let index else { return }
    Self.add(path.steps[...], path.isPointer, leaf, format == .xml, to: &roots[index].level)
  }

  private static func add(
    _ steps: ArraySlice<ForeignPath.Step>,
    _ isPointer: Bool,
    _ leaf: Leaf,
    _ isXML: Bool,
    to level: inout Level
  ) {
    guard let step = steps.first else {
      level.leaves.append(leaf)
      return
    }
    var rest = steps.dropFirst()
    var tests: [ForeignPath.AttributeTest] = []
    while case .having(let test)? = rest.first {
      tests.append(test)
      rest = rest.dropFirst()
    }
    let known = level.branches.firstIndex {
      $0.step == step && $0.tests == tests && $0.isPointer == isPointer
    }
    if let known {
      level.branches[known].parts.append(leaf.part)
      return add(rest, isPointer, leaf, isXML, to: &level.branches[known].level)
    }
    let isElement = if case .member = step { isXML } else { false }
    var branch = Branch(
      step: step,
      tests: tests,
      isPointer: isPointer,
      isMany: isElement || step == .all || step == .anyMember,
      parts: [leaf.part]
    )
    add(rest, isPointer, leaf, isXML, to: &branch.level)
    level.branches.append(branch)
  }
}
