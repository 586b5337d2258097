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
    for text in header where HeaderVariable(text) == nil {
      // What is not of this form may be the secret itself.
      throw ValidationError(
        "--header is FIELD=VARIABLE, the name of a field and that of an environment variable."
      )
    }
    for header in header.compactMap(HeaderVariable.init) where header.value == nil {
      throw ValidationError("The environment variable \(header.variable) of --header is not set.")
    }
    if let timeout, !(1...3600).contains(timeout) {
      throw ValidationError("--timeout must be 1 to 3600.")
    }
    if let retries, !(0...20).contains(retries) {
      throw ValidationError("--retries must be 0 to 20.")
    }
  }

  /// The options as an import takes them.
  func options() -> WebOptions {
    var options = WebOptions(allowsUnencrypted: allowHttp)
    if let timeout { options.timeout = timeout }
    if let retries { options.retryCount = retries }
    options.certificatesFile = certificates
    for header in header.compactMap(HeaderVariable.init) {
      options.headers[header.field] = header.value
    }
    return options
  }
}
