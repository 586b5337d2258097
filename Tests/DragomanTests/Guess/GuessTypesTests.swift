import Testing

@testable import Dragoman
@testable import DragomanGraph

/// The types and formats that values tell, an attribute a case.
@Suite struct GuessTypesTests {
  /// The line of the attribute `v` that is guessed from values of JSON, without its name and comment.
  private func line(_ values: String, name: String = "v") throws -> (
    entries: String, remark: String
  ) {
    let elements = values.split(separator: "|").enumerated().map {
      "{\"id\":\"k\($0.offset)\",\"\(name)\":\($0.element)}"
    }
    let guess = try MapGuess(of: [
      .bytes(Array("[\(elements.joined(separator: ","))]".utf8), name: "things.json")
    ])
    let property = NameWords(name).property
    let line = guess.text.split(separator: "\n").first { $0.hasPrefix("      \(property): ") } ?? ""
    let parts = line.split(separator: "#", maxSplits: 1).map(String.init)
    let text = (parts.first ?? "").dropFirst(property.count + 8)
    return (
      text.trimmingSpaces, parts.count > 1 ? parts[1].dropFirst().trimmingSpaces : ""
    )
  }

  @Test(
    "A separator that may be the decimal one or divide thousands divides them, and that is told",
    arguments: [
      (#""1,234"|"12,345""#, #"{ type: int64, numbers: { decimal: ".", group: "," } }"#, "comma"),
      (#""1,234"|"999""#, #"{ type: int64, numbers: { decimal: ".", group: "," } }"#, "comma"),
      (
        #""1.234 €"|"12.345 €""#,
        #"{ type: decimal, numbers: { decimal: ",", group: ".", style: accounting } }"#, "point"
      ),
      (
        #""$1,234"|"$12,345""#,
        #"{ type: decimal, numbers: { decimal: ".", group: ",", style: accounting } }"#, "comma"
      ),
    ]
  )
  func thousands(values: String, entries: String, separator: String) throws {
    let line = try line(values)
    #expect(line.entries == entries)
    #expect(line.remark.contains("ambiguous: the \(separator) may be the decimal one"))
  }

  @Test("A separator that only one notation has so is not called ambiguous")
  func unambiguous() throws {
    for values in [#""1,234"|"0,5""#, #""1,234.5"|"2""#, #""1,234"|"1,234,567""#] {
      #expect(try !line(values).remark.contains("ambiguous"), "\(values)")
    }
    #expect(try line(#""1,234"|"0,5""#).entries.contains("decimal: \",\""))
    // Shares, and amounts beside numbers with points.
    #expect(try line(#""6.875%"|"7.125%""#).entries.contains("decimal: \".\""))
    let feed = #"[{"id":"a","v":"$3.459","w":"1,234.5"},{"id":"b","v":"$3.519","w":"2.5"}]"#
    let guess = try MapGuess(of: [.bytes(Array(feed.utf8), name: "f.json")])
    #expect(guess.text.contains(#"{ type: decimal, scale: 3, numbers: { decimal: "."#))
  }

  @Test(
    "A plain point beside decimal commas is told, and is the decimal one of degrees and where others show it",
    arguments: [
      ("lat", "52.520", "48.137", "{ type: decimal }", ""),
      ("w", "1.250", "0.750", "{ type: decimal }", ""),
      (
        "n", "1.204", "12.350", #"{ type: int64, numbers: { decimal: ",", group: "." } }"#,
        "# ambiguous here: the comma is the decimal one elsewhere in the feed"
      ),
    ]
  )
  func points(name: String, first: String, second: String, entries: String, remark: String) throws {
    let csv = "id;price;\(name)\n1;5,00;\(first)\n2;7,50;\(second)\n"
    let text = try MapGuess(of: [.bytes(Array(csv.utf8), name: "d.csv")]).text
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("      \(name):") })
    #expect(line.contains(entries), "\(line)")
    #expect(remark.isEmpty ? !line.contains("#") : line.contains(remark), "\(line)")
  }

