import DragomanGraph

/// One input of an import.
public enum ImportInput: Sendable, Hashable {
  /// A file, by its path; gzip and zstd are known by their first bytes.
  case file(String)
  /// A feed of the web, by its `https` URL; it is fetched whole before a record of it is imported.
  case url(String)
  /// A feed that was fetched, with a name for messages.
  case opened(OpenedFeed, name: String)
  /// Standard input.
  case standardInput
  /// Bytes in memory, with a name for messages; the format is told by the name and the content.
  case bytes([UInt8], name: String)
  /// Records in memory, with a name for messages; mapped by the JSON paths of one of the map's
  /// sources, wherever that source's records stand in a file.
  ///
  /// What is no `.object` is rejected by its number, and the import goes on.
  case records([ForeignValue], name: String = "records")

  /// The records of a rejects file, each as one of the source and the place that it was rejected from.
  ///
  /// What goes in leaves the file when everything is committed; what is rejected again has the new reason in its
  /// line; what the map has no source for stays as it is. It is the only input of its request.
  case rejects(String)

  /// The name for messages.
  public var name: String {
    switch self {
    case .file(let path): path
    case .url(let text): WebText.shown(text)
    case .opened(_, let name): name
    case .standardInput: "-"
    case .bytes(_, let name): name
    case .records(_, let name): name
    case .rejects(let path): path
    }
  }
}

/// What to import, and how.
///
/// Large because each property is one thing that can be asked for.
public struct ImportRequest: Sendable, Adjustable {
  /// The inputs, imported in this order.
  public var inputs: [ImportInput]
  /// The names of the map's sources that take part; empty: every source of an input's format whose
  /// `files` match its name, or that has none.
  ///
  /// Of several sources whose records stand at the same place one is taken: the one whose keys and paths
  /// the first records have.
  public var sources: [String]
  /// The names of the map's sources that read an input, by the input's name; the other inputs are read by
  /// those of `sources`.
  public var sourcesByInput: [String: [String]] = [:]
  /// What happens to objects that exist; nil: `upsert`, or `ignore` where the map says
  /// `overwriteExisting: false`.
  public var mode: EntityWriter.Mode?
  /// When to commit, how many rejects to bear, where they go, how large a record may be; what is nil is
  /// the map's choice.
  ///
  /// A rejects file that is named here is found from the current folder.
  public var options: ImportMap.ImportOptions
  /// Whether an import in batches that did not come to its end is gone on with, behind its last committed
  /// record.
  ///
  /// The inputs are read again from the start, and what is committed is passed over. The import then ends with
  /// the contents and counts that it would have had without a stop; `changes` is told of its own part. It goes
  /// on in batches, whatever `commit` the map has. Fails with `import.resume` where the inputs, the map or
  /// other options are not those of the earlier part, or what was read of the inputs by then is not the same.
  /// Where nothing is to be resumed, everything is imported, and a notice says so.
  public var resumes = false
  /// Stop after that many records; nil reads everything.
  public var limit: Int?
  /// Which of the records are imported, by their keys; nil: all.
  ///
  /// For several processes that share a feed, each with another number: see `ImportPartition`.
  public var partition: ImportPartition?
  /// How many bytes an input may have, unpacked where it is packed, 1 or more; nil: any number, but not
  /// more than a gigabyte that is 200 times what it takes packed.
  ///
  /// A longer input fails the import with `input.limit`.
  public var maximumInputByteCount: Int?
  /// How inputs are fetched that are URLs.
  public var web = WebOptions()
  /// Whether, and how carefully, objects are deleted that the feed does not have; nil: they stay.
  public var prune: Prune?
  /// What the history calls the inputs; nil: their names.
  ///
  /// For inputs whose names tell nobody anything, such as a temporary file with a record of another feed.
  public var sourceName: String?
  /// Whether everything is rolled back at the end.
  public var isDryRun: Bool
  /// Told of every object that is made, changed or deleted, in the order of the feed; nil: nobody.
  ///
  /// Runs on the writing thread, and in a dry run too: what it is told is what an import would do.
  /// Objects that do not change cost nothing. What it throws ends the import.
  public var changes: (@Sendable (ImportChange) throws -> Void)?
  /// Whether `changes` is told at the end, of each object once, what the whole import came to: before
  /// against after.
  ///
  /// Otherwise it is told of every change, also of those that a later record takes back.
  public var tellsNetChanges = false
  /// The rejects files that imports of the same run have begun, behind whose lines new ones come; nil: a run of its own.
  package var begunRejects: BegunRejects?
  /// The run that an import which is done again has kept so far; nil: there is none.
  var ownRun: String?
  /// Records a batch where one transaction holds them all.
  var wholeBatchSize = 4096
  /// Sees what records become before it is written; nil: nobody.
  var observer: (any DraftObserver)?

  /// Whether what the import does is kept in the file, so that it can be taken back
  /// (`SQLiteStore.undoImport`).
  public var recording = Recording.upToAMillionRows

  /// What is kept of an import so that it can be taken back.
  public enum Recording: String, Sendable, Hashable, CaseIterable {
    /// Everything, unless more than a million rows change that were there before, or, in batches, at all.
    case upToAMillionRows
    /// Everything, however much it is.
    case always
    /// Nothing.
    case never
  }

  /// Deletion of objects that a complete feed does not have: of exactly the entities that records of its
  /// sources can be.
  ///
  /// Nothing is deleted after a reject, and the import fails when the feed is empty, when a source
  /// matches nothing, or together with `limit`.
  public struct Prune: Sendable, Hashable {
    /// The largest share of an entity's objects that may be deleted, 0 … 1; nil is any.
    public var maximumShare: Double?

    /// Makes a rule.
    public init(maximumShare: Double? = nil) {
      self.maximumShare = maximumShare
    }
  }

  /// Makes a request.
  public init(
    _ inputs: [ImportInput],
    sources: [String] = [],
    mode: EntityWriter.Mode? = nil,
    options: ImportMap.ImportOptions = ImportMap.ImportOptions(),
    limit: Int? = nil,
    prune: Prune? = nil,
    isDryRun: Bool = false
  ) {
    self.inputs = inputs
    self.sources = sources
    self.mode = mode
    self.options = options
    self.limit = limit
    self.prune = prune
    self.isDryRun = isDryRun
  }
}

extension ImportRequest {
  /// The rejects file whose records are imported again.
  var retriedFile: String? {
    for case .rejects(let path) in inputs { return path }
    return nil
  }
}
