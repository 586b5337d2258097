import Foundation

/// What a service says in place of a feed: `{"error": "not found"}`, `{"message": …, "code": 401}`,
/// `<Error>…</Error>`.
///
/// It is looked for only where a feed turned out to have nothing that the map knows: a record may well have
/// a member `error`.
struct ErrorAnswer {
  /// What it looks like, a part of a sentence.
  private let text: String

  /// An answer is short: what has more bytes is a feed.
  static let maximumByteCount = 8 << 10

  private static let faults: Set<String> = [
    "error", "errors", "fault", "exception", "error_description", "error_message", "errormessage",
  ]
  private static let messages: Set<String> = ["message", "detail", "title", "msg", "reason"]
  private static let codes: Set<String> = ["code", "status", "statuscode", "status_code", "type"]

  /// Looks at an input of which nothing is read yet; nil where it is no such answer.
  ///
  /// - Parameter head: Its first bytes, one more than an answer may have.
  init?(_ head: [UInt8]) {
    guard head.count <= Self.maximumByteCount else { return nil }
    guard let first = head.first(where: { !isJSONSpace($0) && $0 < 0x80 }) else { return nil }
    if first == UInt8(ascii: "<") {
      guard let element = Self.rootElement(of: head) else { return nil }
      text = "the element <\(ForeignText.shortened(element))>"
    } else {
      guard first == UInt8(ascii: "{"),
        let members = (try? JSONSerialization.jsonObject(with: Data(head))) as? [String: Any],
        let fault = Self.fault(in: members)
      else { return nil }
      text = fault
    }
  }

  /// The error with what the input looks like, where it says that there is nothing to import in it.
  func told(in error: any Error) -> any Error {
    let help = "the input looks like an error message: \(text); look at where it came from"
    switch error {
    case let error as ReadError where error.code == .noRecords:
      return ReadError(error.code, error.message, at: error.origin, help: help)
    case let error as ImportError where error.code == .unmatched:
      return ImportError(error.code, error.message, help: help)
    default: return error
    }
  }

  /// The member that tells of an error, with its value where that is a text.
  private static func fault(in members: [String: Any]) -> String? {
    let names = members.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    // A list beside it is the feed.
    guard
      !members.contains(where: { name, value in
        !faults.contains(name.lowercased()) && (value as? [Any])?.isEmpty == false
      })
    else { return nil }
    let isSaid = { (name: String) -> Bool in
      switch members[name] {
      case is NSNull: false
      case let list as [Any]: !list.isEmpty
      case let text as String: !text.isEmpty
      case let number as NSNumber: number != 0
      default: true
      }
    }
    let hasCode = names.contains { codes.contains($0.lowercased()) }
    let found =
      names.first { faults.contains($0.lowercased()) && isSaid($0) }
      ?? names.first { hasCode && messages.contains($0.lowercased()) && isSaid($0) }
    guard let found else { return nil }
    let name = "“\(ForeignText.shortened(found))”"
    return (members[found] as? String).map { "\(name) is “\(ForeignText.shortened($0))”" }
      ?? "it has \(name)"
  }

  private static func rootElement(of head: [UInt8]) -> String? {
    let text = String(decoding: head, as: UTF8.self)
    guard let match = text.firstMatch(of: /<([A-Za-z_][^\s<>\/]*)/) else { return nil }
    let name = String(match.1)
    let local = name.split(separator: ":").last?.lowercased() ?? ""
    return faults.contains(local) || local == "errorresponse" ? name : nil
  }
}
