import Dragoman
import DragomanGraph
import Foundation

/// A map that the tool writes: whole under its name or not there, and never over what a run reads.
struct MapOutput {
  private let path: String
  private let kept: [OutputPlace.Kept]
  private let overwrites: Bool
  private let help: String

  /// - Parameters:
  ///   - path: The map.
  ///   - kept: The files that it must not replace.
  ///   - overwrites: Whether it may replace another file.
  ///   - help: What to do about a file that it may not replace.
  init(
    _ path: String,
    besides kept: [OutputPlace.Kept],
    overwrites: Bool,
    help: String = "name another file, or set `overwrites`"
  ) {
    self.path = path
    self.kept = kept
    self.overwrites = overwrites
    self.help = help
  }

  /// The feeds that a map is guessed of, which it must not replace.
  static func kept(_ inputs: [ImportInput]) -> [OutputPlace.Kept] {
    inputs.map { input in
      if case .standardInput = input { return OutputPlace.Kept("/dev/stdin", as: "a sample") }
      return OutputPlace.Kept(input.name, as: "a sample")
    }
  }

  /// Refuses a place where it may not stand: a map that a person wrote is not replaced unasked.
  ///
  /// - Throws: `.output`.
  func check() throws(ExportError) { _ = try place() }

  /// Writes the map.
  ///
  /// - Parameter text: All of it.
  /// - Throws: `.output` where it cannot be made or may not be replaced, `.inputOutput` where writing fails.
  func write(_ text: String) throws(ExportError) {
    switch try place() {
    case .stream:
      let descriptor = open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw refusal(String(cString: strerror(errno))) }
      defer { close(descriptor) }
      try write(text, to: descriptor)
    case .absent(let target), .file(let target, _):
      let file: PublishedFile
      do throws(PublishedFile.Failure) {
        file = try PublishedFile(beside: target, mode: .likeReplaced(else: 0o666))
      } catch {
        throw refusal(error.reason)
      }
      try write(text, to: file.descriptor)
      try file.publish(isNew: !overwrites) { () throws(ExportError) in
        try check()
      } orThrow: {
        $0.code == EEXIST ? refusal($0.reason) : failure($0.reason)
      }
    }
  }

  private func place() throws(ExportError) -> OutputPlace {
    do throws(OutputPlace.Refusal) {
      let place = try OutputPlace(path, besides: kept, proof: .needless)
      if case .file = place, !overwrites {
        throw OutputPlace.Refusal("exists, so it is not replaced", help: help)
      }
      return place
    } catch {
      throw ExportError(.output, "The map \(path) \(error.reason).", help: error.help)
    }
  }

  private func write(_ text: String, to descriptor: Int32) throws(ExportError) {
    var text = text
    let code = text.withUTF8 {
      FileOutput.write(UnsafeRawBufferPointer($0), to: descriptor)
    }
    if let code { throw failure(String(cString: strerror(code))) }
  }

  private func refusal(_ reason: String) -> ExportError {
    ExportError(.output, "The map \(path) cannot be created: \(reason).")
  }

  private func failure(_ reason: String) -> ExportError {
    ExportError(.inputOutput, "The map \(path) cannot be completed: \(reason).")
  }
}
