import DragomanGraph
import Testing

@testable import Dragoman

/// Nobody can tell that a run was undone.
///
/// Records with nested ones are written in runs, under one savepoint; where one of them is stopped,
/// the run is undone and written again record by record.
@Suite("A run of records that is undone") struct UndoneRunTests {
  /// Why a record in the middle is stopped.
  enum Stop: String, CaseIterable {
    /// Another object has its `mail`.
    case duplicate
    /// A nested object lacks a required value, and is not there.
    case incomplete
    /// Its identity contains a to-one that comes later.
    case waits
    /// Its target comes later, and without it is no record.
    case held
    /// Its target never comes.
    case lost
    /// What it unlinks is protected.
    case denied
    /// An earlier record of the run is about the same object.
    case repeated
    /// It takes a child away from an object of the run.
    case taken
    /// It is older than what is stored.
    case stale
  }

  private func fixture() throws -> ImportFixture {
    try ImportFixture(
      """
      version: 1
      entities:
        Company:
          unique: id
          attributes: { id: { type: int64 }, name: name }
        Badge:
          unique: [maker, number]
          attributes: { number: { type: int64 } }
          relationships: { maker: { entity: Company, kind: toOne, key: { id: maker } } }
        Tag: { unique: name, attributes: { name: { from: . } } }
        Phone: { unique: kind, attributes: { kind: kind, make: make, number: { required: true } } }
        Seat:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { holder: { entity: Person, kind: toOne, key: { id: holder }, onDelete: deny } }
        Person:
          unique: [[id], [mail]]
          version: at
          attributes: { id: { type: int64 }, mail: mail, at: { type: int64 } }
          relationships:
            company: { entity: Company, kind: toOne }
            seat: { entity: Seat, kind: toOne, onUnlink: delete }
            phones: { entity: Phone, kind: toMany, inverse: owner, ordered: true }
            tags: { entity: Tag, kind: toMany, ordered: true }
            boss: { entity: Person, kind: toOne, key: { id: boss } }
            patron: { entity: Person, kind: toOne, key: { id: patron }, onUnresolved: reject }
            badge: { entity: Badge, kind: toOne }
            friends: { entity: Person, kind: toMany, key: { id: friends }, onUnresolved: pending }
      sources: { json: { format: json, entity: Person } }
      """
    )
  }

  private func person(_ id: Int, phones: String? = nil, more: String = "") -> String {
    let phones = phones ?? #"{"kind":"a\#(id)","number":"1"},{"kind":"b\#(id)","number":"2"}"#
    // Every seventh boss never comes; friends come later, or never.
    return
      #"{"id":\#(id),"mail":"m\#(id)","at":5,"company":{"id":\#(id % 5),"name":"c\#(id % 3)"},"#
      + #""phones":[\#(phones)],"tags":["t\#(id % 4)","u"],"#
      + #""boss":\#(id % 7 == 0 ? 9_000 + id : id / 2),"friends":[\#(id + 3),\#(id * 50)]\#(more)}"#
  }

  /// Two hundred records, one of them to be stopped.
  private func feed(_ stop: Stop, at place: Int) -> String {
    var people = (1...200).map { person($0) }
    let id = place + 1
    let other = place == 0 ? 2 : place
    switch stop {
    case .duplicate:
      people.insert(person(500).replacing("m500", with: "m\(other)"), at: place + 1)
    case .incomplete: people[place] = person(id, phones: #"{"kind":"new","make":"x"}"#)
    case .waits: people[place] = person(id, more: #","badge":{"maker":77,"number":1}"#)
    case .held: people[place] = person(id, more: #","patron":200"#)
    case .lost: people[place] = person(id, more: #","patron":8000"#)
    case .denied: people[place] = person(id, more: #","seat":null"#)
    case .repeated: people.insert(person(other, phones: ""), at: place + 1)
    case .taken: people[place] = person(id, phones: #"{"kind":"a\#(other)","number":"9"}"#)
    case .stale: people.append(person(id).replacing(#""at":5"#, with: #""at":4"#))
    }
    return "[\(people.joined(separator: ","))]"
  }

  /// What an import told, and what it left.
  private func outcome(_ stop: Stop, at place: Int, batchSize: Int) async throws -> [String] {
    let fixture = try fixture()
    if stop == .denied {
      try await fixture.run(
        #"[{"id":\#(place + 1),"at":1,"mail":"x","seat":{"id":1,"holder":\#(place + 1)}}]"#
      )
    }
    var told: [String] = []
    for _ in 1...2 {
      let report = try await fixture.run(feed(stop, at: place)) { $0.options.batchSize = batchSize }
      told += [report.summary] + report.linkSummary + report.issueSummary
      for issue in report.issues.flatMap(\.examples) {
        told.append("\(issue.origin) \(issue.value ?? "") \(issue.key ?? "") \(issue.message)")
      }
    }
    return told + (try contents(of: fixture.store))
  }

  @Test("It tells and leaves the same as record by record", arguments: Stop.allCases)
  func same(_ stop: Stop) async throws {
    for place in [0, 1, 99, 199] {
      let together = try await outcome(stop, at: place, batchSize: 4_096)
      let alone = try await outcome(stop, at: place, batchSize: 1)
      #expect(together == alone, "at \(place)")
      // The feed is no other than it seems: what stops a record is in it.
      let isRejected = [.duplicate, .incomplete, .waits, .lost, .denied].contains(stop)
      #expect(together.first?.contains("rejected 1") == isRejected, "at \(place)")
    }
  }
}
