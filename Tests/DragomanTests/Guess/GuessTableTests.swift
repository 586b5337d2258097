import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Guesses beside the maps that a person wrote for the same feeds.
@Suite struct GuessTableTests {
  /// Maps by the folder of the repository, feeds by that of the feeds or of the system.
  private static let pairs: [(map: String, feed: String)] = [
    ("Maps/people", "SampleData/people.json"), ("Maps/orders", "SampleData/orders.json"),
    ("Maps/fixtures", "SampleData/fixtures.json"),
    ("Maps/observations", "SampleData/observations.json"),
    ("Maps/invoices", "SampleData/invoices.json"), ("Maps/stations", "SampleData/stations.csv"),
    ("Maps/catalogue", "SampleData/catalogue.xml"),
    ("Tests/MapsByHand/chinook", "../shared/feeds/chinook/ChinookData.json"),
    ("Tests/MapsByHand/earthquakes", "../shared/feeds/earthquakes/earthquakes.json"),
    ("Tests/MapsByHand/elements", "../shared/feeds/corpora-cc0/elements.json"),
    ("Tests/MapsByHand/jeopardy", "../shared/feeds/corpora-cc0/jeopardy_questions.json"),
    ("Tests/MapsByHand/planets", "../shared/feeds/corpora-cc0/planets.json"),
    ("Tests/MapsByHand/cities", "../shared/feeds/corpora-cc0/us_cities.json"),
    ("Tests/MapsByHand/saints", "../shared/feeds/corpora-cc0/christian_saints.json"),
    ("Tests/MapsByHand/activities", "../shared/feeds/corpora-cc0/atus_activities.json"),
    ("Tests/MapsByHand/presidents", "../shared/feeds/corpora-cc0/us_presidents.json"),
    ("Tests/MapsByHand/football", "../shared/feeds/football/2024-25_en.1.json"),
    ("Tests/MapsByHand/football", "../shared/feeds/football/2017-18_uefa.cl.json"),
    ("Tests/MapsByHand/artists", "../shared/feeds/musicbrainz/search-artist.xml"),
    (
      "Tests/MapsByHand/release",
      "../shared/feeds/musicbrainz/release_fe29e7f0-eb46-44ba-9348-694166f47885-recordings.xml"
    ),
    ("Tests/MapsByHand/osm", "../shared/feeds/osm/all.osm"),
    ("Tests/MapsByHand/countries", "/usr/share/iso-codes/json/iso_3166-1.json"),
    ("Tests/MapsByHand/subdivisions", "/usr/share/iso-codes/json/iso_3166-2.json"),
    ("Tests/MapsByHand/former", "/usr/share/iso-codes/json/iso_3166-3.json"),
    ("Tests/MapsByHand/currencies", "/usr/share/iso-codes/json/iso_4217.json"),
    ("Tests/MapsByHand/languages", "/usr/share/iso-codes/json/iso_639-3.json"),
    ("Tests/MapsByHand/scripts", "/usr/share/iso-codes/json/iso_15924.json"),
    ("Tests/MapsByHand/mime", "/usr/share/mime/packages/freedesktop.org.xml"),
    (
      "Tests/MapsByHand/windowsZones",
      "/usr/share/unicode/cldr/common/supplemental/windowsZones.xml"
    ),
    ("Tests/MapsByHand/timeZones", "/usr/share/unicode/cldr/common/bcp47/timezone.xml"),
    (
      "Tests/MapsByHand/likelySubtags",
      "/usr/share/unicode/cldr/common/supplemental/likelySubtags.xml"
    ),
  ]

  @Test(
    "A guess finds 95 % of the attributes of a person's maps, and 88 % of keys and relationships"
  )
  func table() throws {
    var attributes = MapComparison.Share()
    var keys = MapComparison.Share()
    var relationships = MapComparison.Share()
    var lines = [
      "| feed | attributes | keys | relationships | not as a person would |",
      "|---|---|---|---|---|",
    ]
    var isWhole = true
    for pair in Self.pairs {
      let feed =
        pair.feed.hasPrefix("/")
        ? URL(fileURLWithPath: pair.feed)
        : DocumentFile.root.appending(path: pair.feed).standardized
      guard FileManager.default.fileExists(atPath: feed.path) else {
        print("skipped: there is no \(pair.feed)")
        if pair.feed.hasPrefix("..") { isWhole = false }
        continue
      }
      let person = try ImportMap(
        contentsOf: DocumentFile.root.appending(path: pair.map + ".map.yaml").path
      )
      let guess = try MapGuess(of: [.file(feed.path)])
      let comparison = MapComparison(person.only(guess.map.sources.first?.format), guess.map)
      attributes = attributes + comparison.attributes
      keys = keys + comparison.keys
      relationships = relationships + comparison.relationships
      lines.append(
        "| \(feed.lastPathComponent) | \(comparison.attributes.text) | \(comparison.keys.text)"
          + " | \(comparison.relationships.text) | \(comparison.missed.joined(separator: "; ")) |"
      )
    }
    lines.append(
      "| all | \(attributes.text) | \(keys.text) | \(relationships.text) | |"
    )
    if let path = ProcessInfo.processInfo.environment["DRAGOMAN_GUESS_TABLE"] {
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
    }
    let table = Comment(rawValue: lines.joined(separator: "\n"))
    // Of a few feeds one key more or less is several percent.
    #expect(attributes.percentage >= (isWhole ? 95 : 90), table)
    // Where nothing names a record for sure, a guess takes its place, and a person knows better.
    #expect((keys + relationships).percentage >= (isWhole ? 88 : 73), table)
  }
}

extension ImportMap {
  /// The map with the sources of one format.
  fileprivate func only(_ format: ForeignFormat?) -> ImportMap {
    var map = self
    map.sources.removeAll { $0.format != format }
    return map
  }
}
