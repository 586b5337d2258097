import DragomanGraph

/// Spells the stored values of one attribute as its map reads them: `ValueConverter` backwards.
///
/// Only what comes back is spelled: a value that the map would read as another one is a fault.
/// Texts are handed through without a copy; what is converted goes into a scratch buffer that every
/// value uses anew.
final class ValueSpeller: Sendable {
  /// A value ready to be written.
  enum Token {
    case null
    /// Any text.
    case text(UnsafeRawBufferPointer)
    /// Text of ASCII letters, digits and signs that need no escape in any format.
    case word(UnsafeRawBufferPointer)
    /// A number, `true` or `false`: JSON writes it without quotes.
    case literal(UnsafeRawBufferPointer)
    /// JSON text.
    case json(UnsafeRawBufferPointer)
    case fault(SpellingFault)
  }

  private enum Method: Sendable {
    case text
    case words([Word], other: [UInt8]?)
    case integer(ClosedRange<Int64>)
    case real(isFloat: Bool)
    case decimal
    case boolean(true: [UInt8]?, false: [UInt8]?)
    /// `yyyy-MM-dd'T'HH:mm:ss[.f]Z`: the stored text with two other letters.
    case instant
    /// The stored text.
    case civil
    case dates
    case data
    case json
  }

  private struct Word: Sendable {
    let local: [UInt8]
    let foreign: [UInt8]
  }

  let type: AttributeType
  private let method: Method
  /// Whether all values of the format are text.
  private let isTextual: Bool
  private let dates: DateReader?
  private let numbers: NumberReader?
  /// Whether numbers are grouped.
  private let groups: Bool
  private let trims: Bool
  private let emptyIsNull: Bool
  private let nulls: [[UInt8]]

  /// Whether an empty text of the format is read as null.
  let readsEmptyAsNull: Bool

  /// Compiles the formats of an attribute.
  ///
  /// - Throws: `FormatFault` for a format that cannot be used.
  init(
    _ map: AttributeMap,
    defaults: ImportMap.Defaults,
    format: ForeignFormat
  ) throws(FormatFault) {
    type = map.type
    isTextual = format == .xml || format == .csv
    trims = map.format.strings.trim ?? defaults.strings.trim ?? false
    emptyIsNull = map.format.strings.emptyAsNull ?? defaults.strings.emptyAsNull ?? false
    readsEmptyAsNull = emptyIsNull || map.type != .string
    let nulls = (map.format.strings.nulls ?? defaults.strings.nulls ?? []).map { Array($0.utf8) }
    self.nulls = nulls
    // A file's default format admits strings; numbers without a fraction stay numbers in JSON.
    let isInteger = [.int16, .int32, .int64].contains(map.type)
    groups = map.format.numbers != nil || !isInteger
    var numberFormat = map.type.isNumeric ? map.format.numbers ?? defaults.numbers : nil
    if isInteger, !isTextual, map.format.numbers == nil { numberFormat = nil }
    if let numberFormat {
      numbers = try NumberReader(format: numberFormat)
    } else {
      numbers = nil
    }
    switch map.type {
    case .timestamp, .date, .time:
      dates = try DateReader(
        formats: map.format.dates ?? defaults.dates ?? [],
        type: map.type,
        timeZone: map.format.timeZone ?? defaults.timeZone
      )
    default: dates = nil
    }
    // The words that are read as they are, as `fault(of:)` has it.
    let (trims, isEmptyNull) = (trims, emptyIsNull || isTextual && map.type != .string)
    let isRead = { (word: [UInt8]) in
      word.withUnsafeBytes { bytes in
        !(bytes.isEmpty && isEmptyNull) && !(trims && bytes.trimmed.count != bytes.count)
          && !nulls.contains { bytes.elementsEqual($0) }
      }
    }
    method = Self.method(map, dates: dates, isRead: isRead)
  }