  @Test("Where commas and points are decimal ones, a point that may divide thousands is told")
  func commasAndPoints() throws {
    let csv = "id;price;w;n\n1;5,00;0.750;1.204\n2;7,50;1.250;12.350\n"
    let text = try MapGuess(of: [.bytes(Array(csv.utf8), name: "d.csv")]).text
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("      n:") })
    #expect(line.contains("{ type: decimal }"))
    #expect(line.contains("# ambiguous: the point may divide thousands"))
  }

  @Test("Null is not written where an export of XML cannot say it beside attributes")
  func nullElements() throws {
    func text(_ attributes: String) throws -> String {
      let feed = """
        <l xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><p id="1"><v xsi:nil="true"/></p>
        <p id="2"><v\(attributes)>5</v></p></l>
        """
      return try MapGuess(of: [.bytes(Array(feed.utf8), name: "d.xml")]).text
    }
    #expect(try text("").contains("nulls: write"))
    #expect(try !text(" cur=\"EUR\"").contains("nulls: write"))
  }

  @Test("Amounts of several currencies are texts")
  func currencies() throws {
    for values in [#""5 EUR"|"6 USD""#, #""€5"|"$6""#] {
      let line = try line(values)
      #expect(line.entries == "v" && line.remark.contains("several currencies"), "\(values)")
    }
    #expect(try line(#""5.50 EUR"|"6.00 EUR""#).entries.contains("accounting"))
  }

  @Test("Digits behind microseconds are told to be cut")
  func nanoseconds() throws {
    let texts = ["2024-01-02T03:04:05.123456789Z", "2024-01-02T03:04:05.1234567+02:00"]
    for text in texts {
      #expect(try line("\"\(text)\"").remark.contains("digits behind microseconds are cut"))
    }
    #expect(try line(#""2024-01-02T03:04:05.123456Z""#).remark == "")
  }

  @Test("A nested member beside one with a point in its name has a path of its own")
  func pointedNames() throws {
    let feed = #"[{"id":1,"a.b":"x","a":{"b":"y"}},{"id":2,"a.b":"z","a":{"b":"w"}}]"#
    let guess = try MapGuess(of: [.bytes(Array(feed.utf8), name: "f.json")])
    #expect(guess.text.contains("/a.b") && guess.text.contains("/a/b"))
  }

  @Test(
    "What all values agree with is the type",
    arguments: [
      (#""007"|"010""#, "v"),
      (#""12"|"345""#, "v"),
      (#""+4712345678"|"+4787654321""#, "v"),
      (#""+47 123 456"|"+49.151.234""#, "v"),
      (
        #""+1.5"|"-0.3""#,
        #"{ type: decimal, scale: 1, numbers: { decimal: ".", group: "," } }"#
      ),
      (#""1.10"|"1.9"|"1.1""#, "v"),
      (#""10.0"|"59.95""#, #"{ type: decimal, numbers: { decimal: "." } }"#),
      ("9007199254740993|1", "{ type: int64 }"),
      ("18446744073709551615|1", "{ type: decimal }"),
      ("1.5|2", "{ type: double }"),
      ("1234567890.12345678|2", "{ type: decimal }"),
      ("true|false", "{ type: bool }"),
      (#""true"|"false""#, #"{ type: bool, trueValues: ["true"], falseValues: ["false"] }"#),
      (#""yes"|"no""#, #"{ type: bool, trueValues: ["yes"], falseValues: ["no"] }"#),
      (#""yes"|"yes""#, "v"),
      (#""2024-05-01"|"2024-05-02""#, "{ type: date }"),
      (#""2024-02-30"|"2024-05-02""#, "v"),
      (#""2024-05-01T10:00:00Z"|"2024-05-02T10:00:00.5+02:00""#, "{ type: timestamp }"),
      (
        #""2024-05-01 10:00:00"|"2024-05-02 11:00:00""#,
        #"{ type: timestamp, dates: ["yyyy-MM-dd HH:mm:ss"] }"#
      ),
      (
        #""2024-05-01"|"2024-05-02T10:00:00Z""#,
        "{ type: timestamp, dates: [iso8601, iso8601-date] }"
      ),
      (#""2024-05-01"|"31.12.2024""#, "{ type: date, dates: [iso8601-date, dd.MM.yyyy] }"),
      (#""31/12/2024"|"12/31/2024""#, "v"),
      (#""31.12.2024"|"01.05.2024""#, "{ type: date, dates: [dd.MM.yyyy] }"),
      (#""31/12/2024"|"01/05/2024""#, "{ type: date, dates: [dd/MM/yyyy] }"),
      (#""12/31/2024"|"01/05/2024""#, "{ type: date, dates: [MM/dd/yyyy] }"),
      (
        #""Mon, 05 Jan 1998 15:59:20 +0000"|"Tue, 06 Jan 1998 15:59:20 +0000""#,
        "{ type: timestamp, dates: [rfc2822] }"
      ),
      (#""14:30"|"09:05""#, #"{ type: time, dates: ["HH:mm"] }"#),
      (
        #""1.234,50"|"12,00""#,
        #"{ type: decimal, scale: 2, numbers: { decimal: ",", group: "." } }"#
      ),
      (#""3.20"|"14.50""#, #"{ type: decimal, numbers: { decimal: "." } }"#),
      (
        #""19 %"|"5,5 %""#,
        #"{ type: decimal, numbers: { decimal: ",", group: ".", style: percent } }"#
      ),
      (
        #""550e8400-e29b-41d4-a716-446655440000"|"550e8400-e29b-41d4-a716-446655440001""#,
        "{ type: uuid }"
      ),
      (#""550E8400-e29b-41d4-a716-446655440000"|"550e8400-e29b-41d4-a716-446655440001""#, "v"),
      (#""https://a.example/1"|"https://a.example/2""#, "{ type: url }"),
      (#""P1D"|"PT5M""#, "{ type: duration }"),
      (#"5|"N/A""#, "{ type: int64, strings: { nulls: [N/A] } }"),
      (
        #""2024-05-01"|"0000-00-00"|"""#,
        #"{ type: date, strings: { emptyAsNull: true, nulls: ["0000-00-00"] } }"#
      ),
      (#"5|"x""#, "{ coerce: true }"),
      (#""12E4"|"13E4""#, "v"), ("1e4000|1", "{ type: json }"), ("1.5e3|1", "{ type: decimal }"),
      ("[1,2,3]|[]", "{ type: json }"),
      (#"null|null"#, "{ type: json }"),
    ]
  )
  func types(values: String, expected: String) throws {
    #expect(try line(values).entries == expected)
  }

  @Test("An epoch is told by the name and the range together")
  func epochs() throws {
    #expect(
      try line("1793836800123|1793836800124", name: "updated").entries
        == "{ type: timestamp, dates: [unix-ms] }"
    )
    #expect(
      try line("1793836800|1793836801", name: "created_at").entries
        == "{ from: created_at, type: timestamp, dates: [unix] }"
    )
    #expect(try line("1793836800123|1793836800124", name: "serial").entries == "{ type: int64 }")
    #expect(try line("12|13", name: "time").entries == "{ type: int64 }")
    let mixed = try line("1700000000|1700000000123", name: "created_at")
    #expect(mixed.entries == "{ from: created_at, type: int64 }")
    #expect(mixed.remark == "times since 1970 in several units, by the name: kept as numbers")
    // A zero says that there is no time yet.
    #expect(
      try line("0|1700000000123", name: "updated").entries
        == "{ type: timestamp, dates: [unix-ms] }"
    )
  }

  @Test("Texts in CSV that lose what they say as numbers stay texts: signs, and zeros of versions")
  func textsOfCSV() throws {
    let csv =
      "id,phone,version,width,price\nx,+4712345678,1.10,1.5,1.10\ny,+4787654321,1.9,2.25,2.5\n"
    let map = try MapGuess(of: [.bytes(Array(csv.utf8), name: "d.csv")]).map
    #expect(
      map.entities[0].attributes.map(\.type) == [.string, .string, .string, .decimal, .decimal]
    )
  }

  @Test("What the values cannot tell is a remark: day and month, few values, words for nothing")
  func remarks() throws {
    let date = try line(#""03/04/2024"|"05/06/2024""#)
    #expect(date.entries == "{ type: date, dates: [dd/MM/yyyy] }")
    #expect(date.remark == "ambiguous: no day is above 12, it may be MM/dd/yyyy")
    let words = (0..<12).map { $0 % 3 == 0 ? "\"open\"" : "\"closed\"" }.joined(separator: "|")
    #expect(try line(words).remark == "few values, type: enum? open 4, closed 8")
    #expect(try line(#""a"|"b"|"N/A""#).remark.hasPrefix("N/A 1 times"))
    #expect(try line("0|1").remark == "0 and 1 alone: type: bool takes them, too")
    #expect(try line("1|1").remark == "")
    #expect(
      try line(#""31/12/2024"|"12/31/2024""#).remark
        == "dates, with the day before the month in some and behind it in others: kept as text"
    )
    #expect(
      try line(#""2024-05-01"|"2024-05-02T10:00:00Z""#).remark
        == "some are dates alone: read as midnight"
    )
    #expect(try line(#""x1,x2"|"x3""#, name: "codes").remark == #"lists, divided by ",""#)
  }

  @Test(
    "CSV whose first row is no row of names is told",
    arguments: ["1,Ada,2024-01-05", "a,-1.5,b"]
  )
  func withoutHeader(row: String) throws {
    let remark = "# The first row is taken for the names of the columns, but"
    let bare = "\(row)\n2,Eve,2024-01-06\n"
    let text = try MapGuess(of: [.bytes(Array(bare.utf8), name: "d.csv")]).text
    #expect(text.contains(remark))
    let named = "id,name,2nd\n\(row)\n"
    #expect(try !MapGuess(of: [.bytes(Array(named.utf8), name: "d.csv")]).text.contains(remark))
  }

  @Test("CSV whose first line nothing divides, though it is named as prose is, is told")
  func undivided() throws {
    let remark = "# There is one column: nothing divides the first line as the others. Is it CSV?"
    for text in ["Report of all\n\nid;name\n1;x\n", "hello world\nthis is no csv\n"] {
      let guess = try MapGuess(of: [.bytes(Array(text.utf8), name: "d.csv")])
      #expect(guess.text.contains(remark))
    }
    let words = try MapGuess(of: [.bytes(Array("word\na b\nc d\n".utf8), name: "d.csv")])
    #expect(!words.text.contains(remark))
  }

  @Test("Digits alone have the forms of each notation, however many they are")
  func digits() throws {
    let reader = try TextFormReader()
    func forms(_ text: String, among wanted: TextForms = .all) -> TextForms {
      Array(text.utf8).withUnsafeBytes { reader.forms(of: $0, among: wanted) }
    }
    for count in 1...18 {
      let text = String("987654321012345678".prefix(count))
      var expected: TextForms = .whole
      for (place, format) in TextForms.numberFormats.enumerated() {
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 8)
        defer { output.deallocate() }
        let length = try Array(text.utf8).withUnsafeBytes {
          try NumberReader(format: format).plain($0, into: output)
        }
        if length > 0 { expected.insert(.number(place)) }
      }
      #expect(forms(text).isSuperset(of: expected) && forms(text).isNumber)
      #expect(forms(text, among: [.number(1), .whole]) == [.number(1), .whole])
    }
  }

  @Test("Where there is no room for all values, the first tell whether they differ")
  func room() throws {
    func values(_ texts: [String]) throws -> ValueProfile {
      let profile = ValueProfile()
      let reader = try TextFormReader()
      let budget = HashBudget(free: 64)
      for text in texts {
        var text = text
        _ = text.withUTF8 { profile.see(text: UnsafeRawBufferPointer($0), reader, budget) }
      }
      return profile
    }
    let numbers = (0..<100).map(String.init)
    #expect(try values(numbers).distinct == nil)
    #expect(try values(numbers).firstDistinctCount == 48)
    #expect(try values(["0"] + numbers).firstDistinctCount == 0)
    #expect(try values(Array(numbers.prefix(40))).distinctCount == 40)
  }

  @Test("Amounts have a scale, and a column takes the day of another that tells")
  func conventions() throws {
    #expect(try line("12.5|3.20", name: "price").entries == "{ type: decimal, scale: 2 }")
    let csv = "id,a,b\nx,03/04/2024,03/25/2024\ny,05/06/2024,12/01/2024\n"
    let text = try MapGuess(of: [.bytes(Array(csv.utf8), name: "d.csv")]).text
    #expect(text.contains("a:  { type: date, dates: [MM/dd/yyyy] }"))
    #expect(text.contains("day and month stand as elsewhere in the feed"))
  }
}

extension StringProtocol {
  fileprivate var trimmingSpaces: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
