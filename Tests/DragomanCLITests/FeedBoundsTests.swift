import Testing

@testable import DragomanCLI

@Suite struct FeedBoundsTests {
  @Test(
    "Numbers of bytes come in steps of 1024",
    arguments: [
      ("1", 1), ("500", 500), ("64K", 65_536), ("2mb", 2 << 20), ("3G", 3 << 30), ("0", nil),
      ("-1", nil), ("", nil), ("K", nil), ("1.5M", nil), ("2T", nil), ("9999999999999999999", nil),
      ("9223372036854775807G", nil), ("٣", nil),
    ]
  )
  func byteCounts(argument: String, value: Int?) {
    #expect(ByteCount(argument: argument)?.value == value)
  }

  @Test("An input that is longer than asked for is refused, by import, diff and check")
  func longInput() throws {
    let folder = try ToolFolder()
    try folder.write(
      "version: 1\nentities: { P: { unique: id, attributes: { id: } } }\n",
      to: "p.map.yaml"
    )
    try folder.write(#"[{"id":"a"},{"id":"b"}]"#, to: "p.json")
    for command in [
      ["import", "p.map.yaml", "p.json", "-d", "p.db"], ["check", "p.map.yaml", "p.json"],
      ["diff", "p.map.yaml", "p.json", "-d", "p.db"],
    ] {
      let refused = try folder.run(command + ["--max-bytes", "22"])
      #expect(refused.status == 65)
      #expect(refused.errors.contains("The input p.json has more than 22 bytes."), "\(refused)")
      #expect(refused.errors.contains("where that is right, raise --max-bytes"), "\(refused)")
      let taken = try folder.run(command + ["--max-bytes", "23"])
      #expect(taken.status != 65, "\(taken)")
    }
    #expect(
      try folder.run("import", "p.map.yaml", "p.json", "-d", "p.db", "--max-bytes", "x").status
        == 64
    )
  }
}
