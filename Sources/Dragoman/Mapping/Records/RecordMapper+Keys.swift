import CSimdJSON
import DragomanGraph

/// References: records that name their targets by a unique key.
extension RecordMapper {
  /// Appends the references that the parts of a key give.
  func mapKeys(
    _ parts: [LinkPlan.KeyPart],
    _ link: LinkPlan,
    _ step: LinkStep
  ) -> LinkOutcome {
    var fixed: [RowValue?] = []
    for part in parts {
      switch part.source {
      case .own(let slot):
        let value = step.drafts.values[step.drafts.objects[step.object].start + slot]
        if value.kind == .absent { return outcome(of: .missing, link, step) }
        if value.kind == .null { return outcome(of: .null(step.record.node), link, step) }
        fixed.append(value)
      case .constant(let constant):
        fixed.append(ValueConverter.rowValue(of: constant, in: step.batch))
      case .found: fixed.append(nil)
      }
    }
    return link.isToOne
      ? mapKey(parts, fixed, link, step) : mapKeyList(parts, fixed, link, step)
  }

  // MARK: - One key

  /// Appends the one reference of a to-one.
  private func mapKey(
    _ parts: [LinkPlan.KeyPart],
    _ fixed: [RowValue?],
    _ link: LinkPlan,
    _ step: LinkStep
  ) -> LinkOutcome {
    var values: [RowValue] = []
    var place = step.record.node
    var isEmpty = false
    for (part, value) in zip(parts, fixed) {
      if let value {
        values.append(value)
        continue
      }
      guard case .found(let finding, let split) = part.source else { continue }
      let nodes = nodes(of: finding, link, takesSingle: true, step)
      guard case .list(var list) = nodes else { return outcome(of: nodes, link, step) }
      if let split, let text = list.first {
        list = []
        guard step.batch.appendPieces(of: text, split, to: &list) else {
          return outcome(of: .invalid(.tooManyKeys, text), link, step)
        }
      }
      guard list.count <= 1 else { return outcome(of: .invalid(.repeated, list[0]), link, step) }
      guard let node = list.first else {
        isEmpty = true
        continue
      }
      place = node
      switch convert(node, part, step.batch) {
      case .value(let value): values.append(value)
      case .null: return outcome(of: .null(node), link, step)
      case .invalid(let fault): return outcome(of: .invalid(fault, node), link, step, part)
      }
    }
    // A text without keys in it names nobody.
    if isEmpty { return .given }
    set.targets.append(.key(start: step.drafts.values.count, node: place))
    step.drafts.values.append(contentsOf: values)
    return .given
  }

  // MARK: - Lists of keys

  /// Appends the references of a to-many.
  private func mapKeyList(
    _ parts: [LinkPlan.KeyPart],
    _ fixed: [RowValue?],
    _ link: LinkPlan,
    _ step: LinkStep
  ) -> LinkOutcome {
    var columns: [[UInt32]] = []
    var count = 1
    if parts.count == 1, case .found(let finding, nil) = parts[0].source, !finding.hasOwnPaths,
      !step.batch.isXML
    {
      // A list without a way into its elements is found by the walk over the record.
      let nodes = nodes(of: finding, link, takesSingle: true, step)
      guard case .list(let list) = nodes else { return outcome(of: nodes, link, step) }
      columns = [list]
      count = list.count
    } else if fixed.contains(where: { $0 == nil }) {
      var walk = KeyListWalk(parts, in: step.batch)
      let found = walk.walk(parts, link, self, step)
      switch found {
      case .keys(let number, _): count = number
      case .missing: return outcome(of: .missing, link, step)
      case .null(let node): return outcome(of: .null(node), link, step)
      case .invalid(let fault, let node): return outcome(of: .invalid(fault, node), link, step)
      }
      columns = walk.columns
    }
    let start = (values: step.drafts.values.count, targets: set.targets.count)
    for place in 0..<count {
      set.targets.append(.key(start: step.drafts.values.count, node: step.record.node))
      for (index, part) in parts.enumerated() {
        if let value = fixed[index] {
          step.drafts.values.append(value)
          continue
        }
        let node = columns[index][place]
        let failure: LinkOutcome
        switch convert(node, part, step.batch) {
        case .value(let value):
          step.drafts.values.append(value)
          set.targets[set.targets.count - 1].move(to: node)
          continue
        case .null: failure = outcome(of: .invalid(.type, node), link, step)
        case .invalid(let fault): failure = outcome(of: .invalid(fault, node), link, step, part)
        }
        step.drafts.values.removeLast(step.drafts.values.count - start.values)
        set.targets.removeLast(set.targets.count - start.targets)
        return failure
      }
    }
    return .given
  }

  private func convert(
    _ node: UInt32,
    _ part: LinkPlan.KeyPart,
    _ batch: RecordBatch
  ) -> ValueConverter.Conversion {
    switch part.slot.converter.convert(node, in: batch) {
    // An empty text names nobody.
    case .value(let value) where value.kind == .text && value.length == 0: .null
    case let conversion: conversion
    }
  }
}

extension DraftBatch.Target {
  /// Makes a reference say that it stands at another node.
  fileprivate mutating func move(to node: UInt32) {
    if case .key(let start, _) = self { self = .key(start: start, node: node) }
  }
}

extension KeyListWalk {
  /// Walks the record at hand by the paths of a link's key.
  fileprivate mutating func walk(
    _ parts: [LinkPlan.KeyPart],
    _ link: LinkPlan,
    _ mapper: RecordMapper,
    _ step: RecordMapper.LinkStep
  ) -> Outcome {
    var tree = KeyTree()
    if let known = link.keyTree {
      tree = known
    } else {
      // Of several paths the first counts that leads anywhere.
      for (index, part) in parts.enumerated() {
        guard case .found(let finding, _) = part.source else { continue }
        guard let number = mapper.candidate(of: finding, step) else {
          switch mapper.emptyList(finding, step) {
          case .list: return .keys(0, .list)
          case .null(let node): return .null(node)
          default: return .missing
          }
        }
        tree.add(
          finding.paths[number].path,
          KeyTree.Leaf(part: index, walksMembers: finding.walksMembers[number]),
          mapper.set.plan.format
        )
      }
    }
    let outcome = walk(tree) { mapper.root(of: $0, step) }
    for (part, isSeen) in zip(parts, isSeen) where isSeen {
      if case .found(let finding, _) = part.source, finding.hasOwnPaths {
        mapper.use.noteOwn(finding.slot)
      }
    }
    return outcome
  }
}
