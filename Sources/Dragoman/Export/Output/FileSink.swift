import DragomanGraph
import Foundation

/// A file that appears under its name when it is complete, and not before.
///
/// The bytes go into a hidden file beside it, which is synchronised with the disk and then renamed,
/// so a crash, a full disk or a signal leaves what stood there before. What is no regular file (a
/// pipe, a terminal) is written directly.
final class FileSink: ExportSink {
  /// What writes a file.
  enum Kind: String {
    case export
    case fetch

    /// What such a file is called in messages.
    var name: String {
      switch self {
      case .export: "an export"
      case .fetch: "an output of a fetch"
      }
    }
  }

  /// What its mark says.
  private let kind: Kind
  private let path: String
  /// The hidden file; nil where the path is written directly.
  private let hidden: String?
  private var descriptor: Int32
  private let place: () throws(ExportError) -> OutputPlace

  /// - Parameters:
  ///   - kind: What writes it.
  ///   - path: The output.
  ///   - kept: The files that it must not replace.
  ///   - overwrites: Whether it may replace a file that is no such output.
  /// - Throws: `.output` when the file cannot be created or replaced.
  init(
    _ kind: Kind = .export,
    path: String,
    besides kept: [OutputPlace.Kept],
    overwrites: Bool
  ) throws(ExportError) {
    self.kind = kind
    let proof = OutputPlace.Proof.mark(name: kind.name, kind: kind.rawValue)
    place = { () throws(ExportError) in
      do throws(OutputPlace.Refusal) {
        return try OutputPlace(path, besides: kept, proof: overwrites ? .needless : proof)
      } catch {
        throw ExportError(.output, "The output \(path) \(error.reason).", help: error.help)
      }
    }
    let place = try place()
    switch place {
    case .stream:
      self.path = path
      hidden = nil
      descriptor = Self.open(stream: path)
    case .absent(let target), .file(let target, _):
      self.path = target
      let url = URL(fileURLWithPath: self.path)
      let name = ".\(url.lastPathComponent.prefix(100)).\(UInt32.random(in: 0 ... .max)).part"
      let hidden = url.deletingLastPathComponent().appendingPathComponent(name).path
      self.hidden = hidden
      descriptor = Foundation.open(hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      if case .file(_, let mode) = place, descriptor >= 0 { fchmod(descriptor, mode) }
    }
    guard descriptor >= 0 else {
      let reason =
        errno == ENXIO ? "it is a pipe, and nobody reads it" : String(cString: strerror(errno))
      throw ExportError(.output, "The output \(path) cannot be created: \(reason).")
    }
  }

  /// Opens what is no regular file.
  ///
  /// A pipe that nobody reads would make the system wait for ever; a reader that is about to open it takes
  /// a moment.
  private static func open(stream path: String) -> Int32 {
    for _ in 1...100 {
      let descriptor = Foundation.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      if descriptor >= 0 { _ = fcntl(descriptor, F_SETFL, O_WRONLY) }
      guard descriptor < 0, errno == ENXIO else { return descriptor }
      usleep(10_000)
    }
    errno = ENXIO
    return -1
  }

  deinit { discard() }

  func write(_ bytes: UnsafeRawBufferPointer) throws(ExportError) {
    try DescriptorSink.write(bytes, to: descriptor, name: "The output \(path)")
  }

  func finish() throws(ExportError) -> String? {
    guard let hidden else {
      discard()
      return nil
    }
    let isMarked = OutputMark.set(kind.rawValue, on: descriptor)
    guard fsync(descriptor) == 0 else { throw failure() }
    // Much may have happened under the name since the export began.
    _ = try place()
    guard rename(hidden, path) == 0 else { throw failure() }
    close(descriptor)
    descriptor = -1
    Self.synchronize(folder: URL(fileURLWithPath: path).deletingLastPathComponent().path)
    return isMarked
      ? nil : "\(path) cannot be marked as \(kind.name): the next one over it wants `overwrites`"
  }

  private func failure() -> ExportError {
    ExportError(
      .inputOutput,
      "The output \(path) cannot be completed: \(String(cString: strerror(errno)))."
    )
  }

  func discard() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
    if let hidden { unlink(hidden) }
  }

  /// The new name is on the disk, too; file systems that cannot do that say so, and are left alone.
  private static func synchronize(folder: String) {
    let descriptor = Foundation.open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}
