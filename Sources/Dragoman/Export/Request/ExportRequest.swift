import DragomanGraph

/// Where an export goes.
public enum ExportOutput: Sendable, Hashable {
  /// A file: written beside, synchronised with the disk and renamed, so that there is never half a
  /// file under the name; `.gz` and `.zst` at the end of the name compress.
  case file(String)
  /// Standard output.
  case standardOutput
}

/// What to export, and how; what is nil is the map's choice.
public struct ExportRequest: Sendable, Adjustable {
  /// The entity; nil is the map's `export: entity`, or its only one.
  public var entity: String?
  /// The format; nil is told by the output's name, and is JSON where that says nothing.
  public var format: ForeignFormat?
  /// Which objects; nil is all.
  public var filter: Filter?
  /// The order; nil is the map's, then that of the unique key.
  public var sortKeys: [SortKey]?
  /// How many objects at most; nil is any number.
  public var limit: Int?
  /// How many objects to leave out at the beginning, 0 or more.
  public var offset = 0
  /// The attributes and relationships that are written, beside the unique key and the words that tell an
  /// entity; nil is all that the map writes.
  ///
  /// An import of such an export changes these alone.
  public var columns: [String]?
  /// What records look like; what it leaves open is the map's choice.
  public var style: ExportStyle
  /// Whether the values of sensitive attributes are replaced by `•••`; false by default.
  public var masksSensitive = false
  /// Whether an output file may be replaced that no export made, or that was changed since; false by
  /// default.
  ///
  /// The database and the map are never replaced.
  public var overwrites = false
  /// Whether values that the map cannot read back are written as well as the format can, and told in
  /// the report; else the first of them ends the export.
  public var isLossy: Bool

  /// Makes a request.
  public init(
    entity: String? = nil,
    format: ForeignFormat? = nil,
    filter: Filter? = nil,
    sortKeys: [SortKey]? = nil,
    limit: Int? = nil,
    style: ExportStyle = ExportStyle(),
    isLossy: Bool = false
  ) {
    self.entity = entity
    self.format = format
    self.filter = filter
    self.sortKeys = sortKeys
    self.limit = limit
    self.style = style
    self.isLossy = isLossy
  }
}

/// What an export did.
public struct ExportReport: Sendable, Hashable {
  /// Values that the map cannot read back, and that were written all the same.
  public struct Issue: Sendable, Hashable {
    /// The entity of the object that has the value: that of the record, or of one nested in it.
    public var entity: String
    /// The attribute's name.
    public var attribute: String
    /// What is wrong with its value, a full sentence about the first record concerned.
    public var message: String
    /// How many records have such values, one or several each.
    public var count: Int
  }

  /// The entity.
  public var entity: String
  /// How many records were written.
  public var recordCount = 0
  /// How many bytes were written, before compression.
  public var byteCount = 0
  /// What is worth knowing and loses nothing.
  public var notices: [String] = []
  /// Attributes and relationships that are left out, because the format has no place for them.
  public var losses: [String] = []
  /// Values that do not come back: of a lossy export those that no spelling says, and of any export
  /// those that stand inside of another value, which does not hold them.
  public var issues: [Issue] = []
}
