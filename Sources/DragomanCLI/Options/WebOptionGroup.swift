import ArgumentParser
import Dragoman
import Foundation

/// How inputs are fetched that are URLs: `--header`, `--timeout`, `--retries`, `--allow-http`, `--certificates`.
struct WebOptionGroup: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      A header field for the server of a URL, with the environment variable that has its value: \
      Authorization=API_TOKEN. Repeatable.
      """,
      valueName: "field=variable"
    )
  )
  var header: [String] = []

  @Option(
    help: ArgumentHelp("Give a URL up when nothing comes for that long.", valueName: "seconds")
  )
  var timeout: Int?

  @Option(help: ArgumentHelp("Ask again that often after faults that may pass.", valueName: "n"))
  var retries: Int?

  @Flag(
    help: "Take feeds by http from other machines: anybody on the way can read and change them."
  )
  var allowHttp = false

  @Option(
    help: ArgumentHelp("Trust these certificates in place of the system's.", valueName: "file"),
    completion: .file(extensions: ["pem", "crt"])
  )
  var certificates: String?

  func validate() throws {
    for field in header where !Self.isHeader(field) {
      // What is not of this form may be the secret itself.
      throw ValidationError(
        "--header is FIELD=VARIABLE, the name of a field and that of an environment variable."
      )
    }
    for variable in header.map(Self.variable) where !Self.isSet(variable) {
      throw ValidationError("The environment variable \(variable) of --header is not set.")
    }
    if let timeout, !(1...3600).contains(timeout) {
      throw ValidationError("--timeout must be 1 to 3600.")
    }
    if let retries, !(0...20).contains(retries) {
      throw ValidationError("--retries must be 0 to 20.")
    }
  }

  /// Whether a text is the name of a header field, `=`, and the name of an environment variable.
  static func isHeader(_ text: String) -> Bool {
    text.wholeMatch(of: /[A-Za-z0-9-]+=[A-Za-z_][A-Za-z0-9_]*/) != nil
  }

  /// The environment variable that a header names.
  static func variable(of header: String) -> String {
    String(header[(header.firstIndex(of: "=") ?? header.startIndex)...].dropFirst())
  }

  /// Whether an environment variable has a value that is not empty.
  static func isSet(_ variable: String) -> Bool {
    ProcessInfo.processInfo.environment[variable]?.isEmpty == false
  }

  /// The options as an import takes them.
  func options() -> WebOptions {
    var options = WebOptions(allowsUnencrypted: allowHttp)
    if let timeout { options.timeout = timeout }
    if let retries { options.retryCount = retries }
    options.certificatesFile = certificates
    for field in header {
      let name = String(field.prefix { $0 != "=" })
      options.headers[name] = ProcessInfo.processInfo.environment[Self.variable(of: field)]
    }
    return options
  }
}
