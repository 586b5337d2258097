import DragomanGraph

/// Compiles the relationships of one entity.
struct LinkCompiler {
  let file: ImportMap
  let format: ForeignFormat
  let layout: ModelLayout
  /// What names without a path of their own mean.
  let spelling: NameSpelling
  /// The plan of an entity, by its name; made where it is not there yet.
  let planOf: (String) -> Int?

  /// Compiles the relationships of an entity and of those that it inherits from, theirs first: those for which the
  /// format has a path.
  ///
  /// - Parameters:
  ///   - lineage: The entity's map, and those of its ancestors.
  ///   - entity: The entity in the layout of the store's model.
  ///   - slots: The slots of the owner.
  ///   - builder: Where their paths go.
  ///   - next: The walker's next free slot; advanced.
  /// - Returns: The plans.
  /// - Throws: `FormatFault` for a format of a key that cannot be used.
  func compile(
    _ lineage: [EntityMap],
    of entity: EntityLayout,
    slots: [EntityPlan.Slot],
    builder: inout PathTree.Builder,
    next: inout Int
  ) throws(FormatFault) -> [LinkPlan] {
    var links: [LinkPlan] = []
    for (depth, owner) in lineage.enumerated().reversed() {
      let levels = lineage[...depth].map(\.policies)
      for map in owner.relationships {
        guard let place = entity.linkSlot(named: map.name) else { continue }
        let link = entity.relationships[place]
        if let plan = try compile(map, link, of: owner, levels, slots, &builder, &next) {
          links.append(plan)
        }
      }
    }
    return links
  }

  private func compile(
    _ map: RelationshipMap,
    _ link: RelationshipLayout,
    of entity: EntityMap,
    _ levels: [ValuePolicies],
    _ slots: [EntityPlan.Slot],
    _ builder: inout PathTree.Builder,
    _ next: inout Int
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
      let paths = map.from?.paths(in: format) ?? [spelling.path(ofElement: map.name)]
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
