import Synchronization

/// What `observe(_:)` of results gives: who has it can stop being told.
///
///     let observation = results.observe { event in print(event) }
///     observation.cancel()
///
/// Letting it go stops nothing: an observation lasts until it is cancelled or its results are let go.
public final class ResultObservation: Sendable {
  // Sendable because the closure is called only where the results tell their events, one after the
  // other; whoever cancels takes it out under the lock and does nothing but let it go.
  private struct Body: @unchecked Sendable {
    let call: (ResultEvent) -> Void
  }

  private let body: Mutex<Body?>

  init(_ body: @escaping (ResultEvent) -> Void) { self.body = Mutex(Body(call: body)) }

  /// Whether it was cancelled.
  public var isCancelled: Bool { body.withLock { $0 == nil } }

  /// The closure is called no more and let go, at once, also for an event that others are being told;
  /// where it runs on another thread meanwhile, that call ends.
  ///
  /// May be called more than once, and from the closure itself. Observations of `FetchedResults` are
  /// cancelled where the results are used, those of `StoredResults` from anywhere.
  public func cancel() {
    let former = body.withLock { body in
      defer { body = nil }
      return body
    }
    // Let go here, not under the lock: what the closure holds may cancel, too.
    withExtendedLifetime(former) {}
  }

  func tell(_ event: ResultEvent) { body.withLock { $0 }?.call(event) }
}
