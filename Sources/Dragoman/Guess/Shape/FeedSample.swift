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
  /// Records that could not be parsed, and what was wrong with the first of them.
  var malformedCount = 0
  var firstFault: ReadError?
  /// Rows of CSV that are the names of the columns once more.
  var repeatedHeaderCount = 0
  /// The namespaces of XML, by the numbers of names.
  var namespaces = [""]
  /// The prefixes that it has for them.
  var prefixes = DeclaredPrefixes()

  /// The first fault as it follows a sentence that counts them; empty: there is none.
  var firstFaultText: String {
    guard let firstFault else { return "" }
    let line = firstFault.origin.map { "Line \($0.line): " } ?? ""
    return " \(line)\(firstFault.message)"
  }

  /// Whether it is JSON with a table whose rows are lists, or whose columns are: no path makes records of them.
  var isTable: Bool {
    guard format == .json, root.kinds.objects > 0 else { return false }
    let lists = root.members.filter { list in
      list.kinds.arrays > 0 && list.kinds.arrays == list.kinds.total
        && list.element?.kinds.objects == 0
    }
    let widths = lists.compactMap { $0.element.flatMap { $0.kinds.arrays > 0 ? $0.lengths : nil } }
    if lists.contains(where: { $0.element?.kinds.texts ?? 0 > 0 && widths.contains($0.lengths) }) {
      return true
    }
    let lengths = Set(lists.map(\.lengths))
    return lists.count > 1 && lists.count == root.members.count && lengths.count == 1
      && lengths.first?.lowerBound ?? 0 > 1
  }

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
