import Foundation

/// What the console answers.
public struct ConsoleResponse: Sendable {
  /// What follows the head.
  public enum Body: Sendable {
    /// All of it.
    case bytes(Data)
    /// Written on a thread of its own, as fast as it is taken.
    case written(@Sendable (any ByteOutput) throws -> Void)
    /// Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html): each
    /// element is one whole event. Ends when the task that iterates is cancelled.
    case events(@Sendable () -> AsyncStream<String>)
  }

  /// The status, such as 200 or 404.
  public var status: Int
  /// The header fields, in order.
  public var headers: [(name: String, value: String)]
  /// The body.
  public var body: Body

  /// Makes an answer of a type.
  public init(_ status: Int = 200, type: String, _ body: Body) {
    self.status = status
    headers = [("Content-Type", type)]
    self.body = body
  }

  /// An answer of text.
  init(_ status: Int = 200, type: String, text: String) {
    self.init(status, type: type, .bytes(Data(text.utf8)))
  }

  /// Sends the browser elsewhere, with GET.
  static func redirect(to address: String) -> ConsoleResponse {
    var response = ConsoleResponse(303, type: "text/plain; charset=utf-8", text: "See \(address)\n")
    response.headers.append(("Location", address))
    return response
  }

  /// The value of a header field; nil where there is none.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The whole body as text; what is written or told piece by piece is written out, and of events nothing.
  ///
  /// - Returns: The text.
  /// - Throws: What stops the writing.
  public func text() throws -> String {
    switch body {
    case .bytes(let data): return String(decoding: data, as: UTF8.self)
    case .written(let write):
      let memory = MemoryOutput()
      try write(memory)
      return String(decoding: memory.bytes, as: UTF8.self)
    case .events: return ""
    }
  }
}

/// Where a body is written to, piece by piece.
public protocol ByteOutput: AnyObject {
  /// Whether nobody will take what is written.
  var isAbandoned: Bool { get }

  /// Writes bytes; waits while nobody takes them.
  ///
  /// - Throws: An error when nobody will.
  func write(_ bytes: [UInt8]) throws
}

/// Bytes in memory.
final class MemoryOutput: ByteOutput {
  private(set) var bytes: [UInt8] = []
  let isAbandoned = false

  func write(_ bytes: [UInt8]) { self.bytes += bytes }
}
