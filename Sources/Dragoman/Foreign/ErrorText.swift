import Foundation

/// Errors of closures and hooks in words.
enum ErrorText {
  /// What an error says for people, where it says anything for them; else its description.
  ///
  /// Of a long one, as that of hooks in hooks, the beginning and the end.
  static func words(_ error: any Error) -> String {
    let text = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
    return text.utf8.count > 1000 ? "\(text.prefix(300)) … \(text.suffix(500))" : text
  }

  /// Words as the end of a sentence, which has its full stop once.
  static func ended(_ words: String) -> String {
    guard let last = words.utf8.last, ".!?".utf8.contains(last) else { return words + "." }
    return words
  }
}
