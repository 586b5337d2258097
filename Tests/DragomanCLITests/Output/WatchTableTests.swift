import Testing

@testable import DragomanCLI
@testable import DragomanGraph

@Suite("The table of watch")
struct WatchTableTests {
  private let output = OutputBuffer(descriptor: nil)
  private let attributes = [Attribute(name: "name")]
  private let ids = (1...3).map { ObjectID(entity: "Person", primaryKey: $0) }
  private let snapshot = ResultSnapshot(
    entity: "Person",
    keys: [1, 2, 3],
    starts: [0, 3],
    groups: [[]],
    values: [.null]
  )
  private var values: [ObjectID: [StoredValue]] {
    Dictionary(uniqueKeysWithValues: zip(ids, [["Ada"], ["Bo"], ["Cy"]]))
  }

  /// What was written since the last time, `␛` for the escape character.
  private func written(from start: Int = 0) -> String {
    String(decoding: output.bytes[start...], as: UTF8.self).replacing("\u{1B}", with: "␛")
  }

  @Test("A terminal's screen is taken, drawn over with what changed bold, and given back")
  func terminal() throws {
    var rowCount = 6
    var table = WatchTable(
      "Person",
      attributes,
      to: output,
      isTerminal: true,
      environment: ["TERM": "xterm"],
      size: { (60, rowCount) }
    )
    #expect(table.takesScreen)
    #expect(table.wanted(.snapshot(snapshot), snapshot) == ids)
    try table.show(.snapshot(snapshot), values)
    let title = "␛[HPerson: 3 objects, the first 2, Ctrl-C ends␛[K\nname␛[K\n────␛[K\n"
    #expect(written() == "␛[?1049h␛[?25l␛[2J\(title)Ada␛[K\nBo␛[K\n␛[J")

    var end = output.bytes.count
    let event = ResultEvent.difference(
      ResultDifference([.updated(ids[1], at: ResultPlace(section: 0, row: 1))])
    )
    #expect(table.wanted(event, snapshot) == ids)
    try table.show(event, values)
    #expect(written(from: end) == "\(title)Ada␛[K\n␛[1mBo␛[0m␛[K\n␛[J")

    end = output.bytes.count
    rowCount = 5
    try table.redraw()
    #expect(written(from: end).hasPrefix("␛[HPerson: 3 objects, the first 1, Ctrl-C ends␛[K\n"))

    end = output.bytes.count
    try table.finish()
    try table.finish()
    #expect(written(from: end) == "␛[?25h␛[?1049l")
  }

  @Test("In a pipe a table is printed for an event, and never because a window has another size")
  func pipe() throws {
    var table = WatchTable("Person", attributes, to: output, isTerminal: false, environment: [:])
    #expect(!table.takesScreen)
    _ = table.wanted(.snapshot(snapshot), snapshot)
    try table.show(.snapshot(snapshot), values)
    #expect(written() == "Person: 3 objects\nname\n────\nAda\nBo\nCy\n\n")
    let end = output.bytes.count
    try table.redraw()
    try table.finish()
    #expect(written(from: end) == "")
  }
}
