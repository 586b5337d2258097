import CSimdJSON
import DragomanGraph

/// What a record says of its relationships: nested records, and keys.
extension RecordMapper {
  /// Records may be nested so deep; JSON is cut off earlier.
  static let maximumDepth = 1000

  /// Appends links of an object, and the objects nested in it.
  ///
  /// - Parameters:
  ///   - slots: Which links: indexes of `EntityPlan.links`.
  ///   - record: The record.
  ///   - object: Its object.
  ///   - depth: How deep it is nested.
  ///   - drafts: Where the links go.
  /// - Returns: Why the record is refused; nil where it is not.
  func mapLinks(
    _ slots: some Sequence<Int>,
    of record: RecordBatch.Record,
    object: Int,
    depth: Int,
    into drafts: DraftBatch
  ) -> ImportIssue? {
    // A nested record of the same entity uses this walker again.
    let base = set.found.count
    set.found.append(contentsOf: walker.found)
    defer { set.found.removeLast(set.found.count - base) }
    var links: [DraftBatch.Link] = []
    links.reserveCapacity(plan.links.count)
    for slot in slots {
      let start = set.targets.count
      defer { set.targets.removeLast(set.targets.count - start) }
      let step = LinkStep(record: record, object: object, base: base, depth: depth, drafts: drafts)
      let link = plan.links[slot]
      switch mapLink(link, step) {
      case .given:
        let first = drafts.targets.count
        drafts.targets.append(contentsOf: set.targets[start...])
        links.append(DraftBatch.Link(slot: slot, targets: first..<drafts.targets.count))
      case .kept: break
      case .refused(let issue): return issue
      }
    }
    drafts.objects[object].links = drafts.links.count..<drafts.links.count + links.count
    drafts.links.append(contentsOf: links)
    drafts.objects[object].end = drafts.objects.count
    return nil
  }

  /// Where in which record a link is being mapped.
  struct LinkStep {
    let record: RecordBatch.Record
    let object: Int
    let base: Int
    let depth: Int
    let drafts: DraftBatch

    var batch: RecordBatch { drafts.records }
  }

  enum LinkOutcome {
    /// The targets are at the end of `set.targets`.
    case given
    /// What is stored stays.
    case kept
    case refused(ImportIssue)
  }

  /// What stands where a finding leads.
  enum Nodes {
    case missing
    case null(UInt32)
    case invalid(ValueConverter.Fault, UInt32)
    case list([UInt32])
  }

  private func mapLink(_ link: LinkPlan, _ step: LinkStep) -> LinkOutcome {
    switch link.origin {
    case .nested(let plan, let finding):
      let nodes = nodes(of: finding, link, takesSingle: step.batch.isXML, step)
      guard case .list(let list) = nodes else { return outcome(of: nodes, link, step) }
      let start = set.targets.count
      for (place, node) in list.enumerated() {
        guard let outcome = mapNested(node, plan, link, finding, place: place, step) else {
          continue
        }
        set.targets.removeLast(set.targets.count - start)
        return outcome
      }
      return .given
    case .key(let parts):
      return mapKeys(parts, link, step)
    }
  }

  // MARK: - Finding values

  /// The nodes that a finding leads to: one at most for a to-one.
  ///
  /// With `takesSingle`, a to-many may be given by one value that is no list.
  func nodes(
    of finding: LinkPlan.Finding,
    _ link: LinkPlan,
    takesSingle: Bool,
    _ step: LinkStep
  ) -> Nodes {
    let batch = step.batch
    let found = set.found[step.base + finding.slot]
    if finding.hasOwnPaths,
      let own = ownNodes(of: finding, before: found.candidate, link, takesSingle, step)
    {
      return own
    }
    switch found.state {
    case .missing: return emptyList(finding, step)
    case .blocked: return finding.isImplied ? .missing : .invalid(.blocked, found.node)
    case .repeated:
      guard !link.isToOne, batch.isXML else { return .invalid(.repeated, found.node) }
      let path = finding.paths[Int(found.candidate)].path
      let walksMembers = finding.walksMembers[Int(found.candidate)]
      return targets(in: follow(path, step.record, batch).nodes, walksMembers, batch)
    case .value:
      let walksMembers = finding.walksMembers[Int(found.candidate)]
      return targets(in: found.node, link, walksMembers, takesSingle, batch)
    }
  }

