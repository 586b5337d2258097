import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// Shows how far an import is, on standard error.
final class ProgressDisplay {
  /// How progress is shown.
  enum Style: String, ExpressibleByArgument, CaseIterable {
    /// A bar on a terminal, nothing elsewhere.
    case auto
    /// One line that is drawn over.
    case bar
    /// A line a second.
    case plain
    /// A JSON object a second.
    case json
    /// Nothing.
    case none
  }

  private let style: Style
  private var lastShown = Duration.zero
  private var isDrawn = false

  init(style: Style) {
    let hasTerminal =
      Terminal.isTerminal(STDERR_FILENO) && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    self.style = style == .auto ? (hasTerminal ? .bar : .none) : style
  }

  /// Shows the numbers, unless that was done a moment ago.
  func show(_ progress: ImportProgress) {
    let interval: Duration = style == .bar ? .milliseconds(100) : .seconds(1)
    guard style != .none, progress.duration - lastShown >= interval else { return }
    lastShown = progress.duration
    switch style {
    case .bar:
      isDrawn = true
      Messages.redraw(bar(progress))
    case .plain: Messages.print(plain(progress) + "\n")
    case .json: Messages.print(json(progress) + "\n")
    case .auto, .none: break
    }
  }

  /// Removes the bar.
  func clear() {
    if isDrawn { Messages.redraw("") }
  }

  private func share(_ progress: ImportProgress) -> Double? {
    guard let total = progress.totalByteCount, total > 0 else { return nil }
    return min(1, Double(progress.byteCount) / Double(total))
  }

  private func bar(_ progress: ImportProgress) -> String {
    let width = 24
    guard let share = share(progress) else { return plain(progress) }
    let full = Int(share * Double(width))
    return "\(Figures.padded("\(Int(share * 100))", 3))% "
      + String(repeating: "█", count: full) + String(repeating: "░", count: width - full) + "  "
      + plain(progress)
  }

  private func plain(_ progress: ImportProgress) -> String {
    let seconds = Figures.seconds(progress.duration)
    let rate = Int(Double(progress.counts.read) / max(seconds, 0.001))
    var text = "\(Figures.count(progress.counts.read, "record")), \(Figures.grouped(rate))/s"
    if progress.counts.rejected > 0 {
      text += ", \(Figures.grouped(progress.counts.rejected)) rejected"
    }
    if let share = share(progress), share > 0 {
      text += ", \(Int((seconds / share - seconds).rounded(.up))) s left"
    }
    return text
  }

  private func json(_ progress: ImportProgress) -> String {
    let counts = progress.counts
    return "{\"v\":1,\"event\":\"progress\","
      + "\"read\":\(counts.read),\"inserted\":\(counts.inserted),"
      + "\"updated\":\(counts.updated),\"unchanged\":\(counts.unchanged),"
      + "\"deleted\":\(counts.deleted),\"skipped\":\(counts.skipped),\"rejected\":\(counts.rejected),"
      + "\"bytes\":\(progress.byteCount),"
      + "\"totalBytes\":\(progress.totalByteCount.map(String.init) ?? "null"),"
      + "\"seconds\":\(Figures.decimals(Figures.seconds(progress.duration), 3))}"
  }
}
