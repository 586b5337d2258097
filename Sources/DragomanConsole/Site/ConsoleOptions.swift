/// What a console shows, and what it lets be done.
public struct ConsoleOptions: Sendable {
  /// The database file.
  public var database: String
  /// Map files; for the pages of the model and of imports, and for downloads by a map.
  public var maps: [String]
  /// Rejects files that are shown, besides those that the maps name.
  public var rejects: [String]
  /// Whether imports, undos and retries are admitted, false by default: otherwise nothing is written.
  public var allowsImport: Bool
  /// The token of the opened address, letters and digits; nil: a random one.
  public var token: String?
  /// How many bytes may be sent with one form, 1 or more; 64 MB by default.
  public var maximumUploadByteCount: Int
  /// Names of this machine by which the console may be asked, besides numbers and `localhost`.
  public var hosts: Set<String>

  /// Makes options.
  public init(
    database: String,
    maps: [String] = [],
    rejects: [String] = [],
    allowsImport: Bool = false,
    token: String? = nil,
    maximumUploadByteCount: Int = 64 << 20,
    hosts: Set<String> = []
  ) {
    self.database = database
    self.maps = maps
    self.rejects = rejects
    self.allowsImport = allowsImport
    self.token = token
    self.maximumUploadByteCount = maximumUploadByteCount
    self.hosts = hosts
  }
}
