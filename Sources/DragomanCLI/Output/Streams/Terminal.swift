import Foundation

/// What is known of the terminal behind a file descriptor.
enum Terminal {
  /// Whether the descriptor is a terminal.
  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The number of columns, or nil if the descriptor is no terminal; 80 where it does not say.
  static func columnCount(of descriptor: Int32) -> Int? {
    size(of: descriptor)?.columnCount
  }

  /// The numbers of columns and rows, or nil if the descriptor is no terminal; 80 and 24 where it
  /// does not say.
  static func size(of descriptor: Int32) -> (columnCount: Int, rowCount: Int)? {
    guard isTerminal(descriptor) else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
    return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
  }
}
