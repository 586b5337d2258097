import DragomanGraph

/// The ledger: every import, newest first.
struct HistoryPage {
  private struct View {
    let runs: [RunRow]
    let isEmpty: Bool
    let note: String?
  }

  /// So many are listed.
  private static let shownCount = 500

  /// - Throws: `StoreError` where the database cannot be read.
  static func answer(_ sources: PageSources) throws -> PageAnswer {
    let store = try sources.database.open()
    let runs = try store.history(limit: shownCount)
    return PageAnswer(
      title: "History",
      template: "history",
      view: View(
        runs: runs.reversed().map { RunRow($0) },
        isEmpty: runs.isEmpty,
        note: runs.count == shownCount ? "The last \(shownCount) are shown." : nil
      ),
      json: ["v": 1, "imports": .array(try runs.map(RunRow.json))]
    )
  }
}
