/// How feeds are fetched from the web.
public struct WebOptions: Sendable, Hashable {
  /// Header fields that are sent to the server of the URL, and to no other: their values are in no message and
  /// in no file.
  public var headers: [String: String]
  /// How many seconds a connection may take, and how long nothing may come, 1 … 3600.
  public var timeout: Int
  /// How often a request is made again after a fault that may pass, 0 … 20.
  public var retryCount: Int
  /// Whether feeds may come by http from other machines: anybody on the way can read and change them then.
  public var allowsUnencrypted: Bool
  /// Whether a feed that has not changed since the last import is not imported again.
  public var isConditional: Bool
  /// A file of certificates that are trusted in place of the system's.
  public var certificatesFile: String?
  /// How many pages a feed may have, 1 … 1,000,000.
  public var maximumPageCount: Int

  /// Makes options.
  public init(
    headers: [String: String] = [:],
    timeout: Int = 30,
    retryCount: Int = 4,
    allowsUnencrypted: Bool = false,
    isConditional: Bool = true
  ) {
    self.headers = headers
    self.timeout = timeout
    self.retryCount = retryCount
    self.allowsUnencrypted = allowsUnencrypted
    self.isConditional = isConditional
    certificatesFile = nil
    maximumPageCount = 10_000
  }
}
