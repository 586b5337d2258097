import Foundation

/// The proxy that environment variables name for a server, as libcurl reads them
/// (https://curl.se/libcurl/c/libcurl-env.html).
///
/// It is chosen here so that it is known who looks up the server's name: behind a proxy the address that is connected
/// to says nothing of the server.
struct WebProxy {
  let environment: [String: String]

  init(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.environment = environment
  }

  /// The proxy's URL; nil: the server is asked itself, as this machine always is.
  func url(for address: WebAddress) -> String? {
    if address.isLoopback || isExempt(address) { return nil }
    // A server may set HTTP_PROXY for its scripts, by a header field of who asks (https://httpoxy.org).
    let names = address.isEncrypted ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
    return value(of: names) ?? value(of: ["all_proxy", "ALL_PROXY"])
  }

  private func value(of names: [String]) -> String? {
    names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
  }

  /// Whether `no_proxy` names the server: by its name, a domain that it is in, its address or a block of them.
  private func isExempt(_ address: WebAddress) -> Bool {
    guard let list = value(of: ["no_proxy", "NO_PROXY"]) else { return false }
    let host = address.hostName
    let number = SocketAddress(host)
    return list.split(whereSeparator: { $0 == "," || $0 == " " }).contains { entry in
      if entry == "*" { return true }
      if let number { return number.isIn(String(entry)) }
      let domain = entry.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "."))
      return !domain.isEmpty && (host == domain || host.hasSuffix("." + domain))
    }
  }
}
