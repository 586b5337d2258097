import Foundation
import Testing

/// `dragoman fetch` as a user runs it: groups, pages, files, explanations.
@Suite("dragoman fetch, tables and pages") struct FetchTableTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities:
        Person:
          unique: id
          attributes:
            id: { type: int32 }
            city: city
            pay: { type: decimal, scale: 2 }
            born: { type: date }
            iban: { sensitive: true }
          relationships: { company: { entity: Company, kind: toOne, from: company } }
          discriminator: { from: kind, values: { boss: Boss } }
        Boss: { parent: Person, attributes: { title: title } }
        Company: { unique: code, attributes: { code: code, size: { type: int64 } } }
      sources: { p: { format: json, entity: Person } }
      """,
      to: "m.map.yaml"
    )
    try folder.write(
      #"""
      [{"id":1,"city":"Oslo","pay":0.10,"born":"1990-01-01","company":{"code":"A","size":9}},
       {"id":2,"city":"Oslo","pay":0.20,"born":"1980-01-01","iban":"NO93"},
       {"id":3,"city":"Ås\u001b[31m","pay":99999999999999999999.99,"kind":"boss","title":"Dr"},
       {"id":4,"company":{"code":"A"}}, {"id":5,"city":"Oslo","company":{"code":"B"}}]
      """#,
      to: "f.json"
    )
    let made = try folder.run("import", "-q", "m.map.yaml", "f.json", "-d", "p.db")
    #expect(made.status == 0, "\(made.errors)")
  }

  private func fetch(_ arguments: String...) throws -> ToolFolder.Run {
    try folder.run(["fetch", "Person", "-d", "p.db"] + arguments)
  }

  @Test("Groups have a row each, sums are exact, nulls are a group of their own")
  func groups() throws {
    let run = try fetch(
      "--group",
      "city",
      "--count",
      "--sum",
      "pay",
      "--avg",
      "pay",
      "--min",
      "born",
      "--max",
      "born,id"
    )
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.output == #"""
        {"city":null,"count":1,"sum_pay":0.00,"avg_pay":null,"min_born":null,"max_born":null,"max_id":4}
        {"city":"Oslo","count":3,"sum_pay":0.30,"avg_pay":0.15,"min_born":"1980-01-01","max_born":"1990-01-01","max_id":5}
        {"city":"Ås\u001b[31m","count":1,"sum_pay":99999999999999999999.99,"avg_pay":99999999999999999999.99,"min_born":null,"max_born":null,"max_id":3}

        """#
    )
  }

  @Test("Every format writes groups")
  func formats() throws {
    let options = ["--group", "city", "--count", "--sort", "-count,city", "-f"]
    func output(_ format: String) throws -> String {
      try folder.run(["fetch", "Person", "-d", "p.db"] + options + [format]).output
    }
    #expect(try output("csv") == "city,count\r\nOslo,3\r\n,1\r\nÅs\u{1B}[31m,1\r\n")
    #expect(
      try output("table")
        == "city          count\n────────────  ─────\nOslo              3\n∅                 1\nÅs\\u{1b}[31m      1\n"
    )
    #expect(try output("tsv") == "city\tcount\r\nOslo\t3\r\n\t1\r\nÅs\u{1B}[31m\t1\r\n")
    #expect(try output("json").hasPrefix("[\n{\"city\":\"Oslo\",\"count\":3},\n"))
    #expect(try output("markdown").hasPrefix("| city | count |\n| --- | ---: |\n| Oslo | 3 |\n"))
    #expect(try output("line").hasPrefix(" city = Oslo\ncount = 3\n\n city = ∅\n"))
  }

  @Test("Groups go through relationships, and by one they are told by its key")
  func relationships() throws {
    #expect(
      try fetch("--group", "company", "--count").output == #"""
        {"company":null,"count":2}
        {"company":"A","count":2}
        {"company":"B","count":1}

        """#
    )
    #expect(
      try fetch(
        "--group",
        "company.code",
        "--sum",
        "company.size",
        "--having",
        "count != nil",
        "--count"
      )
      .output == #"""
        {"company.code":null,"count":2,"sum_company.size":0}
        {"company.code":"A","count":2,"sum_company.size":18}
        {"company.code":"B","count":1,"sum_company.size":0}

        """#
    )
    #expect(
      try fetch("--group", "@entity", "--count").output
        == "{\"@entity\":\"Boss\",\"count\":1}\n{\"@entity\":\"Person\",\"count\":4}\n"
    )
  }

  @Test("Aggregates without groups, a condition on groups, distinct rows, and their number")
  func others() throws {
    #expect(
      try fetch("--count", "--sum", "id", "--where", "id < $n", "-p", "n=4").output
        == "{\"count\":3,\"sum_id\":6}\n"
    )
    #expect(
      try fetch("--group", "city", "--count", "--having", "count > $n", "-p", "n=2").output
        == "{\"city\":\"Oslo\",\"count\":3}\n"
    )
    #expect(
      try fetch("--distinct", "--columns", "city", "--sort", "-city", "--limit", "1").output
        == "{\"city\":\"Ås\\u001b[31m\"}\n"
    )
    #expect(try fetch("--distinct", "--columns", "city", "--count").output == "3\n")
    #expect(try fetch("--count", "--json").output == "{\"v\":1,\"count\":5}\n")
    #expect(
      try fetch("--group", "city", "--where", "id > 100", "--count", "-f", "csv").output
        == "city,count\r\n"
    )
  }

  @Test("The number beside an attribute called count has another name")
  func countOfCounts() throws {
    try folder.write(
      """
      version: 1
      entities: { T: { unique: id, attributes: { id: id, count: { type: int32 } } } }
      sources: { t: { format: json, entity: T } }
      """,
      to: "c.map.yaml"
    )
    try folder.write(
      #"[{"id":"a","count":7},{"id":"b","count":7},{"id":"c","count":9}]"#,
      to: "c.json"
    )
    let made = try folder.run("import", "-q", "c.map.yaml", "c.json", "-d", "c.db")
    #expect(made.status == 0, "\(made.errors)")
    let run = try folder.run(
      "fetch",
      "T",
      "-d",
      "c.db",
      "--group",
      "count",
      "--count",
      "--having",
      "@count > 1 AND count < 9",
      "--sort",
      "-@count",
      "-f",
      "csv"
    )
    #expect(run.output == "count,@count\r\n7,2\r\n", "\(run.errors)")
  }

  @Test(
    "What makes no sense is refused with a way out",
    arguments: [
      (["--group", "citty"], "did you mean \"city\"?"), (["--sum", "city"], "sum wants a number"),
      (["--min", "company"], "min wants an attribute"),
      (["--group", "city", "--columns", "id"], "--columns goes with objects"),
      (["--distinct"], "--distinct wants --columns"),
      (["--distinct", "--group", "city"], "leave --distinct out"),
      (["--having", "count > 1"], "--having wants --group"),
      (["--group", "city", "--sort", "cuont", "--count"], "did you mean \"count\"?"),
      (["--group", "city", "--count", "--having", "qqqqqq == 1"], "it has city, count\n"),
      (["--group", "city,city"], "named twice"), (["--next"], "--next wants --limit"),
      (["--next", "--limit", "1", "--count"], "not with --count"),
      (["--json", "-f", "csv"], "exclude each other"),
      (["--after", "abc"], "no place in an order"),
      (["--explain", "-f", "csv"], "exclude each other"), (["-o", ""], "-o wants the name"),
      (["--group", "city", "-p", "x=1"], "no variable $x"),
    ] as [([String], String)]
  )
  func refused(options: [String], words: String) throws {
    let run = try folder.run(["fetch", "Person", "-d", "p.db"] + options)
    #expect(run.status == 64)
    #expect(run.errors.contains(words), "\(run.errors)")
    #expect(run.output.isEmpty)
  }

  @Test("A sum that leaves 64 bits is an error")
  func overflow() throws {
    try folder.write(
      #"[{"id":1,"company":{"code":"C","size":9223372036854775807}},{"id":2,"company":{"code":"C"}}]"#,
      to: "g.json"
    )
    _ = try folder.run("import", "-q", "m.map.yaml", "g.json", "-d", "p.db")
    let run = try fetch("--sum", "company.size")
    #expect(run.status == 64 && run.errors.contains("more than 64 bits"))
  }

  @Test("Groups by a to-one have pages behind the first")
  func pagesOfGroups() throws {
    var groups: [String] = []
    var after: [String] = []
    repeat {
      let run = try folder.run(
        [
          "fetch", "Person", "-d", "p.db", "--group", "company", "--count", "--limit", "1",
          "--next", "-f", "csv",
        ]
          + after
      )
      #expect(run.status == 0, "\(run.errors)")
      groups += run.output.split(separator: "\r\n").dropFirst().map(String.init)
      let place = run.errors.wholeMatch(of: /next: --after ([A-Za-z0-9_-]+)\n/)?.1
      after = place.map { ["--after", String($0)] } ?? []
    } while !after.isEmpty && groups.count < 9
    #expect(groups == [",2", "A,2", "B,1"])
  }

  @Test("Pages by --next and --after, and by the JSON document")
  func pages() throws {
    var ids: [String] = []
    var options = [
      "--sort", "-city,born", "--columns", "id", "--limit", "2", "--next", "-f", "csv",
    ]
    while ids.count < 10 {
      let run = try folder.run(["fetch", "Person", "-d", "p.db"] + options)
      #expect(run.status == 0, "\(run.errors)")
      ids += run.output.split(separator: "\r\n").dropFirst().map(String.init)
      guard let place = run.errors.wholeMatch(of: /next: --after ([A-Za-z0-9_-]+)\n/)?.1 else {
        #expect(run.errors.isEmpty)
        break
      }
      options =
        ["--sort", "-city,born", "--columns", "id", "--limit", "2", "--next", "-f", "csv"]
        + ["--after", String(place)]
    }
    #expect(ids == ["3", "5", "2", "1", "4"])
    struct Document: Decodable, Equatable {
      struct Row: Decodable, Equatable { var id: Int }
      var v: Int
      var entity: String
      var rows: [Row]
      var next: String?
    }
    func document(_ options: String...) throws -> Document {
      let run = try folder.run(
        ["fetch", "Person", "-d", "p.db", "--json", "--columns", "id", "--limit", "3"] + options
      )
      #expect(run.errors.isEmpty)
      return try JSONDecoder().decode(Document.self, from: Data(run.output.utf8))
    }
    let first = try document()
    #expect(first.rows.map(\.id) == [1, 2, 3] && first.v == 1 && first.entity == "Person")
    let second = try document("--after", first.next ?? "")
    #expect(second.rows.map(\.id) == [4, 5] && second.next == nil)
    #expect(try document("--where", "id > 100").rows.isEmpty)
  }

  @Test("The place of an order by a sensitive attribute is not told on standard error")
  func sensitivePlace() throws {
    let run = try fetch("--sort", "-iban", "--columns", "id", "--limit", "1", "--next")
    #expect(run.output == "{\"id\":2}\n")
    #expect(run.errors.hasPrefix("next: --json tells the place"))
    #expect(!run.errors.contains("--after"))
  }

  @Test("The SQL, its values and the plan; values of sensitive attributes are not shown")
  func explanation() throws {
    let run = try fetch(
      "--explain",
      "--where",
      "iban == 'NO93' AND company.code == $c",
      "-p",
      "c=it's \u{1B}",
      "--limit",
      "2",
      "--columns",
      "id"
    )
    #expect(
      run.output == """
        SELECT t0._pk, t0."id", t0._entity
        FROM "Person" AS t0
        LEFT JOIN "Company" AS t1 ON t1._pk = t0."company"
        WHERE (t0."iban" = ? AND t1."code" = ?)
        ORDER BY t0._pk
        LIMIT ? OFFSET ?

        ?1  •••
        ?2  'it''s \\u{1b}'
        ?3  2
        ?4  0

        SEARCH t1 USING COVERING INDEX Company_unique_code (code=?)
        SEARCH t0 USING INDEX Person_company (company=?)

        """
    )
    #expect(try fetch("--explain", "--count").output.hasPrefix("SELECT count(*)\nFROM \"Person\""))
    let json = try fetch("--explain", "--json", "--where", "iban == 'NO93'").output
    #expect(
      json.hasPrefix("{\"plan\":[{\"depth\":0,\"text\":\"SCAN t0\"}]") && !json.contains("NO93")
    )
    #expect(
      try fetch("--explain", "--group", "city", "--count").output == """
        SELECT 0, c0, c1
        FROM (
          SELECT t0."city" AS c0, count(*) AS c1, t0."city" AS g0
          FROM "Person" AS t0
          GROUP BY 3
        )
        ORDER BY g0

        CO-ROUTINE (subquery-1)
          SCAN t0
          USE TEMP B-TREE FOR GROUP BY
        SCAN (subquery-1)
        USE TEMP B-TREE FOR ORDER BY

        """
    )
  }

  @Test("A file is whole, of the format that its name tells, and replaces only what a fetch made")
  func files() throws {
    let run = try fetch("--columns", "id,city", "-o", "out.csv")
    #expect(run.status == 0 && run.output.isEmpty && run.errors == "out.csv: 5 rows\n")
    #expect(try folder.read("out.csv").hasPrefix("id,city\r\n1,Oslo\r\n"))
    #expect(try fetch("--count", "-o", "out.csv").status == 0)
    #expect(try folder.read("out.csv") == "5\n")
    try folder.write("mine\n", to: "mine.csv")
    for path in ["mine.csv", "f.json", "p.db", "m.map.yaml", "./p.db"] {
      let refused = try fetch("-o", path)
      #expect(refused.status == 73, "\(path): \(refused.errors)")
    }
    #expect(try fetch("-o", "p.db", "--overwrite").status == 73)
    #expect(try folder.read("mine.csv") == "mine\n")
    #expect(try fetch("-o", "mine.csv", "--overwrite").status == 0)
    #expect(try fetch("--sum", "city", "-o", "no.csv").status == 64)
    _ = try fetch("-o", "rows.ndjson.gz")
    let plain = try folder.shell("gzip -dc rows.ndjson.gz | wc -l")
    #expect(plain.output.trimmingCharacters(in: .whitespaces) == "5\n")
    #expect(
      try folder.files.filter { !$0.hasPrefix("p.db-") } == [
        "f.json", "m.map.yaml", "mine.csv", "out.csv", "p.db", "rows.ndjson.gz",
      ]
    )
  }
}
