/// Opens samples, tells what they are, and reads all their records into a shape.
struct SampleReader {
  private let recorder: ShapeRecorder
  /// The sources of the map that the samples are read by; empty: there is no map yet.
  private let sources: [SourceMap]
  /// Whether rows that are the names of the columns once more are no records; to an import they are.
  private let skipsHeaders: Bool
  private let maximumByteCount: Int?
  private let limit: RecordLimit
  private let cancellation: Cancellation?
  private(set) var sample: FeedSample?

  /// How many bytes tell what a sample is.
  static let headByteCount = 64 << 10
  private static let batchSize = 4096

  /// Makes a reader of samples that no map is for yet.
  init(_ recorder: ShapeRecorder) {
    self.recorder = recorder
    sources = []
    skipsHeaders = true
    maximumByteCount = nil
    limit = .standard
    cancellation = nil
  }

  /// Makes a reader of what an import reads.
  ///
  /// - Parameters:
  ///   - recorder: What it finds out.
  ///   - request: The import.
  ///   - map: Its map.
  ///   - sources: The sources of the map that may read the input; empty: the input tells what it is.
  ///   - cancellation: Ends the input when the import is to stop.
  init(
    _ recorder: ShapeRecorder,
    of request: ImportRequest,
    by map: ImportMap,
    _ sources: [SourceMap] = [],
    _ cancellation: Cancellation? = nil
  ) {
    self.recorder = recorder
    self.sources = sources
    skipsHeaders = false
    maximumByteCount = request.maximumInputByteCount
    limit = request.recordLimit(by: map)
    self.cancellation = cancellation
  }

  /// Reads one sample.
  ///
  /// - Throws: `ReadError` for what is no feed, cannot be read, or has another format than those before.
  mutating func read(_ input: ImportInput) throws {
    let source = PeekableSource(try open(input))
    let head = Array(try source.peek(Self.headByteCount))
    let format =
      sources.isEmpty
      ? try SampleFormat(source, head, name: input.name)
      : try SampleFormat(source, name: input.name, sources: sources)
    let sample = self.sample ?? FeedSample(format.format, name: input.name)
    self.sample = sample
    guard sample.format == format.format else {
      throw ReadError(
        .format,
        "\(input.name) is \(format.format.rawValue.uppercased()), and \(sample.name) is"
          + " \(sample.format.rawValue.uppercased()).",
        help: "guess a map for each format, and put their sources into one"
      )
    }
    sample.inputCount += 1
    let earlier = KindCheck(sample.root)
    sample.separator = sample.separator ?? format.separator
    sample.encoding = sample.encoding ?? format.encoding
    switch format.format {
    case .json:
      try JSONShapeReader(source: try text(source, sample), recorder, limit: limit)
        .read(as: sample.root)
    case .xml:
      sample.prefixes.see(head)
      try readDocument(source, input, sample)
    case .ndjson: try readList(NDJSONReader(source: try text(source, sample), limit: limit), sample)
    case .csv:
      let separator = sample.separator ?? UInt8(ascii: ",")
      try readList(
        CSVReader(
          source: try text(source, sample),
          separator: separator,
          isDeclared: format.declaresSeparator,
          limit: limit
        ),
        sample
      )
    }
    recorder.endInput()
    try earlier.check(sample, input.name)
    sample.byteCount += source.consumedByteCount
    sample.namespaces = recorder.namespaces
  }

  private func open(_ input: ImportInput) throws(ReadError) -> any ByteSource {
    let maximum = maximumByteCount
    let source: any ByteSource
    switch input {
    case .file(let path), .rejects(let path):
      source = try openSource(path: path, maximumByteCount: maximum)
    case .opened(let feed, let name):
      source = try decoded(feed, name: name, maximumByteCount: maximum)
    case .url: throw ReadError(.unsupported, "\(input.name) was not fetched.")
    case .standardInput: source = try openSource(path: "-", maximumByteCount: maximum)
    case .bytes(let bytes, let name):
      source = try decoded(MemorySource(bytes, name: name), maximumByteCount: maximum)
    case .records(_, let name):
      throw ReadError(.unsupported, "\(name) are records in memory: a map is guessed from text.")
    }
    return cancellation.map { StoppableSource(source, $0) } ?? source
  }

