import CSimdJSON
import DragomanGraph

/// Turns the records of one source into rows: look up, convert, apply the policies.
///
/// It is used by one thread at a time. A record is mapped whole or refused whole: the first fault
/// that the policies do not forgive refuses it.
///
/// Large because all that a map can say is done here with one record; its loops share what they reuse.
final class RecordMapper {
  let plan: EntityPlan
  /// The plan's place in `ImportPlan.entities`.
  let index: Int
  /// The mappers of all plans, for nested records.
  ///
  /// It keeps this mapper, and whoever maps keeps it: `unowned(unsafe)` counts no references, of which a nested record
  /// would take a dozen.
  unowned(unsafe) let set: MapperSet
  let mapFile: String?
  @exclusivity(unchecked) private(set) var walker: PathWalker
  /// The slots of the identity, where an object cannot be made of them alone; else empty.
  let bareKey: [Int]
  /// Which paths no record has had.
  @exclusivity(unchecked) var use: PathUse
  private var rules: [ValueRules?]
  /// The converters of the slots whose values need nothing else, kept alive by the plan; nil for other slots.
  private let plainConverters: [Unmanaged<ValueConverter>?]
  /// How many examples of each kind of passed-over value were described so far.
  private var described: [IssueGroup: Int] = [:]
  /// The record as a value, for the closures that compute from it; made once a record.
  @exclusivity(unchecked) var recordValue: ForeignRecord?
  /// What the last closure that failed threw.
  var closureMessage: String?

  /// The report shows that many examples of a kind; more are only counted.
  static let exampleCount = 5

  init(_ index: Int, of set: MapperSet, mapFile: String?) throws(FormatFault) {
    self.index = index
    self.set = set
    self.mapFile = mapFile
    plan = set.plan.entities[index]
    walker = PathWalker(
      tree: plan.tree,
      slotCount: plan.walkerSlotCount,
      notesUnknown: plan.rejectsUnknownKeys
    )
    bareKey = plan.bareKey
    use = PathUse(plan)
    rules = []
    for slot in plan.slots { rules.append(try ValueRules(slot.attribute, set.patterns)) }
    plainConverters = zip(plan.slots, rules).map { slot, rules in
      let isPlain = !slot.hasOwnPaths && slot.code == nil && rules == nil
      return isPlain ? .passUnretained(slot.converter) : nil
    }
  }

  /// Maps one record of the batch and appends what it became to the drafts.
  func map(_ index: Int, into drafts: DraftBatch) {
    let batch = drafts.records
    let record = batch.records[index]
    if let refused = refusal(of: record, at: index, in: batch) {
      return reject(refused, in: drafts)
    }
    switch walk(record, in: batch) {
    case .success(let mapper): mapper.mapWalked(record, into: drafts)
    case .failure(let refusal): reject(refusal.issue, in: drafts)
    }
  }

  private func mapWalked(_ record: RecordBatch.Record, into drafts: DraftBatch) {
    let batch = drafts.records
    if walker.unknown > 0 { return reject(unknownKey(of: record, in: batch), in: drafts) }
    let isTombstone: Bool
    switch self.isTombstone(record, batch) {
    case .success(let answer): isTombstone = answer
    case .failure(let refusal): return reject(refusal.issue, in: drafts)
    }
    let mark = drafts.mark
    let object = drafts.objects.count
    batch.beginMapping(record)
    // Numbers of nodes are those of one batch.
    if !set.parents.isEmpty { set.parents.removeAll(keepingCapacity: true) }
    let refusal = mapObject(
      of: record,
      parent: -1,
      isTombstone: isTombstone,
      depth: 0,
      into: drafts
    )
    if let refusal {
      drafts.restore(mark)
      reject(refusal.issue, in: drafts)
    } else {
      drafts.drafts.append(isTombstone ? .tombstone(object: object) : .row(object: object))
    }
  }

  private func reject(_ issue: ImportIssue, in drafts: DraftBatch) {
    drafts.drafts.append(.reject(issue: drafts.issues.count))
    drafts.issues.append(issue)
  }

