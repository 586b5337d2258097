import CSimdJSON
import DragomanGraph

/// Converts the foreign values of one attribute, by the attribute's type and never by the look of
/// the value (docs/maps.md).
///
/// Converted text goes into the batch's arena; a string that is stored as it came stays where it
/// is. Nothing is allocated.
///
/// Large because a converter is compiled: each rule of an attribute is a property, so that no value looks for
/// it.
final class ValueConverter: Sendable {
  /// What a value turned out to be.
  enum Conversion {
    case value(RowValue)
    case null
    case invalid(Fault)
  }

  /// One row of a value table, ready to be compared and bound.
  private struct Word: Sendable {
    let foreign: [UInt8]
    let local: StoredValue
  }

  let type: AttributeType
  /// Whether all values of the format are text, so that typed attributes take plain notation.
  let isTextual: Bool
  private let scale: Int?
  private let coerces: Bool
  let trims: Bool
  let emptyIsNull: Bool
  let nulls: [[UInt8]]
  private let dates: DateReader?
  /// Whether the map names the zone of date and time values.
  private let declaresZone: Bool
  let numbers: NumberReader?
  private let booleans: BooleanReader
  /// The words of texts that are text whatever they mean.
  private let plainBooleans: BooleanReader
  private let words: [Word]
  private let otherWord: StoredValue?

  /// The date formats, as declared or by default, for messages.
  var triedFormats: [String] { dates?.formatNames ?? [] }
  /// Whether a date format can have a time of day.
  var readsTimes: Bool {
    triedFormats.contains { format in
      ["iso8601", "rfc2822"].contains(format) || format.hasPrefix("unix")
        || (format != "iso8601-date" && format.contains(where: "HhKk".contains))
    }
  }
  /// The words of the value table, for messages.
  var knownWords: [String] { words.map { String(decoding: $0.foreign, as: UTF8.self) } }
  /// Whether numbers in strings are taken.
  var takesNumberText: Bool { numbers != nil || isTextual }

  /// Compiles the formats of an attribute.
  ///
  /// - Throws: `FormatFault` for a format that cannot be used.
  init(
    _ map: AttributeMap,
    defaults: ImportMap.Defaults,
    format: ForeignFormat,
    readsEpochText: Bool = true
  ) throws(FormatFault) {
    type = map.type
    isTextual = format == .xml || format == .csv
    scale = map.rules.scale
    coerces = map.format.coerce
    trims = map.format.strings.trim ?? defaults.strings.trim ?? false
    emptyIsNull = map.format.strings.emptyAsNull ?? defaults.strings.emptyAsNull ?? false
    nulls = (map.format.strings.nulls ?? defaults.strings.nulls ?? []).map { Array($0.utf8) }
    declaresZone = (map.format.timeZone ?? defaults.timeZone) != nil
    switch map.type {
    case .timestamp, .date, .time:
      dates = try DateReader(
        formats: map.format.dates ?? defaults.dates ?? [],
        type: map.type,
        timeZone: map.format.timeZone ?? defaults.timeZone,
        readsEpochText: readsEpochText
      )
    default:
      dates = nil
    }
    let ownFormat = map.format.numbers ?? (map.format.takesNumberText ? NumberFormat() : nil)
    let numberFormat = map.type.isNumeric ? ownFormat ?? defaults.numbers : nil
    if let numberFormat {
      numbers = try NumberReader(format: numberFormat)
    } else {
      numbers = nil
    }
    let declared = try BooleanReader(
      trueValues: map.format.trueValues,
      falseValues: map.format.falseValues
    )
    plainBooleans =
      map.format.trueValues.isEmpty && map.format.falseValues.isEmpty ? .plain : declared
    booleans = isTextual ? plainBooleans : declared
    words = map.format.values.map { Word(foreign: Array($0.foreign.utf8), local: .text($0.local)) }
    otherWord = map.format.unknown.map { .text($0) }
  }

