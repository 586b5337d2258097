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

/// Compiles the relationships of one entity.
struct LinkCompiler {
  let file: ImportMap
  let format: ForeignFormat
  let layout: ModelLayout
  /// The plan of an entity, by its name; made where it is not there yet.
  let planOf: (String) -> Int?

  /// Compiles a relationship.
  ///
  /// - Parameters:
  ///   - map: The relationship.
  ///   - link: Its layout.
  ///   - entity: The map of the entity that declares it.
  ///   - levels: The policies of entities that hold for it, the innermost first.
  ///   - slots: The slots of the owner.
  ///   - builder: Where its paths go.
  ///   - next: The walker's next free slot; advanced.
  /// - Returns: The plan; nil where the format has no path for it.
  /// - Throws: `FormatFault` for a format of a key that cannot be used.
  func compile(
    _ map: RelationshipMap,
    _ link: RelationshipLayout,
    of entity: EntityMap,
    policies levels: [ValuePolicies],
    slots: [EntityPlan.Slot],
    builder: inout PathTree.Builder,
    next: inout Int
  ) throws(FormatFault) -> LinkPlan? {
    guard file.readsFeed(map, of: entity) else { return nil }
    let policies = [map.policies] + levels + [file.defaults.policies]
    let origin: LinkPlan.Origin
    if let key = map.key {
      guard
        let parts = try keyParts(key, map, link, slots, builder: &builder, next: &next)
      else { return nil }
      origin = .key(parts)
    } else {
      let paths = map.from?.paths(in: format) ?? [ForeignPath(own: map.name)]
      guard !paths.isEmpty, let plan = planOf(map.entity) else { return nil }
      var finding = finding(paths, isToOne: link.isToOne, &builder, &next)
      finding.isImplied = map.from == nil
      origin = .nested(plan: plan, finding)
    }
    return LinkPlan(
      map,
      policies: policies,
      in: file,
      format,
      layout: link,
      origin: origin,
      in: layout
    )
  }

  /// Puts paths into the tree.
  ///
  /// A wildcard at the end of a path says what a to-many does anyway: it is left out, so that the
  /// walk over the record follows the rest.
  private func finding(
    _ paths: [ForeignPath],
    isToOne: Bool,
    _ builder: inout PathTree.Builder,
    _ next: inout Int
  ) -> LinkPlan.Finding {
    let slot = next
    next += 1
    var candidates: [EntityPlan.Candidate] = []
    var walksMembers: [Bool] = []
    for path in paths {
      var path = path
      let isAll =
        !isToOne && (path.steps.last == .all || path.steps.last == .anyMember)
        && path.steps.dropLast().last != .anyMember
      let last = isAll ? path.steps.removeLast() : nil
      candidates += EntityPlan.add(path, to: &builder, slot: slot, from: candidates.count, format)
      while walksMembers.count < candidates.count { walksMembers.append(last == .anyMember) }
    }
    var wrappers: [LinkPlan.Wrapper] = []
    for path in paths where format == .xml && !isToOne {
      guard let around = path.aroundElements else { continue }
      guard EntityPlan.add(around, to: &builder, slot: next, from: 0, format)[0].isInTree else {
        wrappers.append(LinkPlan.Wrapper(path: around, slot: nil))
        continue
      }
      wrappers.append(LinkPlan.Wrapper(path: around, slot: next))
      next += 1
    }
    return LinkPlan.Finding(
      slot: slot,
      paths: candidates,
      hasOwnPaths: candidates.contains { !$0.isInTree },
      walksMembers: walksMembers,
      wrappers: wrappers,
      isRecord: paths.contains { $0.root == .record && $0.steps.isEmpty }
    )
  }

