/// Sees what records became, once it is written; runs on the writing thread.
protocol DraftObserver: Sendable {
  /// Sees a batch that was written, which is lent.
  func see(_ batch: DraftBatch)
}
