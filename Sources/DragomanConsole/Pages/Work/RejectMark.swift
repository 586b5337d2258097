import Dragoman

/// Where in the text of a rejected record stands what is wrong.
enum RejectMark {
  /// Splits a record at the offending value.
  ///
  /// - Parameters:
  ///   - record: The record as it is shown.
  ///   - reject: What is wrong with it.
  /// - Returns: What stands before the value, the value, and what follows; nothing is marked where it is not there.
  static func parts(
    of record: String,
    _ reject: RejectLine
  ) -> (before: String, marked: String?, behind: String) {
    let bytes = Array(record.utf8)
    guard let range = range(in: bytes, reject), !range.isEmpty else { return (record, nil, "") }
    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    return (text(0..<range.lowerBound), text(range), text(range.upperBound..<bytes.count))
  }

  private static func range(in bytes: [UInt8], _ reject: RejectLine) -> Range<Int>? {
    if reject.recordBytes != nil {
      // The first byte that is no text, as it is spelled.
      return bytes.indices.first { place in
        place + 4 <= bytes.count && bytes[place...].starts(with: "\\x".utf8)
          && bytes[place + 2..<place + 4].allSatisfy {
            UnicodeScalar($0).properties.isASCIIHexDigit
          }
      }.map { $0..<$0 + 4 }
    }
    if reject.isXML { return XMLPlace(bytes).range(of: reject) }
    guard reject.isSourceText else {
      var members = JSONPlace(bytes, reject)
      return members.range()
    }
    // The rest of the line that could not be read on.
    let start = reject.byteOffset
    guard start > 0, start < bytes.count else { return nil }
    return start..<(bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count)
  }
}

/// Finds a value in JSON: by its path, else by its name and its text, else by one of them.
private struct JSONPlace {
  private let bytes: [UInt8]
  private let path: String
  private let name: String?
  private let value: String?
  private var place = 0
  private var found: (exact: Range<Int>?, both: Range<Int>?, named: Range<Int>?, same: Range<Int>?)

  init(_ bytes: [UInt8], _ reject: RejectLine) {
    self.bytes = bytes
    path = reject.path ?? ""
    name = path.split { "/.@[]".contains($0) }.last { !$0.allSatisfy(\.isNumber) }.map(String.init)
    value = reject.value.flatMap { $0.isEmpty ? nil : $0 }
    found = (nil, nil, nil, nil)
  }

  mutating func range() -> Range<Int>? {
    read("", "")
    return found.exact ?? found.both ?? found.named ?? found.same
  }

  /// Reads a value, and what it holds.
  private mutating func read(_ path: String, _ name: String) {
    skipSpace()
    guard place < bytes.count else { return }
    let start = place
    switch bytes[place] {
    case UInt8(ascii: "{"):
      readMembers(until: UInt8(ascii: "}")) { reader, _ in
        let key = reader.readString()
        reader.skipSpace()
        if reader.place < reader.bytes.count, reader.bytes[reader.place] == UInt8(ascii: ":") {
          reader.place += 1
        }
        reader.read(path.isEmpty ? key : "\(path).\(key)", key)
      }
    case UInt8(ascii: "["):
      readMembers(until: UInt8(ascii: "]")) { reader, index in
        reader.read("\(path)[\(index)]", name)
      }
    case UInt8(ascii: "\""): _ = readString()
    default:
      while place < bytes.count, !",]} \n".utf8.contains(bytes[place]) { place += 1 }
    }
    note(start..<place, path, name)
  }

  private mutating func readMembers(
    until end: UInt8,
    _ body: (inout JSONPlace, Int) -> Void
  ) {
    place += 1
    for index in 0... {
      skipSpace()
      guard place < bytes.count, bytes[place] != end else { break }
      let start = place
      body(&self, index)
      skipSpace()
      if place < bytes.count, bytes[place] == UInt8(ascii: ",") { place += 1 }
      // What is no JSON has an end, too.
      if place == start { place += 1 }
    }
    place = min(place + 1, bytes.count)
  }

