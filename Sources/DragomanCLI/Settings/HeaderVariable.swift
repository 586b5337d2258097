import Foundation

/// A header field for the server of a URL, and the environment variable that has its value:
/// `Authorization=API_TOKEN`.
struct HeaderVariable {
  /// The field's name.
  let field: String
  /// The variable's name.
  let variable: String

  /// - Parameter text: The field, `=`, and the variable; nil for any other text, which may be the secret itself.
  init?(_ text: String) {
    guard
      let parts = text.wholeMatch(of: /([A-Za-z0-9!#$%&'*+.^_`|~-]+)=([A-Za-z_][A-Za-z0-9_]*)/)?
        .output
    else {
      return nil
    }
    field = String(parts.1)
    variable = String(parts.2)
  }

  /// The variable's value; nil where it is not set, or empty.
  var value: String? {
    ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
  }
}
