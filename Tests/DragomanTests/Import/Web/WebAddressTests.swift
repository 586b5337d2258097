import Foundation
import Testing

@testable import Dragoman

/// Whose addresses there are, what messages may have, and what heads say.
@Suite("Addresses of the web") struct WebAddressTests {
  @Test(
    "The kind of an address is that of its network",
    arguments: [
      ("127.0.0.1", SocketAddress.Kind.loopback), ("127.9.9.9", .loopback), ("::1", .loopback),
      ("::ffff:127.0.0.1", .loopback), ("64:ff9b::7f00:1", .loopback), ("10.1.2.3", .inner),
      ("172.16.0.1", .inner), ("172.32.0.1", .outer), ("192.168.1.1", .inner),
      ("169.254.169.254", .inner),
      ("100.64.0.1", .inner), ("0.0.0.0", .inner), ("224.0.0.1", .inner), ("::", .inner),
      ("fe80::1", .inner), ("fd00::1", .inner), ("::ffff:10.0.0.1", .inner),
      ("2002:a00:1::", .inner),
      ("8.8.8.8", .outer), ("2606:4700::1111", .outer), ("::ffff:8.8.8.8", .outer),
    ]
  )
  func kinds(text: String, kind: SocketAddress.Kind) throws {
    #expect(try #require(SocketAddress(text)).kind == kind)
  }