  /// Appends the object of a record that was walked, with everything nested in it.
  ///
  /// - Returns: Why the record is refused; nil where it is not.
  func mapObject(
    of record: RecordBatch.Record,
    parent: Int,
    isTombstone: Bool,
    depth: Int,
    into drafts: DraftBatch
  ) -> Refusal? {
    let object = drafts.objects.count
    drafts.objects.append(
      DraftBatch.Object(
        plan: index,
        start: drafts.values.count,
        parent: parent,
        node: record.node,
        end: object + 1
      )
    )
    let batch = drafts.records
    if let issue = mapValues(of: record, in: batch, keyOnly: isTombstone, into: drafts) {
      return Refusal(issue: issue, isOwn: true)
    }
    if plan.links.isEmpty { return nil }
    let issue =
      isTombstone
      ? mapLinks(plan.tombstoneLinks, of: record, object: object, depth: depth, into: drafts)
      : mapLinks(plan.links.indices, of: record, object: object, depth: depth, into: drafts)
    return issue.map { Refusal(issue: $0) }
  }

  /// Walks a record, and returns the mapper of the entity that it says it is: with what it found.
  func walk(
    _ record: RecordBatch.Record,
    in batch: RecordBatch
  ) -> Result<RecordMapper, Refusal> {
    var mapper = self
    // A sub-entity may have sub-entities of its own, but no family is deeper.
    for _ in 0...Model.maximumAncestorCount {
      mapper.recordValue = nil
      mapper.walker.reset()
      mapper.walker.walk(record.node, in: batch)
      mapper.use.note(mapper.walker.found, record.node, in: batch)
      switch mapper.chooseMapper(for: record, in: batch) {
      case .success(let chosen) where chosen !== mapper:
        mapper.use.noteOther()
        mapper = chosen
      case let result: return result
      }
    }
    return .success(mapper)
  }

  /// Why the record cannot be mapped at all; nil: it can.
  private func refusal(
    of record: RecordBatch.Record,
    at index: Int,
    in batch: RecordBatch
  ) -> ImportIssue? {
    if let failure = batch.failures[index] {
      var issue = describe(.recordSyntax, record, record.start, batch, failure.message)
      issue.origin = failure.origin ?? issue.origin
      issue.origin.record = record.number
      issue.help = failure.help
      return issue
    }
    switch Int(batch.nodes[Int(record.node)].kind) {
    case TAPE_OBJECT, TAPE_ELEMENT: return nil
    case TAPE_ARRAY where plan.takesArrays: return nil
    case let kind where plan.takesWhole && kind != TAPE_ARRAY: return nil
    case let kind:
      // What was found last is of another record, maybe of another batch.
      walker.reset()
      return describe(
        .recordType,
        record,
        record.start,
        batch,
        "A record must be an object; this one is \(ForeignText.kind(kind))."
      )
    }
  }

  /// Appends a value for each slot, or returns why the record is refused.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - batch: The batch it stands in.
  ///   - keyOnly: The record is a tombstone: only its key and its version matter.
  ///   - drafts: Where the values go.
  /// - Returns: Why the record is refused; nil where it is not.
  private func mapValues(
    of record: RecordBatch.Record,
    in batch: RecordBatch,
    keyOnly: Bool,
    into drafts: DraftBatch
  ) -> ImportIssue? {
    for index in plan.slots.indices {
      if keyOnly && !plan.tombstoneSlots[index] {
        drafts.values.append(.absent)
        continue
      }
      var found = walker.found[index]
      if found.state == .value, let converter = plainConverters[index] {
        let conversion = converter._withUnsafeGuaranteedRef { $0.convert(found.node, in: batch) }
        if case .value(let value) = conversion {
          drafts.values.append(value)
          continue
        }
      }
      if plan.slots[index].hasOwnPaths {
        let takesList = plan.slots[index].attribute.type == .json
        followOwnPaths(plan.slots[index].paths, takesList: takesList, record, batch, &found)
        if found.state != .missing { use.noteOwn(index) }
      }
      let result =
        plan.slots[index].code == nil
        ? map(found, slot: index, record, batch, drafts)
        : mapByCode(found, slot: index, record, batch, drafts)
      switch result {
      case .success(let value): drafts.values.append(value)
      case .failure(let refusal): return refusal.issue
      }
    }
    return nil
  }

  /// A refused record, on its way out.
  struct Refusal: Error {
    let issue: ImportIssue
    /// Whether a value of the object itself is at fault, and not what is linked to it.
    var isOwn = false
  }

  @inline(__always)
  func map(
    _ found: PathWalker.Found,
    slot index: Int,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch,
    _ drafts: DraftBatch
  ) -> Result<RowValue, Refusal> {
    let conversion: ValueConverter.Conversion
    switch found.state {
    case .missing: return missing(slot: index, record, batch)
    case .value: conversion = plan.slots[index].converter.convert(found.node, in: batch)
    case .blocked: conversion = .invalid(.blocked)
    case .repeated where plan.slots[index].takesRepeated:
      let array = gatherRepeated(plan.slots[index], found, record, batch)
      conversion = plan.slots[index].converter.convert(array, in: batch)
    case .repeated: conversion = .invalid(.repeated)
    }
    return apply(conversion, found, slot: index, record, batch, drafts)
  }

