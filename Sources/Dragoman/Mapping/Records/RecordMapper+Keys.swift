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
    let batch = step.batch
    var columns: [[(value: RowValue, node: UInt32)]] = []
    for part in parts {
      var values: [(value: RowValue, node: UInt32)] = []
      switch part.source {
      case .own(let slot):
        let value = step.drafts.values[step.drafts.objects[step.object].start + slot]
        if value.kind == .absent { return outcome(of: .missing, link, step) }
        if value.kind == .null { return outcome(of: .null(step.record.node), link, step) }
        values.append((value, step.record.node))
      case .constant(let constant):
        values.append((ValueConverter.rowValue(of: constant, in: batch), step.record.node))
      case .found(let finding, let split):
        let nodes = nodes(of: finding, link, takesSingle: true, step)
        guard case .list(let list) = nodes else { return outcome(of: nodes, link, step) }
        for node in list {
          for piece in split.map({ pieces(of: node, $0, batch) }) ?? [node] {
            switch convert(piece, part, batch) {
            case .value(let value): values.append((value, node))
            case .null where link.isToOne: return outcome(of: .null(node), link, step)
            case .null: return outcome(of: .invalid(.type, node), link, step)
            case .invalid(let fault): return outcome(of: .invalid(fault, node), link, step, part)
            }
          }
        }
      }
      columns.append(values)
    }
    // A part with one value holds for all targets; otherwise the parts go side by side.
    let isList = { (part: LinkPlan.KeyPart) in
      if case .found = part.source { true } else { false }
    }
    let counts = zip(parts, columns).filter { isList($0.0) }.map { $0.1.count }
    let count = counts.allSatisfy { $0 == counts.first } ? counts.first ?? 1 : -1
    guard count >= 0, !link.isToOne || count <= 1 else {
      let node = columns.lazy.compactMap(\.first?.node).first ?? step.record.node
      return outcome(of: .invalid(.repeated, node), link, step)
    }
    for place in 0..<count {
      let start = step.drafts.values.count
      var node = step.record.node
      for (part, values) in zip(parts, columns) {
        let value = isList(part) ? values[place] : values[0]
        step.drafts.values.append(value.value)
        if isList(part) { node = value.node }
      }
      set.targets.append(.key(start: start, node: node))
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

  /// The pieces of a text, as nodes of their own.
  private func pieces(
    of node: UInt32,
    _ split: LinkPlan.KeyPart.Split,
    _ batch: RecordBatch
  ) -> [UInt32] {
    let tape = batch.nodes[Int(node)]
    guard Int(tape.kind) == TAPE_STRING || Int(tape.kind) == TAPE_ELEMENT else { return [node] }
    let bytes = Array(batch.bytes(tape.text, tape.length))
    var found: [UInt32] = []
    var start = 0
    let isSpace = { (byte: UInt8) in byte == 32 || (9...13).contains(byte) }
    func close(_ end: Int) {
      var (first, last) = (start, end)
      while first < last, isSpace(bytes[first]) { first += 1 }
      while last > first, isSpace(bytes[last - 1]) { last -= 1 }
      guard first < last else { return }
      var piece = TapeNode()
      piece.kind = UInt8(TAPE_STRING)
      piece.text = tape.text + UInt32(first)
      piece.length = UInt32(last - first)
      piece.origin = tape.origin
      piece.next = UInt32(batch.nodeCount + 1)
      found.append(batch.append(piece))
    }
    var place = 0
    while place < bytes.count {
      var width = 0
      switch split {
      case .whitespace: width = isSpace(bytes[place]) ? 1 : 0
      case .character(let separator):
        width = bytes[place...].starts(with: separator) ? separator.count : 0
      }
      if width > 0 {
        close(place)
        start = place + width
        place = start
      } else {
        place += 1
      }
    }
    close(bytes.count)
    return found
  }
}
