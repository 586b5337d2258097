#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Finds the cells of one row of CSV, by RFC 4180, in bytes that may come piece by piece.
///
/// Only places are noted; nothing is copied and no cell costs an allocation. A row ends with CRLF,
/// LF or CR outside of quotes. A quote has a meaning at the start of a cell and inside of a quoted
/// one; anywhere else it is text.
///
/// Large because cells are found by a state machine whose state it is.
struct CSVScanner {
  /// The place of one cell's text: without the quotes around it, doubled quotes still doubled.
  struct Cell: Equatable {
    var start: UInt32
    var length: UInt32
    /// How many of its quotes stand there twice.
    var doubledQuoteCount: UInt32 = 0
    var isQuoted = false
  }

  private enum State {
    case cellStart
    case unquoted
    case quoted
    case afterQuote
  }

  private let separator: UInt8
  /// Which bytes end an unquoted cell.
  private let endsCell: [Bool]
  private var state = State.cellStart
  private var position = 0
  private var cell = Cell(start: 0, length: 0)

  /// The cells of the row; those behind `maximumCellCount` are only counted.
  private(set) var cells: ContiguousArray<Cell> = []
  /// How many cells the row has.
  private(set) var cellCount = 0
  /// How many cells are kept: a hostile row may have millions.
  var maximumCellCount = 1 << 20
  /// Where the row starts.
  private(set) var start = 0
  /// Where the row's text ends, and where its line end does.
  private(set) var end = 0
  private(set) var next = 0
  /// Where something stands between a closing quote and the end of its cell; nil: nowhere.
  private(set) var strayByte: Int?
  /// Whether the row ended with a CR alone.
  private(set) var endsWithReturn = false

  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  /// Makes a scanner of rows whose cells are divided by one byte.
  init(separator: UInt8) {
    self.separator = separator
    endsCell = (0...255).map { byte in
      byte == separator || byte == Self.lineFeed || byte == Self.carriageReturn
    }
  }

  /// Where the quote stands that is open at the end of what was scanned; nil: none is.
  var openQuote: Int? { state == .quoted ? Int(cell.start) - 1 : nil }

  /// Begins with the row that starts at an offset, where there is no empty line.
  mutating func begin(at offset: Int) {
    cells.removeAll(keepingCapacity: true)
    cellCount = 0
    strayByte = nil
    endsWithReturn = false
    start = offset
    position = offset
    state = .cellStart
  }

  /// Scans on from where the last call stopped.
  ///
  /// - Parameters:
  ///   - bytes: The text from offset 0 on; it may have grown and moved since the last call.
  ///   - isWhole: Whether no more bytes will come.
  /// - Returns: Whether the row is complete. It is not when bytes are missing, or, in a whole text,
  ///   when a quote is never closed.
  mutating func scan(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> Bool {
    guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return false }
    return endsCell.withUnsafeBufferPointer { endsCell in
      scan(base, bytes.count, isWhole, endsCell)
    }
  }

  @inline(__always)
  private mutating func scan(
    _ base: UnsafePointer<UInt8>,
    _ count: Int,
    _ isWhole: Bool,
    _ endsCell: UnsafeBufferPointer<Bool>
  ) -> Bool {
    while true {
      switch state {
      case .cellStart:
        guard position < count || isWhole else { return false }
        cell = Cell(start: UInt32(position), length: 0)
        state = .unquoted
        if position < count, base[position] == Self.quote {
          position += 1
          cell.start += 1
          cell.isQuoted = true
          state = .quoted
        }
      case .unquoted:
        while position < count, !endsCell[Int(base[position])] { position += 1 }
        guard position < count || isWhole else { return false }
        guard let isRow = endCell(base, count, isWhole) else { return false }
        if isRow { return true }
      case .quoted:
        guard findClosingQuote(base, count, isWhole) else { return false }
      case .afterQuote:
        guard position < count || isWhole else { return false }
        if position < count, !endsCell[Int(base[position])] {
          if strayByte == nil { strayByte = position }
          state = .unquoted
          continue
        }
        guard let isRow = endCell(base, count, isWhole) else { return false }
        if isRow { return true }
      }
    }
  }

  /// Moves behind the quote that closes a cell; false: bytes are missing.
  @inline(__always)
  private mutating func findClosingQuote(
    _ base: UnsafePointer<UInt8>,
    _ count: Int,
    _ isWhole: Bool
  ) -> Bool {
    while position < count,
      let found = memchr(base + position, Int32(Self.quote), count - position)
    {
      let quote = UnsafeRawPointer(found) - UnsafeRawPointer(base)
      if quote + 1 == count, !isWhole {
        // The next byte tells a closing quote from a doubled one.
        position = quote
        return false
      }
      position = quote + 1
      guard position < count, base[position] == Self.quote else {
        cell.length = UInt32(quote) - cell.start
        state = .afterQuote
        return true
      }
      cell.doubledQuoteCount += 1
      position += 1
    }
    position = count
    return false
  }

  /// Ends a cell at the separator, line end or end of text at the position.
  ///
  /// - Returns: Whether the row ends with it; nil where the byte behind a CR is missing.
  @inline(__always)
  private mutating func endCell(
    _ base: UnsafePointer<UInt8>,
    _ count: Int,
    _ isWhole: Bool
  ) -> Bool? {
    let isAtEnd = position == count
    let byte = isAtEnd ? Self.lineFeed : base[position]
    if byte == Self.carriageReturn, position + 1 == count, !isWhole { return nil }
    if !cell.isQuoted { cell.length = UInt32(position) - cell.start }
    if cellCount < maximumCellCount { cells.append(cell) }
    cellCount += 1
    if byte == separator {
      position += 1
      state = .cellStart
      return false
    }
    end = position
    next = isAtEnd ? position : position + 1
    if byte == Self.carriageReturn {
      if next < count, base[next] == Self.lineFeed {
        next += 1
      } else {
        endsWithReturn = true
      }
    }
    return true
  }
}
