import DragomanGraph
import Foundation

/// A file that appears under its name when it is complete, and not before.
///
/// A crash, a full disk or a signal leaves what stood there before (`PublishedFile`). What is no
/// regular file (a pipe, a terminal) is written directly.
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

  /// Where the bytes go.
  private enum Destination {
    case file(PublishedFile)
    case stream(Int32)

    var descriptor: Int32 {
      switch self {
      case .file(let file): file.descriptor
      case .stream(let descriptor): descriptor
      }
    }
  }

  /// What its mark says.
  private let kind: Kind
  private let path: String
  /// nil: it is finished or discarded.
  private var destination: Destination?
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
    switch try place() {
    case .stream:
      self.path = path
      let descriptor = Self.open(stream: path)
      guard descriptor >= 0 else {
        let reason =
          errno == ENXIO
          ? "it is a pipe, and nobody reads it" : String(cString: strerror(errno))
        throw Self.refusal(path, reason)
      }
      destination = .stream(descriptor)
    case .absent(let target), .file(let target, _):
      self.path = target
      do throws(PublishedFile.Failure) {
        let file = try PublishedFile(beside: target, mode: .likeReplaced(else: 0o666))
        destination = .file(file)
      } catch {
        throw Self.refusal(path, error.reason)
      }
    }
  }

  private static func refusal(_ path: String, _ reason: String) -> ExportError {
    ExportError(.output, "The output \(path) cannot be created: \(reason).")
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
    // What is finished takes nothing: the system says so of this number.
    let descriptor = destination?.descriptor ?? -1
    try DescriptorSink.write(bytes, to: descriptor, name: "The output \(path)")
  }

  func finish() throws(ExportError) -> String? {
    defer { discard() }
    guard case .file(let file) = destination else { return nil }
    let isMarked = OutputMark.set(kind.rawValue, on: file.descriptor)
    try file.publish { () throws(ExportError) in
      _ = try place()
    } orThrow: { failure in
      ExportError(.inputOutput, "The output \(path) cannot be completed: \(failure.reason).")
    }
    return isMarked
      ? nil : "\(path) cannot be marked as \(kind.name): the next one over it wants `overwrites`"
  }

  func discard() {
    switch destination {
    case .file(let file): file.discard()
    case .stream(let descriptor): close(descriptor)
    case nil: break
    }
    destination = nil
  }
}
