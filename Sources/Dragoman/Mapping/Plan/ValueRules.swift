import DragomanGraph
import Foundation
import Synchronization

/// The rules that a converted value must obey: `min`, `max`, `length` and `pattern`.
struct ValueRules {
  private let name: String
  private let type: AttributeType
  private let minimum: StoredValue?
  private let maximum: StoredValue?
  /// How many characters at least and at most; a pair that admits nothing is one, too.
  private let length: (minimum: Int, maximum: Int)?
  private let pattern: NSRegularExpression?
  private let effort: PatternEffort

  /// Compiles the rules of an attribute; nil when it has none.
  ///
  /// - Parameters:
  ///   - attribute: The attribute.
  ///   - effort: What the patterns beside it have had to do.
  /// - Throws: `FormatFault` for a pattern that is no regular expression.
  init?(_ attribute: Attribute, _ effort: PatternEffort = PatternEffort()) throws(FormatFault) {
    self.effort = effort
    name = attribute.name
    type = attribute.type
    minimum = attribute.rules.minimum
    maximum = attribute.rules.maximum
    let bounds = (attribute.rules.minimumLength, attribute.rules.maximumLength)
    length = bounds.0 == nil && bounds.1 == nil ? nil : (bounds.0 ?? 0, bounds.1 ?? .max)
    do {
      pattern = try attribute.rules.pattern.map { try NSRegularExpression.whole($0) }
    } catch {
      throw FormatFault("The pattern of \(attribute.name) is no regular expression.")
    }
    if minimum == nil && maximum == nil && length == nil && pattern == nil { return nil }
  }

  /// Which rule a value breaks that was read; nil: none.
  func check(_ value: RowValue, in batch: RecordBatch) -> ValueConverter.Fault? {
    if let fault = checkLimits(value.stored(in: UnsafeRawBufferPointer(batch.arena))) {
      return fault
    }
    guard value.kind == .text else { return nil }
    return check(text: batch.bytes(UInt32(value.offset), value.length))
  }

  /// Which rule a stored value breaks; nil: none.
  func check(_ value: ColumnValue) -> ValueConverter.Fault? {
    switch value {
    case .null, .blob: nil
    case .integer(let integer): checkLimits(.integer(integer))
    case .real(let real): checkLimits(.real(real))
    case .text(let bytes):
      checkLimits(.text(String(decoding: bytes, as: UTF8.self))) ?? check(text: bytes)
    }
  }

  private func checkLimits(_ value: @autoclosure () -> StoredValue) -> ValueConverter.Fault? {
    guard minimum != nil || maximum != nil else { return nil }
    let stored = value()
    if let minimum, minimum.isLarger(than: stored, as: type) { return .limits }
    if let maximum, stored.isLarger(than: maximum, as: type) { return .limits }
    return nil
  }

  private func check(text bytes: UnsafeRawBufferPointer) -> ValueConverter.Fault? {
    if let length {
      let count = bytes.count { $0 & 0xC0 != 0x80 }
      if count < length.minimum || count > length.maximum { return .length }
    }
    if let pattern {
      // What took too long for others is not tried on more: nobody knows whether the value has the pattern.
      guard effort.culprit == nil else { return .pattern }
      let text = String(decoding: bytes, as: UTF8.self)
      if !effort.matches(pattern, text, of: name) { return .pattern }
    }
    return nil
  }
}

/// How much more than usual the patterns of a map have had to do.
///
/// One value of a hostile feed keeps a pattern such as `a*a*a*b` busy. Steps are counted: time passes also for a process
/// that waits for its turn.
final class PatternEffort: Sendable {
  private struct State {
    var excess = 0
    var culprit: String?
  }

  /// How much there may be.
  private let most: Int
  private let state = Mutex(State())
  private let isOver = Atomic(false)

  init(atMost most: Int = 10 * NSRegularExpression.maximumExcess) { self.most = most }

  /// The attribute whose pattern has had too much to do; nil: none has.
  var culprit: String? {
    isOver.load(ordering: .acquiring) ? state.withLock { $0.culprit } : nil
  }

  /// Whether a value has the pattern of an attribute; not where it takes too many steps, or too much memory, to say.
  func matches(_ pattern: NSRegularExpression, _ text: String, of attribute: String) -> Bool {
    let match = pattern.boundedMatch(in: text)
    if match.excess > 0 { note(match.excess, of: attribute) }
    return match.isFound
  }

  private func note(_ excess: Int, of attribute: String) {
    state.withLock { state in
      state.excess += excess
      guard state.excess > most, state.culprit == nil else { return }
      state.culprit = attribute
      isOver.store(true, ordering: .releasing)
    }
  }
}
