import DragomanGraph
import Logging

/// The reading half of an import: opens input after input, reads batches of records, maps them,
/// and hands them to the writer.
///
/// It runs on a thread of its own, so that parsing and mapping overlap with writing.
struct FeedReading {
  let map: ImportMap
  let model: Model
  let request: ImportRequest
  let queue: BatchQueue
  let cancellation: Cancellation
  /// Records a batch.
  let batchSize: Int
  /// Told once, when an input's sources are known.
  let notices: NoticeLog
  let logger: Logger

  /// Reads all inputs; every batch goes into the queue, which is told how it ended.
  func run() {
    queue.finish(Result { try readInputs() })
  }

  private func readInputs() throws {
    var plans: [ForeignFormat: CompiledPlan] = [:]
    var remaining = request.limit ?? .max
    var earlierByteCount = 0
    for input in request.inputs {
      guard remaining > 0, !cancellation.isCancelled else { return }
      let read = try readInput(
        input,
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
    plans: inout [ForeignFormat: CompiledPlan],
    remaining: inout Int,
    earlierByteCount: Int
  ) throws -> Int? {
    let source = PeekableSource(try Self.open(input))
    let format = try FormatDetection.format(of: source, name: input.name, sources: map.sources)
    let plan = try plans[format] ?? compile(for: format)
    plans[format] = plan
    logger.debug(
      "reading",
      metadata: [
        "input": "\(input.name)", "format": "\(format.rawValue)",
        "sources": "\(plan.plan.sources.map(\.name).joined(separator: ","))",
      ]
    )
    let reader = try makeReader(source, format: format, plan: plan)
    var isMore = true
    while isMore && remaining > 0 {
      guard !cancellation.isCancelled, let batch = queue.takeFree() else { return nil }
      batch.removeAll()
      isMore = try reader.read(into: batch.records, limit: min(batchSize, remaining))
      // An XML element may be a record of several sources, and bring more of them than asked for.
      batch.records.records.removeLast(max(0, batch.records.records.count - remaining))
      remaining -= batch.records.records.count
      for index in batch.records.records.indices {
        plan.mappers[batch.records.records[index].source].map(index, into: batch)
      }
      batch.plan = plan.plan
      batch.consumedByteCount = earlierByteCount + reader.consumedByteCount
      queue.put(batch)
    }
    if !isMore { try checkPaths(reader.recordCounts, plan: plan, input: input) }
    return reader.consumedByteCount
  }

  private func compile(for format: ForeignFormat) throws -> CompiledPlan {
    let plan = try ImportPlan(map, format: format, names: request.sources, model: model)
    for notice in plan.notices { notices.add(notice) }
    return try CompiledPlan(plan, mapFile: map.file)
  }

  private static func open(_ input: ImportInput) throws(ReadError) -> any ByteSource {
    switch input {
    case .file(let path): try openSource(path: path)
    case .standardInput: try openSource(path: "-")
    case .bytes(let bytes, let name): try decoded(MemorySource(bytes, name: name))
    }
  }

  private func makeReader(
    _ source: PeekableSource,
    format: ForeignFormat,
    plan: CompiledPlan
  ) throws -> any RecordReader {
    let encoding = plan.plan.sources.lazy.compactMap(\.map.encoding).first
    switch format {
    case .ndjson:
      return try NDJSONReader(source: try Self.utf8(source, encoding: encoding))
    case .json:
      return try JSONReader(
        source: try Self.utf8(source, encoding: encoding),
        paths: plan.plan.sources.map { $0.map.records?.steps ?? [] },
        keepsDocument: plan.plan.usesDocument
      )
    case .xml:
      let paths = try plan.plan.sources.map { source in
        guard let records = source.map.records, let path = XMLRecordPath(records) else {
          throw ImportError(
            .request,
            "The source \(source.name) does not say where its records stand.",
            help: "add `records: /root/element` to it"
          )
        }
        return path
      }
      return try XMLReader(source: source, paths: paths, encoding: encoding)
    case .csv:
      throw ImportError(.request, "CSV cannot be read by this version yet.")
    }
  }

  /// JSON is UTF-8 (RFC 8259), unless a byte order mark or the map says otherwise.
  private static func utf8(
    _ source: PeekableSource,
    encoding: String?
  ) throws(ReadError) -> any ByteSource {
    if let encoding { return try TextDecoder(source, encoding: encoding) }
    return try decodedByMark(source)
  }

  /// A record path that occurs nowhere is an error when it is the only one.
  private func checkPaths(
    _ counts: [Int?],
    plan: CompiledPlan,
    input: ImportInput
  ) throws {
    for (source, count) in zip(plan.plan.sources, counts) where count == nil {
      let path = source.map.records?.text ?? "the root"
      if counts.count == 1 {
        throw ReadError(
          .noRecords,
          "There are no records: \(path) occurs nowhere in the input.",
          at: Origin(file: input.name, line: 1, column: 1, byte: 0),
          help: "`records:` of the source \(source.name) in the map says where records stand"
        )
      }
      notices.add(absentSource: source.name, path: path, input: input.name)
    }
  }
}

/// A plan with the mappers of its sources; mappers belong to the reading thread.
final class CompiledPlan {
  let plan: ImportPlan
  /// The mappers of the sources.
  let mappers: [RecordMapper]
  private let set: MapperSet

  init(_ plan: ImportPlan, mapFile: String?) throws {
    self.plan = plan
    let set = try MapperSet(plan, mapFile: mapFile)
    mappers = plan.sources.map { set.mappers[$0.plan] }
    self.set = set
  }
}