  /// Converts the value at a node of the batch's tape.
  func convert(_ index: UInt32, in batch: RecordBatch) -> Conversion {
    let node = batch.nodes[Int(index)]
    switch Int(node.kind) {
    case TAPE_NULL:
      return .null
    case TAPE_STRING:
      if type == .json && !isTextual { return jsonText(index, batch) }
      return text(node.text, node.length, batch, isPlain: node.flags & UInt8(TAPE_NAME) != 0)
    case TAPE_ELEMENT:
      if type == .json { return jsonText(index, batch) }
      if node.length == 0 && hasChildElements(index, batch) { return .invalid(.type) }
      return text(node.text, node.length, batch)
    case TAPE_NUMBER:
      return number(node, batch)
    case TAPE_TRUE, TAPE_FALSE:
      return boolean(node, batch)
    case TAPE_DATE:
      return instant(index, batch)
    case TAPE_DATA where type == .data:
      return .value(.blob(at: node.text, length: node.length))
    default:
      return type == .json ? json(index, batch) : .invalid(.type)
    }
  }

  /// Puts a constant of the map (a default, a word's meaning) into a row.
  static func rowValue(of constant: StoredValue, in batch: RecordBatch) -> RowValue {
    switch constant {
    case .null: return .null
    case .integer(let value): return .integer(value)
    case .real(let value): return .real(value)
    case .text(let text):
      let (start, length) = batch.appendText(text)
      return .text(at: start, length: length)
    case .blob(let bytes):
      let (start, length) = bytes.withUnsafeBytes { batch.append($0) }
      return .blob(at: start, length: length)
    }
  }

  // MARK: - Dates of dictionaries

  /// An instant is a timestamp; on the clock of a declared zone it is a date and a time, too.
  private func instant(_ index: UInt32, _ batch: RecordBatch) -> Conversion {
    let node = batch.nodes[Int(index)]
    switch type {
    case .json: return json(index, batch)
    case .timestamp, .date, .time:
      if node.flags & UInt8(TAPE_OUTSIDE) != 0 { return .invalid(.farDate) }
      if type == .timestamp { return .value(.text(at: node.text, length: node.length)) }
      guard declaresZone else { return .invalid(.zoneless) }
      let civil = CivilTime(stored: batch.bytes(node.text, node.length))
      return write(batch, capacity: DateReader.capacity, fault: .farDate) { output in
        dates?.write(
          secondsSinceEpoch: civil.secondsSinceEpoch,
          microsecond: civil.microsecond,
          into: output
        ) ?? 0
      }
    default: return .invalid(.type)
    }
  }

  // MARK: - Text

  /// Converts a text; where it is `isPlain`, typed attributes take plain notation, as they do in the
  /// formats in which every value is text.
  private func text(
    _ start: UInt32,
    _ length: UInt32,
    _ batch: RecordBatch,
    isPlain: Bool = false
  ) -> Conversion {
    let isPlain = isPlain || isTextual
    guard let (start, length) = cleaned(start, length, batch) else { return .null }
    if length == 0, isPlain, type != .string { return .null }
    if !words.isEmpty || otherWord != nil { return word(start, length, batch) }
    switch type {
    case .string, .enum:
      return .value(.text(at: start, length: length))
    case .int16, .int32, .int64, .double, .float, .decimal:
      return numberText(start, length, batch, isPlain: isPlain)
    case .bool:
      return (isPlain ? plainBooleans : booleans).read(batch.bytes(start, length))
        .map { .value(.integer($0 ? 1 : 0)) } ?? .invalid(.boolean)
    case .timestamp, .date, .time:
      return write(batch, capacity: DateReader.capacity, fault: .date) { output in
        dates?.read(text: batch.bytes(start, length), into: output) ?? 0
      }
    case .duration:
      return write(batch, capacity: CalendarDuration.capacity, fault: .duration) { output in
        CalendarDuration(batch.bytes(start, length))?.write(into: output) ?? 0
      }
    case .uuid:
      return write(batch, capacity: UUIDText.byteCount, fault: .uuid) { output in
        UUIDText.read(batch.bytes(start, length), into: output)
      }
    case .url:
      return URLText.isURL(batch.bytes(start, length))
        ? .value(.text(at: start, length: length)) : .invalid(.url)
    case .data:
      return bytes(start, length, batch)
    case .json:
      return jsonString(start, length, batch)
    }
  }

