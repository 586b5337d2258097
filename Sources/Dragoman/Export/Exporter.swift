import DragomanGraph
import Foundation

/// Writes the objects of a store as JSON, NDJSON, XML or CSV: the map backwards.
///
///     let map = try ImportMap(contentsOf: "Maps/people.map.yaml")
///     let store = try SQLiteStore(at: .file("people.db"))
///     try await Exporter(map: map, store: store).run(ExportRequest(), to: .file("people.json"))
///
/// What is exported can be imported again by the same map, and changes nothing. The same contents give
/// the same bytes: records are ordered by the unique key, unless the request or the map says otherwise.
///
/// One record's way, each step one call into one file:
///
/// ```text
/// FetchedRow         a row of SQLite's, its texts where SQLite holds them
/// RowBatch           copies of rows, with what they are linked to
/// RecordWriting      a thread: writes a batch while the next one is read
///   ValueSpeller     a stored value -> the spelling that the map reads
///   RecordWriter     walks the tree of members that the map describes
///     RecordEncoder  writes a member as JSON, XML or CSV
/// ExportBuffer       bytes
///   ExportSink       compresses, writes, renames
/// ```
///
/// Large because it is an export from end to end: into a file, a folder, bytes or values.
public struct Exporter: Sendable {
  private let map: ImportMap
  private let place: Place

  /// Where the objects are.
  private enum Place: Sendable {
    case store(SQLiteStore)
    case server(ServerStore)
  }

  /// So many records are read and written at once, with their links, or records of so much text.
  private static let batchRowCount = 512
  private static let batchByteCount = 1 << 20

  /// Makes an exporter.
  ///
  /// - Parameters:
  ///   - map: What records look like.
  ///   - store: Where the objects are.
  public init(map: ImportMap, store: SQLiteStore) {
    self.map = map
    place = .store(store)
  }

  /// Makes an exporter of what a server holds.
  package init(map: ImportMap, server: ServerStore) {
    self.map = map
    place = .server(server)
  }

  /// The file; nil: there is none.
  private var databasePath: String? {
    if case .store(let store) = place { store.path } else { nil }
  }

  private var layout: ModelLayout {
    switch place {
    case .store(let store): store.layout
    case .server(let server): server.layout
    }
  }

  /// Lends one state of the store.
  ///
  /// `works` are what is exported from it.
  private func withSnapshot<T>(
    _ works: [(request: ExportRequest, plan: ExportPlan)],
    _ body: (StoreSnapshot) throws -> T
  ) throws -> T {
    switch place {
    case .store(let store): return try store.withSnapshot(body)
    case .server(let server):
      let hasLinks = works.contains { !$0.plan.level.links.isEmpty }
      let requests = works.map { Self.fetch($0.request, $0.plan) }
      return try server.withSnapshot(for: hasLinks ? nil : requests, body)
    }
  }

  /// The objects of an export.
  private static func fetch(_ request: ExportRequest, _ plan: ExportPlan) -> FetchRequest {
    FetchRequest(
      plan.entity.name,
      filter: request.filter,
      sortKeys: plan.sortKeys,
      limit: request.limit,
      offset: request.offset
    )
  }

  /// Exports, and waits for the end.
  ///
  /// The work is done on a thread of its own, in constant memory, from one snapshot of the store; the
  /// caller's thread is not blocked. Cancelling the caller's task ends the export; a file that stood
  /// under the output's name stays as it was.
  ///
  /// - Parameters:
  ///   - request: What to export, and how.
  ///   - output: Where it goes.
  /// - Returns: What was done.
  /// - Throws: `ExportError`, or `StoreError` where the store cannot be read.
  @discardableResult
  public func run(
    _ request: ExportRequest,
    to output: ExportOutput
  ) async throws -> ExportReport {
    try await onThread { cancellation in
      let format = request.format ?? Self.format(of: output)
      let plan = try ExportPlan(
        request,
        map,
        format: format,
        layout: layout,
        separator: Self.separator(of: output)
      )
      let sink = try makeSink(output, overwrites: request.overwrites)
      return try withSnapshot([(request, plan)]) { snapshot in
        do {
          var report = try export(request, plan, to: sink, snapshot, cancellation)
          if let notice = try sink.finish() { report.notices.append(notice) }
          return report
        } catch {
          sink.discard()
          throw error
        }
      }
    }
  }

  /// Checks what can be told of a request without reading an object.
  ///
  /// - Parameter request: The request; without a format JSON is meant.
  /// - Throws: `ExportError`, what `run` would throw.
  public func check(_ request: ExportRequest) throws(ExportError) {
    _ = try ExportPlan(request, map, format: request.format ?? .json, layout: layout)
  }

