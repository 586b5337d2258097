import DragomanGraph

/// The keys of objects; values of sensitive attributes are masked.
package enum KeyText {
  /// A key on one line: `order.number 1001, article A-100`; the id where there is no key.
  package static func line(_ key: ObjectKey, of object: ObjectID? = nil) -> String {
    if key.parts.isEmpty { return object.map { "_pk \($0.primaryKey)" } ?? "no key" }
    return key.parts.map { part in
      let value = ShownValue.text(part.value, part.attribute)
      return "\(VisibleText.of(part.path)) \(value.map(VisibleText.of) ?? ShownValue.null)"
    }.joined(separator: ", ")
  }

  /// A key as a JSON object: `{"order.number":1001,"article":"A-100"}`.
  package static func json(_ key: ObjectKey) -> String {
    JSONString.object(key.parts.map { ($0.path, ShownValue.json($0.value, $0.attribute)) })
  }
}
