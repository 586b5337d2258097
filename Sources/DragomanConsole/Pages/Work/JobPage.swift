import Dragoman
import DragomanGraph

/// An import under way: what was found, what would change, how far it is, what came of it.
struct JobPage {
  private struct Step {
    let name: String
    let style: String
    let isHere: Bool
  }

  private struct Number {
    let name: String
    let value: String
    let style: String
  }

  private struct Coverage {
    let name: String
    let objects: String
    let attributes: [AttributeRow]
  }

  private struct AttributeRow {
    let name: String
    let type: String
    let values: String
    let nulls: String
    let absent: String
    let invalid: String
    let distinct: String
    let range: String
    let isBad: Bool
  }

  private struct Unread {
    let path: String
    let kind: String
    let count: String
  }

  private struct Issue {
    let code: String
    let subject: String
    let count: String
    let message: String
    let place: String
    let help: String
    let isReject: Bool
  }

  private struct View {
    let name: String
    let map: String
    let address: String
    let csrf: String
    let steps: [Step]
    let isRunning: Bool
    let events: String
    let progress: Progress
    let verdict: String
    let hasReport: Bool
    let numbers: [Number]
    let fault: FaultView?
    let coverage: [Coverage]
    let hasCoverage: Bool
    let unread: [Unread]
    let hasUnread: Bool
    let issues: [Issue]
    let hasIssues: Bool
    let notices: [String]
    let changes: [ChangeView]
    let hasChanges: Bool
    let changesNote: String
    let canCheck: Bool
    let canTry: Bool
    let tryText: String
    let canImport: Bool
    let isDone: Bool
    let hasRejects: Bool
    let rejects: String
    let run: String?
  }

  /// How far it is, as text and as numbers.
  struct Progress {
    let text: String
    let value: String
    let hasValue: Bool

    init(_ progress: ImportProgress?) {
      guard let progress else {
        (text, value, hasValue) = ("reading …", "0", false)
        return
      }
      let seconds = Figures.seconds(progress.duration)
      let rate = seconds > 0 ? Int(Double(progress.counts.read) / seconds) : 0
      text =
        "\(Figures.count(progress.counts.read, "record")) in \(Figures.duration(seconds)), "
        + "\(Figures.grouped(rate)) a second, \(Figures.bytes(progress.byteCount)) read"
      let total = progress.totalByteCount ?? 0
      hasValue = total > 0
      value =
        total > 0
        ? ImportChart.text(min(100, Double(progress.byteCount) / Double(total) * 100)) : "0"
    }
  }

  /// - Throws: `ConsoleError`, 404, where there is no such import any more.
  static func answer(_ id: String, _ sources: PageSources) throws -> PageAnswer {
    let job = try sources.jobs.job(id)
    let state = job.now
    let phase = state.phase
    let report = state.report
    let run = state.kept?.id.map { WebText.address(["history", String($0)]) }
    let isCancelled = state.isCancelled
    let isChecked = phase == .checked && !isCancelled
    let coverage = state.coverage?.entities ?? []
    let rejects = sources.rejects.items.first { $0.path == job.rejectsPath }
    let issues = report?.issues ?? []
    let view = View(
      name: job.name,
      map: job.map.name,
      address: WebText.address(["import", id]),
      csrf: sources.formToken,
      steps: steps(state),
      isRunning: phase.isRunning,
      events: WebText.address(["import", id, "events"]),
      progress: Progress(state.progress),
      verdict: verdict(state),
      hasReport: report != nil && !phase.isRunning,
      numbers: numbers(state),
      fault: state.failure.map(FaultView.init),
      coverage: isChecked ? coverage.map(self.coverage) : [],
      hasCoverage: isChecked && !coverage.isEmpty,
      unread: isChecked
        ? (state.coverage?.unread ?? []).prefix(50).map {
          Unread(path: $0.path, kind: $0.kind.rawValue, count: Figures.grouped($0.count))
        } : [],
      hasUnread: isChecked && !(state.coverage?.unread.isEmpty ?? true),
      issues: issues.map(issue),
      hasIssues: !issues.isEmpty && !phase.isRunning,
      notices: report?.notices ?? [],
      changes: phase == .tried && !isCancelled ? state.changes.map(ChangeView.init) : [],
      hasChanges: phase == .tried && !isCancelled && !state.changes.isEmpty,
      changesNote: state.changeCount > state.changes.count
        ? "The first \(state.changes.count) of \(Figures.grouped(state.changeCount)) changed objects."
        : Figures.count(state.changeCount, "object") + " would change.",
      canCheck: phase != .done && !phase.isRunning && !state.isChecked,
      canTry: state.isChecked && (phase == .checked || phase == .failed || state.isCancelled)
        && phase != .done,
      tryText: isCancelled && phase == .tried
        ? "Try it again" : "Try it first: what would change?",
      canImport: state.isChecked
        && (phase == .checked || (phase == .tried && !isCancelled) || state.mayBeginAgain),
      isDone: phase == .done,
      hasRejects: phase == .done && (report?.counts.rejected ?? 0) > 0,
      rejects: rejects.map {
        WebText.address(["rejects", String($0.number), "download.ndjson"])
      } ?? "/rejects",
      run: run
    )
    return PageAnswer(
      title: "Import of \(job.name)",
      template: "job",
      view: view,
      json: json(job, state),
      refresh: phase.isRunning ? 2 : nil
    )
  }

