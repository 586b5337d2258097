import DragomanGraph

/// What a file that an export may replace looks like: a feed, as an export would have written it.
enum FeedForm {
  /// The form of an earlier export to a path.
  ///
  /// Compressed files are taken under a name that says so. Everything else starts as JSON or XML
  /// does; CSV is any text, so it is taken only where CSV is what comes.
  static func form(of path: String, _ format: ForeignFormat) -> OutputPlace.Form {
    let name = path.lowercased()
    return OutputPlace.Form("an export", lookingAt: 1024) { start in
      if ImportMap.isNamed(name) { return false }
      switch CompressingSink.Method(name: name) {
      case .gzip: return start.starts(with: [0x1F, 0x8B])
      case .zstd: return start.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
      case nil: return isText(start) && (format == .csv || isJSONOrXML(start))
      }
    }
  }

  /// Whether the first byte that is no white space can begin a value of JSON or an element.
  private static func isJSONOrXML(_ start: [UInt8]) -> Bool {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = start.dropFirst(start.starts(with: mark) ? mark.count : 0)
      .drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
    guard let first = text.first else { return true }
    switch first {
    case UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "<"), UInt8(ascii: "\""),
      UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return true
    default:
      return ["true", "false", "null"].contains { text.starts(with: $0.utf8) }
    }
  }

  /// Whether there is nothing but printed signs, tabs and line ends.
  private static func isText(_ start: [UInt8]) -> Bool {
    start.allSatisfy { $0 >= 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
  }
}
