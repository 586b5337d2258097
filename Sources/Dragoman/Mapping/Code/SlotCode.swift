import DragomanGraph

/// Turns a foreign value into the value that is stored, in place of the conversion by type.
///
/// It sees neither missing values nor nulls, which are for the policies. What it throws makes the
/// value invalid; `.null` makes it null.
public typealias ImportClosure = @Sendable (ForeignValue) throws -> StoredValue

/// Turns a stored value into the value of an output record.
///
/// It sees no nulls, which are written or left out as the export says; nor does it run for what is left out or masked.
public typealias ExportClosure = @Sendable (StoredValue) throws -> ForeignValue

/// Computes a stored value from the whole record (`compute` in map files).
public typealias ComputeClosure = @Sendable (ForeignRecord) throws -> StoredValue

/// A closure in place of a slot's conversion, and the check of what it gives.
final class SlotCode: Sendable {
  /// What the closure is given.
  enum Closure: Sendable {
    case value(ImportClosure)
    case record(ComputeClosure)
  }

  let closure: Closure
  private let attribute: Attribute
  /// Knows how literals of the attribute's type are spelled.
  private let literals: AttributeMap

  init(_ closure: Closure, for attribute: Attribute) {
    self.closure = closure
    self.attribute = attribute
    let rules = AttributeRules<String>(scale: attribute.rules.scale)
    literals = AttributeMap(name: attribute.name, type: attribute.type, rules: rules)
  }

  /// The value as the attribute stores it; nil where it is not of the attribute's type.
  ///
  /// Text of types that docs/file.md writes as text is taken in any spelling that a literal of a
  /// map may have, and stored in the one of the file: `.text("1.50")` is the decimal 1.5.
  func admitted(_ value: StoredValue) -> StoredValue? {
    switch (attribute.type, value) {
    case (_, .null): .null
    case (.int16, .integer(let number)): Int16(exactly: number).map { _ in value }
    case (.int32, .integer(let number)): Int32(exactly: number).map { _ in value }
    case (.int64, .integer): value
    case (.bool, .integer(let number)): number == 0 || number == 1 ? value : nil
    case (.double, .integer(let number)): Double(exactly: number).map { .real($0) }
    case (.double, .real(let number)): number.isFinite ? .real(number.withoutNegativeZero) : nil
    case (.float, .integer(let number)): Float(exactly: number).map { .real(Double($0)) }
    case (.float, .real(let number)):
      Float(number).isFinite ? .real(Double(Float(number).withoutNegativeZero)) : nil
    case (.decimal, .integer(let number)): literals.storedValue(ofLiteral: String(number))
    case (.string, .text): value
    case (.enum, .text(let text)): isAllowed(text) ? value : nil
    case (.decimal, .text(let text)), (.timestamp, .text(let text)), (.date, .text(let text)),
      (.time, .text(let text)), (.duration, .text(let text)), (.uuid, .text(let text)),
      (.url, .text(let text)),
      (.json, .text(let text)):
      literals.storedValue(ofLiteral: text)
    case (.data, .blob): value
    default: nil
    }
  }

  /// Whether a value that is not admitted is a decimal with more digits behind the point than the attribute has.
  func hasTooManyDigits(_ value: StoredValue) -> Bool {
    guard attribute.type == .decimal, case .text(let text) = value else { return false }
    return AttributeMap(name: attribute.name, type: .decimal).storedValue(ofLiteral: text) != nil
  }

  private func isAllowed(_ text: String) -> Bool {
    attribute.allowedValues?.contains { $0.utf8.elementsEqual(text.utf8) } ?? true
  }
}
