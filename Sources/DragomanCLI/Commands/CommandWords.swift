import ArgumentParser
import DragomanGraph
import Foundation

/// The words of the command line as the system has them.
enum CommandWords {
  /// Refuses words that the tool would take for others.
  ///
  /// `CommandLine.arguments` has `\u{FFFD}` in place of what is no UTF-8, so that two files were one; and nothing where
  /// the system does not tell (on Linux it is read from `/proc`).
  ///
  /// - Throws: `ValidationError` for a word that is no UTF-8, `ToolError` where there are no words.
  static func check() throws {
    let words = UnsafeBufferPointer(
      start: CommandLine.unsafeArgv,
      count: Int(CommandLine.argc)
    )
    guard words.first != nil else {
      throw ToolError(
        .inputOutput,
        ToolError.text(
          "input.io",
          nil,
          "The system does not tell the words of the command line.",
          help: "mount /proc, where they are read"
        )
      )
    }
    for word in words.compactMap({ $0 }) where String(validatingCString: word) == nil {
      throw ValidationError(
        "\(spelled(word)) is no UTF-8, so it cannot be told from other names: rename the file."
      )
    }
  }

  /// Refuses a second database, of which the last one would count without a word.
  ///
  /// - Parameter words: The command line.
  /// - Throws: `ValidationError`.
  static func checkDatabases(in words: [String]) throws {
    let options = words.dropFirst().prefix { $0 != "--" }
    let names = options.filter { $0 == "-d" || $0 == "--database" || $0.hasPrefix("--database=") }
    guard names.count > 1 else { return }
    throw ValidationError("-d is there \(names.count) times: a command has one database.")
  }

  /// A word with the bytes that are no text as escapes.
  private static func spelled(_ word: UnsafePointer<CChar>) -> String {
    let bytes = UnsafeRawBufferPointer(start: word, count: strlen(word))
    return bytes.map { byte in
      (0x20..<0x7F).contains(byte)
        ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}
