import DragomanGraph

extension AttributeMap {
  /// A default, minimum or maximum of the map as the store holds it; nil where it does not fit.
  ///
  /// Literals are written in one spelling a type, whatever formats the feed has: plain numbers
  /// (RFC 8259), `true` and `false`, ISO 8601 for dates and times (`2024-02-29T13:00:00Z`,
  /// `2024-02-29`, `13:00`; no zone is UTC) and durations (`P1DT2H30M`), base64 for `data`.
  public func storedValue(ofLiteral text: String) -> StoredValue? {
    switch type {
    case .string: .text(text)
    case .int16: Int16(text).map { .integer(Int64($0)) }
    case .int32: Int32(text).map { .integer(Int64($0)) }
    case .int64: Int64(text).map { .integer($0) }
    case .double: text.number { try $0.double() }.map { .real($0) }
    case .float: text.number { try $0.float() }.map { .real(Double($0)) }
    case .decimal: decimal(text).map { .text($0) }
    case .bool: ["true": .integer(1), "false": .integer(0)][text]
    case .timestamp, .date, .time: dateOrTime(text).map { .text($0) }
    case .duration: CalendarDuration(text).map { .text($0.description) }
    case .uuid:
      text.converted(capacity: UUIDText.byteCount) { UUIDText.read($0, into: $1) }
        .map { .text(String(decoding: $0, as: UTF8.self)) }
    case .url: URLText.isURL(text) ? .text(text) : nil
    case .data: data(text).map { .blob($0) }
    case .json: isJSON(text) ? CompactJSON.text(text).map { .text($0) } : nil
    case .enum: isRawValue(text) ? .text(text) : nil
    }
  }

  /// The local raw values of an enumeration, in declared order and once each; nil admits any.
  var rawValues: [String]? {
    guard type == .enum, !format.values.isEmpty else { return nil }
    var taken: Set<[UInt8]> = []
    return (format.values.map(\.local) + (format.unknown.map { [$0] } ?? []))
      .filter { taken.insert(Array($0.utf8)).inserted }
  }

  private func isRawValue(_ text: String) -> Bool {
    rawValues?.contains { $0.utf8.elementsEqual(text.utf8) } ?? true
  }

  private func decimal(_ text: String) -> String? {
    let capacity = PlainNumber.decimalCapacity(byteCount: text.utf8.count, scale: rules.scale)
    return text.converted(capacity: capacity) { bytes, output in
      guard let number = PlainNumber(bytes) else { return 0 }
      do { return try number.decimal(scale: rules.scale, into: output) } catch { return 0 }
    }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether a literal is a timestamp without a zone, which the feed would have on the clock of this one.
  func isMeantOtherwise(_ text: String, in zone: String) -> Bool {
    guard type == .timestamp, let reading = dateOrTime(text, in: zone) else { return false }
    return reading != dateOrTime(text)
  }

  private func dateOrTime(_ text: String, in zone: String? = nil) -> String? {
    do {
      let reader = try DateReader(formats: [], type: type, timeZone: zone)
      return text.converted(capacity: DateReader.capacity) { reader.read(text: $0, into: $1) }
        .map { String(decoding: $0, as: UTF8.self) }
    } catch {
      return nil
    }
  }

  /// Empty text is no bytes, which is a value: so 0 does not mean failure here.
  private func data(_ text: String) -> [UInt8]? {
    if text.isEmpty { return [] }
    let capacity = BinaryText.capacity(byteCount: text.utf8.count)
    return text.converted(capacity: capacity) { BinaryText.read($0, into: $1) ?? 0 }
  }

  private func isJSON(_ text: String) -> Bool {
    var parser = JSONMapParser(text, file: nil)
    do {
      _ = try parser.parse()
      return true
    } catch {
      return false
    }
  }
}

extension StoredValue {
  /// Whether the value is larger than another of the same attribute, whose type has an order.
  func isLarger(than other: StoredValue, as type: AttributeType) -> Bool {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): a > b
    case (.real(let a), .real(let b)): a > b
    case (.text(let a), .text(let b)):
      type == .decimal
        ? Self.isLess(canonicalDecimal: b, than: a)
        : b.utf8.lexicographicallyPrecedes(a.utf8)
    default: false
    }
  }

  /// Compares decimals in docs/file.md's canonical text: more integer digits are more, and with as
  /// many the text decides.
  private static func isLess(canonicalDecimal left: String, than right: String) -> Bool {
    let (leftIsNegative, rightIsNegative) = (left.hasPrefix("-"), right.hasPrefix("-"))
    guard leftIsNegative == rightIsNegative else { return leftIsNegative }
    let (small, large) = leftIsNegative ? (right, left) : (left, right)
    let lengths = [small, large].map { $0.utf8.prefix { $0 != UInt8(ascii: ".") }.count }
    return lengths[0] == lengths[1]
      ? small.utf8.lexicographicallyPrecedes(large.utf8) : lengths[0] < lengths[1]
  }
}

extension String {
  /// Whether the text is a number of RFC 8259 from end to end.
  var isPlainNumber: Bool { withBytes { PlainNumber($0) != nil } }

  /// Lends the UTF-8 bytes.
  fileprivate func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    var text = self
    return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

  /// Converts a plain number; nil where it is none or the type cannot hold it.
  fileprivate func number<Value>(_ convert: (PlainNumber) throws -> Value) -> Value? {
    withBytes { bytes in
      guard let number = PlainNumber(bytes) else { return nil }
      do { return try convert(number) } catch { return nil }
    }
  }

  /// Runs a converter on a buffer of its own; nil where it writes nothing.
  fileprivate func converted(
    capacity: Int,
    by convert: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Int
  ) -> [UInt8]? {
    var output = [UInt8](repeating: 0, count: capacity)
    let count = output.withUnsafeMutableBytes { output in
      withBytes { convert($0, output) }
    }
    return count > 0 ? Array(output.prefix(count)) : nil
  }
}