  private func keyParts(
    _ key: [String: RelationshipMap.KeyPart],
    _ map: RelationshipMap,
    _ link: RelationshipLayout,
    _ slots: [EntityPlan.Slot],
    builder: inout PathTree.Builder,
    next: inout Int
  ) throws(FormatFault) -> [LinkPlan.KeyPart]? {
    let target = layout.entities[link.destination]
    guard
      let names = target.uniqueKeys.first(where: { parts in
        parts.count == key.count && parts.allSatisfy { key[$0.name] != nil }
      })
    else { return nil }
    var parts: [LinkPlan.KeyPart] = []
    for part in names {
      guard let source = key[part.name],
        let attribute = KeyColumn(part, of: target, in: layout)?.attribute,
        let attributeMap = file.keyAttribute(part.name, of: map.entity)
      else { return nil }
      var finding: LinkPlan.Finding?
      var split: LinkPlan.KeyPart.Split?
      var own: LinkPlan.KeyPart.Source?
      switch source {
      case .path(let paths, let separator):
        let paths = paths.paths(in: format)
        if paths.isEmpty { return nil }
        finding = self.finding(paths, isToOne: link.isToOne, &builder, &next)
        split = separator.map { LinkPlan.KeyPart.Split($0) }
      case .attribute(let attribute):
        own = slots.firstIndex { $0.attribute.name.utf8.elementsEqual(attribute.utf8) }
          .map { .own($0) }
        if own == nil { return nil }
      case .value(let text):
        own = attributeMap.storedValue(ofLiteral: text).map { .constant($0) }
        if own == nil { return nil }
      }
      let described = EntityPlan.Slot(
        attribute: attribute,
        // The pieces of a text are texts, whatever the format.
        converter: try ValueConverter(
          attributeMap,
          defaults: file.defaults,
          format: split == nil ? format : .csv
        ),
        paths: finding?.paths ?? [],
        isKey: false,
        // The relationship's policies decide.
        policies: [map.policies, file.defaults.policies],
        position: map.position
      )
      guard
        let source = finding.map({ LinkPlan.KeyPart.Source.found($0, split: split) }) ?? own
      else { return nil }
      parts.append(LinkPlan.KeyPart(name: part.name, slot: described, source: source))
    }
    return parts
  }
}

extension ForeignPath {
  /// The path of what the repeated elements of an XML path stand in: without the last element and what
  /// is read of it; nil where that is the record itself, or where a wildcard makes the list.
  fileprivate var aroundElements: ForeignPath? {
    guard !hasWildcard else { return nil }
    let last = steps.lastIndex { if case .member = $0 { true } else { false } }
    guard let last, last > 0 else { return nil }
    return ForeignPath(root: root, steps: Array(steps[..<last]), text: text)
  }
}

extension ImportMap {
  /// The attribute whose value a part of an entity's unique key has: its own, or, where the part is a
  /// to-one, that of the only part of the target's key; nil where there is no such attribute.
  func keyAttribute(_ name: String, of entity: String) -> AttributeMap? {
    var (name, entity) = (name, entity)
    // A chain of to-ones that leads back to itself has no end.
    for _ in 0...entities.count {
      guard let map = self.entity(named: entity) else { return nil }
      let lineage = lineage(of: map)
      if let attribute = lineage.flatMap(\.attributes).first(where: {
        $0.name.utf8.elementsEqual(name.utf8)
      }) {
        return attribute
      }
      guard let link = toOne(name, of: map), let target = self.entity(named: link),
        let identity = self.lineage(of: target).lazy.compactMap(\.uniqueKeys.first).first,
        identity.count == 1
      else { return nil }
      (name, entity) = (identity[0], link)
    }
    return nil
  }

  /// The target of an entity's to-one, which the entity declares or only its inverse does.
  private func toOne(_ name: String, of entity: EntityMap) -> String? {
    let lineage = lineage(of: entity)
    if let own = lineage.flatMap(\.relationships).first(where: {
      $0.name.utf8.elementsEqual(name.utf8)
    }) {
      return own.kind == .toOne ? own.entity : nil
    }
    for owner in entities {
      let isInverse = { (link: RelationshipMap) in
        link.inverse.map { $0.utf8.elementsEqual(name.utf8) } ?? false
          && lineage.contains { $0.name.utf8.elementsEqual(link.entity.utf8) }
      }
      if owner.relationships.contains(where: isInverse) { return owner.name }
    }
    return nil
  }
}