  @inline(__always)
  func apply(
    _ conversion: ValueConverter.Conversion,
    _ found: PathWalker.Found,
    slot index: Int,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch,
    _ drafts: DraftBatch
  ) -> Result<RowValue, Refusal> {
    switch conversion {
    case .null:
      return null(slot: index, found, record, batch)
    case .value(let value):
      if let rules = rules[index], let fault = rules.check(value, in: batch) {
        return invalid(fault, slot: index, found, record, batch, drafts)
      }
      return .success(value)
    case .invalid(let fault):
      return invalid(fault, slot: index, found, record, batch, drafts)
    }
  }

  // MARK: - Policies

  private func missing(
    slot index: Int,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch
  ) -> Result<RowValue, Refusal> {
    let slot = plan.slots[index]
    if slot.isKey {
      if slot.attribute.defaultValue != nil { return .success(defaultValue(slot, batch)) }
      if !slot.attribute.isRequired { return .success(.null) }
      return refuse(.keyMissing, slot, nil, record, batch, "has no value, and it is the key")
    }
    switch slot.policies.onMissing {
    case .keep: return .success(.absent)
    case .default: return .success(defaultValue(slot, batch))
    case .clear where !slot.attribute.isRequired: return .success(.null)
    case .clear:
      return refuse(.required, slot, nil, record, batch, "is required and missing")
    case .reject:
      return refuse(.refused, slot, nil, record, batch, "is missing, and onMissing is reject")
    }
  }

  private func null(
    slot index: Int,
    _ found: PathWalker.Found,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch
  ) -> Result<RowValue, Refusal> {
    let slot = plan.slots[index]
    if slot.isKey && slot.attribute.isRequired && slot.policies.onNull != .default {
      return refuse(.keyMissing, slot, found, record, batch, "is null, and it is the key")
    }
    switch slot.policies.onNull {
    case .keep: return .success(slot.isKey ? .null : .absent)
    case .default: return .success(defaultValue(slot, batch))
    case .clear where !slot.attribute.isRequired: return .success(.null)
    case .clear:
      return refuse(.required, slot, found, record, batch, "is required and null")
    case .reject:
      return refuse(.refused, slot, found, record, batch, "is null, and onNull is reject")
    }
  }

  private func invalid(
    _ fault: ValueConverter.Fault,
    slot index: Int,
    _ found: PathWalker.Found,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch,
    _ drafts: DraftBatch
  ) -> Result<RowValue, Refusal> {
    let slot = plan.slots[index]
    var policy = slot.isKey ? .reject : slot.policies.onInvalid
    if policy == .clear && slot.attribute.isRequired { policy = .reject }
    if policy == .reject {
      return .failure(Refusal(issue: describe(fault, slot, found, record, batch, isReject: true)))
    }
    if !slot.policies.isSilent { passOver(fault, slot, found, record, batch, drafts) }
    switch policy {
    case .keep: return .success(.absent)
    case .default: return .success(defaultValue(slot, batch))
    case .clear, .reject: return .success(.null)
    }
  }

  private func defaultValue(_ slot: EntityPlan.Slot, _ batch: RecordBatch) -> RowValue {
    slot.attribute.defaultValue.map { ValueConverter.rowValue(of: $0, in: batch) } ?? .null
  }

  /// Counts an issue that does not refuse its record; the first few of a kind are described.
  func passOver(_ issue: () -> ImportIssue, of group: IssueGroup, in drafts: DraftBatch) {
    if described[group, default: 0] < Self.exampleCount {
      described[group, default: 0] += 1
      drafts.issues.append(issue())
    } else {
      drafts.repeatedIssues[group, default: 0] += 1
    }
  }

  /// Counts an invalid value that does not refuse its record, and describes the first few.
  private func passOver(
    _ fault: ValueConverter.Fault,
    _ slot: EntityPlan.Slot,
    _ found: PathWalker.Found,
    _ record: RecordBatch.Record,
    _ batch: RecordBatch,
    _ drafts: DraftBatch
  ) {
    let group = IssueGroup(code: fault.code, entity: plan.name, attribute: slot.attribute.name)
    passOver(
      { describe(fault, slot, found, record, batch, isReject: false) },
      of: group,
      in: drafts
    )
  }
}
