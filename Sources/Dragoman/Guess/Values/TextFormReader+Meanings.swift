import DragomanGraph

/// The values that an import makes of texts, so far as two texts may be one.
extension TextFormReader {
  /// The hashes of what a text means in its forms.
  ///
  /// The first is that of a number with a decimal point or a date with the day in front, the second with a comma
  /// or the month. Where only one of them takes the text, both are that.
  func meanings(of text: UnsafeRawBufferPointer, _ forms: TextForms) -> (UInt64, UInt64) {
    if forms.isNumber { return numberMeanings(of: text, forms) }
    let spelled = HashSet.hash(of: text)
    guard forms.isDate else { return (spelled, spelled) }
    return dateMeanings(of: text, forms)
  }

  private func numberMeanings(
    of text: UnsafeRawBufferPointer,
    _ forms: TextForms
  ) -> (UInt64, UInt64) {
    let places = TextForms.numberFormats.indices.filter { forms.contains(.number($0)) }
    let isPlain = !forms.isDisjoint(with: [.whole, .plainDecimal])
    let point = isPlain ? nil : places.first { TextForms.numberFormats[$0].decimal == "." }
    let comma = places.first { TextForms.numberFormats[$0].decimal == "," }
    let own: UInt64? = isPlain ? hash(ofNumber: text) : point.map { hash(of: text, number: $0) }
    let other = comma.map { hash(of: text, number: $0) }
    let any = own ?? other ?? HashSet.hash(of: text)
    return (own ?? any, other ?? any)
  }

  private func hash(of text: UnsafeRawBufferPointer, number place: Int) -> UInt64 {
    let count = numbers[place].plain(text, into: output)
    return hash(ofNumber: UnsafeRawBufferPointer(rebasing: output[..<count]))
  }

  /// The hash of a number in plain notation without the zeros that mean nothing.
  private func hash(ofNumber text: UnsafeRawBufferPointer) -> UInt64 {
    let sign = text.prefix { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
    var rest = text[sign.endIndex...].drop { $0 == UInt8(ascii: "0") }
    // A percentage has an exponent behind it.
    let end = rest.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? rest.endIndex
    let exponent = rest[end...]
    rest = rest[..<end]
    if rest.contains(UInt8(ascii: ".")) {
      while rest.last == UInt8(ascii: "0") { rest = rest.dropLast() }
      if rest.last == UInt8(ascii: ".") { rest = rest.dropLast() }
    }
    guard !rest.isEmpty else { return Self.zero }
    let isWhole = rest.first.map(ASCII.isDigit) ?? false
    var bytes: [UInt8] = sign.first == UInt8(ascii: "-") ? [UInt8(ascii: "-")] : []
    if !isWhole { bytes.append(UInt8(ascii: "0")) }
    bytes += rest
    bytes += exponent
    return bytes.withUnsafeBytes(HashSet.hash)
  }

  private static let zero = [UInt8(ascii: "0")].withUnsafeBytes(HashSet.hash)

  private func dateMeanings(
    of text: UnsafeRawBufferPointer,
    _ forms: TextForms
  ) -> (UInt64, UInt64) {
    let places = TextForms.dateForms.indices.filter { forms.contains(.date($0)) }
    let day = places.first { !TextForms.dateForms[$0].isMonthFirst }
    let month = places.first { TextForms.dateForms[$0].isMonthFirst }
    let own = day.map { hash(of: text, date: $0) }
    let other = month.map { hash(of: text, date: $0) }
    let any = own ?? other ?? HashSet.hash(of: text)
    return (own ?? any, other ?? any)
  }

  /// The hash of a date or time in the spelling of ISO 8601 that feeds have most often; midnight is the date
  /// alone, which a column of both makes of it.
  private func hash(of text: UnsafeRawBufferPointer, date place: Int) -> UInt64 {
    var count = dates[place].read(text: text, into: output)
    if count > 10, output[10] == UInt8(ascii: " ") {
      if UnsafeRawBufferPointer(rebasing: output[..<count]).ends(with: " 00:00:00") {
        count = 10
      } else {
        output[10] = UInt8(ascii: "T")
        output[count] = UInt8(ascii: "Z")
        count += 1
      }
    }
    return HashSet.hash(of: UnsafeRawBufferPointer(rebasing: output[..<count]))
  }
}
