import Testing

/// What `dragoman import --guess` does with records that nothing names.
@Suite("Guessed keys") struct GuessedKeysTests {
  @Test("Two nights of records without a key are all there, and that the key is unsure is told")
  func nights() throws {
    let folder = try ToolFolder()
    func lines(_ ts: Int, _ texts: String...) -> String {
      texts.map { #"{"ts":\#(ts),"m":"\#($0)"}"# + "\n" }.joined()
    }
    try folder.write(lines(1_700_000_000_123, "a", "a"), to: "l1.ndjson")
    try folder.write(lines(1_700_000_009_123, "a", "b"), to: "l2.ndjson")
    let first = try folder.run("import", "--guess", "l1.ndjson", "-d", "x.db")
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.errors.contains("warning: 1 key is unsure"))
    #expect(first.errors.contains("L1 (file, place)"))
    let second = try folder.run("import", "x.map.yaml", "l2.ndjson", "-d", "x.db", "--json")
    #expect(second.output.contains("\"inserted\":2"), "\(second.output)\(second.errors)")
    let again = try folder.run("import", "x.map.yaml", "l2.ndjson", "-d", "x.db", "--json")
    #expect(again.output.contains("\"unchanged\":2"), "\(again.output)\(again.errors)")
  }
}
