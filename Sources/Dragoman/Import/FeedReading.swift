import DragomanGraph
import Logging

/// The reading half of an import: opens input after input, reads batches of records, maps them,
/// and hands them to the writer.
///
/// It runs on a thread of its own, so that parsing and mapping overlap with writing.
struct FeedReading {
  let map: ImportMap
  let code: ImportCode
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
    if case .records(let values, let name) = input {
      return try readRecords(values, name: name, plans: &plans, remaining: &remaining)
    }
    let source = PeekableSource(try Self.open(input))
    let format = try FormatDetection.format(of: source, name: input.name, sources: chosenSources)
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
    if format == .ndjson { try checkSingle(plan, format: "A line of NDJSON") }
    guard
      let isMore = try readBatches(
        of: reader,
        input: input,
        plan: plan,
        remaining: &remaining,
        earlierByteCount: earlierByteCount
      )
    else { return nil }
    if !isMore { try checkPaths(reader.recordCounts, plan: plan, input: input) }
    return reader.consumedByteCount
  }

  /// Reads an input whose records are in memory already.
  private func readRecords(
    _ values: [ForeignValue],
    name: String,
    plans: inout [ForeignFormat: CompiledPlan],
    remaining: inout Int
  ) throws -> Int? {
    let plan = try plans[.json] ?? compile(for: .json)
    plans[.json] = plan
    try checkSingle(plan, format: "A record in memory")
    let isMore = try readBatches(
      of: DictionaryReader(values, name: name),
      input: .records(values, name: name),
      plan: plan,
      remaining: &remaining,
      earlierByteCount: 0
    )
    return isMore == nil ? nil : 0
  }

  /// What carries no path can only belong to one source.
  private func checkSingle(_ plan: CompiledPlan, format: String) throws(ImportError) {
    let names = plan.plan.sources.map(\.name)
    guard names.count > 1 else { return }
    throw ImportError(
      .request,
      "\(format) does not tell which of the sources \(names.joined(separator: ", ")) it is of.",
      help: "choose one of them by its name"
    )
  }

  /// Reads, maps and hands over batch after batch.
  ///
  /// - Returns: Whether there may be more behind the limit; nil when the import is to stop.
  private func readBatches(
    of reader: any RecordReader,
    input: ImportInput,
    plan: CompiledPlan,
    remaining: inout Int,
    earlierByteCount: Int
  ) throws -> Bool? {
    var isMore = true
    var isBegun = false
    while isMore && remaining > 0 {
      guard !cancellation.isCancelled, let batch = queue.takeFree() else { return nil }
      batch.removeAll()
      isMore = try reader.read(into: batch.records, limit: min(batchSize, remaining))
      if !isBegun, let header = (reader as? CSVReader)?.header {
        for source in plan.plan.sources { tellAbsentColumns(of: source, header, input) }
      }
      isBegun = true
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
    return isMore
  }

  private func compile(for format: ForeignFormat) throws -> CompiledPlan {
    let plan = try ImportPlan(map, format: format, names: request.sources, model: model, code: code)
    for notice in plan.notices { notices.add(notice) }
    return try CompiledPlan(plan, mapFile: map.file)
  }

  private static func open(_ input: ImportInput) throws(ReadError) -> any ByteSource {
    switch input {
    case .file(let path): try openSource(path: path)
    case .standardInput: try openSource(path: "-")
    case .bytes(let bytes, let name): try decoded(MemorySource(bytes, name: name))
    // Read without bytes, before this.
    case .records(_, let name): MemorySource([], name: name)
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
        pointers: plan.plan.sources.map { $0.map.records?.isPointer ?? false },
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
      return CSVReader(
        source: try Self.utf8(source, encoding: encoding),
        separator: try separator(of: plan.plan.sources, name: source.name)
      )
    }
  }

  /// The byte between the cells: what the source says, else a tab in `.tsv` files and a comma.
  ///
  /// - Throws: `.request` where several sources would read the same rows.
  private func separator(
    of sources: [ImportPlan.Source],
    name: String
  ) throws(ImportError) -> UInt8 {
    guard sources.count == 1 else {
      throw ImportError(
        .request,
        "The map has several CSV sources, and \(name) cannot be the rows of all of them.",
        help: "choose one: "
          + sources.map { "--source \($0.name)" }.joined(separator: " or ")
      )
    }
    return sources[0].map.separator?.utf8.first
      ?? (FormatDetection.isTabSeparated(name) ? UInt8(ascii: "\t") : UInt8(ascii: ","))
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

  /// The sources that may take part.
  private var chosenSources: [SourceMap] {
    request.sources.isEmpty
      ? map.sources : map.sources.filter { request.sources.contains($0.name) }
  }

  /// JSON is UTF-8 (RFC 8259) and CSV is taken to be, unless a byte order mark or the map says otherwise.
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
