import DragomanGraph

@testable import Dragoman

/// An import in plain Swift, slow and obvious: what the rules of docs/maps.md come to, one record
/// after the other, without batches, statements or contexts.
///
/// It knows values only as samples, whose conversion stands in a table (`SampleValue`): it judges
/// policies, keys, modes and counts, and not the spelling of dates.
struct NaiveImport {
  /// What an attribute's value becomes in a record.
  private enum Step {
    case set(StoredValue)
    case keep
    case refuse(String)
  }

  /// What became of a record.
  private enum Outcome {
    case inserted(Int)
    case updated(Int)
    case unchanged(Int?)
    case skipped(Int)
    case deleted
    case rejected(String, attribute: String?)
  }

  /// An object: a number that is never given out twice, and its values.
  struct Object: Hashable {
    var number: Int
    var values: [StoredValue]
  }

  let scheme: ImportScheme
  private(set) var objects: [Object] = []
  private var nextNumber = 1

  init(_ scheme: ImportScheme) {
    self.scheme = scheme
  }

  /// Imports records, each of which is applied whole or rejected whole.
  mutating func run(_ records: [SampleRecord], mode: EntityWriter.Mode?) -> NaiveReport {
    var report = NaiveReport()
    var named: [Int] = []
    let mode = mode ?? (scheme.overwriteExisting ? .upsert : .ignore)
    for record in records {
      report.counts.read += 1
      switch apply(record, mode, &report) {
      case .inserted(let object):
        report.counts.inserted += 1
        named.append(object)
      case .updated(let object):
        report.counts.updated += 1
        named.append(object)
      case .unchanged(let object):
        report.counts.unchanged += 1
        if let object { named.append(object) }
      case .skipped(let object):
        report.counts.skipped += 1
        named.append(object)
      case .deleted:
        report.counts.deleted += 1
      case .rejected(let code, let attribute):
        report.counts.rejected += 1
        report.count(code, attribute)
      }
    }
    var seen: Set<Int> = []
    report.rows = named.filter { seen.insert($0).inserted }.compactMap { number in
      objects.first { $0.number == number }?.values
    }
    return report
  }

  private mutating func apply(
    _ record: SampleRecord,
    _ mode: EntityWriter.Mode,
    _ report: inout NaiveReport
  ) -> Outcome {
    guard case .fields(let fields, let isTombstone) = record.content else {
      return .rejected("record.type", attribute: nil)
    }
    var steps: [Step] = []
    var warnings: [(String, String)] = []
    for (index, line) in scheme.lines.enumerated() {
      if isTombstone, !scheme.isKey(index), index != scheme.version {
        steps.append(.keep)
        continue
      }
      let step = step(index, fields[index], &warnings)
      if case .refuse(let code) = step {
        for warning in warnings { report.count(warning.0, warning.1) }
        return .rejected(code, attribute: line.attribute.name)
      }
      steps.append(step)
    }
    for warning in warnings { report.count(warning.0, warning.1) }
    return isTombstone ? delete(steps, mode) : write(steps, mode)
  }

  // MARK: - Values

  private func step(
    _ index: Int,
    _ field: SampleField,
    _ warnings: inout [(String, String)]
  ) -> Step {
    let line = scheme.lines[index]
    let fallback = line.attribute.defaultValue
    if scheme.isKey(index) {
      switch field {
      case .value(let value): return .set(value)
      case .invalid(let code): return .refuse(code)
      case .missing:
        if let fallback { return .set(fallback) }
        return line.attribute.isRequired ? .refuse("key.missing") : .set(.null)
      case .null:
        if scheme.policy(\.onNull, index) == .default, let fallback { return .set(fallback) }
        if line.attribute.isRequired { return .refuse("key.missing") }
        return scheme.policy(\.onNull, index) == .reject ? .refuse("value.refused") : .set(.null)
      }
    }
    func clear(_ code: String) -> Step { line.attribute.isRequired ? .refuse(code) : .set(.null) }
    func carryOut(_ policy: ValuePolicy, refused: String, cleared: String) -> Step {
      switch policy {
      case .keep: .keep
      case .clear: clear(cleared)
      case .default: fallback.map { .set($0) } ?? clear(cleared)
      case .reject: .refuse(refused)
      }
    }
    switch field {
    case .value(let value): return .set(value)
    case .missing:
      return carryOut(
        scheme.policy(\.onMissing, index),
        refused: "value.refused",
        cleared: "value.required"
      )
    case .null:
      return carryOut(
        scheme.policy(\.onNull, index),
        refused: "value.refused",
        cleared: "value.required"
      )
    case .invalid(let code):
      let step = carryOut(scheme.policy(\.onInvalid, index), refused: code, cleared: code)
      if case .refuse = step { return step }
      if !(scheme.isSilent && !line.attribute.isRequired) {
        warnings.append((code, line.attribute.name))
      }
      return step
    }
  }

