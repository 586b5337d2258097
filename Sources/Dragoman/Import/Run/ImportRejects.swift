import DragomanGraph

/// Where the rejects of an import go: into a file of theirs; of a retry into the file whose records are tried again.
final class ImportRejects {
  /// Their file; nil: nobody asked for one, or it is a retry.
  let file: RejectsFile?
  private let retry: RejectsRewriting?
  private let notices: NoticeLog
  /// Whether what the file is left as by a failure is this import's doing.
  private var keepsEnd = true

  /// Opens what is written to; a dry run writes nothing.
  ///
  /// - Parameters:
  ///   - request: The import.
  ///   - map: Its map.
  ///   - retried: The lines of a retry that stay as they are.
  ///   - database: The file of the store; nil: it has none.
  ///   - cancellation: Ends what waits for a reader.
  ///   - notices: Gets what is to be told.
  /// - Throws: `ImportError`; `ReadError` where the file of a retry cannot be read.
  init(
    _ request: ImportRequest,
    _ map: ImportMap,
    _ retried: RetriedLines,
    beside database: String?,
    _ cancellation: Cancellation,
    _ notices: NoticeLog
  ) throws {
    self.notices = notices
    if let path = request.retriedFile {
      // Whether it can be read is told first.
      _ = try RejectLines(path)
      retry = request.isDryRun ? nil : try RejectsRewriting(path, retried)
      file = nil
    } else {
      retry = nil
      file = try Self.file(of: request, map, beside: database, cancellation)
    }
  }

  /// The request's file, or the map's beside the map.
  private static func file(
    of request: ImportRequest,
    _ map: ImportMap,
    beside database: String?,
    _ cancellation: Cancellation
  ) throws(ImportError) -> RejectsFile? {
    guard !request.isDryRun, let path = try request.rejectsPath(map) else { return nil }
    var kept = OutputPlace.Kept.database(database)
    if let file = map.file { kept.append(OutputPlace.Kept(file, as: "the map")) }
    for input in request.inputs {
      switch input {
      case .file(let path): kept.append(OutputPlace.Kept(path, as: "an input"))
      case .standardInput: kept.append(OutputPlace.Kept("/dev/stdin", as: "an input"))
      case .bytes, .records, .rejects, .url, .opened: break
      }
    }
    let made = try RejectsFile(path: path, besides: kept)
    made.shouldStop = { cancellation.isCancelled }
    try made.goOn(within: request.begunRejects)
    return made
  }

  /// What gets them; nil: they are only counted.
  var output: (any RejectsOutput)? { retry ?? file }

  /// Goes on behind those of the part of the import that is committed.
  ///
  /// - Throws: `ImportError`, `.inputOutput`, when the file cannot be read.
  func goOn(behind state: ImportRunState) throws(ImportError) {
    guard let file, let byteCount = state.rejectsByteCount else { return }
    let left = try file.goOn(
      behind: RejectsFile.Extent(byteCount: byteCount, hash: state.rejectsHash),
      leftAs: state.leftByteCount.map { .init(byteCount: $0, hash: state.leftHash) }
    )
    // Others' lines are not what this one leaves before it has committed them.
    keepsEnd = Int(file.byteCount) == byteCount
    switch left {
    case .whole: break
    case .gone:
      notices.add("the rejects file has only the rejects behind those that were committed")
    case .changed:
      notices.add(
        "the rejects file is not as the import that was stopped had left it: its lines stay, and new ones come behind them"
      )
    }
  }

  /// Writes those so far.
  ///
  /// - Throws: `ImportError`.
  func flush() throws {
    guard let file else { return }
    try file.flush()
    if file.hasReplaced {
      notices.add("the rejects of an earlier import were replaced in \(file.path)")
    }
  }

  /// What was written so far is of records that are committed.
  func didCommit() { keepsEnd = true }

  /// The file whose end is to be kept for one who goes on: what it is left as is this import's doing.
  var leftFile: RejectsFile? { keepsEnd ? file : nil }

  /// Replaces the file of a retry: what went in stands in it until now, so that one that is stopped before finds it
  /// unchanged.
  ///
  /// - Throws: `ImportError`.
  func finishRetry() throws { try retry?.finish() }
}