  /// What a record says that has none of the elements: where what they would stand in is there, their
  /// list is empty.
  func emptyList(_ finding: LinkPlan.Finding, _ step: LinkStep) -> Nodes {
    for wrapper in finding.wrappers {
      var nodes: [UInt32] = []
      if let slot = wrapper.slot {
        let around = set.found[step.base + slot]
        guard around.state == .value || around.state == .repeated else { continue }
        nodes = [around.node]
        if around.state == .repeated { return .list([]) }
      } else {
        nodes = follow(wrapper.path, step.record, step.batch).nodes
      }
      guard let node = nodes.first else { continue }
      let isNull = nodes.count == 1 && Int(step.batch.nodes[Int(node)].kind) == TAPE_NULL
      return isNull ? .null(node) : .list([])
    }
    return .missing
  }

  /// The first path of a finding that leads anywhere, by its place; nil: none does.
  func candidate(of finding: LinkPlan.Finding, _ step: LinkStep) -> Int? {
    let found = set.found[step.base + finding.slot]
    return finding.paths.indices.first { number in
      finding.paths[number].isInTree
        ? found.state != .missing && number == Int(found.candidate)
        : follow(finding.paths[number].path, step.record, step.batch).isAnything
    }
  }

  /// The node that a path begins at; nil where there is none.
  func root(of path: ForeignPath, _ step: LinkStep) -> UInt32? {
    switch path.root {
    case .record: step.record.node
    case .document: step.batch.document
    case .parent: step.record.parent
    // These have no steps: they are values.
    case .index, .line, .file, .fileName, .fileStem, .key:
      follow(path, step.record, step.batch).nodes.first
    }
  }

  /// The nodes of the targets that one value gives.
  private func targets(
    in node: UInt32,
    _ link: LinkPlan,
    _ walksMembers: Bool,
    _ takesSingle: Bool,
    _ batch: RecordBatch
  ) -> Nodes {
    let kind = Int(batch.nodes[Int(node)].kind)
    if kind == TAPE_NULL { return .null(node) }
    if link.isToOne { return kind == TAPE_ARRAY ? .invalid(.type, node) : .list([node]) }
    if walksMembers {
      guard kind == TAPE_OBJECT || kind == TAPE_ELEMENT || batch.isEmptyArray(node) else {
        return .invalid(.type, node)
      }
      return .list(batch.children(of: node))
    }
    if kind == TAPE_ARRAY { return .list(batch.children(of: node)) }
    return takesSingle ? .list([node]) : .invalid(.type, node)
  }

  /// The nodes of the targets that several values give together.
  private func targets(
    in nodes: [UInt32],
    _ walksMembers: Bool,
    _ batch: RecordBatch
  ) -> Nodes {
    var found: [UInt32] = []
    for node in nodes {
      switch Int(batch.nodes[Int(node)].kind) {
      case TAPE_OBJECT where walksMembers, TAPE_ELEMENT where walksMembers:
        found += batch.children(of: node)
      case _ where walksMembers && batch.isEmptyArray(node): break
      case _ where walksMembers: return .invalid(.type, node)
      case TAPE_ARRAY: found += batch.children(of: node)
      default: found.append(node)
      }
    }
    return .list(found)
  }

  /// Follows the paths that the walk cannot follow; nil: nothing is there.
  private func ownNodes(
    of finding: LinkPlan.Finding,
    before candidate: UInt16,
    _ link: LinkPlan,
    _ takesSingle: Bool,
    _ step: LinkStep
  ) -> Nodes? {
    for (number, own) in finding.paths.enumerated() where !own.isInTree {
      guard number < Int(candidate) else { return nil }
      let trail = follow(own.path, step.record, step.batch)
      if trail.isAnything { use.noteOwn(finding.slot) }
      if let repeated = trail.repeated { return .invalid(.repeated, repeated) }
      if let blocked = trail.blocked { return .invalid(.blocked, blocked) }
      if let null = trail.null { return .null(null) }
      let nodes = trail.nodes
      let walksMembers = finding.walksMembers[number]
      if let first = nodes.first {
        let isOne = link.isToOne || (trail.list == nil && !step.batch.isXML)
        if isOne, nodes.count > 1 { return .invalid(.repeated, first) }
        // Without a wildcard on the way one value stands for all targets, as in the tree.
        if nodes.count == 1, link.isToOne || trail.list == nil {
          return targets(in: first, link, walksMembers, takesSingle, step.batch)
        }
      } else if link.isToOne {
        continue
      }
      // The list is there and empty, where what stands before the wildcard is there.
      if !nodes.isEmpty || trail.list != nil {
        return targets(in: nodes, walksMembers, step.batch)
      }
    }
    return nil
  }

