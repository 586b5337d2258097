import DragomanGraph

/// A file of rows for people and programs: whole under its name or not there, compressed where the name
/// ends in `.gz` or `.zst`.
package final class OutputFile {
  private let sink: any ExportSink

  /// Opens it.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - kept: The files that it must not replace.
  ///   - overwrites: Whether it may replace a file that no fetch made.
  /// - Throws: `.output` when the file cannot be created or replaced.
  package init(
    _ path: String,
    besides kept: [OutputPlace.Kept],
    overwrites: Bool
  ) throws(ExportError) {
    let file = try FileSink(.fetch, path: path, besides: kept, overwrites: overwrites)
    if let method = CompressingSink.Method(name: path.lowercased()) {
      sink = try CompressingSink(method, into: file)
    } else {
      sink = file
    }
  }

  /// Takes the next bytes.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(ExportError) { try sink.write(bytes) }

  /// Gives the file its name.
  ///
  /// - Returns: What is worth knowing of it, if anything.
  package func finish() throws(ExportError) -> String? { try sink.finish() }

  /// Forgets a file that is not finished.
  package func discard() { sink.discard() }
}
