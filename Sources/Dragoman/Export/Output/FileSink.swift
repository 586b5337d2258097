import Foundation

/// A file that appears under its name when it is complete, and not before.
///
/// The bytes go into a hidden file beside it, which is synchronised with the disk and then renamed,
/// so a crash, a full disk or a signal leaves what stood there before. What is no regular file (a
/// pipe, a terminal) is written directly.
final class FileSink: ExportSink {
  private let path: String
  /// The hidden file; nil where the path is written directly.
  private let hidden: String?
  private var descriptor: Int32

  /// - Throws: `.output` when the file cannot be created.
  init(path: String) throws(ExportError) {
    var status = stat()
    let exists = stat(path, &status) == 0
    let kind = status.st_mode & S_IFMT
    if exists, kind == S_IFDIR {
      throw ExportError(.output, "The output \(path) is a folder.", help: "name a file in it")
    }
    // Behind a symbolic link the file that it names is replaced, not the link.
    self.path = exists ? Self.resolved(path) : path
    if exists, kind != S_IFREG {
      hidden = nil
      descriptor = open(path, O_WRONLY | O_CLOEXEC)
    } else {
      let url = URL(fileURLWithPath: self.path)
      let name = ".\(url.lastPathComponent.prefix(100)).\(UInt32.random(in: 0 ... .max)).part"
      let hidden = url.deletingLastPathComponent().appendingPathComponent(name).path
      self.hidden = hidden
      descriptor = open(hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      if exists, descriptor >= 0 { fchmod(descriptor, status.st_mode & 0o7777) }
    }
    guard descriptor >= 0 else {
      throw ExportError(
        .output,
        "The output \(path) cannot be created: \(String(cString: strerror(errno)))."
      )
    }
  }

  deinit { discard() }

  private static func resolved(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(ExportError) {
    try DescriptorSink.write(bytes, to: descriptor, name: "The output \(path)")
  }

  func finish() throws(ExportError) {
    guard let hidden else { return discard() }
    guard fsync(descriptor) == 0, rename(hidden, path) == 0 else {
      throw ExportError(
        .inputOutput,
        "The output \(path) cannot be completed: \(String(cString: strerror(errno)))."
      )
    }
    close(descriptor)
    descriptor = -1
    Self.synchronize(folder: URL(fileURLWithPath: path).deletingLastPathComponent().path)
  }

  func discard() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
    if let hidden { unlink(hidden) }
  }

  /// The new name is on the disk, too; file systems that cannot do that say so, and are left alone.
  private static func synchronize(folder: String) {
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}
