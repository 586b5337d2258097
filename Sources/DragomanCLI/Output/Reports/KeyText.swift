import Dragoman
import DragomanGraph

/// The keys of objects as `dragoman info` prints them; values of sensitive attributes are masked.
enum KeyText {
  /// A key on one line: `order.number 1001, article A-100`; the id where there is no key.
  static func line(_ key: ObjectKey, of object: ObjectID? = nil) -> String {
    if key.parts.isEmpty { return object.map { "_pk \($0.primaryKey)" } ?? "no key" }
    return key.parts.map { part in
      let value = isMasked(part) ? ImportChange.mask : CellText.text(part.value, part.attribute)
      return "\(CellText.visible(part.path)) \(value.map(CellText.visible) ?? TableRowWriter.null)"
    }.joined(separator: ", ")
  }

  /// A key as a JSON object: `{"order.number":1001,"article":"A-100"}`.
  static func json(_ key: ObjectKey) -> String {
    let members = key.parts.map { part in
      let value =
        isMasked(part)
        ? JSONRowWriter.string(ImportChange.mask) : JSONRowWriter.value(part.value, part.attribute)
      return JSONRowWriter.string(part.path) + ":" + value
    }
    return "{\(members.joined(separator: ","))}"
  }

  private static func isMasked(_ part: ObjectKey.Part) -> Bool {
    part.attribute.isSensitive && part.value != .null
  }
}
