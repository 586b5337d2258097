import Foundation

/// Holds values against the rules of their attributes, and collects what is wrong.
struct AttributeChecks {
  /// What the values belong to.
  struct Owner {
    /// The object's id; one that has none yet has the key 0.
    let id: ObjectID
    /// The name of its entity.
    let entity: String

    init(id: ObjectID, entity: String) {
      self.id = id
      self.entity = entity
    }

    init(_ object: ManagedObject) {
      self.init(id: object.objectID, entity: object.layout.name)
    }
  }

  private var patterns: [String: NSRegularExpression] = [:]
  /// What is wrong, so far.
  private(set) var faults: [ObjectFault] = []

  /// Holds a value against the rules of its attribute.
  mutating func check(
    _ value: StoredValue,
    _ attribute: Attribute,
    _ owner: Owner
  ) {
    // Spelled only where there is something to say.
    var name: String { "\(owner.entity).\(attribute.name)" }
    var shown: String { attribute.isSensitive ? "the value" : value.summary }
    if value == .null {
      if attribute.isRequired {
        add(owner, attribute.name, .required, "\(name) is required and has no value.")
      }
      return
    }
    if let minimum = attribute.rules.minimum, attribute.order(value, minimum) < 0 {
      add(
        owner,
        attribute.name,
        .range,
        "\(name) is at least \(minimum.summary); it cannot be \(shown)."
      )
    }
    if let maximum = attribute.rules.maximum, attribute.order(value, maximum) > 0 {
      add(
        owner,
        attribute.name,
        .range,
        "\(name) is at most \(maximum.summary); it cannot be \(shown)."
      )
    }
    guard case .text(let text) = value else { return }
    let length = text.unicodeScalars.count
    if let least = attribute.rules.minimumLength, length < least {
      add(
        owner,
        attribute.name,
        .length,
        "\(name) has at least \(MessageWords.count(least, "character")); \(shown) has \(length)."
      )
    }
    if let most = attribute.rules.maximumLength, length > most {
      add(
        owner,
        attribute.name,
        .length,
        "\(name) has at most \(MessageWords.count(most, "character")); \(shown) has \(length)."
      )
    }
    if let allowed = attribute.allowedValues, !allowed.contains(where: { hasSameBytes($0, text) }) {
      add(
        owner,
        attribute.name,
        .enumeration,
        "\(name) is one of \(allowed.joined(separator: ", ")); it cannot be \(shown)."
      )
    }
    if let pattern = attribute.rules.pattern, !matches(text, pattern) {
      add(owner, attribute.name, .pattern, "\(name) must match \(pattern); \(shown) does not.")
    }
  }

  private mutating func matches(_ text: String, _ pattern: String) -> Bool {
    let expression: NSRegularExpression
    if let known = patterns[pattern] {
      expression = known
    } else {
      // A model with such a pattern is refused; a file of before may have one.
      guard let made = try? NSRegularExpression.whole(pattern) else { return false }
      patterns[pattern] = made
      expression = made
    }
    return expression.boundedMatch(in: text).isFound
  }

  /// Adds what is wrong.
  mutating func add(
    _ owner: Owner,
    _ property: String?,
    _ rule: ObjectFault.Rule,
    _ message: String
  ) {
    faults.append(
      ObjectFault(
        object: owner.id,
        entity: owner.entity,
        property: property,
        rule: rule,
        message: message
      )
    )
  }
}
