import DragomanGraph
import Logging

/// The reading half of an import: opens input after input, reads batches of records, maps them,
/// and hands them to the writer.
///
/// It runs on a thread of its own, and mapping on another one (`BatchMapping`), so that both overlap with writing.
struct FeedReading {
  let map: ImportMap
  let code: ImportCode
  let model: Model
  let request: ImportRequest
  let queue: BatchQueue<DraftBatch>
  let cancellation: Cancellation
  /// Records a batch.
  let batchSize: Int
  /// How many records are committed by an earlier import: a batch ends behind them.
  let committedCount: Int
  /// Told once, when an input's sources are known.
  let notices: NoticeLog
  /// Told which lines of a rejects file are left alone.
  let retried: RetriedLines
  let logger: Logger

  /// Reads all inputs; every batch goes into the queue, which is told how it ended.
  func run() {
    let mapping = BatchMapping(queue)
    defer { mapping.end() }
    queue.finish(Result { try readInputs(mapping) })
  }

  private func readInputs(_ mapping: BatchMapping) throws {
    var plans: [ForeignFormat: CompiledPlan] = [:]
    // What a few records do not have says nothing of the map.
    defer { if request.retriedFile == nil { tellUnmatched(plans) } }
    var remaining = request.limit ?? .max
    var earlierByteCount = 0
    for input in request.inputs {
      guard remaining > 0, !cancellation.isCancelled else { return }
      let read = try readInput(
        input,
        mapping,
        plans: &plans,
        remaining: &remaining,
        earlierByteCount: earlierByteCount
      )
      guard let read else { return }
      earlierByteCount += read
    }
  }

  /// Reads one input.
  ///
  /// - Returns: How many bytes it had; nil when the import is to stop.
  private func readInput(
    _ input: ImportInput,
    _ mapping: BatchMapping,
    plans: inout [ForeignFormat: CompiledPlan],
    remaining: inout Int,
    earlierByteCount: Int
  ) throws -> Int? {
    if case .records(let values, let name) = input {
      return try readRecords(values, name: name, mapping, plans: &plans, remaining: &remaining)
    }
    if case .rejects(let path) = input { return try readRejects(path, plans: &plans) }
    let source = PeekableSource(try open(input))
    let candidates = InputSources.candidates(of: map, request, for: input.name)
    let format = try FormatDetection.format(of: source, name: input.name, sources: candidates)
    let answer = ErrorAnswer(Array(try source.peek(ErrorAnswer.maximumByteCount + 1)))
    do {
      let wanted = remaining
      let byteCount = try readFeed(
        source,
        input,
        format,
        mapping,
        plans: &plans,
        remaining: &remaining,
        earlierByteCount: earlierByteCount
      )
      // An empty list is a feed, but none with an error beside it.
      if let answer, byteCount != nil, remaining == wanted {
        let origin = Origin(file: input.name, line: 1, column: 1, byte: 0)
        throw answer.told(in: ReadError(.noRecords, "There are no records.", at: origin))
      }
      return byteCount
    } catch {
      throw answer?.told(in: error) ?? error
    }
  }

  private func readFeed(
    _ source: PeekableSource,
    _ input: ImportInput,
    _ format: ForeignFormat,
    _ mapping: BatchMapping,
    plans: inout [ForeignFormat: CompiledPlan],
    remaining: inout Int,
    earlierByteCount: Int
  ) throws -> Int? {
    let plan = try plans[format] ?? compile(for: format)
    plans[format] = plan
    let candidates = InputSources.candidates(of: map, request, for: input.name)
    var sources = try inputSources(of: plan, candidates, input)
    if format == .csv { try chooseColumns(&sources, source) }
    logger.debug(
      "reading",
      metadata: [
        "input": "\(input.name)", "format": "\(format.rawValue)",
        "sources": "\(sources.all.map { plan.plan.sources[$0].name }.joined(separator: ","))",
      ]
    )
    let doubt = EncodingDoubt()
    let reader = try makeReader(source, format: format, plan: plan, sources, doubt)
    guard
      let isMore = try readBatches(
        of: reader,
        mapping,
        input: input,
        plan: plan,
        sources: &sources,
        remaining: &remaining,
        earlierByteCount: earlierByteCount
      )
    else { return nil }
    // Of a part nobody knows the rest.
    if !isMore, let notice = doubt.notice { notices.add(notice, input: input.name) }
    try checkMatches(plan, sources, input, columns: (reader as? CSVReader)?.header?.names)
    if !isMore { try checkPaths(reader.recordCounts, plan: plan, sources, input: input) }
    return reader.consumedByteCount
  }