  @Test(
    "Messages have no user, no secrets of the query and no fragment",
    arguments: [
      ("https://a.example/feed.json", "https://a.example/feed.json"),
      ("https://me:pw@a.example/x", "https://…@a.example/x"),
      ("https://me:p@w@a.example/x", "https://…@a.example/x"),
      (
        "https://a.example/x?page=2&api_key=abc&Signature=x",
        "https://a.example/x?page=2&api_key=…&Signature=…"
      ),
      ("https://a.example/x?q=\(String(repeating: "a", count: 32))", "https://a.example/x?q=…"),
      ("https://a.example/x#token=abc", "https://a.example/x"),
      ("people.json?token=1", "people.json?token=1"), ("a:b#c?key=1", "a:b#c?key=1"),
      ("https://u:1/pw@a.example/", "https://u:1/…@a.example/"), ("ftp://u:pw@a/x", "ftp://…@a/x"),
      ("https:/u:pw@a/x", "https:/…@a/x"), ("https:u:pw@a/x", "https:…@a/x"),
      ("https:\u{2F}\u{2F}\u{301}u:pw@a/x", "https://…@a/x"),
      ("https://a/?a=1;token=pw&b=2;c", "https://a/?a=1;token=…&b=2;c"),
      ("https://a/?", "https://a/?"),
      ("https://a/?token=\u{301}pw", "https://a/?token=…"), (" https://u:pw@a/x", " https://…@a/x"),
      ("https://u:sec#ret@a/x", "https://…@a/x"), ("https:/a/x?token=abc", "https:/a/x?token=…"),
      ("http://a:8080/x@2.json", "http://a:8080/…@2.json"),
      (
        "Unsupported proxy syntax in 'http://u:pw@bad host:1'",
        "Unsupported proxy syntax in 'http://…@bad host:1'"
      ),
    ]
  )
  func shown(text: String, shown: String) { #expect(WebText.shown(text) == shown) }

  @Test(
    "The next page is read off the field Link",
    arguments: [
      (#"<https://a/?p=1>; rel="prev", <https://a/?p=3>; rel="next""#, "https://a/?p=3"),
      ("</x?a=1,2>; rel=next", "/x?a=1,2"),
      (#"<b>; title="<c>; rel=next"; rel="last""#, nil),
      (#"<b>; rel="prefetch next""#, "b"),
      ("next", nil), ("", nil),
      // Quotes within quotes, tabs, and a relation that is told twice (RFC 8288, 3.3).
      (#"</p2>; title="say \"a, b"; rel="next""#, "/p2"), ("<?p=2>\t;\trel=\"next\"", "?p=2"),
      (#"</p2>; rel="ne\xt""#, "/p2"), (#"</p2>; rel="prev"; rel="next""#, nil),
      ("</p2>; REL = next", "/p2"), (#"</p2>; rel="\#u{301}next""#, nil),
    ] as [(String, String?)]
  )
  func links(field: String, next: String?) { #expect(WebLink.next(in: field) == next) }

  @Test("Retry-After is a number of seconds or a date")
  func waits() {
    let now = Date(timeIntervalSince1970: 1_445_412_475)
    #expect(WebLink.wait(in: "12", now: now) == 12)
    #expect(WebLink.wait(in: "Wed, 21 Oct 2015 07:28:00 GMT", now: now) == 5)
    #expect(WebLink.wait(in: "Wed, 21 Oct 2015 07:27:00 GMT", now: now) == 0)
    #expect(WebLink.wait(in: "-1", now: now) == nil)
    #expect(WebLink.wait(in: "Wed, 21 Oct 2015 09:28:00 +0200", now: now) == 5)
    #expect(WebLink.wait(in: "Wed, 31 Feb 2015 07:28:00 GMT", now: now) == nil)
    #expect(WebLink.wait(in: "Wed, 21\u{485} Oct 2015 07:28:00 GMT", now: now) == nil)
    #expect(WebLink.wait(in: "soon", now: now) == nil)
    // The two obsolete forms (RFC 9110, 5.6.7).
    #expect(WebLink.wait(in: "Wednesday, 21-Oct-15 07:28:00 GMT", now: now) == 5)
    #expect(WebLink.wait(in: "Wed Oct 21 07:28:00 2015", now: now) == 5)
    #expect(WebLink.wait(in: "Sun Nov  1 07:28:00 2015", now: now) == 950_405)
  }

  @Test(
    "Of a URL only what it cannot have is escaped",
    arguments: [
      ("?page[size]=2&q=a%20b&sig=x%2By%3D", "?page%5Bsize%5D=2&q=a%20b&sig=x%2By%3D"),
      ("with space%20x.json", "with%20space%20x.json"), ("zoë%20x.json", "zo%C3%AB%20x.json"),
      ("?x=%zz&y=100%", "?x=%25zz&y=100%25"), ("a;b,c=d?e=/?:@!$'()*+", "a;b,c=d?e=/?:@!$'()*+"),
      ("?a=\"<>\\^`{|}", "?a=%22%3C%3E%5C%5E%60%7B%7C%7D"),
    ]
  )
  func escapes(written: String, asked: String) throws {
    #expect(
      try WebAddress("https://a.example/\(written)").url.absoluteString
        == "https://a.example/\(asked)"
    )
    let followed = try WebAddress("https://a.example/feed?x=1").following("/\(written)#part")
    #expect(followed.url.absoluteString == "https://a.example/\(asked)")
  }

  @Test("A link to the same server is followed as the same user, one to another server as nobody")
  func users() throws {
    let address = try WebAddress("https://u%40x:p%2Fw@a.example/f")
    for link in ["https://a.example/g", "https://A.example:443/g", "/g", "//a.example/g"] {
      let next = try address.following(link).url
      #expect(next.user(percentEncoded: true) == "u%40x", "\(link)")
      #expect(next.password(percentEncoded: true) == "p%2Fw", "\(link)")
    }
    for link in ["https://b.example/g", "http://a.example/g", "https://a.example:8443/g"] {
      #expect(try address.following(link).url.user() == nil, "\(link)")
    }
    #expect(try address.following("https://v:w@a.example/g").url.user() == "v")
  }

  @Test("A version is an entity tag or a date; what is none is not asked by")
  func versions() {
    for tag in ["\"a\"", "W/\"a\"", "\"\""] {
      #expect(WebFetcher.Version(tag: tag, modified: nil).isTold, "\(tag)")
    }
    for tag in ["*", "a", "\"", "\"a", "\"a\", \"b\"", "w/\"a\"", ""] {
      #expect(!WebFetcher.Version(tag: tag, modified: nil).isTold, "\(tag)")
    }
  }

  @Test("Pages and queries of a URL are no part of the name that patterns and endings are about")
  func names() {
    let page = "https://a.example/x/g.tsv?p=3 (page 2)"
    #expect(FileGlob(pattern: "g.tsv").matches(page) && FileGlob(pattern: "x/*.tsv").matches(page))
    #expect(FileGlob(pattern: "g.tsv").matches("https://a.example/g.tsv.gz?p=3"))
    #expect(!FileGlob(pattern: "p=3*").matches("https://a.example/g.tsv?p=3"))
    #expect(FormatDetection.isTabSeparated(page))
    #expect(FormatDetection.isTabSeparated("https://a.example/my file.tsv?x=1"))
    #expect(FileGlob(pattern: "g?.json").matches("folder/g1.json"))
  }

  @Test("A cursor is set in place of the one before, and escaped")
  func cursors() throws {
    let address = try WebAddress("https://a.example/x?cursor=1&n=5")
    #expect(
      try address.setting("cursor", to: "a+b/=&c").url.absoluteString
        == "https://a.example/x?n=5&cursor=a%2Bb%2F%3D%26c"
    )
    // What else stands there stays byte for byte.
    let signed = try WebAddress("https://a.example/f?q=red+bread&x=a%2Cb%3Bc&&c%75r=1&flag#part")
    #expect(
      try signed.setting("cur", to: "2").url.absoluteString
        == "https://a.example/f?q=red+bread&x=a%2Cb%3Bc&&flag&cur=2#part"
    )
    #expect(
      try WebAddress("https://a.example/f").setting("a b", to: "ä").url.absoluteString
        == "https://a.example/f?a%20b=%C3%A4"
    )
  }
}
