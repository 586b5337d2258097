/// What the console says of the command that starts it: it is no library, and nothing else of it names an option.
enum ConsoleWords {
  static let anotherPort =
    "end what listens there, or give another with --port; --port 0 takes one that is free"
  static let anotherAddress = "give an address of this machine with --listen"
  static let mapToRetry = "Start the console with --map FILE to try it again."
  static let importToRetry =
    "Start the console with --allow-import to mend it here and try it again."
  static let mapToImport = "The console was started without a map: start it with --map FILE."
  static let onlyShows =
    "This console only shows. Start it with --allow-import to import from here."
  static let largerUpload =
    "give the file's path on the server instead, or start the server with a larger --upload-limit"
  static let allowImport = "start it with --allow-import"
  static let map = "start it with --map FILE"
  static let addressWithToken = "open the address that `dragoman serve` has printed, with its token"
  static let address = "open the address that `dragoman serve` has printed"

  /// Help of the library, which names what a request in Swift sets, as who looks at a page follows it.
  static func spelled(_ help: String) -> String {
    var text = help
    for (setting, words) in settings { text = text.replacing(setting, with: words) }
    text.replace(/give it one: `substituting\(\["(.*?)": …\]\)`/) {
      "write a value in place of $\($0.1)"
    }
    text.replace(/`sourcesByInput\["(.*?)"\] = \["(.*?)"\]`/) { "the source \($0.2)" }
    text.replace(/opening (.*) with `createsFile`/) { "`dragoman import MAP INPUT -d \($0.1)`" }
    return text
  }

  private static let settings = [
    ("open the store with `onConflict: .migrate`", "run `dragoman migrate`"),
    ("`mode: .upsert`", "the mode upsert"),
    ("`maximumShare`", "--prune-max of `dragoman import`"),
    ("`maximumRejects`", "`max` of `rejects` under `import:` of the map"),
    ("`resumes`", "--resume of `dragoman import`"),
    ("`maximumInputByteCount`", "--max-bytes of `dragoman import`"),
    ("`isLossy`", "--lossy of `dragoman export`"),
    ("set `overwrites`", "remove it"),
  ]
}
