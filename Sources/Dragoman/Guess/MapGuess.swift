import DragomanGraph

/// A map guessed from samples of a feed.
///
///     let guess = try MapGuess(of: [.file("orders.json")])
///     print(guess.text)  // YAML, with comments where the samples leave a doubt
///
/// All records of the samples are read, in constant memory: types, formats, keys and relationships are
/// what every value agrees with, and what the samples cannot tell stands in a comment. The same samples
/// give the same text, byte for byte.
public struct MapGuess: Sendable {
  /// What is asked for besides the samples.
  public struct Options: Sendable, Hashable, Adjustable {
    /// The name of the first entity; nil: it is made of the name of its list or file.
    public var entity: String?
    /// The path of the records, as `records:` has it; nil: all lists of objects are found.
    public var records: String?
    /// How many records of each list are looked at, 1 or more; nil: all.
    public var sampleCount: Int?

    /// Makes options.
    public init(entity: String? = nil, records: String? = nil, sampleCount: Int? = nil) {
      self.entity = entity
      self.records = records
      self.sampleCount = sampleCount
    }
  }

  /// The map.
  public let map: ImportMap
  /// The map as the text of a `*.map.yaml` file, with comments.
  public let text: String
  /// Whether anything was guessed: not of a feed that a map was there for.
  public let isNew: Bool
  /// The names of the sources that read the samples.
  public let sources: [String]
  /// What may be wrong with the samples themselves, as their first row that is none of names, and which keys may take
  /// different records for one: a sentence each.
  ///
  /// It stands in the comments of the text, too.
  public internal(set) var warnings: [String] = []
  /// Places of the samples that the map does not read, though a guess would: `Order.email`, `/groups`.
  public internal(set) var unread: [String] = []

  /// Reads the samples and guesses.
  ///
  /// - Parameters:
  ///   - inputs: The samples, all of one format; records in memory cannot be guessed from.
  ///   - options: What is asked for besides.
  /// - Throws: `ReadError` for what is no feed, has no records, or is of another format than the
  ///   samples before it; `MapFaults` where a wanted name cannot be one.
  public init(of inputs: [ImportInput], _ options: Options = Options()) throws {
    let sample = try Self.sample(of: inputs, options)
    try self.init(Self.text(of: sample, inputs, options, beside: nil))
  }

  /// Takes a map that is guessed as a whole.
  init(_ guessed: MapText) throws {
    let map = try ImportMap(yaml: guessed.text)
    self.init(map: map, text: guessed.text, isNew: true, sources: map.sources.map(\.name))
    warnings = guessed.warnings + guessed.doubts
  }

  init(map: ImportMap, text: String, isNew: Bool, sources: [String]) {
    self.map = map
    self.text = text
    self.isNew = isNew
    self.sources = sources
  }

  /// Reads the samples.
  static func sample(of inputs: [ImportInput], _ options: Options) throws -> FeedSample {
    var reader: SampleReader
    do throws(FormatFault) {
      reader = SampleReader(try ShapeRecorder(recordLimit: max(1, options.sampleCount ?? .max)))
    } catch {
      throw ReadError(.format, error.message)
    }
    for input in inputs { try reader.read(input) }
    guard let sample = reader.sample else {
      throw ReadError(.noRecords, "There is no sample to guess from.")
    }
    sample.root.settleKinds()
    return sample
  }

  /// Guesses, beside a map where there is one.
  static func text(
    of sample: FeedSample,
    _ inputs: [ImportInput],
    _ options: Options,
    beside known: KnownMap?
  ) throws -> MapText {
    let guess = try FeedGuess(
      sample,
      entityName: options.entity,
      records: options.records,
      beside: known
    )
    let stem = sample.name.split(separator: "/").last?.split(separator: ".").first.map(String.init)
    return MapText(guess, name: stem ?? "feed", inputs: inputs.map(\.name))
  }
}
