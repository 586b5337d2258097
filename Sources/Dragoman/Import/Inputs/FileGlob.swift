import Foundation

/// A pattern for the names of inputs: `*`, `?` and `[…]` as a shell has them.
///
/// Without a slash it is matched against the last part of a path, with one against as many of the last
/// parts as it has itself, or more: `2024/orders*.json` matches `/feeds/2024/orders-1.json`. `.gz` and
/// `.zst` behind the name need not be in the pattern.
struct FileGlob {
  let pattern: String

  private static let compressions = [".gz", ".zst"]

  /// Whether the pattern matches a name.
  func matches(_ name: String) -> Bool {
    let path = WebText.path(ofInput: name)
    var names = [name, path]
    for ending in Self.compressions where path.hasSuffix(ending) {
      names.append(String(path.dropLast(ending.count)))
    }
    return names.contains { name in
      var rest = Substring(name)
      while true {
        if fnmatch(pattern, String(rest), FNM_PATHNAME) == 0 { return true }
        guard let slash = rest.firstIndex(of: "/") else { return false }
        rest = rest[rest.index(after: slash)...]
      }
    }
  }
}
