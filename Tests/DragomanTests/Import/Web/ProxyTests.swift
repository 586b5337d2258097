import Foundation
import Logging
import Testing

@testable import Dragoman

@Suite("Feeds behind proxies") struct ProxyTests {
  @Test(
    "The surroundings say whom a proxy is asked for",
    arguments: [
      ("http://feed.example/", ["http_proxy": "p"], "p"),
      ("http://feed.example/", ["HTTP_PROXY": "p"], nil),
      ("https://feed.example/", ["HTTPS_PROXY": "p"], "p"),
      ("https://feed.example/", ["http_proxy": "p"], nil),
      ("https://feed.example/", ["ALL_PROXY": "p", "https_proxy": ""], "p"),
      ("http://127.0.0.1:8000/", ["http_proxy": "p"], nil),
      ("http://LOCALHOST./", ["http_proxy": "p"], nil),
      ("http://feed.example/", ["http_proxy": "p", "no_proxy": "*"], nil),
      ("http://feed.example/", ["http_proxy": "p", "no_proxy": "other, .Example"], nil),
      ("http://feed.example/", ["http_proxy": "p", "NO_PROXY": "feed.example"], nil),
      ("http://a.feed.example./", ["http_proxy": "p", "no_proxy": "feed.example"], nil),
      ("http://myfeed.example/", ["http_proxy": "p", "no_proxy": "feed.example"], "p"),
      ("http://10.1.2.3/", ["http_proxy": "p", "no_proxy": "10.0.0.0/8"], nil),
      (
        "http://11.1.2.3/", ["http_proxy": "p", "no_proxy": "10.0.0.0/8,10.1.2.3,x/y,1.2.3.4/99"],
        "p"
      ),
      ("http://[fd00::1]/", ["http_proxy": "p", "no_proxy": "fd00::/8"], nil),
    ] as [(String, [String: String], String?)]
  )
  func choice(url: String, environment: [String: String], proxy: String?) throws {
    #expect(WebProxy(environment).url(for: try WebAddress(url)) == proxy)
  }

  @Test(
    "What a feed of the Internet leads to is not this machine, nor in the house, whoever asks for it",
    .enabled(if: FeedServer.isPossible, "python3 and openssl are needed for the server"),
    arguments: ["127.0.0.1", "10.0.0.5", "localhost", "[::1]"]
  )
  func redirects(host: String) throws {
    let (proxy, inner) = (try FeedServer(), try FeedServer())
    try inner.put(#"[{"id":1,"name":"secret"}]"#, as: "people.json")
    let target = inner.url("people.json", host: host)
    let error = #expect(throws: ReadError.self) {
      _ = try fetcher(behind: proxy).fetch(WebAddress("http://feed.example/moved?to=\(target)"))
    }
    #expect(error?.code == .address)
    #expect(!FileManager.default.fileExists(atPath: inner.folder.appending(path: "requests").path))
    #expect(try proxy.requests().count == 1)
  }

  @Test(
    "What this machine has leads to nothing that a proxy looks up",
    .enabled(if: FeedServer.isPossible, "python3 and openssl are needed for the server")
  )
  func outwards() throws {
    let (proxy, own) = (try FeedServer(), try FeedServer())
    let url = own.url("moved?to=http://feed.example/people.json")
    let error = #expect(throws: ReadError.self) {
      _ = try fetcher(behind: proxy).fetch(WebAddress(url))
    }
    #expect(error?.code == .address)
    #expect(!FileManager.default.fileExists(atPath: proxy.folder.appending(path: "requests").path))
  }

  @Test(
    "A proxy in the house brings feeds of the Internet, by name, by address, and where they lead to",
    .enabled(if: FeedServer.isPossible, "python3 and openssl are needed for the server"),
    arguments: [
      "http://feed.example/people.json", "http://8.8.8.8/people.json",
      "http://feed.example/moved?to=http://8.8.4.4/people.json",
      "http://8.8.8.8/moved?to=http://feed.example/people.json",
    ]
  )
  func passed(url: String) throws {
    let proxy = try FeedServer()
    try proxy.put("[]", as: "people.json")
    let answer = try fetcher(behind: proxy).fetch(WebAddress(url))
    #expect(answer?.feed.byteCount == 2)
  }

  @Test(
    "A proxy that wants to know who asks says so, and is not asked again",
    .enabled(if: FeedServer.isPossible, "python3 and openssl are needed for the server")
  )
  func refused() throws {
    let proxy = try FeedServer()
    let error = #expect(throws: ReadError.self) {
      _ = try fetcher(behind: proxy).fetch(WebAddress("https://feed.example/people.json"))
    }
    #expect(error?.code == .permission)
    #expect(error?.message.hasSuffix("the server answers 407.") == true, "\(error as Any)")
  }

  @Test(
    "A version that has no place in a head is none",
    arguments: ["\"a\"\r\nX: 1", "\"a\"\rX", "a\n", "a\u{7F}"]
  )
  func versions(text: String) {
    #expect(!WebFetcher.Version(tag: text, modified: text).isTold)
    #expect(WebFetcher.Version(tag: "\"é\"", modified: "a\tb").isTold)
  }

  @Test("Pages are behind each other in one file")
  func pages() throws {
    func text(_ feed: OpenedFeed) throws -> String {
      let source = OpenedFeedSource(feed, name: "page")
      return try withUnsafeTemporaryAllocation(byteCount: 3, alignment: 1) { room in
        var bytes: [UInt8] = []
        while case let count = try source.read(into: room), count > 0 { bytes += room[..<count] }
        return String(decoding: bytes, as: UTF8.self)
      }
    }
    func write(_ text: String, to feed: OpenedFeed) {
      #expect(Array(text.utf8).withUnsafeBytes { feed.append($0) })
    }
    let first = try OpenedFeed()
    write("one, ", to: first)
    write("two", to: first)
    let second = OpenedFeed(behind: first)
    write("broken off", to: second)
    second.clear()
    write("three", to: second)
    let (third, fourth) = (OpenedFeed(behind: second), OpenedFeed(behind: second))
    write("4", to: fourth)
    #expect(try [first, second, third, fourth].map(text) == ["one, two", "three", "", "4"])
    #expect([first, second, third, fourth].map(\.byteCount) == [8, 5, 0, 1])
  }

  private func fetcher(behind proxy: FeedServer) -> WebFetcher {
    var options = WebOptions(timeout: 10, retryCount: 0)
    options.allowsUnencrypted = true
    return WebFetcher(
      options: options,
      maximumByteCount: 1000,
      cancellation: Cancellation(),
      logger: Logger(label: "test"),
      proxies: WebProxy(["http_proxy": proxy.url(""), "https_proxy": proxy.url("")])
    )
  }
}
