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
  private let time: PatternTime

  /// Compiles the rules of an attribute; nil when it has none.
  ///
  /// - Parameters:
  ///   - attribute: The attribute.
  ///   - time: Is told how long the pattern takes.
  /// - Throws: `FormatFault` for a pattern that is no regular expression.
  init?(_ attribute: Attribute, _ time: PatternTime = PatternTime()) throws(FormatFault) {
    self.time = time
    name = attribute.name
    type = attribute.type
    minimum = attribute.rules.minimum
    maximum = attribute.rules.maximum
    let bounds = (attribute.rules.minimumLength, attribute.rules.maximumLength)
    length = bounds.0 == nil && bounds.1 == nil ? nil : (bounds.0 ?? 0, bounds.1 ?? .max)
    do {
      pattern = try attribute.rules.pattern.map { try NSRegularExpression(pattern: "^(?:\($0))$") }
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
    // What took too long for others is not tried on more.
    if let pattern, time.culprit == nil {
      let text = String(decoding: bytes, as: UTF8.self)
      let whole = NSRange(text.startIndex..., in: text)
      let match = time.measure(name) { pattern.firstMatch(in: text, range: whole)?.range }
      if match != whole { return .pattern }
    }
    return nil
  }
}

/// How long the patterns of a map have taken for values of which each took long.
///
/// One value of a hostile feed keeps a pattern such as `a*a*a*b` busy for two seconds, until the regular expressions'
/// own limit of steps is reached. What is meant takes microseconds.
final class PatternTime: Sendable {
  /// What counts as long for one value.
  static let long = Duration.milliseconds(100)

  private struct State {
    var spent = Duration.zero
    var culprit: String?
  }

  /// How long all of them may take.
  private let most: Duration
  private let state = Mutex(State())
  private let isOver = Atomic(false)

  init(atMost most: Duration = .seconds(10)) { self.most = most }

  /// The attribute whose pattern has taken too long; nil: none has.
  var culprit: String? {
    isOver.load(ordering: .acquiring) ? state.withLock { $0.culprit } : nil
  }

  /// Runs a pattern on a value.
  func measure<T>(_ attribute: String, _ body: () -> T) -> T {
    let start = ContinuousClock.now
    let result = body()
    note(ContinuousClock.now - start, of: attribute)
    return result
  }

  /// Takes note of how long the pattern of an attribute took for a value.
  func note(_ duration: Duration, of attribute: String) {
    guard duration > Self.long else { return }
    state.withLock { state in
      state.spent += duration
      guard state.spent > most, state.culprit == nil else { return }
      state.culprit = attribute
      isOver.store(true, ordering: .releasing)
    }
  }
}
