import DragomanGraph
import Foundation

/// What tells at the end of a file whether it is the one that was opened: another program may have cut or overwritten it
/// meanwhile, and what was read is a part of it then, or a mixture.
///
/// A file that was replaced by another one of its name is read to its end as it was. One that is only written on, as a
/// log is, keeps what was read.
struct FileWatch {
  /// Is told that a file has grown, and may refuse that.
  typealias Growth = () throws(ReadError) -> Void

  /// Nil: it is no regular file, or its end was come to.
  private var status: stat?
  private let growth: Growth?

  /// Begins to watch.
  ///
  /// - Parameters:
  ///   - descriptor: The file, open.
  ///   - growth: What is asked where it has grown; nil: it may.
  init(_ descriptor: CInt, _ growth: Growth?) {
    self.growth = growth
    var status = stat()
    let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    self.status = isFile ? status : nil
  }

  /// Compares the file with the one that was opened, once.
  ///
  /// - Throws: `.changed`; what a growth is refused with.
  mutating func checkEnd(of descriptor: CInt, name: String) throws(ReadError) {
    var now = stat()
    guard let before = status, fstat(descriptor, &now) == 0 else { return }
    status = nil
    if now.st_size > before.st_size {
      try growth?()
    } else if now.st_size < before.st_size || !Self.isSame(now, before) {
      throw Self.changed(name)
    }
  }

  /// A file is not what it was when it was opened.
  static func changed(_ name: String) -> ReadError {
    ReadError(
      .changed,
      "\(name) was changed by another program while it was read.",
      help: "import it when it is whole; who writes a feed gives it its name when it is"
    )
  }

  private static func isSame(_ one: stat, _ other: stat) -> Bool {
    let (time, before) = (one.modified, other.modified)
    return time.tv_sec == before.tv_sec && time.tv_nsec == before.tv_nsec
  }
}
