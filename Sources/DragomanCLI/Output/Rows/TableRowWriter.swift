import Dragoman
import DragomanGraph

/// Rows as aligned columns for people: numbers to the right, null as `∅`.
///
/// The widths are those of a first window of rows, so memory stays constant. On a terminal the
/// columns share its width and what is longer ends in `…`; columns that it has no room for are named behind
/// the last row. Elsewhere nothing is ever cut, and a cell that is wider than its column moves the rest of
/// its line.
struct TableRowWriter: RowWriter {
  private static let gap = "  "
  private static let windowRowCount = 500
  private static let windowByteCount = 1 << 20
  /// A single long value must not pad every line of a file.
  private static let maximumPadding = 200
  private static let minimumWidth = 4

  private let attributes: [Attribute]
  private let output: OutputBuffer
  private let columnCount: Int?
  /// Whether the names of the columns stand out.
  private let isStyled: Bool
  private var window: [[String]] = []
  private var byteCount = 0
  private var widths: [Int]?
  /// How many of the columns the terminal has room for.
  private var shownCount: Int

  init(
    _ attributes: [Attribute],
    to output: OutputBuffer,
    columnCount: Int?,
    isStyled: Bool = false
  ) {
    self.isStyled = isStyled
    self.attributes = attributes
    self.output = output
    self.columnCount = columnCount
    shownCount = attributes.count
  }

  mutating func write(_ row: [StoredValue]) throws(OutputError) {
    let cells = zip(row, attributes).map { value, attribute in
      ShownValue.text(value, attribute, isMasked: false).map(VisibleText.of) ?? ShownValue.null
    }
    if let widths { return try line(cells, widths) }
    window.append(cells)
    byteCount += cells.reduce(0) { $0 + $1.utf8.count }
    if window.count >= Self.windowRowCount || byteCount >= Self.windowByteCount { try start() }
  }

  mutating func finish() throws(OutputError) {
    if widths == nil { try start() }
    let hidden = attributes[shownCount...].map { VisibleText.of($0.name) }
    guard let columnCount, !hidden.isEmpty else { return }
    let count = Figures.count(hidden.count, "more column")
    let text = "… \(count): \(hidden.joined(separator: ", "))"
    try output.write(DisplayWidth.truncate(text, to: columnCount) + "\n")
  }

  private mutating func start() throws(OutputError) {
    let header = attributes.map { VisibleText.of($0.name) }
    var natural = header.map(DisplayWidth.of)
    for cells in window {
      for index in cells.indices {
        natural[index] = max(natural[index], DisplayWidth.of(cells[index]))
      }
    }
    shownCount = roomFor(natural)
    natural.removeSubrange(shownCount...)
    let widths = fit(natural)
    self.widths = widths
    try line(header, widths, isStyled ? .bold : nil)
    let rules = zip(natural, widths).map { String(repeating: "─", count: min($0, $1)) }
    try line(rules, widths)
    for cells in window { try line(cells, widths) }
    window = []
  }

  /// How many of the columns fit though they be as narrow as can be; one at least.
  private func roomFor(_ natural: [Int]) -> Int {
    guard let columnCount else { return natural.count }
    var used = -Self.gap.count
    let fitting = natural.prefix { width in
      used += Self.gap.count + min(width, Self.minimumWidth)
      return used <= columnCount
    }
    return min(natural.count, max(1, fitting.count))
  }

  /// The widest columns give way first, down to a minimum; room that is left goes to the last one.
  private func fit(_ natural: [Int]) -> [Int] {
    guard let columnCount else { return natural.map { min($0, Self.maximumPadding) } }
    let room = columnCount - Self.gap.count * (natural.count - 1)
    var limit = natural.max() ?? 0
    while limit > Self.minimumWidth, natural.reduce(0, { $0 + min($1, limit) }) > room {
      limit -= 1
    }
    var widths = natural.map { min($0, limit) }
    let rest = room - widths.reduce(0, +)
    if rest > 0, !widths.isEmpty, !attributes[widths.count - 1].type.isNumeric {
      widths[widths.count - 1] += rest
    }
    return widths
  }

  private func line(
    _ cells: [String],
    _ widths: [Int],
    _ style: TextStyle? = nil
  ) throws(OutputError) {
    var text = ""
    for index in widths.indices {
      let cell =
        columnCount == nil ? cells[index] : DisplayWidth.truncate(cells[index], to: widths[index])
      let padding = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.of(cell)))
      if index > 0 { text += Self.gap }
      if attributes[index].type.isNumeric {
        text += padding + cell
      } else {
        text += cell + (index < widths.count - 1 ? padding : "")
      }
    }
    guard let style else { return try output.write(text + "\n") }
    try output.write((style.styled(text) + "\n").utf8)
  }
}
