import Testing

/// A text of a test's arguments that may be megabytes long: test runs print all arguments.
struct LongText: CustomTestStringConvertible, ExpressibleByStringInterpolation {
  let text: String

  init(stringLiteral text: String) { self.text = text }

  var testDescription: String {
    let count = text.utf8.count
    return count <= 100
      ? text.debugDescription : "\(count) bytes, \(text.prefix(40).debugDescription)…"
  }
}
