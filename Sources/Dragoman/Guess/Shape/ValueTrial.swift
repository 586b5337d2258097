import CSimdJSON

/// Tries the values of a place on an attribute that reads it, and counts those that it does not take.
final class ValueTrial {
  private let converter: ValueConverter
  private let steps: ArraySlice<ForeignPath.Step>
  private let isPointer: Bool
  private(set) var numbers = 0
  private(set) var booleans = 0
  private(set) var texts = 0
  /// XML elements with others in them.
  private(set) var elements = 0
  /// Lists and objects that stand whole in a batch; they are not tried.
  private(set) var arrays = 0
  private(set) var objects = 0

  /// - Parameters:
  ///   - converter: How the attribute takes values.
  ///   - path: Where they are in what stands at the place; nil: they stand there themselves.
  init(_ converter: ValueConverter, at path: ForeignPath? = nil) {
    self.converter = converter
    steps = (path?.steps ?? [])[...]
    isPointer = path?.isPointer ?? false
  }

  /// Tries a value, or what the path leads to in it.
  func see(_ index: UInt32, _ batch: RecordBatch) { follow(steps, from: index, batch) }

  private func follow(
    _ steps: ArraySlice<ForeignPath.Step>,
    from index: UInt32,
    _ batch: RecordBatch
  ) {
    guard let step = steps.first else { return take(index, batch) }
    let rest = steps.dropFirst()
    switch step {
    case .text: return follow(rest, from: index, batch)
    case .having(let test):
      if batch.passes(test, index) { follow(rest, from: index, batch) }
      return
    default: break
    }
    guard batch.holds(step, in: index, isPointer: isPointer) else { return }
    let container = batch.nodes[Int(index)]
    var child = index + 1
    var place = 0
    while child < container.next {
      let value = batch.nodes[Int(child)]
      if batch.leads(step, to: value, at: place, in: container, isPointer: isPointer) {
        follow(rest, from: child, batch)
      }
      place += 1
      child = value.next
    }
  }

  private func take(_ index: UInt32, _ batch: RecordBatch) {
    let end = batch.arenaEnd
    defer { batch.arenaEnd = end }
    let node = batch.nodes[Int(index)]
    switch Int(node.kind) {
    case TAPE_ARRAY: arrays += 1
    case TAPE_OBJECT: objects += 1
    case let kind:
      guard case .invalid = converter.convert(index, in: batch) else { return }
      switch kind {
      case TAPE_NUMBER: numbers += 1
      case TAPE_FALSE, TAPE_TRUE: booleans += 1
      case TAPE_ELEMENT where node.length == 0: elements += 1
      default: texts += 1
      }
    }
  }
}