  // MARK: - Nested records

  /// Maps one nested record, and appends its target.
  ///
  /// - Returns: What becomes of the whole link instead; nil where the record is a target, or none.
  private func mapNested(
    _ node: UInt32,
    _ index: Int,
    _ link: LinkPlan,
    _ finding: LinkPlan.Finding,
    place: Int,
    _ step: LinkStep
  ) -> LinkOutcome? {
    let batch = step.batch
    let tape = batch.nodes[Int(node)]
    var nested = step.record
    nested.node = node
    nested.start = tape.origin
    nested.key = tape.key
    nested.keyLength = tape.keyLength
    nested.place = link.isToOne ? nil : place
    nested.parent = step.record.node
    guard step.depth < Self.maximumDepth else {
      let message = "Records are nested deeper than \(Self.maximumDepth) levels."
      return .refused(describe(.recordDepth, nested, nested.start, batch, message))
    }
    let mark = step.drafts.mark
    let object = step.drafts.objects.count
    guard set.mappers[index].takes(node, in: batch) else {
      return outcome(of: .invalid(.type, node), link, step)
    }
    let mapper: RecordMapper
    switch set.mappers[index].walk(nested, in: batch) {
    case .success(let chosen): mapper = chosen
    case .failure(let refusal):
      return .refused(qualified(refusal.issue, link, finding, place: place))
    }
    let refusal = mapper.mapObject(
      of: nested,
      parent: step.object,
      isTombstone: false,
      depth: step.depth + 1,
      into: step.drafts
    )
    if let refusal {
      // Without a key among the members of the owner that make the target, the record does not have it.
      if finding.isRecord, refusal.isOwn, refusal.issue.code == .keyMissing {
        step.drafts.restore(mark)
        return outcome(of: mapper.hasNullKey(in: batch) ? .null(node) : .missing, link, step)
      }
      return .refused(qualified(refusal.issue, link, finding, place: place))
    }
    set.targets.append(mapper.reference(of: object, from: mark, in: step.drafts) ?? .object(object))
    return nil
  }

  /// A nested object that gives its key only and could not be made is a reference.
  private func reference(
    of object: Int,
    from mark: DraftBatch.Mark,
    in drafts: DraftBatch
  ) -> DraftBatch.Target? {
    guard !bareKey.isEmpty else { return nil }
    let draft = drafts.objects[object]
    guard draft.links.isEmpty else { return nil }
    for slot in plan.slots.indices where !plan.slots[slot].isKey {
      if drafts.values[draft.start + slot].kind != .absent { return nil }
    }
    let key = bareKey.map { drafts.values[draft.start + $0] }
    guard !key.contains(where: { $0.kind == .null }) else { return nil }
    drafts.restore(mark)
    let start = drafts.values.count
    drafts.values.append(contentsOf: key)
    return .key(start: start, node: draft.node)
  }

  /// Whether a part of the key of the record that was walked last is null.
  private func hasNullKey(in batch: RecordBatch) -> Bool {
    plan.slots.indices.contains { slot in
      plan.slots[slot].isKey && walker.found[slot].state == .value
        && Int(batch.nodes[Int(walker.found[slot].node)].kind) == TAPE_NULL
    }
  }

  /// Whether a nested value can be a record.
  private func takes(_ node: UInt32, in batch: RecordBatch) -> Bool {
    switch Int(batch.nodes[Int(node)].kind) {
    case TAPE_OBJECT, TAPE_ELEMENT: true
    case TAPE_ARRAY, TAPE_NULL: false
    default: plan.takesWhole
    }
  }

  /// The issue of a nested record with the way to it.
  private func qualified(
    _ issue: ImportIssue,
    _ link: LinkPlan,
    _ finding: LinkPlan.Finding,
    place: Int
  ) -> ImportIssue {
    var issue = issue
    let path = finding.paths.first?.path.text ?? link.name
    if path != "." {
      let own = link.isToOne ? path : "\(path)[\(place)]"
      issue.path = issue.path.map { $0 == "." ? own : "\(own).\($0)" } ?? own
    }
    return issue
  }
}
