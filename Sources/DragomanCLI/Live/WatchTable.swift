import Dragoman
import DragomanGraph
import Foundation

/// A table of results that is drawn over as they change.
///
/// On a terminal it has the screen to itself, as long as it runs, and as many rows as fit; what
/// changed last is bold. Elsewhere, and on a terminal that cannot be drawn over, the whole table is
/// printed again.
struct WatchTable: WatchDisplay {
  /// More rows than any screen shows.
  private static let maximumRowCount = 400

  private let entity: String
  private let attributes: [Attribute]
  private let output: OutputBuffer
  private let isTerminal: Bool
  private let drawsOver: Bool
  private let isBold: Bool
  private let size: () -> (columnCount: Int, rowCount: Int)?
  private var count = 0
  private var ids: [ObjectID] = []
  private var changed: Set<ObjectID> = []
  private var rows: [(id: ObjectID, values: [StoredValue])] = []
  private var isOpen = false

  init(
    _ entity: String,
    _ attributes: [Attribute],
    to output: OutputBuffer,
    isTerminal: Bool,
    environment: [String: String] = ProcessInfo.processInfo.environment,
    size: @escaping () -> (columnCount: Int, rowCount: Int)? = { Terminal.size(of: STDOUT_FILENO) }
  ) {
    self.entity = entity
    self.attributes = attributes
    self.output = output
    self.isTerminal = isTerminal
    drawsOver = isTerminal && environment["TERM"] != "dumb"
    isBold = drawsOver && environment["NO_COLOR"]?.isEmpty != false
    self.size = size
  }

  var takesScreen: Bool { drawsOver }

  /// Shows what there is now: what is left out of an event comes with the next one.
  mutating func wanted(_ event: ResultEvent, _ now: ResultSnapshot) -> [ObjectID] {
    changed = []
    if case .difference(let difference) = event {
      for change in difference.changes {
        switch change {
        case .inserted(let id, _), .updated(let id, _), .moved(let id, _, _): changed.insert(id)
        default: break
        }
      }
    }
    count = now.count
    ids = now.ids(at: 0..<(isTerminal ? Self.maximumRowCount : .max))
    return ids
  }

  mutating func show(_ event: ResultEvent, _ values: [ObjectID: [StoredValue]]) throws {
    rows = ids.compactMap { id in values[id].map { (id, $0) } }
    try draw()
  }

  mutating func redraw() throws { if drawsOver { try draw() } }

  private mutating func draw() throws {
    let size = isTerminal ? self.size() : nil
    // The title, the names, the rule; the last line stays free for the cursor.
    let room = drawsOver ? max(1, (size?.rowCount ?? 24) - 4) : Int.max
    let visible = rows.prefix(room)
    let table = OutputBuffer(descriptor: nil)
    var writer = TableRowWriter(attributes, to: table, columnCount: size?.columnCount)
    for row in visible { try writer.write(row.values) }
    try writer.finish()
    var lines = String(decoding: table.bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    lines.removeLast()
    try open()
    if drawsOver { try output.write("\u{1B}[H".utf8) }
    try line(title(visible.count, size?.columnCount))
    for (number, text) in lines.enumerated() {
      let row = number - 2
      let isChanged = isBold && row >= 0 && row < visible.count && changed.contains(rows[row].id)
      try line(text, in: isChanged ? .bold : nil)
    }
    try output.write((drawsOver ? "\u{1B}[J" : "\n").utf8)
    try output.flush()
  }

  mutating func finish() throws {
    guard isOpen else { return }
    isOpen = false
    try output.write(Self.closing.utf8)
    try output.flush()
  }

  /// Gives the screen back, and its cursor, unless the terminal takes nothing at the moment.
  static func restoreScreen(_ descriptor: Int32) {
    var status = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&status, 1, 0) > 0 else { return }
    let bytes = Array(closing.utf8)
    _ = write(descriptor, bytes, bytes.count)
  }

  private static let closing = "\u{1B}[?25h\u{1B}[?1049l"

  /// Takes the screen: another one, so that what stood there comes back; without a cursor.
  private mutating func open() throws {
    guard drawsOver, !isOpen else { return }
    isOpen = true
    try output.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J".utf8)
  }

  private func line(_ text: String, in style: TextStyle? = nil) throws {
    if let style { try output.write(style.styled(text).utf8) } else { try output.write(text) }
    try output.write((drawsOver ? "\u{1B}[K\n" : "\n").utf8)
  }

  private func title(_ visibleCount: Int, _ columnCount: Int?) -> String {
    var text = "\(VisibleText.of(entity)): \(Figures.count(count, "object"))"
    if visibleCount < count { text += ", the first \(visibleCount)" }
    if drawsOver { text += ", Ctrl-C ends" }
    return columnCount.map { DisplayWidth.truncate(text, to: $0) } ?? text
  }
}