  /// Exports several entities, each into a file of its own: `Entity.json` in a folder.
  ///
  /// All of them come from one snapshot of the store. No file gets its name before all are complete.
  ///
  /// - Parameters:
  ///   - entities: The entities; empty: those whose records the sources of the map bring.
  ///   - request: What is the same for all; its filter has to fit each of them. Without a format each gets one that
  ///     sources read it from, JSON before others.
  ///   - folder: The folder; it is made where there is none.
  /// - Returns: The reports in the order of the entities, with the paths of the files.
  /// - Throws: `ExportError`, or `StoreError` where the store cannot be read.
  public func run(
    _ entities: [String],
    _ request: ExportRequest,
    toFolder folder: String
  ) async throws -> [(path: String, report: ExportReport)] {
    try await onThread { cancellation in
      let works = try folderWorks(entities, request, folder)
      do {
        var reports: [(path: String, report: ExportReport)] = []
        try withSnapshot(works.map { ($0.request, $0.plan) }) { snapshot in
          for work in works {
            let report = try export(work.request, work.plan, to: work.sink, snapshot, cancellation)
            reports.append((work.path, report))
          }
        }
        for (index, work) in works.enumerated() {
          if let notice = try work.sink.finish() { reports[index].report.notices.append(notice) }
        }
        return reports
      } catch {
        for work in works { work.sink.discard() }
        throw error
      }
    }
  }

  /// One file of several.
  private struct FileWork {
    let path: String
    let request: ExportRequest
    let plan: ExportPlan
    let sink: any ExportSink
  }

  private func folderWorks(
    _ entities: [String],
    _ request: ExportRequest,
    _ folder: String
  ) throws -> [FileWork] {
    let names = entities.isEmpty ? map.exportedEntities(request.format) : entities
    guard !names.isEmpty else {
      throw ExportError(
        .request,
        "No source of the map brings records, so there is nothing to tell which entities are meant.",
        help: "name them with `entity`"
      )
    }
    if let name = names.enumerated().first(where: { names[..<$0].contains($1) })?.element {
      throw ExportError(.request, "The entity \(name) is named twice.")
    }
    // All plans before the first file, so that what cannot be exported leaves nothing behind.
    let plans = try names.map { name in
      let own = request.with { $0.entity = name }
      let format = request.format ?? format(of: name)
      return (own, try ExportPlan(own, map, format: format, layout: layout))
    }
    try Self.make(folder: folder)
    let start = folder.hasSuffix("/") ? folder : folder + "/"
    var works: [FileWork] = []
    do {
      for (own, plan) in plans {
        let path = start + Self.fileName(of: plan.entity.name) + "." + plan.format.rawValue
        if let other = works.first(where: { $0.path == path }) {
          throw ExportError(
            .request,
            "\(other.plan.entity.name) and \(plan.entity.name) would be written to one file, \(path).",
            help: "export them one by one"
          )
        }
        let sink = try makeSink(.file(path), overwrites: request.overwrites)
        works.append(FileWork(path: path, request: own, plan: plan, sink: sink))
      }
    } catch {
      for work in works { work.sink.discard() }
      throw error
    }
    return works
  }

  /// The format of an entity's file in a folder: JSON where a source reads it from there, else that of its first source.
  private func format(of entity: String) -> ForeignFormat {
    let formats = map.sources.filter { hasSameBytes($0.entity, entity) }.map(\.format)
    return formats.contains(.json) ? .json : formats.first ?? .json
  }

