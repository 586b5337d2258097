import CSimdJSON
import DragomanGraph

/// Links that are not given, or not as they should be: policies and messages.
extension RecordMapper {
  /// What becomes of a link that is missing, null or invalid.
  func outcome(
    of nodes: Nodes,
    _ link: LinkPlan,
    _ step: LinkStep,
    _ part: LinkPlan.KeyPart? = nil
  ) -> LinkOutcome {
    let policy: ValuePolicy
    switch nodes {
    case .list: return .given
    case .missing: policy = link.policies.onMissing
    case .null: policy = link.policies.onNull
    case .invalid: policy = link.policies.onInvalid
    }
    if case .invalid(let fault, let node) = nodes {
      let described = { self.describe(fault, node, link, step, part) }
      if policy == .reject || policy == .default { return .refused(described()) }
      if !link.policies.isSilent {
        let group = IssueGroup(code: fault.code, entity: plan.name, attribute: link.name)
        passOver(
          {
            var issue = described()
            issue.isReject = false
            return issue
          },
          of: group,
          in: step.drafts
        )
      }
    } else if policy == .reject {
      var node: UInt32?
      if case .null(let place) = nodes { node = place }
      let what = node == nil ? "is missing, and onMissing" : "is null, and onNull"
      let place = node.map { step.batch.nodes[Int($0)].origin } ?? step.record.start
      return .refused(
        describe(.refused, link, "\(plan.name).\(link.name) \(what) is reject.", place, step)
      )
    }
    return policy == .clear ? .given : .kept
  }

  private func describe(
    _ fault: ValueConverter.Fault,
    _ node: UInt32,
    _ link: LinkPlan,
    _ step: LinkStep,
    _ part: LinkPlan.KeyPart?
  ) -> ImportIssue {
    let tape = step.batch.nodes[Int(node)]
    let isText = [TAPE_STRING, TAPE_ELEMENT].contains(Int(tape.kind)) && tape.next == node + 1
    let kind = isText && tape.length == 0 ? "an empty one" : ForeignText.kind(Int(tape.kind))
    let wanted: String
    switch (fault, link.origin) {
    case (.type, .nested(_, let finding)):
      let isOfMembers = !finding.walksMembers.isEmpty && finding.walksMembers.allSatisfy(\.self)
      let list = isOfMembers ? "an object whose members are objects" : "a list of objects"
      wanted =
        link.isToOne ? "leads to one object and not to \(kind)" : "wants \(list), not \(kind)"
    case (.type, .key): wanted = "wants \(link.isToOne ? "a key" : "keys"), not \(kind)"
    default: wanted = ""
    }
    let name = "\(plan.name).\(link.name)"
    let message = wanted.isEmpty ? "\(name): \(fault.text)" : "\(name) \(wanted)."
    var issue = describe(fault.code, link, message, tape.origin, step)
    if let part {
      issue.tried = fault.tried(for: part.slot)
      issue.message = "\(name): \(fault.message(for: part.slot))"
    }
    issue.value = ForeignText.excerpt(of: node, in: step.batch)
    if link.isSensitive { issue.value = ForeignText.mask }
    return issue
  }

  func describe(
    _ code: ImportIssue.Code,
    _ link: LinkPlan,
    _ message: String,
    _ place: UInt32,
    _ step: LinkStep
  ) -> ImportIssue {
    var issue = describe(code, step.record, place, step.batch, message)
    issue.attribute = link.name
    issue.path = link.pathText
    issue.map = mapPlace(link.position)
    return issue
  }
}

extension ValueConverter.Fault {
  /// A sentence where no attribute is concerned.
  fileprivate var text: String {
    switch self {
    case .blocked: "the path runs through a value that has no members."
    case .repeated: "the path names more than one value."
    case .keyless: "an element of the list has no key."
    case .tooManyKeys: "the text names more keys than one record may hold."
    default: "the value is not of the type of the target's key."
    }
  }
}
