import Foundation
import Testing

@testable import DragomanConsole

/// Heads of requests as they come over the wire.
@Suite("Requests over the wire") struct HTTPTests {
  private func head(_ text: String) throws -> HTTPHead { try HTTPHead(Array(text.utf8)[...]) }

  @Test("A head gives method, path, query and fields")
  func head() throws {
    let head = try head("GET /a%20b?c=d HTTP/1.1\r\nHost: x:1\r\nCookie:a=b ;\tc=d \r\nX-Empty:")
    #expect(head.request.method == "GET" && head.request.path == ["a b"])
    #expect(head.request.value(of: "c") == "d")
    #expect(head.request.headers == ["host": "x:1", "cookie": "a=b ;\tc=d", "x-empty": ""])
    #expect(head.keepsConnection && !head.isOld && head.bodyLength == .none)
  }

  @Test(
    "What two readers could take for two things is refused",
    arguments: [
      "", "GET", "GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 x", "GET http:// HTTP/1.1",
      "GET ftp://x/ HTTP/1.1",
      "GÉT / HTTP/1.1",
      " GET / HTTP/1.1", "GET / HTTP/1.1\nHost: x", "GET / HTTP/1.1\r\n folded: x",
      "GET / HTTP/1.1\r\nHost : x", "GET / HTTP/1.1\r\n: x", "GET / HTTP/1.1\r\nHost",
      "GET /\0 HTTP/1.1",
      "GET / HTTP/1.1\r\nA: b\rC: d", "GET / HTTP/1.1\r\nContent-Length: -1",
      "GET / HTTP/1.1\r\nContent-Length: +1", "GET / HTTP/1.1\r\nContent-Length: 1, 1",
      "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1",
      "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999",
      "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
    ]
  )
  func refused(text: String) {
    #expect { try head(text) } throws: { ($0 as? ConsoleError)?.status == 400 }
  }

  @Test("Cookies of two lines are cookies of one, other fields are lists")
  func cookies() throws {
    let head = try head("GET / HTTP/1.1\r\nHost: x\r\nCookie: a=b\r\nCookie: c=d\r\nA: 1\r\nA: 2")
    #expect(head.request.cookie("a") == "b" && head.request.cookie("c") == "d")
    #expect(head.request.headers["a"] == "1, 2")
  }

  @Test("A whole URL is a target, too, whose host counts more than the field's")
  func wholeURL() throws {
    let whole = try head("GET http://127.0.0.1:80/a?b=c HTTP/1.1\r\nHost: evil.example")
    #expect(whole.request.path == ["a"] && whole.request.value(of: "b") == "c")
    #expect(whole.request.headers["host"] == "127.0.0.1:80")
    #expect(try head("GET HTTP://x HTTP/1.1\r\nHost: x").request.path == [])
  }

  @Test("Versions and codings that are not spoken are told")
  func unknown() {
    #expect { try head("GET / HTTP/2.0") } throws: { ($0 as? ConsoleError)?.status == 505 }
    #expect {
      try head("GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked")
    } throws: { ($0 as? ConsoleError)?.status == 501 }
    // Only space and tab stand around values.
    #expect {
      try head("GET / HTTP/1.1\r\nTransfer-Encoding: \u{A0}chunked")
    } throws: { ($0 as? ConsoleError)?.status == 501 }
  }

  @Test("A long head is read in time that its length is worth")
  func longHead() throws {
    let text = "GET /nothing?where=\(String(repeating: "x", count: 30_000)) HTTP/1.1\r\nHost: x"
    let begin = work
    #expect(try head(text).request.value(of: "where")?.count == 30_000)
    // The parser of a library took a minute for this: its time grew with the square.
    #expect(work - begin < .seconds(5))
  }

  /// What the thread has worked so far, however busy the machine is.
  private var work: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }

  @Test("A field that comes twice is none that is known")
  func twice() throws {
    let head = try head("GET / HTTP/1.1\r\nHost: evil\r\nHost: localhost")
    #expect(head.request.headers["host"] == "evil, localhost")
  }

  @Test(
    "Who wants the connection kept says so by version and field",
    arguments: [
      ("HTTP/1.1", true), ("HTTP/1.1\r\nConnection: Close", false), ("HTTP/1.0", false),
      ("HTTP/1.0\r\nConnection: keep-alive", true),
    ]
  )
  func keeping(text: String, keeps: Bool) throws {
    #expect(try head("GET / \(text)").keepsConnection == keeps)
  }

  @Test("A body is whole, whether it fits into memory or not, and its file has no name afterwards")
  func spool() throws {
    let folder = try ConsoleFolder()
    let path = folder.path("spool")
    for count in [0, 10, 3 << 20] {
      let spool = BodySpool(limit: 4 << 20) { path }
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      for start in stride(from: 0, to: count, by: 100_000) {
        let isFull = try spool.append(Array(bytes[start..<min(start + 100_000, count)]))
        if isFull { try spool.flush() }
      }
      #expect(FileManager.default.fileExists(atPath: path) == (count > 1 << 20))
      #expect(try spool.finish() == Data(bytes))
      #expect(!FileManager.default.fileExists(atPath: path))
    }
    let bounded = BodySpool(limit: 10) { path }
    #expect(throws: ConsoleError.self) { try bounded.append(Array(repeating: 0, count: 11)) }
  }

  @Test("Who writes a body that nobody takes any more is told")
  func abandoned() async throws {
    let (events, send) = AsyncStream<Bool>.makeStream()
    let bytes = WrittenBytes { output in
      defer { send.finish() }
      try output.write([1])
      send.yield(false)
      // Half an hour: whoever cancels may wait long for a thread of a busy machine.
      for _ in 0..<180_000 where !output.isAbandoned { usleep(10_000) }
      send.yield(output.isAbandoned)
    }
    let reader = Task {
      for try await _ in bytes.chunks {}
    }
    var isTold = false
    for await told in events {
      isTold = told
      // It is under way.
      reader.cancel()
    }
    #expect(isTold)
  }
}
