import Foundation

/// Where an output goes, after the decision whether it may go there.
///
/// Every output that a path names asks here, so that none of them can destroy what a run reads or
/// what somebody else wrote: a copy of the store, an export, a file of rejected records. Refused are
/// the files that the run itself uses, under whatever name (links are resolved, and files are told
/// by device and inode), and regular files that were not made as such an output: neither their mark
/// nor their form says so.
package enum OutputPlace {
  /// There is nothing at the path, which is the one behind symbolic links.
  case absent(at: String)
  /// A file that may be replaced or emptied, behind symbolic links, and its permissions.
  case file(at: String, mode: mode_t)
  /// A pipe, a terminal, `/dev/null`: written as it is, never replaced.
  case stream

  /// A file that no output may replace, and what it is: "the map".
  package struct Kept {
    let path: String
    let role: String

    package init(_ path: String, as role: String) {
      self.path = path
      self.role = role
    }

    /// A database with the files that SQLite keeps beside it (https://www.sqlite.org/tempfiles.html).
    ///
    /// - Parameter path: The file; nil where the database has none.
    /// - Returns: The files, whether they exist or not.
    package static func database(_ path: String?) -> [Kept] {
      guard let path else { return [] }
      // SQLite puts them beside the file that a link leads to.
      return Set([path, FilePath.resolved(path)]).flatMap { path in
        [Kept(path, as: "the database itself")]
          + ["-wal", "-shm", "-journal", NewFile.ending].map {
            Kept(path + $0, as: "a part of the database")
          }
      }
    }
  }

  /// What tells that a file was made as such an output; an empty file is always taken.
  package enum Proof {
    /// Its contents.
    case form(Form)
    /// Its mark, which no writing since has made untrue: `name` is what such an output is called in
    /// messages ("an export"), and `kind` in the mark.
    case mark(name: String, kind: String)
    /// None is asked for: whoever calls knows that the file may go.
    case needless
  }

  /// What an output looks like that cannot be taken for anything else.
  package struct Form: Sendable {
    let name: String
    let byteCount: Int
    let recognizes: @Sendable ([UInt8]) -> Bool

    /// Describes an output.
    ///
    /// - Parameters:
    ///   - name: What an earlier output is called in messages: "an export".
    ///   - byteCount: How much of a file is looked at.
    ///   - recognizes: Whether a file that starts so was made as such an output.
    package init(
      _ name: String,
      lookingAt byteCount: Int,
      recognizes: @escaping @Sendable ([UInt8]) -> Bool
    ) {
      self.name = name
      self.byteCount = byteCount
      self.recognizes = recognizes
    }

    /// Whether a file has the form; an empty one and one that cannot be read have not.
    package func fits(_ path: String) -> Bool {
      guard let start = try? FileHead.bytes(byteCount, of: path), !start.isEmpty else {
        return false
      }
      return recognizes(start)
    }
  }

  /// Why a path is no place for an output.
  package struct Refusal: Error {
    /// What the path is, a part of a sentence: "is the map".
    package let reason: String
    /// What to do about it.
    package let help: String

    package init(_ reason: String, help: String = "name another file") {
      self.reason = reason
      self.help = help
    }
  }

  /// Decides whether an output may go to a path; nothing is changed.
  ///
  /// - Parameters:
  ///   - path: The path of the output.
  ///   - kept: The files that the run reads or writes otherwise.
  ///   - proof: What tells an earlier output.
  /// - Throws: `Refusal` where it may not.
  package init(
    _ path: String,
    besides kept: [Kept],
    proof: Proof
  ) throws(Refusal) {
    try Self.checkName(path)
    if let own = Identity(path), let file = kept.first(where: { Identity($0.path) == own }) {
      throw Refusal("is \(file.role)")
    }
    guard let status = FileStatus(path) else {
      self = .absent(at: try Self.target(of: path))
      return
    }
    switch status.kind {
    case .regular:
      if status.byteCount > 0 { try Self.check(path, status, proof) }
      self = .file(at: try Self.target(of: path), mode: status.permissions)
    case .pipe, .characterDevice: self = .stream
    case .folder: throw Refusal("is a folder", help: "name a file in it")
    default: throw Refusal("is no regular file")
    }
  }

  /// The path behind all symbolic links, whether there is something or not: an output never takes the
  /// place of a link.
  ///
  /// - Parameter path: The path of the output.
  /// - Returns: A path that is no link itself.
  /// - Throws: `Refusal` where the links lead in a circle, or to a file that has no name any more
  ///   (`/dev/stdout` may).
  package static func target(of path: String) throws(Refusal) -> String {
    try checkName(path)
    guard let target = followed(path),
      FileStatus(path) == nil || Identity(target) == Identity(path)
    else { throw Refusal("is a link that leads to no name") }
    return target
  }

  private static func checkName(_ path: String) throws(Refusal) {
    if FilePath.isCut(path) { throw Refusal("holds U+0000, at which the system would end it") }
  }

  /// Where the links lead, link by link, in a folder without any; nil in a circle.
  ///
  /// Folders are the system's to be told: behind a link `..` is not what stands before it.
  private static func followed(_ path: String) -> String? {
    var target = path
    for _ in 0...maximumLinkCount {
      let folder = FilePath.folder(of: target)
      guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: target) else {
        let name = FilePath.name(of: target)
        return ["", ".", ".."].contains(name)
          ? target : FilePath.file(name, in: FilePath.resolved(FilePath.openFolder(of: target)))
      }
      target = next.hasPrefix("/") ? next : FilePath.file(next, in: folder)
    }
    return nil
  }

  /// How many links the system follows, too (`man 7 path_resolution`).
  private static let maximumLinkCount = 40

  /// Refuses a file that was not made as such an output.
  private static func check(_ path: String, _ status: FileStatus, _ proof: Proof) throws(Refusal) {
    switch proof {
    case .form(let form): try check(path, form)
    case .mark(let name, let kind):
      switch OutputMark.read(kind, at: path, status) {
      case .intact: break
      case .stale:
        throw Refusal("was changed after it was made, so it is not replaced", help: force)
      case .missing: throw Refusal("exists and is not \(name), so it is not replaced", help: force)
      }
    case .needless: break
    }
  }

  private static let force = "name another file, remove this one first, or set `overwrites`"

  private static func check(_ path: String, _ form: Form) throws(Refusal) {
    let start: [UInt8]
    do throws(FileHead.Failure) {
      start = try FileHead.bytes(form.byteCount, of: path)
    } catch {
      throw Refusal(
        "exists and cannot be read to see what it is: \(error.reason)",
        help: "name another file, or remove this one first"
      )
    }
    guard form.recognizes(start) else {
      throw Refusal(
        "exists and is not \(form.name), so it is not replaced",
        help: "name another file, or remove this one first"
      )
    }
  }

  /// What makes two paths the same file, whether it exists; of one that does not its folder, and its name's bytes.
  private struct Identity: Equatable {
    private let existing: FileStatus.Identity
    private let missingName: [UInt8]?

    init?(_ path: String) {
      if let file = FileStatus(path) {
        (existing, missingName) = (file.identity, nil)
        return
      }
      // Of what has no folder either nothing is to be told.
      guard let target = followed(path), let folder = FileStatus(FilePath.folder(of: target)) else {
        return nil
      }
      (existing, missingName) = (folder.identity, Array(FilePath.name(of: target).utf8))
    }
  }
}