  private mutating func readString() -> String {
    place += 1
    let start = min(place, bytes.count)
    while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
      place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    let text = String(decoding: bytes[start..<min(place, bytes.count)], as: UTF8.self)
    place = min(place + 1, bytes.count)
    return text
  }

  private mutating func skipSpace() {
    while place < bytes.count, " \n\r\t".utf8.contains(bytes[place]) { place += 1 }
  }

  private mutating func note(_ range: Range<Int>, _ path: String, _ name: String) {
    if found.exact == nil, !path.isEmpty, path.utf8.elementsEqual(self.path.utf8) {
      found.exact = range
    }
    let isNamed = self.name.map { $0.utf8.elementsEqual(name.utf8) } ?? false
    let isSame = isValue(range)
    if isNamed, isSame, found.both == nil { found.both = range }
    if isNamed, found.named == nil { found.named = range }
    if isSame, found.same == nil { found.same = range }
  }

  /// Whether a value is the one that is told, which may be shortened.
  private func isValue(_ range: Range<Int>) -> Bool {
    guard let value else { return false }
    return value.hasSuffix("…")
      ? bytes[range].starts(with: value.dropLast().utf8)
      : bytes[range].elementsEqual(value.utf8)
  }
}

/// Finds a value in an element of XML: at its place, or, where that is not known, by its name and its text.
private struct XMLPlace {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func range(of reject: RejectLine) -> Range<Int>? {
    guard let path = reject.path else { return nil }
    let steps = path.split { "/[]@".contains($0) }.filter { !$0.allSatisfy(\.isNumber) }
    let name = String(steps.last ?? "")
    let start = reject.byteOffset
    if path.contains("@") {
      return isTag(at: start) ? attribute(name, at: start) : nil
    }
    if start > 0 { return isTag(at: start) ? content(at: start) : nil }
    let value = reject.value.map { $0.hasPrefix("\"") ? String($0.dropFirst().dropLast()) : $0 }
    guard !name.isEmpty, let value else { return nil }
    for place in bytes.indices where isTag(at: place) {
      let behind = place + 1 + name.utf8.count
      guard bytes[(place + 1)...].starts(with: name.utf8), behind < bytes.count,
        "> /\n\t".utf8.contains(bytes[behind]), let range = content(at: place),
        bytes[range].elementsEqual(value.utf8)
      else { continue }
      return range
    }
    return nil
  }

  private func isTag(at place: Int) -> Bool {
    bytes.indices.contains(place) && bytes[place] == UInt8(ascii: "<")
  }

  /// Where a tag ends: the place of its `>`, which no quoted text has.
  private func end(ofTag start: Int) -> Int? {
    var quote: UInt8?
    for place in start..<bytes.count {
      let byte = bytes[place]
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        return place
      }
    }
    return nil
  }

  /// The text of an element, or, where it has none, its tag.
  private func content(at start: Int) -> Range<Int>? {
    guard let end = end(ofTag: start) else { return nil }
    let rest = bytes[(end + 1)...]
    let close = rest.indices.first { rest[$0...].starts(with: "</".utf8) } ?? bytes.count
    return bytes[end - 1] == UInt8(ascii: "/") || close == end + 1
      ? start..<end + 1 : end + 1..<close
  }

  /// The text of an attribute of a tag; the whole tag where it has no such attribute.
  private func attribute(_ name: String, at start: Int) -> Range<Int>? {
    guard let end = end(ofTag: start) else { return nil }
    for place in start..<end where " \n\t:".utf8.contains(bytes[place]) {
      guard bytes[(place + 1)...].starts(with: name.utf8) else { continue }
      let equals = bytes[(place + 1 + name.utf8.count)...].drop { " \n\t".utf8.contains($0) }
      guard equals.first == UInt8(ascii: "=") else { continue }
      let value = equals.dropFirst().drop { " \n\t".utf8.contains($0) }
      guard let quote = value.first, let close = value.dropFirst().firstIndex(of: quote) else {
        continue
      }
      return value.startIndex + 1..<close
    }
    return start..<end + 1
  }
}
