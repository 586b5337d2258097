extension ImportRequest {
  /// Refuses what contradicts itself or is out of range.
  ///
  /// - Parameter batchSize: The records a batch, which the map may say.
  /// - Throws: `.request`; `.prune` where the feed would not be complete.
  func check(batchSize: Int) throws(ImportError) {
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
    if let size = options.maximumRecordByteCount, !RecordLimit.range.contains(size) {
      throw ImportError(.request, "A record may take 1 MB to 1 GB of memory, not \(size) bytes.")
    }
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
}
