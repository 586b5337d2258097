import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// The worked example of docs/maps.md, imported.
@Suite("The worked example's feeds") struct WorkedExampleTests {
  private static let folder = "\(Shared.folder)/example"

  private func store(
    _ map: ImportMap,
    _ inputs: [ImportInput]
  ) async throws -> (SQLiteStore, [ImportReport]) {
    let store = try SQLiteStore(at: .inMemory)
    var reports: [ImportReport] = []
    for input in inputs {
      reports.append(try await Importer(map: map, store: store).run(ImportRequest([input])))
    }
    return (store, reports)
  }

  /// The contents without `raw`, which holds the foreign record as it came.
  private func comparable(_ store: SQLiteStore) throws -> [String] {
    try contents(of: store).map { line in
      guard let start = line.range(of: "|{"), let end = line.range(of: "}|", options: .backwards)
      else { return line }
      return line[..<start.lowerBound] + "|raw|" + line[end.upperBound...]
    }
  }

  @Test("JSON and XML, once and twice, in order and shuffled, make the same database")
  func same() async throws {
    guard Shared.has("\(Self.folder)/people.json") else { return }
    let map = try ImportMap(contentsOf: "\(Self.folder)/crm.map.yaml")
    let json = ImportInput.file("\(Self.folder)/people.json")
    let xml = ImportInput.file("\(Self.folder)/people.xml")
    let text = try String(contentsOfFile: "\(Self.folder)/people.json", encoding: .utf8)
    let root = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let people = try #require((root?["data"] as? [String: Any])?["people"] as? [[String: Any]])
    let reversed = try JSONSerialization.data(
      withJSONObject: ["data": ["people": Array(people.reversed())]]
    )
    let shuffled = ImportInput.bytes(Array(reversed), name: "shuffled.json")
    let (first, reports) = try await store(map, [json, json])
    let expected = try comparable(first)
    #expect(expected.filter { $0.hasPrefix("people") }.count == 7)
    #expect(reports.map(\.summary) == ["read 3, inserted 2, unchanged 1", "read 3, unchanged 3"])
    for inputs in [[xml], [xml, xml], [json, xml], [shuffled], [shuffled, xml, json]] {
      #expect(try comparable(try await store(map, inputs).0) == expected)
    }
  }
}