  private static func method(
    _ map: AttributeMap,
    dates: DateReader?,
    isRead: ([UInt8]) -> Bool
  ) -> Method {
    if !map.format.values.isEmpty || map.format.unknown != nil { return words(map, isRead) }
    switch map.type {
    case .string, .enum, .url, .uuid, .duration: return .text
    case .int16: return .integer(Int64(Int16.min)...Int64(Int16.max))
    case .int32: return .integer(Int64(Int32.min)...Int64(Int32.max))
    case .int64: return .integer(.min ... .max)
    case .double: return .real(isFloat: false)
    case .float: return .real(isFloat: true)
    case .decimal: return .decimal
    case .bool:
      let isPlain = map.format.trueValues.isEmpty && map.format.falseValues.isEmpty
      if isPlain { return .boolean(true: Array("true".utf8), false: Array("false".utf8)) }
      let words = [map.format.trueValues, map.format.falseValues].map { words in
        words.lazy.map { Array($0.utf8) }.first(where: isRead)
      }
      return .boolean(true: words[0], false: words[1])
    case .timestamp: return dates?.spellsAsStored == true ? .instant : .dates
    case .date, .time: return dates?.spellsAsStored == true ? .civil : .dates
    case .data: return .data
    case .json: return .json
    }
  }

  /// Each local value with the first of its foreign words; a later row never means an earlier word.
  private static func words(_ map: AttributeMap, _ isRead: ([UInt8]) -> Bool) -> Method {
    var words: [Word] = []
    var taken: Set<[UInt8]> = []
    for pair in map.format.values {
      let foreign = Array(pair.foreign.utf8)
      let local = Array(pair.local.utf8)
      guard taken.insert(foreign).inserted, isRead(foreign) else { continue }
      if !words.contains(where: { $0.local == local }) {
        words.append(Word(local: local, foreign: foreign))
      }
    }
    // What unknown words become is spelled by itself, where that is no word with another meaning.
    let other = map.format.unknown.map { Array($0.utf8) }.flatMap { unknown in
      taken.contains(unknown) || !isRead(unknown) ? nil : unknown
    }
    return .words(words, other: other)
  }

  // MARK: - Spelling

  /// Spells a value; what is converted stands in `scratch` until the next value.
  @inline(__always)
  func spell(_ value: ColumnValue, scratch: ExportBuffer) -> Token {
    if case .null = value { return .null }
    switch (method, value) {
    case (.text, .text(let bytes)): return checked(bytes)
    case (.integer(let range), .integer(let integer)) where numbers == nil:
      guard range.contains(integer) else { return .fault(.number) }
      scratch.truncate(to: 0)
      scratch.append(decimal: integer)
      return isTextual ? checkedWord(scratch.bytes) : .literal(scratch.bytes)
    default: return spellSlowly(value, scratch: scratch)
    }
  }

  @inline(never)
  private func spellSlowly(_ value: ColumnValue, scratch: ExportBuffer) -> Token {
    scratch.truncate(to: 0)
    switch (method, value) {
    case (.words(let words, let other), .text(let bytes)):
      if let word = words.first(where: { bytes.elementsEqual($0.local) }) {
        scratch.append(word.foreign)
        return checked(scratch.bytes)
      }
      guard let other, bytes.elementsEqual(other) else { return .fault(.word) }
      return checked(bytes)
    case (.integer(let range), .integer(let integer)):
      guard range.contains(integer) else { return .fault(.number) }
      scratch.append(decimal: integer)
      return number(in: scratch)
    case (.real(let isFloat), .real(let real)): return spell(real, isFloat, scratch)
    case (.decimal, .text(let bytes)):
      guard PlainNumber(bytes) != nil else { return .fault(.number) }
      if numbers == nil { return isTextual ? checkedWord(bytes) : .literal(bytes) }
      scratch.append(bytes)
      return number(in: scratch)
    case (.boolean(let yes, let no), .integer(let integer)): return spell(integer, yes, no, scratch)
    case (.instant, .text(let bytes)): return instant(bytes, scratch)
    case (.civil, .text(let bytes)):
      guard dates?.isStored(bytes) == true else { return .fault(.date) }
      return checkedWord(bytes)
    case (.dates, .text(let bytes)): return spell(date: bytes, scratch)
    case (.data, .blob(let bytes)): return spell(data: bytes, scratch)
    case (.json, .text(let bytes)): return .json(bytes)
    default: return .fault(.type)
    }
  }

