import DragomanGraph

/// One relationship that the map feeds, compiled for one format.
///
/// A class, since it is passed on for every link: a copy would retain each of its parts.
final class LinkPlan: Sendable {
  /// Where the targets come from.
  enum Origin: Sendable {
    /// Nested records, mapped by another plan: an index of `ImportPlan.entities`.
    case nested(plan: Int, Finding)
    /// The parts of the target's unique key, in the order in which the target declares them.
    case key([KeyPart])
  }

  /// Where values stand in a record.
  struct Finding: Sendable {
    /// The walker's slot.
    let slot: Int
    /// The paths, in the order in which they are tried.
    let paths: [EntityPlan.Candidate]
    /// Whether some of the paths are not in the tree.
    let hasOwnPaths: Bool
    /// For each path, whether the members of what is found are meant, not its elements:
    /// `currencies.*`.
    let walksMembers: [Bool]
    /// What the elements stand in, a path each: where it is there and they are not, the list is empty and
    /// not missing.
    let wrappers: [Wrapper]
    /// Whether a path is the record itself: members of the owner make the target.
    let isRecord: Bool
    /// Whether the map says no path: a record that has no members has no target there either.
    var isImplied = false
  }

  /// The element around repeated elements.
  struct Wrapper: Sendable {
    let path: ForeignPath
    /// The walker's slot; nil where the walk over a record cannot follow the path.
    let slot: Int?
  }

  /// One attribute of the target's key.
  final class KeyPart: Sendable {
    /// Where its value comes from.
    enum Source: Sendable {
      case found(Finding, split: Split?)
      /// A slot of the owner.
      case own(Int)
      /// The map's own value.
      case constant(StoredValue)
    }

    /// How a text is cut into several keys.
    enum Split: Sendable {
      case whitespace
      case character([UInt8])
    }

    /// The name of the part: an attribute of the target, or a to-one of it.
    let name: String
    /// The slot that the value is converted and described by: the attribute's, or that of the key of
    /// the to-one's target.
    let slot: EntityPlan.Slot
    let source: Source

    init(name: String, slot: EntityPlan.Slot, source: Source) {
      self.name = name
      self.slot = slot
      self.source = source
    }
  }

  /// The relationship, and where the store keeps its links.
  let layout: RelationshipLayout
  let origin: Origin
  /// The key that references have, from `key` and from nested records that hold the identity only; nil: there can be none.
  let reference: KeyReference?
  /// Whether the links are a column of the targets.
  let isInTargets: Bool
  /// The paths of a to-many's keys, where each part has one; nil: which of them count differs from
  /// record to record.
  let keyTree: KeyTree?
  /// Whether what stands in the place of the targets or of their keys is masked in messages.
  let isSensitive: Bool
  let policies: ResolvedPolicies
  /// Whether the record's targets are all that remain.
  let replaces: Bool
  /// Whether objects are deleted that are unlinked.
  let deletesUnlinked: Bool
  let onUnresolved: UnresolvedPolicy
  /// Whether a tombstone of the map, in whatever format, may end that a stub is waited for.
  let endsWithTombstones: Bool
  let position: MapPosition?

  init(
    _ map: RelationshipMap,
    policies: [ValuePolicies],
    in file: ImportMap,
    _ format: ForeignFormat,
    layout: RelationshipLayout,
    origin: Origin,
    in model: ModelLayout
  ) {
    self.layout = layout
    self.origin = origin
    reference = Self.reference(origin, to: model.entities[layout.destination], in: model)
    if case .inverseColumn = layout.storage { isInTargets = true } else { isInTargets = false }
    keyTree = Self.keyTree(origin, format)
    switch origin {
    case .nested: isSensitive = file.hasSensitive(map.entity)
    case .key(let parts): isSensitive = parts.contains { $0.slot.attribute.isSensitive }
    }
    self.policies = ResolvedPolicies(policies)
    replaces = map.assign != .union
    deletesUnlinked = map.onUnlink == .delete
    onUnresolved = map.onUnresolved ?? file.defaults.onUnresolved ?? .clear
    let root = model.entities[layout.destination].root
    endsWithTombstones =
      onUnresolved == .stub
      && file.entities.contains {
        $0.deleteWhen != nil && model.entity(named: $0.name)?.root == root
      }
    position = map.position
  }

  private static func reference(
    _ origin: Origin,
    to target: EntityLayout,
    in model: ModelLayout
  ) -> KeyReference? {
    switch origin {
    case .key(let parts):
      let names = parts.map { Array($0.name.utf8) }
      let key = target.uniqueKeys.first { $0.map { Array($0.name.utf8) } == names }
      return key.flatMap { KeyReference($0, of: target, in: model) }
    case .nested:
      let identity = target.uniqueKeys.first.flatMap { KeyReference($0, of: target, in: model) }
      return identity?.isPlain == true ? identity : nil
    }
  }

  private static func keyTree(_ origin: Origin, _ format: ForeignFormat) -> KeyTree? {
    guard case .key(let parts) = origin else { return nil }
    var tree = KeyTree()
    for (index, part) in parts.enumerated() {
      guard case .found(let finding, _) = part.source else { continue }
      guard finding.paths.count == 1 else { return nil }
      let leaf = KeyTree.Leaf(part: index, walksMembers: finding.walksMembers[0])
      tree.add(finding.paths[0].path, leaf, format)
    }
    return tree
  }

  /// The relationship's name.
  var name: String { layout.name }
  /// Whether it leads to one object at most.
  var isToOne: Bool { layout.isToOne }
  /// Where its values stand.
  var findings: [Finding] {
    switch origin {
    case .nested(_, let finding): [finding]
    case .key(let parts):
      parts.compactMap { if case .found(let finding, _) = $0.source { finding } else { nil } }
    }
  }
  /// The slots of the owner that its keys are made of.
  var ownSlots: [Int] {
    guard case .key(let parts) = origin else { return [] }
    return parts.compactMap { if case .own(let slot) = $0.source { slot } else { nil } }
  }
  /// Whether it names targets by another key than their first one.
  func namesByOtherKey(in model: ModelLayout) -> Bool {
    guard case .key(let parts) = origin else { return false }
    let identity = model.entities[layout.destination].uniqueKeys.first
    return parts.map { Array($0.name.utf8) } != identity?.map { Array($0.name.utf8) }
  }
  /// Where its values stand first, for messages.
  var pathText: String? {
    switch origin {
    case .nested(_, let finding): finding.paths.first?.path.text
    case .key(let parts):
      parts.lazy.compactMap { part -> String? in
        if case .found(let finding, _) = part.source { finding.paths.first?.path.text } else { nil }
      }.first
    }
  }
}
