/// The options of the tool, where help of the library names what a request in Swift sets.
enum ToolWords {
  /// Help as a user of the tool follows it.
  static func spelled(_ help: String) -> String {
    var text = help
    for (setting, option) in options { text = text.replacing(setting, with: option) }
    text.replace(/`sourcesByInput\["(.*?)"\] = \["(.*?)"\]`/) { "--source \($0.2)=\($0.1)" }
    text.replace(/`substituting\(\["(.*?)": …\]\)`/) { "-p \($0.1)=…" }
    text.replace(/opening (.*) with `createsFile`/) { "`dragoman import MAP INPUT -d \($0.1)`" }
    return text
  }

  private static let options = [
    ("open the store with `onConflict: .migrate`", "run `dragoman migrate`"),
    ("open another file", "name another file with -d"),
    ("`mode: .upsert`", "--mode upsert"),
    ("`maximumShare`", "--prune-max"),
    ("`maximumRejects`", "--max-rejects"),
    ("`maxRecordSize` under `import:`", "--max-record-size, or `maxRecordSize` under `import:`"),
    ("`maxWaitingSize` under `import:`", "--max-waiting-size, or `maxWaitingSize` under `import:`"),
    ("`resumes`", "--resume"),
    ("`maximumInputByteCount`", "--max-bytes"),
    ("`allowsUnencrypted`", "--allow-http"),
    ("`headers`", "--header FIELD=VARIABLE"),
    ("`entity`", "--entity"),
    ("`isLossy`", "--lossy"),
    ("`drops`", "--drop"),
    ("set `overwrites`", "say --overwrite"),
    ("`overwrites`", "--overwrite"),
  ]
}