  /// A text, if the map takes it as it is.
  @inline(__always)
  private func checked(_ bytes: UnsafeRawBufferPointer) -> Token {
    if !trims && !emptyIsNull && nulls.isEmpty && (type == .string || !bytes.isEmpty) {
      return .text(bytes)
    }
    return fault(of: bytes).map { .fault($0) } ?? .text(bytes)
  }

  @inline(__always)
  private func checkedWord(_ bytes: UnsafeRawBufferPointer) -> Token {
    if nulls.isEmpty { return .word(bytes) }
    return fault(of: bytes).map { .fault($0) } ?? .word(bytes)
  }

  private func fault(of bytes: UnsafeRawBufferPointer) -> SpellingFault? {
    if trims, bytes.trimmed.count != bytes.count { return .trimmed }
    if bytes.isEmpty { return emptyIsNull || (isTextual && type != .string) ? .readAsNull : nil }
    return nulls.contains { bytes.elementsEqual($0) } ? .readAsNull : nil
  }

  private func spell(_ real: Double, _ isFloat: Bool, _ scratch: ExportBuffer) -> Token {
    guard real.isFinite else { return .fault(.infinite) }
    if isFloat {
      guard Double(Float(real)) == real else { return .fault(.number) }
      scratch.append("\(Float(real))")
    } else {
      scratch.append(shortest: real)
    }
    return number(in: scratch)
  }

  /// The plain number that fills the buffer, as the map's number format has it.
  private func number(in scratch: ExportBuffer) -> Token {
    guard let numbers else {
      return isTextual ? checkedWord(scratch.bytes) : .literal(scratch.bytes)
    }
    let plain = scratch.count
    numbers.write(plain: scratch, grouping: groups)
    return checked(UnsafeRawBufferPointer(rebasing: scratch.bytes[plain...]))
  }

  private func spell(
    _ integer: Int64,
    _ yes: [UInt8]?,
    _ no: [UInt8]?,
    _ scratch: ExportBuffer
  ) -> Token {
    guard integer == 0 || integer == 1 else { return .fault(.boolean) }
    let isTrue = integer == 1
    // Booleans without a word are read by JSON's own, and by nothing in a text.
    guard let word = isTrue ? yes : no else {
      guard !isTextual else { return .fault(.boolean) }
      scratch.append(isTrue ? "true" : "false")
      return .literal(scratch.bytes)
    }
    scratch.append(word)
    let isPlain = word == (isTrue ? Self.trueWord : Self.falseWord)
    return isPlain && !isTextual ? .literal(scratch.bytes) : checked(scratch.bytes)
  }

  private static let trueWord = Array("true".utf8)
  private static let falseWord = Array("false".utf8)

  // MARK: - Dates and bytes

  private func instant(_ bytes: UnsafeRawBufferPointer, _ scratch: ExportBuffer) -> Token {
    guard dates?.isStored(bytes) == true else { return .fault(.date) }
    scratch.append(UnsafeRawBufferPointer(rebasing: bytes[..<10]))
    scratch.append(UInt8(ascii: "T"))
    scratch.append(UnsafeRawBufferPointer(rebasing: bytes[11...]))
    scratch.append(UInt8(ascii: "Z"))
    return checkedWord(scratch.bytes)
  }

  private func spell(date bytes: UnsafeRawBufferPointer, _ scratch: ExportBuffer) -> Token {
    let text = String(decoding: bytes, as: UTF8.self)
    switch dates?.write(canonical: text, isTextual: isTextual) {
    case .text(let text):
      scratch.append(text)
      return checked(scratch.bytes)
    case .number(let text):
      scratch.append(text)
      return isTextual ? checkedWord(scratch.bytes) : .literal(scratch.bytes)
    case nil: return .fault(.date)
    }
  }

  /// Base64; no bytes at all, and base64 that happens to be a word for null, as hexadecimal.
  private func spell(data bytes: UnsafeRawBufferPointer, _ scratch: ExportBuffer) -> Token {
    scratch.append(base64: bytes)
    if fault(of: scratch.bytes) == nil { return .word(scratch.bytes) }
    scratch.truncate(to: 0)
    scratch.append("\\x")
    scratch.append(hexadecimal: bytes)
    return checked(scratch.bytes)
  }
}
