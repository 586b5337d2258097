import DragomanGraph

/// Tells in which forms a text can be read, with the readers that an import uses.
final class TextFormReader {
  let numbers: [NumberReader]
  let dates: [DateReader]
  /// The notations that take digits alone: each reads them alike, however many they are.
  private let digitForms: TextForms
  /// The forms that are asked for.
  @exclusivity(unchecked) private var wanted: TextForms = []
  let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 128, alignment: 8)

  /// Longer texts are only URLs.
  private static let maximumLength = 64

  /// - Throws: `FormatFault` where a form of ours cannot be compiled.
  init() throws(FormatFault) {
    var numbers: [NumberReader] = []
    for format in TextForms.numberFormats { numbers.append(try NumberReader(format: format)) }
    self.numbers = numbers
    var dates: [DateReader] = []
    for form in TextForms.dateForms {
      dates.append(try DateReader(formats: [form.format], type: form.type, timeZone: nil))
    }
    self.dates = dates
    let output = self.output
    digitForms = [UInt8(ascii: "1")].withUnsafeBytes { digit in
      numbers.indices.reduce(into: []) {
        if numbers[$1].plain(digit, into: output) > 0 { $0.insert(.number($1)) }
      }
    }
  }

  deinit { output.deallocate() }

  /// Whether a text is one of the words that feeds write where they have no value.
  static func isSentinel(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count <= 19, let first = text.first else { return false }
    switch first {
    case UInt8(ascii: "N"), UInt8(ascii: "n"), UInt8(ascii: "-"), UInt8(ascii: "k"),
      UInt8(ascii: "#"), UInt8(ascii: "?"), UInt8(ascii: "0"):
      break
    default: return false
    }
    return sentinels.contains { $0.count == text.count && text.has($0, at: 0) }
  }

  private static let sentinels = [
    "N/A", "n/a", "NA", "NULL", "null", "Null", "None", "NaN", "nan", "-", "--", "k.A.", "#N/A",
    "?", "0000-00-00", "0000-00-00 00:00:00",
  ].map { Array($0.utf8) }

  /// The forms, of those that are asked for, that take the whole text; empty: none does.
  func forms(of text: UnsafeRawBufferPointer, among wanted: TextForms) -> TextForms {
    self.wanted = wanted
    guard let first = text.first else { return [] }
    if text.count > Self.maximumLength {
      return ASCII.isLetter(first) && text.count < 2000 && URLText.isURL(text) ? .url : []
    }
    if ASCII.isLetter(first) { return letterForms(of: text) }
    guard text.contains(where: ASCII.isDigit) else { return [] }
    var forms = numberForms(of: text, first)
    if ASCII.isDigit(first), text.count >= 5, wanted.isDate { forms.formUnion(dateForms(of: text)) }
    if text.count == UUIDText.byteCount { forms.formUnion(uuid(text)) }
    return forms
  }

  private func letterForms(of text: UnsafeRawBufferPointer) -> TextForms {
    var forms: TextForms = []
    if text.count <= 5 {
      for (place, pair) in Self.words.enumerated()
      where text.elementsEqual(pair.0) || text.elementsEqual(pair.1) {
        forms.insert(.words(place))
      }
    }
    guard forms.isEmpty else { return forms }
    if text.count == UUIDText.byteCount { forms = uuid(text) }
    if text.contains(UInt8(ascii: ":")), text.contains(UInt8(ascii: "/")), URLText.isURL(text) {
      return .url
    }
    guard text.contains(where: ASCII.isDigit) else { return forms }
    if text[0] == UInt8(ascii: "P"), CalendarDuration(text) != nil { forms.insert(.duration) }
    if text.contains(0x20) {
      forms.formUnion(dateForms(of: text))
      // A currency's code may stand before its amount.
      if text.count < 20, ASCII.isUppercase(text[2]) { forms.formUnion(grouped(text)) }
    }
    return forms
  }

  private static let words = TextForms.booleanWords.map {
    (Array($0.true.utf8), Array($0.false.utf8))
  }

  /// Only in small letters: others would come back from the store as such.
  private func uuid(_ text: UnsafeRawBufferPointer) -> TextForms {
    guard !text.contains(where: ASCII.isUppercase), UUIDText.read(text, into: output) > 0 else {
      return []
    }
    return .uuid
  }

  private func dateForms(of text: UnsafeRawBufferPointer) -> TextForms {
    var forms: TextForms = []
    let hasTime = text.contains(UInt8(ascii: ":"))
    for place in dates.indices where wanted.contains(.date(place)) {
      let type = dates[place].type
      guard type == .date ? !hasTime : hasTime else { continue }
      if dates[place].read(text: text, into: output) > 0 { forms.insert(.date(place)) }
    }
    return forms
  }

  private func numberForms(of text: UnsafeRawBufferPointer, _ first: UInt8) -> TextForms {
    let isNegative = first == UInt8(ascii: "-")
    let digits = isNegative ? text.dropping(first: 1) : text
    guard let lead = digits.first else { return [] }
    // What has a zero in front is no number but a code.
    if lead == UInt8(ascii: "0"), digits.count > 1, ASCII.isDigit(digits[1]) { return [] }
    guard ASCII.isDigit(lead) else { return isTelephone(text) ? [] : grouped(text) }
    let whole = digits.prefix { ASCII.isDigit($0) }.count
    if whole == digits.count {
      guard whole <= 18, text.count < 2 || !(isNegative && lead == UInt8(ascii: "0")) else {
        return []
      }
      let others = isNegative ? grouped(text) : digitForms.intersection(wanted)
      return others.union(.whole)
    }
    var forms = grouped(text)
    if digits[whole] == UInt8(ascii: "."), whole + 1 < digits.count,
      digits.dropping(first: whole + 1).allSatisfy(ASCII.isDigit)
    {
      forms.insert(.plainDecimal)
    }
    return forms
  }

  /// Whether there are digits alone behind a plus sign, divided into groups or not: a number loses the sign.
  private func isTelephone(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.first == UInt8(ascii: "+") else { return false }
    let digits = text.dropping(first: 1)
    guard digits.allSatisfy({ ASCII.isDigit($0) || " .,-/".utf8.contains($0) }) else {
      return false
    }
    let groups = digits.split(omittingEmptySubsequences: false) { !ASCII.isDigit($0) }
    return groups.count != 2 || groups[1].count == 3 || groups[1].isEmpty
  }

  private func grouped(_ text: UnsafeRawBufferPointer) -> TextForms {
    // What has an exponent may be a code: 12E4 is no 120000.
    let hasExponent = text.contains { $0 | 0x20 == UInt8(ascii: "e") }
    var forms: TextForms = []
    for place in numbers.indices
    where wanted.contains(.number(place)) && !(hasExponent && numbers[place].style == nil) {
      if numbers[place].plain(text, into: output) > 0 { forms.insert(.number(place)) }
    }
    return forms
  }
}