  // MARK: - Objects

  /// The object with the identity that the steps give; nil: none, or a key with a null part.
  private func find(_ steps: [Step]) -> Int? {
    guard let identity = scheme.uniqueKeys.first else { return nil }
    let key = identity.map { value($0, steps) }
    guard !key.contains(.null) else { return nil }
    return objects.firstIndex { object in identity.map { object.values[$0] } == key }
  }

  private func value(_ index: Int, _ steps: [Step]) -> StoredValue {
    if case .set(let value) = steps[index] { value } else { .null }
  }

  /// Whether the record tells a version, and the object has a newer one.
  private func isOlder(_ steps: [Step], than object: Int) -> Bool {
    guard let version = scheme.version else { return false }
    let stored = objects[object].values[version]
    guard case .set(.integer(let given)) = steps[version], case .integer(let known) = stored
    else { return false }
    return given < known
  }

  private mutating func delete(_ steps: [Step], _ mode: EntityWriter.Mode) -> Outcome {
    guard let found = find(steps) else { return .unchanged(nil) }
    switch mode {
    case .ignore: return .skipped(objects[found].number)
    case .insert: return .rejected("key.exists", attribute: nil)
    case .upsert, .replace: break
    }
    if isOlder(steps, than: found) { return .skipped(objects[found].number) }
    objects.remove(at: found)
    return .deleted
  }

  private mutating func write(_ steps: [Step], _ mode: EntityWriter.Mode) -> Outcome {
    let found = find(steps)
    if let found {
      switch mode {
      case .ignore: return .skipped(objects[found].number)
      case .insert: return .rejected("key.exists", attribute: nil)
      case .upsert, .replace: break
      }
    }
    let old = found.map { objects[$0].values }
    var values: [StoredValue] = []
    for (index, line) in scheme.lines.enumerated() {
      switch steps[index] {
      case .set(let value): values.append(value)
      case .refuse, .keep:
        if let old, mode != .replace {
          values.append(old[index])
        } else if let fallback = line.attribute.defaultValue {
          values.append(fallback)
        } else if line.attribute.isRequired {
          return .rejected("record.incomplete", attribute: line.attribute.name)
        } else {
          values.append(.null)
        }
      }
    }
    if let found, isOlder(steps, than: found) { return .skipped(objects[found].number) }
    for key in scheme.uniqueKeys.dropFirst() {
      let wanted = key.map { values[$0] }
      let isTaken = objects.indices.contains { other in
        other != found && !wanted.contains(.null) && key.map { objects[other].values[$0] } == wanted
      }
      if isTaken { return .rejected("key.duplicate", attribute: nil) }
    }
    guard let found else {
      objects.append(Object(number: nextNumber, values: values))
      nextNumber += 1
      return .inserted(nextNumber - 1)
    }
    if objects[found].values == values { return .unchanged(objects[found].number) }
    objects[found].values = values
    return .updated(objects[found].number)
  }
}

/// What the naive import says of an import.
struct NaiveReport: Equatable {
  var counts = ImportLedgerEntry.Counts()
  /// How many issues there are of a code and an attribute: `value.date seen`.
  var issues: [String: Int] = [:]
  /// The rows of the objects that records named, in input order, each once.
  var rows: [[StoredValue]] = []

  mutating func count(_ code: String, _ attribute: String?) {
    issues["\(code) \(attribute ?? "-")", default: 0] += 1
  }
}
