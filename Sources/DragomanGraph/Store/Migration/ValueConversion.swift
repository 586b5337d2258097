import Foundation

/// How the values of an attribute are written after its type or scale has changed.
///
/// Only what loses nothing is converted: the texts and numbers of docs/file.md go over in their
/// canonical form, and a value that has no exact counterpart stops the migration.
struct ValueConversion: Sendable {
  /// Whether values can be converted at all.
  enum Kind {
    /// The stored values are right as they are.
    case none
    /// Every value has to be converted, which may fail.
    case values
    /// There is no rule for these two types.
    case impossible
  }

  private let old: Attribute
  private let new: Attribute
  let kind: Kind

  init(from old: Attribute, to new: Attribute) {
    self.old = old
    self.new = new
    kind = Self.kind(from: old, to: new)
  }

  private static func kind(from old: Attribute, to new: Attribute) -> Kind {
    if old.type == new.type {
      return old.type == .decimal && old.rules.scale != new.rules.scale ? .values : .none
    }
    switch (old.type, new.type) {
    case (.int16, .int32), (.int16, .int64), (.int32, .int64), (.float, .double),
      (.bool, .int16), (.bool, .int32), (.bool, .int64):
      return .none
    case (.decimal, .string), (.timestamp, .string), (.date, .string), (.time, .string),
      (.duration, .string), (.uuid, .string), (.url, .string), (.json, .string), (.enum, .string):
      return .none
    case (_, .string), (.string, _), (.date, .timestamp), (.timestamp, .date): return .values
    case (_, .enum): return .values
    case (.bool, .json): return .values
    case (let from, let to):
      let isNumber = from.isNumeric || from == .bool
      return isNumber && (to.isNumeric || to == .bool || to == .json) ? .values : .impossible
    }
  }

  /// The value in its new form, or nil where it has none.
  func convert(_ value: StoredValue) -> StoredValue? {
    if case .null = value { return .null }
    switch new.type {
    case .string: return text(value).map(StoredValue.text)
    case .enum: return text(value).flatMap(word).map(StoredValue.text)
    case .int16: return integer(value).flatMap { Int16(exactly: $0) }.map { .integer(Int64($0)) }
    case .int32: return integer(value).flatMap { Int32(exactly: $0) }.map { .integer(Int64($0)) }
    case .int64: return integer(value).map(StoredValue.integer)
    case .double: return real(value).map(StoredValue.real)
    case .float: return float(value).map(StoredValue.real)
    case .decimal: return decimal(value).map(StoredValue.text)
    case .bool: return boolean(value).map { .integer($0 ? 1 : 0) }
    case .timestamp: return same(text(value), CivilText.timestamp).map(StoredValue.text)
    case .date: return day(value).map(StoredValue.text)
    case .time: return same(text(value), CivilText.time).map(StoredValue.text)
    case .duration:
      return same(text(value)) { CalendarDuration($0)?.description }.map(StoredValue.text)
    case .uuid:
      return text(value).flatMap(UUID.init(uuidString:)).map { .text($0.uuidString.lowercased()) }
    case .url: return text(value).flatMap { URLText.isURL($0) ? .text($0) : nil }
    case .json: return json(value).map(StoredValue.text)
    case .data: return text(value).flatMap(bytes).map(StoredValue.blob)
    }
  }

  // MARK: - Forms

  /// The canonical spelling of any value.
  private func text(_ value: StoredValue) -> String? {
    switch value {
    case .null: return nil
    case .text(let text):
      // A date becomes the midnight of its day, in UTC.
      return old.type == .date && new.type == .timestamp ? text + " 00:00:00" : text
    case .integer(let integer):
      return old.type == .bool ? (integer == 0 ? "false" : "true") : String(integer)
    case .real(let real): return old.type == .float ? "\(Float(real))" : "\(real)"
    case .blob(let bytes): return Data(bytes).base64EncodedString()
    }
  }

  /// The digits of a number, without an exponent.
  private func digits(_ value: StoredValue) -> String? {
    switch value {
    case .integer(let integer): return String(integer)
    case .real: return text(value).flatMap(DecimalText.canonical)
    case .text(let text):
      guard let canonical = DecimalText.canonical(text) else { return nil }
      // Spelled otherwise (007, 1e3) it was no number to whoever wrote it.
      let isCanonical =
        old.type == .decimal || text.utf8.elementsEqual(canonical.utf8)
        || (new.type == .decimal
          && text.utf8.elementsEqual(
            DecimalText.padded(canonical, scale: new.rules.scale ?? 0).utf8
          ))
      return isCanonical ? canonical : nil
    case .null, .blob: return nil
    }
  }

