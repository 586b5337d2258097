import Foundation

/// The parts of a path, byte by byte, as `dirname` and `basename` tell them (POSIX).
///
/// On Linux `NSString.deletingLastPathComponent` ends the process for a path of one letter, and `URL` folds `..`,
/// which leads elsewhere behind a link.
package enum FilePath {
  /// The folder of a file: empty where the path names none.
  package static func folder(of path: String) -> String {
    let bytes = trimmed(path)
    guard let slash = bytes.lastIndex(of: slash) else { return "" }
    let folder = bytes[..<slash]
    guard let end = folder.lastIndex(where: { $0 != Self.slash }) else { return "/" }
    return String(decoding: folder[...end], as: UTF8.self)
  }

  /// The folder of a file as the system opens it: `.` where the path names none.
  package static func openFolder(of path: String) -> String {
    let folder = folder(of: path)
    return folder.isEmpty ? "." : folder
  }

  /// The path behind all symbolic links; the path itself where there is nothing.
  package static func resolved(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }

  /// What a file is called in its folder.
  package static func name(of path: String) -> String {
    let bytes = trimmed(path)
    let start = bytes.lastIndex(of: slash).map { $0 + 1 } ?? 0
    return String(decoding: bytes[start...], as: UTF8.self)
  }

  /// What a file is called without its ending; a name that begins with its only dot is whole.
  package static func stem(of path: String) -> String {
    let name = Array(name(of: path).utf8)
    let dot = name.lastIndex(of: UInt8(ascii: ".")) ?? 0
    return String(decoding: dot > 0 ? name[..<dot] : name[...], as: UTF8.self)
  }

  /// A file of a folder.
  package static func file(_ name: String, in folder: String) -> String {
    folder.isEmpty || folder.utf8.last == slash ? folder + name : "\(folder)/\(name)"
  }

  /// Whether the system would take less of a path than all of it: to C a text ends at U+0000.
  package static func isCut(_ path: String) -> Bool { path.utf8.contains(0) }

  /// A path as SQLite takes it for that of a file: what begins with a colon, as `:memory:`, or with `file:` may be
  /// something else to it (https://www.sqlite.org/inmemorydb.html, https://www.sqlite.org/uri.html).
  static func ofDatabase(_ path: String) -> String {
    let isStrange = path.utf8.first == UInt8(ascii: ":") || path.utf8.starts(with: "file:".utf8)
    return isStrange ? "./" + path : path
  }

  /// Whether the file system takes the name of a file with something behind it.
  static func hasRoom(forNameOf path: String, ending: String) -> Bool {
    let limit = pathconf(openFolder(of: path), Int32(_PC_NAME_MAX))
    return limit < 0 || name(of: path).utf8.count + ending.utf8.count <= limit
  }

  private static let slash = UInt8(ascii: "/")

  private static func trimmed(_ path: String) -> ArraySlice<UInt8> {
    let bytes = Array(path.utf8)
    return bytes[..<(bytes.lastIndex { $0 != slash }.map { $0 + 1 } ?? 0)]
  }
}
