import GRDB
import Testing

@testable import DragomanGraph

/// To Swift a sign with a combining mark behind it is another character; to SQL, CSV and markup it is the sign.
@Suite("Signs of syntax under combining marks") struct EscapedTextTests {
  @Test(
    "Quotes are doubled by their bytes",
    arguments: [
      ("a\"\u{301}b", "\"a\"\"\u{301}b\""), ("\"\u{20DD}", "\"\"\"\u{20DD}\""), ("", "\"\""),
      ("it's \r\n", "\"it's \r\n\""), ("\"\"", "\"\"\"\"\"\""), ("é\u{301}", "\"é\u{301}\""),
    ]
  )
  func quotes(text: String, quoted: String) {
    #expect(Array(text.enclosed(in: "\"").utf8) == Array(quoted.utf8))
  }

  @Test(
    "SQL reads a literal as the value that it spells",
    arguments: [
      .null, .integer(.min), .integer(.max), .integer(0), .real(0.1), .real(-0.0), .real(.infinity),
      .real(-.infinity), .real(.leastNonzeroMagnitude), .real(1e300), .text(""), .text("it's"),
      .text("'\u{301}"), .text("'\u{301}); DROP TABLE t; --"), .text("a\0b"), .text("'\0\u{301}"),
      .text("e\u{301}é\u{1F600}"), .blob([]), .blob([0, 1, 15, 16, 255]),
    ] as [StoredValue]
  )
  func literals(value: StoredValue) throws {
    let stored = try DatabaseQueue().read { database in
      // A text as bytes: it may hold NUL.
      try Row.fetchOne(
        database,
        sql: "SELECT typeof(v), iif(typeof(v) = 'text', CAST(v AS BLOB), v)"
          + " FROM (SELECT \(value.literal) AS v)"
      )
    }
    let row = try #require(stored)
    let found: DatabaseValue = row[1]
    let read: StoredValue =
      switch found.storage {
      case .int64(let integer): .integer(integer)
      case .double(let real): .real(real)
      case .blob(let data) where row[0] == "text": .text(String(decoding: data, as: UTF8.self))
      case .blob(let data): .blob(Array(data))
      case .string, .null: .null
      }
    #expect(read == value)
  }

  @Test(
    "A text is taken apart at its separators, whatever stands behind them",
    arguments: [
      ("a=\u{301}b", ["a", "\u{301}b"]), ("a==b", ["a", "=b"]), ("", [""]), ("=", ["", ""]),
      ("a", ["a"]),
    ]
  )
  func parts(text: String, parts: [String]) {
    #expect(
      text.parts(at: "=", maxSplits: 1).map { Array($0.utf8) } == parts.map { Array($0.utf8) }
    )
  }
}
