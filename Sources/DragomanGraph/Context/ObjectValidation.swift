import Foundation

/// Checks objects against the rules of their entities.
struct ObjectValidation {
  private let context: ManagedObjectContext
  private var patterns: [String: NSRegularExpression] = [:]
  private(set) var faults: [ObjectFault] = []

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Checks an object that is about to be written; only what was set is looked at, except that an
  /// insertion needs all that is required.
  mutating func check(_ object: ManagedObject) throws {
    let entity = object.layout
    if entity.entity.isAbstract {
      add(object, nil, .abstract, "\(entity.name) is abstract and has no objects of its own.")
    }
    for slot in entity.attributes.indices {
      let column = entity.attributeColumns[slot]
      guard object.status == .inserted || object.changes[column] != nil else { continue }
      check(try object.value(column), entity.attributes[slot], object)
    }
    for link in entity.relationships { try check(link, object) }
  }

  /// Checks that no `deny` rule forbids the deletion of an object.
  mutating func checkDeletion(_ object: ManagedObject) throws {
    for link in object.layout.relationships where link.relationship.deleteRule == .deny {
      let targets = try context.targets(of: link, object)
      guard let first = targets.first else { continue }
      add(
        object,
        link.name,
        .deny,
        "\(object.layout.name) \(object.place.key) cannot be deleted: its \(link.name)"
          + " \(targets.count == 1 ? "is" : "are") still there"
          + " (\(first.layout.name) \(first.place.key)"
          + "\(targets.count > 1 ? " and \(targets.count - 1) more" : ""))."
      )
    }
  }

  private mutating func check(
    _ value: StoredValue,
    _ attribute: Attribute,
    _ object: ManagedObject
  ) {
    guard value != .null || attribute.isRequired, value == .null || attribute.hasLimits else {
      return
    }
    let name = "\(object.layout.name).\(attribute.name)"
    let shown = attribute.isSensitive ? "the value" : value.summary
    if value == .null {
      if attribute.isRequired {
        add(object, attribute.name, .required, "\(name) is required and has no value.")
      }
      return
    }
    if let minimum = attribute.minimum, attribute.order(value, minimum) < 0 {
      add(
        object,
        attribute.name,
        .range,
        "\(name) is at least \(minimum.summary); it cannot be \(shown)."
      )
    }
    if let maximum = attribute.maximum, attribute.order(value, maximum) > 0 {
      add(
        object,
        attribute.name,
        .range,
        "\(name) is at most \(maximum.summary); it cannot be \(shown)."
      )
    }
    guard case .text(let text) = value else { return }
    let length = text.unicodeScalars.count
    if let least = attribute.minimumLength, length < least {
      add(
        object,
        attribute.name,
        .length,
        "\(name) has at least \(least) characters; \(shown) has \(length)."
      )
    }
    if let most = attribute.maximumLength, length > most {
      add(
        object,
        attribute.name,
        .length,
        "\(name) has at most \(most) characters; \(shown) has \(length)."
      )
    }
    if let allowed = attribute.allowedValues, !allowed.contains(where: { sameBytes($0, text) }) {
      add(
        object,
        attribute.name,
        .enumeration,
        "\(name) is one of \(allowed.joined(separator: ", ")); it cannot be \(shown)."
      )
    }
    if let pattern = attribute.pattern, !matches(text, pattern) {
      add(object, attribute.name, .pattern, "\(name) must match \(pattern); \(shown) does not.")
    }
  }

  private mutating func check(_ link: RelationshipLayout, _ object: ManagedObject) throws {
    let relationship = link.relationship
    guard relationship.isRequired || relationship.maximumCount != nil else { return }
    let count = try context.targets(of: link, object).count
    let name = "\(object.layout.name).\(link.name)"
    if relationship.isRequired, count == 0 {
      add(object, link.name, .required, "\(name) is required and leads nowhere.")
    }
    if let most = relationship.maximumCount, count > most {
      add(object, link.name, .count, "\(name) leads to at most \(most) objects, not to \(count).")
    }
  }

  private mutating func matches(_ text: String, _ pattern: String) -> Bool {
    let expression: NSRegularExpression
    if let known = patterns[pattern] {
      expression = known
    } else {
      guard let made = try? NSRegularExpression(pattern: "^(?:\(pattern))$") else { return true }
      patterns[pattern] = made
      expression = made
    }
    let whole = NSRange(text.startIndex..., in: text)
    return expression.firstMatch(in: text, range: whole)?.range == whole
  }

  private mutating func add(
    _ object: ManagedObject,
    _ property: String?,
    _ rule: ObjectFault.Rule,
    _ message: String
  ) {
    faults.append(
      ObjectFault(
        object: object.objectID,
        entity: object.layout.name,
        property: property,
        rule: rule,
        message: message
      )
    )
  }
}

extension Attribute {
  /// Whether a value that is not null can be refused.
  fileprivate var hasLimits: Bool {
    minimum != nil || maximum != nil || minimumLength != nil || maximumLength != nil
      || allowedValues != nil || pattern != nil
  }

  /// Orders two values of the attribute: numbers by value, everything else by bytes.
  package func order(_ left: StoredValue, _ right: StoredValue) -> Int {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): return a < b ? -1 : a > b ? 1 : 0
    case (.text(var a), .text(var b)):
      if type == .decimal {
        return a.withUTF8 { a in
          b.withUTF8 { b in
            DecimalText.order(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b))
          }
        }
      }
      if a.utf8.elementsEqual(b.utf8) { return 0 }
      return a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    default:
      guard let a = left.number, let b = right.number else { return 0 }
      return a < b ? -1 : a > b ? 1 : 0
    }
  }
}

extension StoredValue {
  fileprivate var number: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .real(let real): real
    default: nil
    }
  }
}

private func sameBytes(_ left: String, _ right: String) -> Bool {
  left.utf8.elementsEqual(right.utf8)
}
