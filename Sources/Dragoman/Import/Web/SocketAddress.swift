#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The address of a machine, and whose it is.
struct SocketAddress: Hashable {
  /// Whose addresses there are.
  enum Kind: Hashable {
    /// This machine's.
    case loopback
    /// Of a network that the world does not see: private, link-local, reserved.
    case inner
    /// Of the world.
    case outer
  }

  /// 4 or 16 bytes.
  private let bytes: [UInt8]

  /// An address in its numbers, however they are written (`0x7f.1`, `2130706433`); nil for a name.
  init?(_ text: String) {
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      bytes = withUnsafeBytes(of: &four) { Array($0) }
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      bytes = withUnsafeBytes(of: &six) { Array($0) }
    } else if inet_aton(text, &four) != 0 {
      bytes = withUnsafeBytes(of: &four) { Array($0) }
    } else {
      return nil
    }
  }

  /// The address that a connection is to be made to; nil for what is no address of the Internet.
  init?(_ address: UnsafePointer<sockaddr>, length: Int) {
    let raw = UnsafeRawPointer(address)
    switch CInt(address.pointee.sa_family) {
    case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
      var four = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
      bytes = withUnsafeBytes(of: &four) { Array($0) }
    case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
      var six = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
      bytes = withUnsafeBytes(of: &six) { Array($0) }
    default: return nil
    }
  }

  /// Whose it is (RFC 6890; https://www.iana.org/assignments/iana-ipv4-special-registry).
  var kind: Kind {
    bytes.count == 4 ? Self.kind(of: bytes) : Self.kind(ofSix: bytes)
  }

  /// Whether it is an address, or in a block of them: `10.0.0.0/8`.
  func isIn(_ block: String) -> Bool {
    let parts = block.split(separator: "/", maxSplits: 1)
    guard let first = parts.first, let start = SocketAddress(String(first)),
      start.bytes.count == bytes.count
    else { return false }
    guard parts.count == 2 else { return start == self }
    guard let count = Int(parts[1]), (0...8 * bytes.count).contains(count) else { return false }
    return (0..<count).allSatisfy { bit in
      (bytes[bit / 8] ^ start.bytes[bit / 8]) & (0x80 >> (bit % 8)) == 0
    }
  }

  private static func kind(of four: [UInt8]) -> Kind {
    switch (four[0], four[1]) {
    case (127, _): .loopback
    case (0, _), (10, _), (100, 64...127), (169, 254), (172, 16...31), (192, 168), (198, 18...19),
      (224..., _):
      .inner
    case (192, 0) where four[2] == 0: .inner
    default: .outer
    }
  }

  private static func kind(ofSix six: [UInt8]) -> Kind {
    if six.dropLast().allSatisfy({ $0 == 0 }) { return six[15] == 1 ? .loopback : .inner }
    // An address of the older kind, and the same behind a translator.
    let isMapped = six[..<10].allSatisfy { $0 == 0 } && six[10] == 0xFF && six[11] == 0xFF
    let isTranslated =
      six.starts(with: [0, 0x64, 0xFF, 0x9B]) && six[4..<12].allSatisfy { $0 == 0 }
    if isMapped || isTranslated { return kind(of: Array(six[12...])) }
    // Only 2000::/3 is given to the world; of it 2002::/16 and 2001::/32 carry older addresses.
    let isCarrier = six.starts(with: [0x20, 0x02]) || six.starts(with: [0x20, 0x01, 0, 0])
    return six[0] & 0xE0 == 0x20 && !isCarrier ? .outer : .inner
  }
}