  private func text(
    _ source: PeekableSource,
    _ sample: FeedSample
  ) throws(ReadError) -> any ByteSource {
    try decodedByMark(source, encoding: sample.encoding)
  }

  /// Reads lines or rows: a list without a text around it.
  private func readList(_ reader: any RecordReader, _ sample: FeedSample) throws(ReadError) {
    let batch = RecordBatch()
    let element = recorder.enterArray(sample.root)
    var isMore = true
    var count = 0
    while isMore, count < recorder.recordLimit {
      isMore = try reader.read(into: batch, limit: Self.batchSize)
      for (index, record) in batch.records.prefix(recorder.recordLimit - count).enumerated() {
        if record.node == RecordBatch.malformedNode {
          sample.malformedCount += 1
          sample.firstFault = sample.firstFault ?? batch.failures[index]
        } else if skipsHeaders, sample.format == .csv, Self.isHeader(record.node, batch) {
          sample.repeatedHeaderCount += 1
        } else {
          recorder.see(record: record.node, batch, as: element, in: 0)
        }
      }
      count += batch.records.count
    }
    recorder.leaveArray(sample.root, count: count)
  }

  /// Whether a row has nothing but the names of its columns, as where files were put one behind the other.
  private static func isHeader(_ row: UInt32, _ batch: RecordBatch) -> Bool {
    let end = batch.nodes[Int(row)].next
    var cell = row + 1
    while cell < end {
      let node = batch.nodes[Int(cell)]
      guard node.length == node.keyLength,
        batch.bytes(node.text, node.length)
          .elementsEqual(batch.bytes(node.key, node.keyLength))
      else { return false }
      cell = node.next
    }
    // One word in a single column may well be a value.
    return end > row + 2
  }

  /// Reads an XML document by the children of its root, or where one of them is very large by theirs.
  private func readDocument(
    _ source: PeekableSource,
    _ input: ImportInput,
    _ sample: FeedSample
  ) throws(ReadError) {
    let reader = try XMLReader(
      source: source,
      paths: [XMLRecordPath([.any, .any])],
      encoding: sample.encoding,
      keeping: .named([]),
      limit: limit
    )
    let batch = RecordBatch()
    var root: FeedShape?
    var owner = 0
    var isMore = true
    var place = 0
    while isMore {
      isMore = try reader.read(into: batch, limit: Self.batchSize)
      recorder.begin(batch)
      if root == nil, let document = batch.document {
        let node = batch.nodes[Int(document)]
        let shape = sample.root.member(
          batch.bytes(node.key, node.keyLength),
          space: recorder.space(of: node),
          isAttribute: false,
          at: &place
        )
        // It is one element, with its attributes here and its children one by one.
        let kinds = shape.kinds
        recorder.see(document, batch, as: shape, nil, 0)
        shape.kinds = kinds
        owner = recorder.enterObject(shape)
        root = shape
        place = 0
      }
      guard let root else { continue }
      for record in batch.records {
        let node = batch.nodes[Int(record.node)]
        let member = root.member(
          batch.bytes(node.key, node.keyLength),
          space: recorder.space(of: node),
          isAttribute: false,
          at: &place
        )
        place = max(0, place - 1)
        recorder.enterMember(member, of: owner)
        if member.rows == nil { member.rows = RowTable() }
        if member.recordCount < recorder.recordLimit {
          recorder.see(record: record.node, batch, as: member, in: owner)
        }
      }
    }
    guard root == nil else { return }
    throw ReadError(
      .noRecords,
      "\(input.name) has no elements below its root: there is nothing to guess from.",
      at: Origin(file: input.name, line: 1, column: 1, byte: 0)
    )
  }
}
