import DragomanGraph
import Foundation

extension ImportRequest {
  /// Refuses what contradicts itself or is out of range.
  ///
  /// - Parameters:
  ///   - batchSize: The records a batch, which the map may say.
  ///   - commit: When it commits, which the map may say.
  /// - Throws: `.request`; `.prune` where the feed would not be complete.
  func check(
    batchSize: Int,
    commit: ImportMap.ImportOptions.Commit
  ) throws(ImportError) {
    if inputs.isEmpty { throw ImportError(.request, "There is nothing to import.") }
    guard (1...1_000_000).contains(batchSize) else {
      throw ImportError(.request, "A batch has 1 to 1,000,000 records, not \(batchSize).")
    }
    if prune != nil, limit != nil {
      throw ImportError(.prune, "A limited import is not complete, and cannot prune.")
    }
    if resumes, isDryRun || options.commit == .all {
      throw ImportError(
        .request,
        "What is to be resumed is an import in batches: no dry run, and not one transaction."
      )
    }
    if let partition { try check(partition, commit) }
    if let fault = options.boundFaults.first { throw ImportError(.request, fault.message) }
    if retriedFile != nil,
      inputs.count > 1 || prune != nil || limit != nil || resumes
        || options.commit == .batch
    {
      throw ImportError(
        .request,
        "Rejects are imported again for themselves and as a whole: one file, in one transaction, without pruning."
      )
    }
    if let size = maximumInputByteCount, size < 1 {
      throw ImportError(.request, "An input has 1 byte or more, not at most \(size).")
    }
    if let limit, limit < 0 {
      throw ImportError(.request, "The limit is a number of records, not \(limit).")
    }
  }

  private func check(
    _ partition: ImportPartition,
    _ commit: ImportMap.ImportOptions.Commit
  ) throws(ImportError) {
    guard partition.isValid else {
      throw ImportError(
        .request,
        "A partition is one of 1 to 1,000, such as 2/4, not \(partition)."
      )
    }
    guard partition.count == 1 || readsItself else {
      throw ImportError(
        .request,
        "Each partition reads the whole feed: standard input and pipes can be read once.",
        help: "write the feed into a file first"
      )
    }
    if prune != nil {
      throw ImportError(
        .prune,
        "A partition has not seen the whole feed, and cannot prune.",
        help: "when all partitions are done, import once more without a partition, pruning"
      )
    }
    if commit == .all || retriedFile != nil {
      throw ImportError(
        .request,
        "A partition commits in batches: others write at the same time.",
        help: "leave out `commit: all`"
      )
    }
  }

  /// How many records may be rejected: what the request says, else what its map does of feeds; nil: all.
  func maximumRejects(by map: ImportMap) -> Int? {
    options.maximumRejects ?? (retriedFile == nil ? map.importOptions.maximumRejects : nil)
  }

  /// What one record may take: what the request says, else what its map does.
  func recordLimit(by map: ImportMap) -> RecordLimit {
    RecordLimit(
      byteCount: options.maximumRecordByteCount ?? map.importOptions.maximumRecordByteCount
    )
  }

  /// How much memory records may take that wait: what the request says, else what its map does.
  func maximumWaitingByteCount(by map: ImportMap) -> Int {
    options.maximumWaitingByteCount ?? map.importOptions.maximumWaitingByteCount
      ?? ImportMap.ImportOptions.waitingByteCounts.standard
  }

  /// Where rejects go: a partition has a file of its own, `rejects.ndjson.2-4`; nil: nowhere.
  ///
  /// - Throws: `.output` where a link takes the map's own file out of the folder of the map.
  func rejectsPath(_ map: ImportMap) throws(ImportError) -> String? {
    guard let path = options.rejectsFile ?? map.rejectsPath else { return nil }
    if options.rejectsFile == nil, let file = map.file, !Self.isFolder(of: path, inThatOf: file) {
      throw ImportError(
        .output,
        "The rejects file \(path) leads out of the folder of the map that names it, \(file).",
        help: "name a rejects file in the request, or put it into the folder"
      )
    }
    guard let partition else { return path }
    return "\(path).\(partition.number)-\(partition.count)"
  }

  /// Whether a file is in the folder of another one, or deeper, behind links; of what is not there nobody knows better.
  private static func isFolder(of path: String, inThatOf other: String) -> Bool {
    func folder(_ path: String) -> String { FilePath.resolved(FilePath.openFolder(of: path)) }
    let (own, around) = (folder((try? OutputPlace.target(of: path)) ?? path), folder(other))
    return access(own, F_OK) != 0
      || Array("\(own)/".utf8).starts(with: around == "/" ? [] : Array("\(around)/".utf8))
  }
}

extension ImportInput {
  /// Whether the input can be read a second time: a pipe cannot.
  var isReadTwice: Bool {
    guard case .file(let path) = self else { return self != .standardInput }
    // A file that is not there is told when it is opened.
    return FileStatus(path)?.kind != .pipe
  }
}
