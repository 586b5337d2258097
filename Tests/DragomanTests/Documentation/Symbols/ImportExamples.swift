import Dragoman
import DragomanGraph
import Foundation

/// The examples of `Dragoman`'s symbols, besides those of typed values: compiled, not run.
///
/// The parameters of a function are what its example takes for granted.
private enum ImportExamples {
  // MARK: Maps

  static func maps() throws {
    // docs: begin map
    let map = try ImportMap(contentsOf: "Maps/people.map.yaml")
    // docs: end
    @Lines func lines() throws {
      // docs: begin outlook
      map.exportOutlook().losses  // ["Person.phones is left out: …"]
      // docs: end
      // docs: begin spellings
      map.spellingsThatDiffer()  // ["Person.bornOn has several date formats", …]
      // docs: end
      // docs: begin paths
      try ForeignPathParser(format: .json).parse("team_ids[*]")
      try ForeignPathParser(format: .xml, namespaces: ["c": "urn:crm"]).parse("c:name/c:first")
      // docs: end
      // docs: begin formats
      ValueFormat(dates: ["dd.MM.yyyy HH:mm"], timeZone: "Europe/Berlin")
      ValueFormat(values: ["m": "male", "f": "female"], unknown: "other")
      // docs: end
    }
    try lines()
  }

  static func undo(store: SQLiteStore) throws {
    // docs: begin undo
    let report = try store.undoImport()
    if !report.isPossible { print(report.conflicts) }
    // docs: end
  }

  static func guess() throws {
    // docs: begin guess
    let guess = try MapGuess(of: [.file("orders.json")])
    print(guess.text)  // YAML, with comments where the samples leave a doubt
    // docs: end
  }

  static func coverage(map: ImportMap, store: SQLiteStore, request: ImportRequest) async throws {
    // docs: begin coverage
    let (report, coverage) = try await Importer(map: map, store: store).check(request)
    for place in coverage.unread { print(place.path, place.count) }
    // docs: end
    use(report)
  }

  // MARK: Values

  static func values(birthday: Date) {
    // docs: begin value
    let person: ForeignValue = ["id": 7, "name": "Ada", "born": .date(birthday)]
    // docs: end
    // docs: begin record
    var record: ForeignRecord = ["id": 7, "name": "Ada"]
    record["name"] = "Ada Lovelace"  // in its place
    record["born"] = "1815-12-10"  // behind the others
    // docs: end
    use(person, record)
  }

  // MARK: Mappers

  @MapBuilder static var lines: [MapperPart] {
    // docs: begin lines
    Map("ticket_number", to: "ticketNumber")
    Map("salary", to: "salary", numbers: NumberFormat(locale: "en_US"))
    Map("dob", to: "dateOfBirth", dates: ["dd.MM.yyyy"])
    Map("address.city", to: "city")
    Map("name", to: "name") { value in .text((value.string ?? "").uppercased()) }
    Map("sex", to: "gender", format: ValueFormat(values: ["m": "male", "f": "female"]))
    // docs: end
  }

  static func mapper(model: Model, registry: MapperRegistry) throws {
    // docs: begin mapper
    let mapper = try Mapper(for: "Person", in: model, ignoreNullValueOverwrites: true) {
      Map("ticket_number", to: "ticketNumber")
      Map("ss_num", to: "socialSecurityNumber")
      Map("salary", to: "salary", numbers: NumberFormat(locale: "en_US"))
      Map("dob", to: "dateOfBirth", dates: ["yyyy-MM-dd"])
    }
    // docs: end
    // docs: begin mappable
    struct Person: Mappable {
      static var maps: [MapperPart] {
        Map("ticket_number", to: "ticketNumber")
        Map("dob", to: "dateOfBirth", dates: ["yyyy-MM-dd"])
      }
      static var ignoreNullValueOverwrites: Bool { true }
    }
    try registry.register(Person.self)
    // docs: end
    use(mapper)
  }

  // MARK: Imports and exports

  static func importer() async throws {
    // docs: begin importer
    let map = try ImportMap(contentsOf: "Maps/people.map.yaml")
    let store = try SQLiteStore(at: .file("people.db"))
    let report = try await Importer(map: map, store: store).run(
      ImportRequest([.file("SampleData/people.json")])
    )
    // docs: end
    use(report)
  }

  static func closures(map: ImportMap, store: SQLiteStore) {
    // docs: begin closures
    var closures = ClosureRegistry()
    closures.compute("displayName") { record in
      .text("\(record["first"]?.string ?? "") \(record["last"]?.string ?? "")")
    }
    let importer = Importer(map: map, closures: closures, store: store)
    // docs: end
    use(importer)
  }

  static func records(stack: Stack, records: [ForeignValue]) async throws {
    // docs: begin records
    let people = try await stack.import(records, into: "Person")
    // docs: end
    use(people)
  }

  static func exporter() async throws {
    // docs: begin exporter
    let map = try ImportMap(contentsOf: "Maps/people.map.yaml")
    let store = try SQLiteStore(at: .file("people.db"))
    try await Exporter(map: map, store: store).run(ExportRequest(), to: .file("people.json"))
    // docs: end
  }

  static func dictionaries(context: ManagedObjectContext, people: [ManagedObject]) throws {
    // docs: begin dictionaries
    let records = try context.export(people)
    let style = ExportStyle(shape: .flat, nulls: .write)
    let flat = try context.export(people, ExportRequest(style: style))
    // docs: end
    use(records, flat)
  }
}