  private func integer(_ value: StoredValue) -> Int64? { digits(value).flatMap { Int64($0) } }

  private func real(_ value: StoredValue) -> Double? {
    switch value {
    case .real(let real): return real
    case .integer(let integer):
      let real = Double(integer)
      return Int64(exactly: real) == integer ? real : nil
    case .text(let text):
      if old.type == .string, let real = Double(text), isSpelled(text, real) { return real }
      guard let digits = digits(value), let real = Double(digits), real.isFinite,
        DecimalText.canonical("\(real)") == digits
      else { return nil }
      return real
    case .null, .blob: return nil
    }
  }

  /// Whether a text is what such a number becomes as a text, which may have an exponent.
  private func isSpelled(
    _ text: String,
    _ real: some BinaryFloatingPoint & LosslessStringConvertible
  )
    -> Bool
  {
    !real.isNaN && hasSameBytes(real.description, text)
  }

  /// Rounded to binary32 only where the digits say no more than that.
  private func float(_ value: StoredValue) -> Double? {
    if case .text(let text) = value {
      if old.type == .string, let real = Float(text), isSpelled(text, real) { return Double(real) }
      guard let digits = digits(value), let real = Float(digits), real.isFinite,
        DecimalText.canonical("\(real)") == digits
      else { return nil }
      return Double(real)
    }
    return real(value).flatMap { Double(Float($0)) == $0 ? $0 : nil }
  }

  private func decimal(_ value: StoredValue) -> String? {
    guard let digits = digits(value) else { return nil }
    guard let scale = new.rules.scale else { return digits }
    let point = digits.utf8.firstIndex(of: UInt8(ascii: "."))
    let count = point.map { digits.utf8.distance(from: $0, to: digits.utf8.endIndex) - 1 } ?? 0
    return count <= scale ? DecimalText.padded(digits, scale: scale) : nil
  }

  private func boolean(_ value: StoredValue) -> Bool? {
    switch value {
    case .integer(0), .real(0), .text("false"), .text("0"): false
    case .integer(1), .real(1), .text("true"), .text("1"): true
    default: old.type == .decimal ? integer(value).flatMap { [0: false, 1: true][$0] } : nil
    }
  }

  private func day(_ value: StoredValue) -> String? {
    guard let text = text(value) else { return nil }
    guard old.type == .timestamp else { return same(text, CivilText.date) }
    let midnight = " 00:00:00"
    return text.hasSuffix(midnight) ? String(text.dropLast(midnight.count)) : nil
  }

  private func json(_ value: StoredValue) -> String? {
    switch value {
    case .real(let real) where !real.isFinite: return nil
    case .text(let text) where old.type == .string:
      let data = Data(text.utf8)
      let isJSON =
        (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
      return isJSON ? CompactJSON.text(text).flatMap { hasRepeats($0) ? nil : $0 } : nil
    default: return text(value)
    }
  }

  /// Whether an object in a compact text has a member twice.
  private func hasRepeats(_ json: String) -> Bool {
    let bytes = Array(json.utf8)
    // The names of each object around the place; nil: it is a list.
    var levels: [Set<ArraySlice<UInt8>>?] = []
    var mayBeName = false
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "{"):
        levels.append([])
        mayBeName = true
      case UInt8(ascii: "["): levels.append(nil)
      case UInt8(ascii: "}"), UInt8(ascii: "]"): levels.removeLast()
      case UInt8(ascii: ","): mayBeName = true
      case UInt8(ascii: "\""):
        let start = index
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
          index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        let name = bytes[start..<min(index, bytes.count)]
        if mayBeName, !levels.isEmpty, levels[levels.count - 1]?.insert(name).inserted == false {
          return true
        }
        mayBeName = false
      default: mayBeName = false
      }
      index += 1
    }
    return false
  }

  private func word(_ text: String) -> String? {
    guard let words = new.allowedValues else { return text }
    return words.contains { $0.utf8.elementsEqual(text.utf8) } ? text : nil
  }

  private func bytes(_ text: String) -> [UInt8]? {
    guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else {
      return nil
    }
    return Array(data)
  }

  /// The text, if it is spelled canonically.
  private func same(_ text: String?, _ canonical: (String) -> String?) -> String? {
    guard let text, let found = canonical(text), found.utf8.elementsEqual(text.utf8) else {
      return nil
    }
    return text
  }
}
