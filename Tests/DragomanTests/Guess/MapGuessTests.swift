import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Maps guessed from every sample that is here.
@Suite struct MapGuessTests {
  /// A sample, and the members that its export spells in another way.
  struct Sample: Sendable, CustomTestStringConvertible {
    let path: String
    var changed: Set<String> = []
    var testDescription: String { path }

    init(_ path: String, _ changed: Set<String> = []) {
      self.path = path
      self.changed = changed
    }
  }

  static let samples = [
    Sample("people.json", [".people.updated"]), Sample("people.ndjson"), Sample("people.xml"),
    Sample("people-partial.json"),
    Sample("orders.json"), Sample("orders-changes.json"), Sample("fixtures.json"),
    Sample("observations.json"),
    Sample(
      "invoices.json",
      ["issued", "net", "vat", "gross", "paris_net"].reduce(into: []) {
        $0.insert(".ledger.entries.\($1)")
      }
    ), Sample("stations.csv"),
    Sample("catalogue.xml"),
  ]

  @Test(
    "A map guessed from a sample passes check, imports it whole, again unchanged, and exports it",
    arguments: samples
  )
  func sampleComesBack(sample: Sample) async throws {
    let path = DocumentFile.root.appending(path: "SampleData/\(sample.path)").path
    let circle = try await GuessCircle([.file(path)])
    if let changed = circle.changedMembers {
      #expect(changed == sample.changed, "\(circle.guess.text)")
    }
  }

  static let feeds = [
    Sample("chinook/ChinookData.json"), Sample("earthquakes/earthquakes.json"),
    Sample("corpora-cc0/atus_activities.json"), Sample("corpora-cc0/christian_saints.json"),
    Sample("corpora-cc0/elements.json"),
    Sample("corpora-cc0/jeopardy_questions.json", [".questions.value"]),
    Sample("corpora-cc0/planets.json"), Sample("corpora-cc0/us_cities.json"),
    Sample("corpora-cc0/us_presidents.json"), Sample("football/2010-11_en.1.json"),
    Sample("football/2017-18_uefa.cl.json"), Sample("football/2024-25_en.1.json"),
    Sample("football/2024-25_uefa.cl.json"), Sample("football/2025-26_en.1.json"),
    Sample("osm/all.osm"), Sample("osm/misc/multipolygon_testcases.osm"),
    Sample("osm/misc/64bit_ids.osm"),
    Sample("musicbrainz/search-artist.xml"), Sample("musicbrainz/search-release.xml"),
    Sample("musicbrainz/release_fe29e7f0-eb46-44ba-9348-694166f47885-recordings.xml"),
  ]

  @Test("A map guessed from a feed of the world does so, too", arguments: feeds)
  func feedComesBack(sample: Sample) async throws {
    let file = DocumentFile.root.appending(path: "../shared/feeds/\(sample.path)").standardized
    guard FileManager.default.fileExists(atPath: file.path) else {
      print("skipped: there is no ../shared/feeds/\(sample.path)")
      return
    }
    let circle = try await GuessCircle([.file(file.path)])
    if let changed = circle.changedMembers {
      #expect(changed == sample.changed, "\(circle.guess.text)")
    }
  }
}
