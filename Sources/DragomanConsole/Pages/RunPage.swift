import Dragoman
import DragomanGraph

/// One import: its numbers, and what it changed.
struct RunPage {
  private struct Fact {
    let name: String
    let value: String
  }

  private struct View {
    let run: RunRow
    let facts: [Fact]
    let changes: [ChangeView]
    let hasChanges: Bool
    let changesNote: String?
    let askCost: String
    let askAddress: String?
    let canUndo: Bool
    let undoAddress: String
    let csrf: String
  }

  /// So many changes are shown.
  static let shownCount = 200
  /// Of a larger file the changes are shown when they are asked for: they are told from copies of it.
  private static let largeByteCount = 64 << 20

  private struct Enough: Error {}

  /// - Throws: `ConsoleError`, 404, where there is no such import.
  static func answer(
    _ number: String,
    _ request: ConsoleRequest,
    _ sources: PageSources
  ) throws -> PageAnswer {
    let isAsked =
      request.value(of: "changes") != nil || sources.database.byteCount < largeByteCount
    let store = try sources.database.open(for: isAsked ? nil : ConsoleDatabase.patience)
    guard let id = Int64(number), let run = try store.history().first(where: { $0.id == id }) else {
      throw ConsoleError(404, "There is no import \(number).", help: "look at the history")
    }
    var found: [ImportChange] = []
    var note: String?
    var isKept = true
    if isAsked, run.status != .running {
      do {
        try store.changes(ofImport: id) { change in
          guard found.count < shownCount else { throw Enough() }
          found.append(change)
        }
        if found.isEmpty { note = "It changed nothing, or was taken back." }
      } catch is Enough {
        note = "The first \(shownCount) changed objects are shown."
      } catch {
        let known = ConsoleError(error)
        note = known.message
        // What is not told is not taken back either, unless there was no time for it.
        isKept = (error as? StoreError)?.code != .undo
      }
    }
    let row = RunRow(run)
    return PageAnswer(
      title: "Import \(number)",
      template: "run",
      view: View(
        run: row,
        facts: facts(run),
        changes: found.map(ChangeView.init),
        hasChanges: !found.isEmpty,
        changesNote: note,
        askCost:
          "copies the database three times, \(Figures.bytes(3 * sources.database.byteCount)) of temporary files",
        askAddress: isAsked ? nil : WebText.address(["history", number], [("changes", "1")]),
        canUndo: sources.allowsWriting && isKept && run.status != .undone && run.status != .running,
        undoAddress: WebText.address(["history", number, "undo"]),
        csrf: sources.formToken
      ),
      json: [
        "v": 1, "import": try RunRow.json(run),
        "changes": .array(found.map { ChangeView($0).json }),
        "note": JSONValue(note),
      ]
    )
  }

  private static func facts(_ run: ImportLedgerEntry) -> [Fact] {
    let counts = run.counts
    var facts = [
      Fact(name: "Source", value: run.source), Fact(name: "Map", value: run.map),
      Fact(name: "Started", value: "\(run.started.prefix(19)) UTC"),
    ]
    if let seconds = Figures.seconds(from: run.started, to: run.finished) {
      facts.append(Fact(name: "Took", value: Figures.duration(seconds)))
      if seconds > 0, counts.read > 0,
        let rate = Int(exactly: (Double(counts.read) / seconds).rounded())
      {
        facts.append(Fact(name: "Throughput", value: "\(Figures.count(rate, "record")) a second"))
      }
    }
    if run.byteCount > 0 { facts.append(Fact(name: "Read", value: Figures.bytes(run.byteCount))) }
    if let undoes = run.undoes { facts.append(Fact(name: "Takes back", value: "import \(undoes)")) }
    return facts
  }
}
