import DragomanGraph

/// Where the records of one entity stand in one format.
public struct SourceMap: Sendable, Hashable, Adjustable {
  /// The source's name, chosen with `ImportRequest.sources`.
  public var name: String
  /// The format.
  public var format: ForeignFormat
  /// The entity its records become.
  public var entity: String
  /// Where the records stand; nil is the root array or the single root object (JSON).
  public var records: ForeignPath?
  /// Globs of the names of the inputs that the source reads (`FileGlob`); empty: of those that no other
  /// source of the format names.
  public var files: [String]
  /// How a feed of the web says where its next page is; nil: it has one page.
  public var pages: PageRule?
  /// Prefixes of XML names and the namespace URIs they stand for.
  public var namespaces: [String: String]
  /// The text encoding, where the file does not say; nil is UTF-8.
  public var encoding: String?
  /// CSV: the separator; nil is a comma.
  public var separator: String?
  /// Where the source stands in the map file.
  @NotCompared public var position: MapPosition? = nil

  /// Makes a source.
  public init(
    name: String,
    format: ForeignFormat,
    entity: String,
    records: ForeignPath? = nil,
    files: [String] = [],
    namespaces: [String: String] = [:],
    separator: String? = nil
  ) {
    self.name = name
    self.format = format
    self.entity = entity
    self.records = records
    self.files = files
    self.namespaces = namespaces
    self.separator = separator
  }

  /// Whether it reads feeds of a format: a line of NDJSON is a record of JSON.
  func reads(_ format: ForeignFormat) -> Bool {
    self.format == format || (self.format == .json && format == .ndjson)
  }
}
