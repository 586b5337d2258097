import ArgumentParser
import Dragoman
import DragomanGraph

/// The writers of one import: one, or several on a server, each of which takes a partition of the records.
struct ImportWorkers {
  private let runs: [ImportRun]

  /// Starts one.
  init(_ run: ImportRun) { runs = [run] }

  /// Starts one for each importer.
  init(_ importers: [Importer], _ request: ImportRequest) {
    runs = importers.enumerated().map { number, importer in
      importer.start(
        request.with { $0.partition = ImportPartition(number + 1, of: importers.count) }
      )
    }
  }

  /// Stops all of them.
  func cancel() { for run in runs { run.cancel() } }

  /// How far they are together, until all have ended.
  var progress: AsyncStream<ImportProgress> {
    guard runs.count > 1 else { return runs[0].progress }
    let (stream, continuation) = AsyncStream.makeStream(
      of: ImportProgress.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    let joined = JoinedProgress(runs.count)
    let runs = runs
    Task {
      await withTaskGroup(of: Void.self) { group in
        for (number, run) in runs.enumerated() {
          group.addTask {
            for await progress in run.progress {
              continuation.yield(await joined.note(progress, of: number))
            }
          }
        }
      }
      continuation.finish()
    }
    return stream
  }

  /// What came of them together; where one fails, the others are stopped.
  func outcome() async -> Result<ImportReport, ImportFailure> {
    guard runs.count > 1 else { return await Result(of: runs[0]) }
    let outcomes = await withTaskGroup(of: (Int, Result<ImportReport, ImportFailure>).self) {
      group in
      for (number, run) in runs.enumerated() {
        group.addTask { (number, await Result(of: run)) }
      }
      var outcomes: [(Int, Result<ImportReport, ImportFailure>)] = []
      for await outcome in group {
        if case .failure = outcome.1 { cancel() }
        outcomes.append(outcome)
      }
      return outcomes.sorted { $0.0 < $1.0 }.map(\.1)
    }
    var report = ImportReport()
    var failure: (any Error)?
    for outcome in outcomes {
      switch outcome {
      case .success(let part): report.add(part)
      case .failure(let part):
        report.add(part.report)
        failure = failure ?? part.cause
      }
    }
    guard let failure else { return .success(report) }
    report.status = .failed
    return .failure(ImportFailure(cause: failure, report: report))
  }
}

/// How far several imports of the same feeds are together.
private actor JoinedProgress {
  private var parts: [ImportProgress?]

  init(_ count: Int) { parts = Array(repeating: nil, count: count) }

  /// Takes note of how far one is.
  ///
  /// - Returns: How far all are: each reads the whole feed.
  func note(_ progress: ImportProgress, of number: Int) -> ImportProgress {
    parts[number] = progress
    let known = parts.compactMap { $0 }
    var joined = progress
    joined.counts = known.dropFirst().reduce(known[0].counts) { $0.adding($1.counts) }
    joined.byteCount = known.reduce(0) { $0 + $1.byteCount } / parts.count
    return joined
  }
}

extension ImportPartition: ExpressibleByArgument {
  /// Reads `2/4`.
  public init?(argument: String) { self.init(argument) }
}
