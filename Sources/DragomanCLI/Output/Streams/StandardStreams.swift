import Foundation

/// The three descriptors that a process starts with, where its parent closed some of them.
enum StandardStreams {
  /// Occupies the ones that are closed, before anything else is opened.
  ///
  /// The system gives the lowest free number to the next file: with standard error closed the
  /// database would be descriptor 2, and messages would be written into it. What stands in for a
  /// closed one cannot be used for its purpose: reading standard input and writing standard output
  /// fail, as they would have done. Messages just disappear.
  static func occupy() {
    for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (2, O_WRONLY)]
    where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
      // The lowest free descriptor is this one: those below it are open by now.
      _ = open("/dev/null", mode)
    }
  }
}

/// Messages for people, on standard error.
///
/// What cannot be written there is lost, and changes neither what a command does nor how it ends:
/// an import that is committed was successful, whoever hears of it.
enum Messages {
  static func print(_ text: String) {
    write { (output) throws(OutputError) in
      let visible = TextStyle.visible(text)
      let isColoured = TextStyle.isShown(on: STDERR_FILENO)
      try output.write((isColoured ? TextStyle.coloured(messages: visible) : visible).utf8)
    }
  }

  /// Writes a line over the one that a terminal has last; empty: removes that.
  static func redraw(_ line: String) {
    write { (output) throws(OutputError) in
      try output.write("\r\u{1B}[K".utf8)
      try output.write(line)
    }
  }

  private static func write(_ body: (OutputBuffer) throws(OutputError) -> Void) {
    let output = OutputBuffer(descriptor: STDERR_FILENO, isForPeople: true)
    do throws(OutputError) {
      try body(output)
      try output.flush()
    } catch {
      // There is no other place to tell it.
    }
  }
}
