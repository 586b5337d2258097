import Foundation

extension Attribute {
  /// The attribute with its default and limits as the store holds its values.
  ///
  /// What is no value of the attribute stays as it is: `ruleFaults` tells it.
  var canonical: Attribute {
    var attribute = self
    attribute.defaultValue = defaultValue.map { admitted($0) ?? $0 }
    attribute.rules = rules.withLimits { admitted($0) ?? $0 }
    return attribute
  }

  /// As many digits behind the point as a map may ask for.
  private static let maximumScale = 1000

  /// What is wrong with the rules that values have to obey, a sentence each.
  var ruleFaults: [(part: ModelFault.Part, message: String)] {
    var faults: [(part: ModelFault.Part, message: String)] = []
    if type == .decimal, let scale = rules.scale, !(0...Self.maximumScale).contains(scale) {
      faults.append((.scale, "A scale is 0 to \(Self.maximumScale), and cannot be \(scale)."))
      return faults
    }
    let limits: [(ModelFault.Part, StoredValue?)] = [
      (.minimum, rules.minimum), (.maximum, rules.maximum),
    ]
    for (part, value) in [(.defaultValue, defaultValue)] + limits {
      guard let value, admitted(value) == nil else { continue }
      let name = part == .defaultValue ? "default" : part == .minimum ? "minimum" : "maximum"
      faults.append((part, "The \(name) \(shown(value)) is no \(typeName).\(hint(value))"))
    }
    for (part, value) in limits where value != nil && !type.isOrdered {
      faults.append((part, "A limit wants an order, and \(type.withArticle) has none."))
    }
    if let pattern = rules.pattern, !Self.isExpression(pattern) {
      faults.append((.pattern, "The pattern \(pattern) is no regular expression."))
    }
    if let least = rules.minimumLength, let most = rules.maximumLength, least > most {
      faults.append((.length, "No text has at least \(least) and at most \(most) characters."))
    }
    guard faults.isEmpty else { return faults }
    let (rules, value) = (canonical.rules, canonical.defaultValue)
    if let low = rules.minimum, let high = rules.maximum, order(low, high) > 0 {
      faults.append(
        (.minimum, "The minimum \(shown(low)) is larger than the maximum \(shown(high)).")
      )
    }
    guard let value, value != .null else { return faults }
    if rules.minimum.map({ order(value, $0) < 0 }) == true
      || rules.maximum.map({ order(value, $0) > 0 }) == true
    {
      faults.append((.defaultValue, "The default \(shown(value)) is beyond the limits."))
    }
    if let allowedValues, let text = value.string,
      !allowedValues.contains(where: { hasSameBytes($0, text) })
    {
      let words = allowedValues.joined(separator: ", ")
      faults.append((.defaultValue, "The default \(shown(value)) is none of \(words)."))
    }
    return faults
  }

  /// Whether a text is a regular expression, alone and where it must match a whole value.
  private static func isExpression(_ pattern: String) -> Bool {
    do {
      _ = try NSRegularExpression.whole(pattern)
      return true
    } catch {
      return false
    }
  }

  private func shown(_ value: StoredValue) -> String { isSensitive ? "(a value)" : value.summary }

  private var typeName: String { type.rawValue + (rules.scale.map { " of scale \($0)" } ?? "") }

  private func hint(_ value: StoredValue) -> String {
    if type == .decimal, case .real(let real) = value {
      " Write it as text, which is exact: \"\(real)\"."
    } else {
      ""
    }
  }
}