  /// Its progress, an event at a time, four a second at most; one more when it is over.
  static func events(_ id: String, _ sources: PageSources) throws -> ConsoleResponse {
    let job = try sources.jobs.job(id)
    return ConsoleResponse(
      type: "text/event-stream",
      .events {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
          let task = Task {
            var version = -1
            while !Task.isCancelled {
              let state = job.now
              if state.version != version || !state.phase.isRunning {
                version = state.version
                let progress = Progress(state.progress)
                let data: JSONValue = [
                  "phase": .string(state.phase.rawValue), "text": .string(progress.text),
                  "value": progress.hasValue ? .raw(progress.value) : .null,
                ]
                continuation.yield("data: \(data.text)\n\n")
              }
              if !state.phase.isRunning { break }
              try await Task.sleep(for: .milliseconds(250))
            }
            continuation.finish()
          }
          continuation.onTermination = { _ in task.cancel() }
        }
      }
    )
  }

  private static func json(_ job: ImportJob, _ state: ImportJob.State) -> JSONValue {
    let counts = state.counts
    return [
      "v": 1, "id": .string(job.id), "input": .string(job.name), "map": .string(job.map.path),
      "phase": .string(state.phase.rawValue), "status": JSONValue(state.report?.status.rawValue),
      "read": JSONValue(counts.read), "inserted": JSONValue(counts.inserted),
      "updated": JSONValue(counts.updated), "unchanged": JSONValue(counts.unchanged),
      "deleted": JSONValue(counts.deleted), "skipped": JSONValue(counts.skipped),
      "rejected": JSONValue(counts.rejected),
      "import": state.kept?.id.map(JSONValue.integer) ?? .null,
      "changes": state.isCancelled
        ? .array([]) : .array(state.changes.map { ChangeView($0).json }),
      "error": state.failure?.json ?? .null,
    ]
  }

  private static func steps(_ state: ImportJob.State) -> [Step] {
    // A step is over when it came to its end, and not because another one follows it.
    let over = [
      state.isChecked, state.isTried, state.phase == .done && !state.isCancelled,
    ]
    return ["Check", "Trial", "Import"].enumerated().map { place, name in
      let isHere = place == state.step
      let isOver = over[place] && (!isHere || state.phase == .done)
      return Step(name: name, style: isOver ? "over" : isHere ? "here" : "", isHere: isHere)
    }
  }

  static func verdict(_ state: ImportJob.State) -> String {
    let (phase, report) = (state.phase, state.report)
    let rejected = report?.counts.rejected ?? 0
    let rest = rejected > 0 ? ", \(Figures.grouped(rejected)) rejected" : ""
    let kept =
      state.kept.map {
        "what its first \(Figures.count($0.committed, "record")) brought was kept"
      } ?? "nothing was kept"
    switch phase {
    case .checked where state.isCancelled: return "The check was cancelled; nothing was kept."
    case .tried where state.isCancelled: return "The trial was cancelled; nothing was kept."
    case .checking: return "The feed is read by the map; nothing is kept."
    case .checked:
      let rejects =
        rejected > 0
        ? "; \(Figures.count(rejected, "record")) would be rejected by an empty database" : ""
      return
        "The map reads the feed\(rejects). What becomes of the objects that are there, the trial tells."
    case .trying: return "It is tried against the database; nothing is kept."
    case .tried: return "This is what the import would do\(rest)."
    case .importing: return "The import is under way."
    case .done where state.isCancelled: return "The import was cancelled; \(kept)."
    case .done: return "It is in the database\(rest)."
    case .failed: return "It did not work; \(kept)."
    }
  }

  private static func numbers(_ state: ImportJob.State) -> [Number] {
    let counts = state.counts
    let all = [
      ("read", counts.read), ("inserted", counts.inserted), ("updated", counts.updated),
      ("unchanged", counts.unchanged), ("deleted", counts.deleted), ("skipped", counts.skipped),
      ("rejected", counts.rejected),
    ]
    // What is not kept was not inserted.
    let isLost = state.isBroken && state.kept == nil
    return (isLost ? Array(all.prefix(1)) : all).map { name, count in
      Number(
        name: name,
        value: Figures.grouped(count),
        style: name == "rejected" && count > 0 ? "bad" : ""
      )
    }
  }

  private static func coverage(_ entity: FeedCoverage.Entity) -> Coverage {
    Coverage(
      name: entity.name,
      objects: Figures.count(entity.objectCount, "object"),
      attributes: entity.attributes.map { row in
        let (least, most) = (row.smallest, row.largest)
        let texts = [least, most].compactMap { $0 }.compactMap {
          ShownValue.text($0, row.attribute)
        }
        // Isolated (U+2068 to U+2069), so that the smallest one comes first whatever its direction is.
        let range =
          row.attribute.isSensitive
          ? ""
          : texts.map { "\u{2068}\(PageText.short($0, 30))\u{2069}" }.joined(separator: " to ")
        return AttributeRow(
          name: row.attribute.name,
          type: row.attribute.type.rawValue,
          values: Figures.grouped(row.valueCount),
          nulls: Figures.grouped(row.nullCount),
          absent: Figures.grouped(row.absentCount),
          invalid: Figures.grouped(row.invalidCount),
          distinct: (row.isDistinctCountExact ? "" : "≥ ") + Figures.grouped(row.distinctCount),
          range: range,
          isBad: row.invalidCount > 0
        )
      }
    )
  }

  private static func issue(_ group: ImportReport.Group) -> Issue {
    let first = group.examples.first
    return Issue(
      code: group.code.rawValue,
      subject: group.attribute.map { "\(group.entity).\($0)" } ?? group.entity,
      count: Figures.grouped(group.count),
      message: first?.message ?? "",
      place: first.map { "\($0.origin)" } ?? "",
      help: first?.help.map(ConsoleWords.spelled) ?? "",
      isReject: first?.isReject ?? false
    )
  }
}