  /// A text as `strings` leaves it; nil: it is null.
  @inline(__always)
  func cleaned(
    _ start: UInt32,
    _ length: UInt32,
    _ batch: RecordBatch
  ) -> (start: UInt32, length: UInt32)? {
    var start = start
    var length = length
    if trims {
      let whole = batch.bytes(start, length)
      let trimmed = whole.trimmed
      if trimmed.count != whole.count, let base = whole.baseAddress {
        start += UInt32((trimmed.baseAddress ?? base) - base)
        length = UInt32(trimmed.count)
      }
    }
    if length == 0 { return emptyIsNull ? nil : (start, length) }
    if !nulls.isEmpty {
      let bytes = batch.bytes(start, length)
      if nulls.contains(where: { bytes.elementsEqual($0) }) { return nil }
    }
    return (start, length)
  }

  /// Reserves room in the arena and lets `body` write a converted text there; 0 bytes is a fault.
  @inline(__always)
  private func write(
    _ batch: RecordBatch,
    capacity: Int,
    fault: Fault,
    _ body: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Conversion {
    batch.reserveArena(capacity)
    let start = batch.arenaEnd
    let count = body(UnsafeMutableRawBufferPointer(rebasing: batch.arena[start..<start + capacity]))
    guard count > 0 else { return .invalid(fault) }
    batch.arenaEnd += count
    return .value(.text(at: UInt32(start), length: UInt32(count)))
  }

  private func word(_ start: UInt32, _ length: UInt32, _ batch: RecordBatch) -> Conversion {
    let bytes = batch.bytes(start, length)
    let known = words.first { bytes.count == $0.foreign.count && bytes.has($0.foreign, at: 0) }
    guard let local = known?.local ?? otherWord else { return .invalid(.word) }
    return .value(Self.rowValue(of: local, in: batch))
  }

  private func bytes(_ start: UInt32, _ length: UInt32, _ batch: RecordBatch) -> Conversion {
    let capacity = BinaryText.capacity(byteCount: Int(length))
    batch.reserveArena(capacity)
    let place = batch.arenaEnd
    let output = UnsafeMutableRawBufferPointer(rebasing: batch.arena[place..<place + capacity])
    guard let count = BinaryText.read(batch.bytes(start, length), into: output) else {
      return .invalid(.data)
    }
    batch.arenaEnd += count
    return .value(.blob(at: UInt32(place), length: UInt32(count)))
  }

  private func hasChildElements(_ index: UInt32, _ batch: RecordBatch) -> Bool {
    var child = index + 1
    let end = batch.nodes[Int(index)].next
    while child < end {
      let node = batch.nodes[Int(child)]
      if node.flags & UInt8(TAPE_ATTRIBUTE) == 0 { return true }
      child = node.next
    }
    return false
  }

  // MARK: - Numbers and booleans

  private func number(_ node: TapeNode, _ batch: RecordBatch) -> Conversion {
    if node.flags & UInt8(TAPE_OUTSIDE) != 0 { return .invalid(.notFinite) }
    if !words.isEmpty || otherWord != nil { return word(node.text, node.length, batch) }
    switch type {
    case .int16, .int32, .int64, .double, .float, .decimal:
      return plainNumber(node.text, node.length, .json, batch)
    case .timestamp, .date, .time:
      return write(batch, capacity: DateReader.capacity, fault: .date) { output in
        dates?.read(number: batch.bytes(node.text, node.length), into: output) ?? 0
      }
    case .bool:
      // As of an integer, `1.0` is 1.
      let number = PlainNumber(batch.bytes(node.text, node.length), notation: .json)
      guard let value = try? number?.int64(), (0...1).contains(value) else {
        return .invalid(.boolean)
      }
      return .value(.integer(value))
    case .json:
      return .value(.text(at: node.text, length: node.length))
    case .string where coerces, .enum where coerces, .url where coerces:
      return text(node.text, node.length, batch)
    default:
      return .invalid(.type)
    }
  }

  private func boolean(_ node: TapeNode, _ batch: RecordBatch) -> Conversion {
    if !words.isEmpty || otherWord != nil { return word(node.text, node.length, batch) }
    switch type {
    case .bool: return .value(.integer(Int(node.kind) == TAPE_TRUE ? 1 : 0))
    case .json: return .value(.text(at: node.text, length: node.length))
    case .string where coerces, .enum where coerces, .url where coerces:
      return text(node.text, node.length, batch)
    default: return .invalid(.type)
    }
  }

  private func numberText(
    _ start: UInt32,
    _ length: UInt32,
    _ batch: RecordBatch,
    isPlain: Bool
  ) -> Conversion {
    guard let numbers else {
      return isPlain ? plainNumber(start, length, .text, batch) : .invalid(.type)
    }
    let capacity = NumberReader.capacity(byteCount: Int(length))
    batch.reserveArena(capacity)
    let place = batch.arenaEnd
    let output = UnsafeMutableRawBufferPointer(rebasing: batch.arena[place..<place + capacity])
    let count = numbers.plain(batch.bytes(start, length), into: output)
    guard count > 0 else { return .invalid(.notANumber) }
    // The plain notation is only needed until it is converted.
    batch.arenaEnd += count
    let converted = plainNumber(UInt32(place), UInt32(count), .text, batch)
    if type != .decimal { batch.arenaEnd = place }
    return converted
  }

  private func plainNumber(
    _ start: UInt32,
    _ length: UInt32,
    _ notation: PlainNumber.Notation,
    _ batch: RecordBatch
  ) -> Conversion {
    if type == .decimal { return decimal(start, length, notation, batch) }
    guard let number = PlainNumber(batch.bytes(start, length), notation: notation) else {
      return .invalid(.notANumber)
    }
    do throws(NumberFault) {
      switch type {
      case .int16: return integer(try number.int64(), in: Int64(Int16.min)...Int64(Int16.max))
      case .int32: return integer(try number.int64(), in: Int64(Int32.min)...Int64(Int32.max))
      case .float: return .value(.real(Double(try number.float())))
      case .double: return .value(.real(try number.double()))
      default: return .value(.integer(try number.int64()))
      }
    } catch {
      return .invalid(Fault(error))
    }
  }

  private func integer(_ value: Int64, in range: ClosedRange<Int64>) -> Conversion {
    range.contains(value) ? .value(.integer(value)) : .invalid(.outOfRange)
  }

  private func decimal(
    _ start: UInt32,
    _ length: UInt32,
    _ notation: PlainNumber.Notation,
    _ batch: RecordBatch
  ) -> Conversion {
    let capacity = PlainNumber.decimalCapacity(byteCount: Int(length), scale: scale)
    // A thousand zeros for each of a record's millions of numbers would fill all memory.
    guard capacity <= batch.arenaLimit - batch.arenaEnd else { return .invalid(.tooLong) }
    batch.reserveArena(capacity)
    guard let number = PlainNumber(batch.bytes(start, length), notation: notation) else {
      return .invalid(.notANumber)
    }
    let place = batch.arenaEnd
    let output = UnsafeMutableRawBufferPointer(rebasing: batch.arena[place..<place + capacity])
    do throws(NumberFault) {
      let count = try number.decimal(scale: scale, into: output)
      batch.arenaEnd += count
      return .value(.text(at: UInt32(place), length: UInt32(count)))
    } catch {
      return .invalid(Fault(error))
    }
  }
}
