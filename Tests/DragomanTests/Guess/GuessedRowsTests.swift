import Testing

@testable import Dragoman

/// How the rows of a text are told, and what is said where they are not as they should be.
@Suite("Rows of samples") struct GuessedRowsTests {
  private func guess(_ text: String, _ name: String) throws -> MapGuess {
    try MapGuess(of: [.bytes(Array(text.utf8), name: name)])
  }

  @Test(
    "What divides the cells is told by all lines, by a line that states it, and said where the name says otherwise",
    arguments: [
      ("a.csv", "Name;Preis, EUR\nA;1,50\nB;2,50\n", ";", ["Name", "Preis, EUR"]),
      (
        "a.csv", "Preis, EUR;Gewicht, kg\n1,50;2,5\n2,50;3,5\n", ";", ["Preis, EUR", "Gewicht, kg"]
      ),
      ("a.csv", "id,name,lat;lon\n1,a,1;2\n2,b,2;3\n", nil, ["id", "name", "lat;lon"]),
      ("a.csv", "sep=;\r\nid;naam\r\n1;Jan\r\n2;\"Kees; jr\"\r\n", ";", ["id", "naam"]),
      ("t.tsv", "id,name\n1,a\n2,b\n", ",", ["id", "name"]),
    ]
  )
  func separators(name: String, text: String, separator: String?, columns: [String]) throws {
    let map = try guess(text, name).map
    #expect(map.sources[0].separator == separator)
    let paths = map.entities[0].attributes.map { $0.from?.paths(in: .csv).first?.text ?? $0.name }
    #expect(paths.filter { !$0.hasPrefix("$") } == columns)
  }

  @Test("The names of the columns once more are no values, and are told")
  func repeatedHeader() throws {
    let guess = try guess("id,name\n1,a\n2,b\nid,name\n3,c\n", "a.csv")
    #expect(guess.map.entities[0].attributes.first?.type == .int64)
    #expect(guess.warnings.contains { $0.hasPrefix("1 row is the names of the columns once more") })
  }

  @Test("What stands above the names of the columns is told with the first row that does not fit")
  func preamble() throws {
    let error = #expect(throws: ReadError.self) {
      try guess("# export\nid,name\n1,a\n2,b\n", "a.csv")
    }
    #expect(
      error?.message.contains("Line 2: The row has 2 cells") == true,
      "\(error?.message ?? "")"
    )
    #expect(error?.help?.contains("take out what stands above it") == true)
  }

  @Test(
    "A table of lists is told: it is one record",
    arguments: [
      #"{"columns":["id","n"],"rows":[[1,"a"],[2,"b"]]}"#, #"{"id":[1,2,3],"n":["a","b","c"]}"#,
    ]
  )
  func tables(text: String) throws {
    #expect(try guess(text, "t.json").warnings.contains { $0.contains("looks like a table") })
  }

  @Test("A record with a matrix is no table")
  func matrix() throws {
    let text = #"{"type":"LineString","coordinates":[[1.5,2.5],[3.5,4.5]]}"#
    #expect(try !guess(text, "t.json").warnings.contains { $0.contains("looks like a table") })
  }

  @Test("Two members with codes for names are a dictionary of records")
  func twoCodes() throws {
    let text =
      #"{"date":"2024-01-01","rates":{"USD":{"buy":1.5,"sell":2.5},"EUR":{"buy":3.5,"sell":4.5}}}"#
    #expect(try guess(text, "r.json").map.sources[0].records?.text == "/rates/*")
  }
}
