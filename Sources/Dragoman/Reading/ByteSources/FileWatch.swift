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
  private var status: FileStatus?
  private let growth: Growth?

  /// Begins to watch.
  ///
  /// - Parameters:
  ///   - descriptor: The file, open.
  ///   - growth: What is asked where it has grown; nil: it may.
  init(_ descriptor: CInt, _ growth: Growth?) {
    self.growth = growth
    let status = FileStatus(descriptor: descriptor)
    self.status = status?.kind == .regular ? status : nil
  }

  /// Compares the file with the one that was opened, once.
  ///
  /// - Throws: `.changed`; what a growth is refused with.
  mutating func checkEnd(of descriptor: CInt, name: String) throws(ReadError) {
    guard let before = status, let now = FileStatus(descriptor: descriptor) else { return }
    status = nil
    if now.byteCount > before.byteCount {
      try growth?()
    } else if now.byteCount < before.byteCount || now.modified != before.modified {
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
}