  /// Reads an input whose records are in memory already.
  private func readRecords(
    _ values: [ForeignValue],
    name: String,
    _ mapping: BatchMapping,
    plans: inout [ForeignFormat: CompiledPlan],
    remaining: inout Int
  ) throws -> Int? {
    let plan = try plans[.json] ?? compile(for: .json)
    plans[.json] = plan
    let input = ImportInput.records(values, name: name)
    let candidates = InputSources.candidates(of: map, request, for: name)
    var sources = try inputSources(of: plan, candidates, input, isInMemory: true)
    let isMore = try readBatches(
      of: DictionaryReader(values, name: name),
      mapping,
      input: input,
      plan: plan,
      sources: &sources,
      remaining: &remaining,
      earlierByteCount: 0
    )
    return isMore == nil ? nil : 0
  }

  /// Reads batch after batch, and hands them to who maps them; all are mapped at the end.
  ///
  /// - Returns: Whether there may be more behind the limit; nil when the import is to stop.
  private func readBatches(
    of reader: any RecordReader,
    _ mapping: BatchMapping,
    input: ImportInput,
    plan: CompiledPlan,
    sources: inout InputSources,
    remaining: inout Int,
    earlierByteCount: Int
  ) throws -> Bool? {
    var isMore = true
    var isBegun = false
    for mapper in plan.mappers { mapper.use.beginInput() }
    defer { mapping.wait() }
    while isMore && remaining > 0 {
      guard !cancellation.isCancelled, let batch = queue.takeFree() else { return nil }
      batch.removeAll()
      var failure: ReadError?
      do throws(ReadError) {
        let ahead = committedCount - ((request.limit ?? .max) - remaining)
        let limit = min(batchSize, remaining, ahead > 0 ? ahead : .max)
        isMore = try reader.read(into: batch.records, limit: limit)
      } catch {
        // The records before it are imported, or rejected by name, as those of earlier batches are.
        guard !batch.records.records.isEmpty else { throw error }
        failure = error
      }
      try sources.assign(batch.records)
      if !isBegun, let header = (reader as? CSVReader)?.header {
        tellAbsentColumns(of: sources.source(at: 0), header, input)
      }
      isBegun = true
      // An XML element may be a record of several sources, and bring more of them than asked for.
      batch.records.records.removeLast(max(0, batch.records.records.count - remaining))
      remaining -= batch.records.records.count
      batch.records.arenaLimit = batch.records.arenaEnd + recordLimit.byteCount
      batch.records.recordByteLimit = recordLimit.byteCount
      batch.plan = plan.plan
      batch.sources = sources.all
      batch.consumedByteCount = earlierByteCount + reader.consumedByteCount
      mapping.map(batch, by: plan, isLast: !isMore || remaining == 0 || failure != nil)
      if let failure { throw failure }
    }
    return isMore
  }

  func compile(for format: ForeignFormat) throws -> CompiledPlan {
    var names = request.sources
    if !names.isEmpty { names += request.sourcesByInput.values.flatMap { $0 } }
    let plan = try ImportPlan(map, format: format, names: names, model: model, code: code)
    for notice in plan.notices { notices.add(notice) }
    return try CompiledPlan(plan, mapFile: map.file, request.partition)
  }

  private func open(_ input: ImportInput) throws(ReadError) -> any ByteSource {
    let maximum = request.maximumInputByteCount
    return switch input {
    case .file(let path):
      try openSource(
        path: path,
        maximumByteCount: maximum,
        admittingGrowth: growth(of: input)
      )
    case .opened(let feed, let name):
      try decoded(feed, name: name, maximumByteCount: maximum)
    case .url(let text): throw Self.notFetched(text)
    case .standardInput:
      try openSource(path: "-", maximumByteCount: maximum, admittingGrowth: growth(of: input))
    case .bytes(let bytes, let name):
      try decoded(MemorySource(bytes, name: name), maximumByteCount: maximum)
    // Read without bytes, before this.
    case .records(_, let name), .rejects(let name): MemorySource([], name: name)
    }
  }

  /// What is said of a file that is written on while it is read, a log for one: pruning would take objects for gone
  /// whose records are on their way.
  private func growth(of input: ImportInput) -> FileWatch.Growth {
    { () throws(ReadError) in
      if request.prune != nil { throw FileWatch.changed(input.name) }
      notices.add(
        "was written on while it was read: what came too late may not be in",
        input: input.name
      )
    }
  }

  private static func notFetched(_ text: String) -> ReadError {
    ReadError(.unsupported, "\(WebText.shown(text)) was not fetched.")
  }

  /// Says which columns the map names and the file does not have.
  private func tellAbsentColumns(
    of source: ImportPlan.Source,
    _ header: CSVHeader,
    _ input: ImportInput
  ) {
    for notice in source.entity.absentColumns(in: header.names) {
      notices.add(notice, input: input.name)
    }
  }

  /// What one record may take.
  var recordLimit: RecordLimit { request.recordLimit(by: map) }
}