  private static func make(folder: String) throws(ExportError) {
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw ExportError(
        .output,
        "The folder \(folder) cannot be created.",
        help: "name another one"
      )
    }
  }

  /// An entity's name as a file's: what a path takes otherwise is `_`.
  private static func fileName(of entity: String) -> String {
    var name = String(
      String.UnicodeScalarView(
        entity.unicodeScalars.map { $0 == "/" || $0.value < 0x20 || $0.value == 0x7F ? "_" : $0 }
      )
    )
    // A combining mark behind the dot makes another character of it, and no other file.
    if name.unicodeScalars.first == "." { name = "_" + String(name.unicodeScalars.dropFirst()) }
    return name
  }

  /// Exports into memory.
  ///
  /// There is no report: what would be told as a loss there is an error here, unless the request is lossy.
  ///
  /// - Parameter request: What to export, and how; without a format JSON.
  /// - Returns: The bytes that a file would hold.
  /// - Throws: `ExportError`, or `StoreError` where the store cannot be read.
  public func bytes(_ request: ExportRequest) async throws -> [UInt8] {
    try await onThread { cancellation in
      let plan = try ExportPlan(request, map, format: request.format ?? .json, layout: layout)
      let sink = MemorySink()
      let report = try withSnapshot([(request, plan)]) { snapshot in
        try export(request, plan, to: sink, snapshot, cancellation)
      }
      try check(report, request)
      return sink.bytes
    }
  }

  /// Exports into values: the records as they would stand in JSON.
  ///
  /// All of them are in memory; a large store is better exported to a file. There is no report: what
  /// would be told as a loss there is an error here, unless the request is lossy.
  ///
  /// - Parameter request: What to export, and how; its format does not matter.
  /// - Returns: The records in their order: objects, or plain values where the map reads such.
  /// - Throws: `ExportError`, or `StoreError` where the store cannot be read.
  public func records(_ request: ExportRequest) async throws -> [ForeignValue] {
    try await onThread { cancellation in
      let plan = try ExportPlan(
        request,
        map,
        format: .json,
        layout: layout,
        for: .records
      )
      var records: [ForeignValue] = []
      let work = ExportWork(
        request: request,
        plan: plan,
        buffer: ExportBuffer(),
        sink: MemorySink()
      )
      let encoder = DictionaryRecordEncoder(plan) { records.append($0) }
      let report = try withSnapshot([(request, plan)]) { snapshot in
        try write(work, encoder, snapshot, cancellation)
      }
      try check(report, request)
      return records
    }
  }

  /// The format that a file's name tells; JSON where it tells none.
  static func format(of output: ExportOutput) -> ForeignFormat {
    guard case .file(let path) = output else { return .json }
    return FormatDetection.format(named: path) ?? .json
  }

  /// What divides the cells of CSV, where the source does not say: tabs in a file that is named so.
  private static func separator(of output: ExportOutput) -> UInt8 {
    guard case .file(let path) = output, FormatDetection.isTabSeparated(path) else {
      return UInt8(ascii: ",")
    }
    return UInt8(ascii: "\t")
  }

  /// An export must not replace the database and the map that it reads.
  private func makeSink(
    _ output: ExportOutput,
    overwrites: Bool
  ) throws(ExportError) -> any ExportSink {
    guard case .file(let path) = output else { return DescriptorSink(STDOUT_FILENO) }
    var kept = OutputPlace.Kept.database(databasePath)
    if let file = map.file { kept.append(OutputPlace.Kept(file, as: "the map")) }
    let file = try FileSink(path: path, besides: kept, overwrites: overwrites)
    guard let method = CompressingSink.Method(name: path.lowercased()) else { return file }
    return try CompressingSink(method, into: file)
  }

  // MARK: - The work

  /// Writes everything into the sink, which is left to be finished.
  private func export(
    _ request: ExportRequest,
    _ plan: ExportPlan,
    to sink: any ExportSink,
    _ snapshot: StoreSnapshot,
    _ cancellation: Cancellation
  ) throws -> ExportReport {
    let buffer = ExportBuffer()
    let work = ExportWork(request: request, plan: plan, buffer: buffer, sink: sink)
    return
      switch plan.format
    {
    case .json, .ndjson:
      try write(work, JSONRecordEncoder(plan, to: buffer), snapshot, cancellation)
    case .xml: try write(work, XMLRecordEncoder(plan, to: buffer), snapshot, cancellation)
    case .csv: try write(work, CSVRecordEncoder(plan, to: buffer), snapshot, cancellation)
    }
  }

  private func write<Encoder: RecordEncoder>(
    _ work: ExportWork,
    _ encoder: Encoder,
    _ snapshot: StoreSnapshot,
    _ cancellation: Cancellation
  ) throws -> ExportReport {
    let plan = work.plan
    var report = ExportReport(
      entity: plan.entity.name,
      notices: plan.notices,
      losses: plan.losses
    )
    let fetch = Self.fetch(work.request, plan)
    let proof = try ExportProof(plan, hasObject: snapshot.has)
    var writer = RecordWriter(
      plan,
      encoder,
      proof: proof,
      hasObject: snapshot.has
    )
    if plan.isMarked { work.buffer.append([0xEF, 0xBB, 0xBF]) }
    writer.begin()
    let writing = RecordWriting(work, cancellation) { row in try writer.write(row) }
    defer { writing.stop() }
    var rest = LeftOut(plan, stubs: try snapshot.stubs(of: plan.entity.name))
    let readers = try LinkTree.prepare(plan.level, in: snapshot)
    var batch = try writing.takeBatch()
    try snapshot.forEachRow(fetch, reading: plan.level.columns) { row in
      if rest.takes(row) { return }
      try batch.append(row)
      guard batch.count >= Self.batchRowCount || batch.textByteCount >= Self.batchByteCount else {
        return
      }
      try batch.readLinks(readers)
      try writing.write(batch)
      batch = try writing.takeBatch()
    }
    try batch.readLinks(readers)
    try writing.finish(batch)
    writer.end()
    try writing.pass()
    report.recordCount = writing.recordCount
    report.byteCount = writing.byteCount
    report.losses += rest.losses + writer.losses
    report.issues = writer.issues
    return report
  }

  /// A result that comes without a report must not lack anything, unless the request is lossy.
  private func check(_ report: ExportReport, _ request: ExportRequest) throws(ExportError) {
    guard !request.isLossy, let loss = report.losses.first ?? report.issues.first?.message else {
      return
    }
    throw ExportError(
      report.losses.isEmpty ? .value : .map,
      "The export would not come back whole: \(loss)",
      help: "mend the map or the value, or ask for a lossy export"
    )
  }

  /// Runs blocking work on a thread of its own: never on the cooperative pool.
  private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable (Cancellation) throws -> Value
  ) async throws -> Value {
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { done in
        WorkThread.start("dragoman.export") { done.resume(with: Result { try body(cancellation) }) }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }
}

extension StoreSnapshot {
  /// Whether there is an object as a request has it.
  fileprivate func has(_ request: FetchRequest) throws -> Bool {
    var isFound = false
    try forEachRow(request, reading: []) { _ in isFound = true }
    return isFound
  }
}
