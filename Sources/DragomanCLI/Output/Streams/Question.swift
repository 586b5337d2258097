import Foundation

/// A question to whoever sits at the terminal.
enum Question {
  /// Asks on standard error, and reads one line of standard input.
  ///
  /// - Parameter question: What is asked, one or more lines; the last one has ` [y/N] ` put behind it.
  /// - Returns: Whether the answer is `y` or `yes`; everything else, and the end of the input, is a no. nil where
  ///   there is no terminal to ask at.
  static func isAgreed(_ question: String) -> Bool? {
    guard Terminal.isTerminal(STDIN_FILENO), Terminal.isTerminal(STDERR_FILENO) else { return nil }
    Messages.print(question + " [y/N] ")
    let answer = (readLine() ?? "").trimmingCharacters(in: .whitespaces).lowercased()
    return answer == "y" || answer == "yes"
  }
}
