import Dragoman
import DragomanGraph

/// What a copy has copied, as text and as JSON.
struct CopyReport {
  private let copy: StoreCopy
  private let (source, target): (String, String)
  private let seconds: Double

  init(_ copy: StoreCopy, from source: String, to target: String, seconds: Double) {
    self.copy = copy
    (self.source, self.target) = (source, target)
    self.seconds = seconds
  }

  /// The report for people: a line a table.
  var text: String {
    let names = copy.tables.map { VisibleText.of($0.name) }
    let width = names.map(DisplayWidth.of).max() ?? 0
    let figures = copy.tables.map { Figures.grouped($0.rowCount) }
    let digits = figures.map(\.count).max() ?? 0
    var text = "Copied \(source) to \(target)\n"
    for (index, table) in copy.tables.enumerated() {
      let padding = String(repeating: " ", count: width - DisplayWidth.of(names[index]))
      text += "  \(names[index])\(padding)  \(Figures.padded(figures[index], digits))"
      text += table.isLinks ? " link" : " object"
      if table.rowCount != 1 { text += "s" }
      if table.resumedCount > 0 {
        text += " (\(Figures.grouped(table.resumedCount)) were there already)"
      }
      text += "\n"
    }
    if copy.pendingCount > 0 {
      text +=
        "  \(Figures.count(copy.pendingCount, "reference")) waiting for a target\n"
    }
    text += "  \(Figures.count(copy.importCount, "import")) in the history\n"
    for name in copy.leftBehind {
      text +=
        "note: links of \(VisibleText.of(name)) stay behind: they lead to what was not copied\n"
    }
    return text + "in \(Figures.decimals(seconds, 2)) s; both sides were read and are the same\n"
  }

  /// The report for programs, on one line.
  var json: String {
    let string = JSONRowWriter.string
    let tables = copy.tables.map { table in
      "{\"name\":\(string(table.name)),\"kind\":\"\(table.isLinks ? "links" : "objects")\","
        + "\"rows\":\(table.rowCount),\"resumed\":\(table.resumedCount),"
        + "\"digest\":\(string(table.digest))}"
    }
    return "{\"v\":1,\"from\":\(string(source)),\"to\":\(string(target)),"
      + "\"objects\":\(copy.objectCount),\"pending\":\(copy.pendingCount),\"imports\":\(copy.importCount),"
      + "\"tables\":[\(tables.joined(separator: ","))],"
      + "\"leftBehind\":[\(copy.leftBehind.map(string).joined(separator: ","))],"
      + "\"seconds\":\(Figures.decimals(seconds, 3))}\n"
  }
}
