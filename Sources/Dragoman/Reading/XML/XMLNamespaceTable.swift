import CLibXML2

/// Numbers the namespaces of a document, in the order in which its records use them.
struct XMLNamespaceTable {
  /// The URIs by their numbers; number 0 is "no namespace".
  private(set) var uris = [""]
  private var numbers: [UnsafePointer<UInt8>: UInt16] = [:]
  /// The namespace asked for last: neighbours mostly share theirs.
  private var lastURI: UnsafePointer<UInt8>?
  private var lastNumber: UInt16 = 0
  // `xsi:nil`, as libxml2 keeps these names.
  private let instanceURI: UnsafePointer<UInt8>?
  private let nilName: UnsafePointer<UInt8>?

  init(dictionary: xmlDictPtr?) {
    instanceURI = xmlDictLookup(dictionary, "http://www.w3.org/2001/XMLSchema-instance", -1)
    nilName = xmlDictLookup(dictionary, "nil", -1)
  }

  /// The number of a namespace, by libxml2's interned URI; nil when there are too many.
  @inline(__always)
  mutating func number(of uri: UnsafePointer<UInt8>) -> UInt16? {
    if uri == lastURI { return lastNumber }
    return lookUp(uri)
  }

  /// Whether the attributes hold `xsi:nil="true"` (or `1`).
  @inline(__always)
  func isNull(_ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int) -> Bool {
    guard count > 0, let attributes else { return false }
    for index in 0..<count {
      let attribute = attributes + 5 * index
      guard attribute[0] == nilName, attribute[2] == instanceURI else { continue }
      guard let value = attribute[3], let end = attribute[4] else { continue }
      let text = UnsafeBufferPointer(start: value, count: end - value)
      return text.elementsEqual("true".utf8) || text.elementsEqual("1".utf8)
    }
    return false
  }

  private mutating func lookUp(_ uri: UnsafePointer<UInt8>) -> UInt16? {
    var number = numbers[uri]
    if number == nil {
      guard uris.count <= Int(UInt16.max) else { return nil }
      number = UInt16(uris.count)
      numbers[uri] = number
      uris.append(String(cString: uri))
    }
    lastURI = uri
    lastNumber = number ?? 0
    return number
  }
}
