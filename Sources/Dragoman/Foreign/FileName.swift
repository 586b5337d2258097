import DragomanGraph

/// The parts of a file's name, for `$file.name` and `$file.stem`.
enum FileName {
  private static let compressions = [".gz", ".zst"]

  /// The last part of a path; the whole text where it has no folders.
  static func last(of path: String) -> String {
    FilePath.name(of: path)
  }

  /// The last part of a path without its ending, and without that of a compression before it:
  /// `en` of `main/en.xml.gz`.
  static func stem(of path: String) -> String {
    var name = last(of: path)[...]
    let compression = compressions.first { name.lowercased().hasSuffix($0) }
    if let compression, name.utf8.count > compression.utf8.count {
      name.unicodeScalars.removeLast(compression.unicodeScalars.count)
    }
    return FilePath.stem(of: String(name))
  }
}
