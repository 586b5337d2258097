import Dragoman
import DragomanGraph

/// Imports over time as stacked bars, one bar an import, oldest first.
struct ImportChart {
  /// A piece of a bar.
  struct Piece {
    let style: String
    let x: String
    let y: String
    let width: String
    let height: String
    let title: String
  }

  let isEmpty: Bool
  let pieces: [Piece]
  /// The table that says the same.
  let rows: [RunRow]
  let top: String
  let first: String
  let last: String

  private static let width = 1140.0
  private static let height = 150.0

  init(_ runs: [ImportLedgerEntry]) {
    let kinds: [(style: String, name: String, count: KeyPath<ImportLedgerEntry.Counts, Int>)] = [
      ("unchanged", "unchanged", \.unchanged), ("updated", "updated", \.updated),
      ("inserted", "inserted", \.inserted), ("deleted", "deleted", \.deleted),
      ("skipped", "skipped", \.skipped), ("rejected", "rejected", \.rejected),
    ]
    // Whoever wrote the file may have written anything into its history.
    let totals = runs.map { run in
      kinds.reduce(0) { total, kind in
        let (sum, isOver) = total.addingReportingOverflow(run.counts[keyPath: kind.count])
        return isOver ? .max : sum
      }
    }
    let most = max(1, totals.max() ?? 0)
    isEmpty = runs.isEmpty
    let step = Self.width / Double(max(runs.count, 1))
    let thickness = min(step * 0.7, 56)
    var pieces: [Piece] = []
    for (place, run) in runs.enumerated() {
      var y = Self.height
      for kind in kinds where run.counts[keyPath: kind.count] > 0 {
        let count = run.counts[keyPath: kind.count]
        // What is there can be seen, however small its share is.
        let height = max(2, Double(count) / Double(most) * (Self.height - 10))
        y -= height
        pieces.append(
          Piece(
            style: kind.style,
            x: Self.text((Double(place) + 0.5) * step - thickness / 2),
            y: Self.text(max(0, y)),
            width: Self.text(thickness),
            height: Self.text(height),
            title: "Import \(run.id ?? 0), \(Figures.moment(run.started)): "
              + "\(Figures.grouped(count)) \(kind.name)"
          )
        )
      }
    }
    self.pieces = pieces
    rows = runs.map(RunRow.init)
    top = Figures.count(totals.max() ?? 0, "record")
    first = runs.first.map { Figures.moment($0.started) } ?? ""
    last = runs.count > 1 ? runs.last.map { Figures.moment($0.started) } ?? "" : ""
  }

  /// A length in a drawing.
  static func text(_ length: Double) -> String {
    let tenths = Int((length * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
  }
}
