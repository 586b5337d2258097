/// An import that failed, with what it had done until then.
public struct ImportFailure: Error, Sendable, CustomStringConvertible {
  /// The cause: a `ReadError`, `StoreError`, `MapFaults` or `ImportError`.
  public let cause: any Error
  /// The report up to the failure; what it counts was rolled back, except for batches that
  /// `report.committed` counts.
  public let report: ImportReport

  /// Describes an import that failed.
  package init(cause: any Error, report: ImportReport) {
    self.cause = cause
    self.report = report
  }

  /// The cause's description.
  public var description: String { "\(cause)" }
}
