/// What samples of one format are: their shape, and how they are read.
final class FeedSample {
  let format: ForeignFormat
  /// The root: of JSON the text's value, of XML the document, of lines and rows a list.
  let root = FeedShape()
  /// The name that stands for the samples: of the first of them.
  let name: String
  var byteCount = 0
  var inputCount = 0
  /// What is between the cells of CSV.
  var separator: UInt8?
  /// The encoding, where the text neither is UTF-8 nor says what it is.
  var encoding: String?
  /// Records that could not be parsed.
  var malformedCount = 0
  /// The namespaces of XML, by the numbers of names.
  var namespaces = [""]

  /// The first of a CSV's column names that is written as numbers and dates are; nil where none is.
  var columnOfNoName: String? {
    guard format == .csv else { return nil }
    return root.element?.members.first { column in
      column.name.contains(where: ASCII.isDigit)
        && column.name.allSatisfy { ASCII.isDigit($0) || "+-.,:/ TZ".utf8.contains($0) }
    }?.nameText
  }

  /// Whether it is CSV of one column that is named as prose is.
  var isUndividedText: Bool {
    guard format == .csv, let columns = root.element?.members, columns.count == 1 else {
      return false
    }
    return columns[0].name.contains(0x20)
  }

  init(_ format: ForeignFormat, name: String) {
    self.format = format
    self.name = name
  }
}
