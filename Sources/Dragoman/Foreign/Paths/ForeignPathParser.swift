import DragomanGraph

/// Why the text of a path is not a path, and where in the text.
public struct PathFault: Error, Sendable, Hashable {
  /// What is wrong, a full sentence.
  public var message: String
  /// Where in the path, in Unicode scalars from 0.
  public var offset: Int
  /// The nearest valid word, where there is one.
  public var suggestion: String?
}

/// Parses the path language of docs/maps.md for one format.
///
///     try ForeignPathParser(format: .json).parse("team_ids[*]")
///     try ForeignPathParser(format: .xml, namespaces: ["c": "urn:crm"]).parse("c:name/c:first")
///
/// In JSON, `a.b[0].c[*]` names members and elements, `*` as the last step every member, `.` the
/// record itself; `*[*]` at the end names the elements of all members. A leading `/` makes the text a
/// JSON Pointer (RFC 6901), whose decimal tokens are
/// indexes in arrays and names in objects. In XML, `a/b/@c` and `text()`; `a[@b]`, `a[@b="c"]` and
/// `a[not(@b)]` choose among elements. In CSV the text is the name of the column.
/// In every format `$index`, `$file`, `$file.name`, `$file.stem`, `$line`, `$key` stand alone, and `$root` and `$parent`
/// start a path; a JSON member whose own name starts with `$` is written as a pointer, `/$id`, and
/// in CSV any other text with a `$` is a column.
public struct ForeignPathParser: Sendable {
  /// The most bytes a path may have.
  public static let maximumByteCount = 10_000
  /// The most steps a path may have.
  public static let maximumStepCount = 100

  /// The format whose paths are parsed; NDJSON's are JSON's.
  public var format: ForeignFormat
  /// XML: the declared prefixes and their URIs; the prefix "" is the default for elements.
  public var namespaces: [String: String]
  /// Whether the paths lead to records: from the top of the file (in XML a `/` in front is allowed)
  /// to objects and elements, never through `$` or to attributes and text.
  public var leadsToRecords: Bool

  /// Makes a parser.
  public init(
    format: ForeignFormat,
    namespaces: [String: String] = [:],
    leadsToRecords: Bool = false
  ) {
    self.format = format
    self.namespaces = namespaces
    self.leadsToRecords = leadsToRecords
  }

  /// Parses one path; throws where the text is no path of the format.
  public func parse(_ text: String) throws(PathFault) -> ForeignPath {
    guard text.utf8.count <= Self.maximumByteCount else {
      throw PathFault(
        message: "A path has at most \(Self.maximumByteCount) bytes, this one \(text.utf8.count).",
        offset: 0
      )
    }
    guard !text.isEmpty else {
      throw PathFault(message: "The path is empty; the record itself is \".\".", offset: 0)
    }
    var path = ForeignPath(steps: [], text: text)
    guard text != "." else { return path }
    var cursor = PathCursor(text)
    if cursor.peek == "$", format != .csv || Self.isRoot(text) {
      guard !leadsToRecords else {
        throw PathFault(message: "The way to the records cannot start with \"$\".", offset: 0)
      }
      if try parseRoot(&cursor, into: &path) { return path }
    }
    switch format {
    case .json, .ndjson: path.steps += try JSONPathSteps.parse(&cursor)
    case .xml:
      if cursor.peek == "/" {
        guard leadsToRecords else {
          throw PathFault(
            message: "An XML path starts at the record's element, without a \"/\".",
            offset: 0
          )
        }
        _ = cursor.next()
      }
      path.steps += try XMLPathSteps(namespaces: namespaces).parse(&cursor)
      if leadsToRecords { try refuseValues(path.steps) }
    case .csv: path.steps = [.member(cursor.rest(), namespace: nil)]
    }
    guard path.steps.count <= Self.maximumStepCount else {
      throw PathFault(
        message:
          "A path has at most \(Self.maximumStepCount) steps, this one \(path.steps.count).",
        offset: 0
      )
    }
    return path
  }

  /// Whether a path of XML names something by a prefix; by "": an element without one.
  func uses(_ prefix: String, in text: String) -> Bool {
    guard prefix.isEmpty || text.contains("\(prefix):") else { return false }
    var other = self
    // No document has this namespace.
    other.namespaces[prefix] = "\0"
    do throws(PathFault) {
      return try parse(text).steps != other.parse(text).steps
    } catch {
      return false
    }
  }

  /// Whether a text starts with one of the `$` words, alone or before a step; any other text is the
  /// name of a column, and so is `$key`: a row has none.
  private static func isRoot(_ text: String) -> Bool {
    if text.hasPrefix("$key") { return false }
    if roots.contains(where: { $0.name == text }) { return true }
    let word = text.prefix { $0 != "." && $0 != "/" }
    return roots.contains { $0.name == word }
  }

  private static let roots: [(name: String, root: ForeignPath.Root, takesSteps: Bool)] = [
    ("$index", .index, false), ("$file", .file, false), ("$line", .line, false),
    ("$file.name", .fileName, false), ("$file.stem", .fileStem, false),
    ("$key", .key, false), ("$root", .document, true), ("$parent", .parent, true),
  ]

  private func refuseValues(_ steps: [ForeignPath.Step]) throws(PathFault) {
    switch steps.last {
    case .attribute, .text:
      throw PathFault(message: "Records are elements, not attributes or text.", offset: 0)
    default: break
    }
    for case .having in steps {
      throw PathFault(message: "The way to the records cannot choose by attributes.", offset: 0)
    }
  }

  /// Reads `$word`; true when the path is complete with it.
  private func parseRoot(
    _ cursor: inout PathCursor,
    into path: inout ForeignPath
  ) throws(PathFault) -> Bool {
    let roots = Self.roots
    let start = cursor.offset
    let word = cursor.take { !"./[@".unicodeScalars.contains($0) }
    guard let root = roots.first(where: { $0.name == word }) else {
      throw PathFault(
        message: "\"\(word)\" is none of \(roots.map(\.name).joined(separator: ", ")).",
        offset: start,
        suggestion: nearest(to: word, in: roots.map(\.name))
          ?? (format == .xml ? nil : "/\(word)")
      )
    }
    path.root = root.root
    if root.root == .file, cursor.peek == "." {
      let name = word + cursor.rest()
      guard let part = roots.first(where: { $0.name == name }) else {
        throw PathFault(
          message: "A file has $file.name and $file.stem, and no \(name).",
          offset: start,
          suggestion: nearest(to: name, in: ["$file.name", "$file.stem"])
        )
      }
      path.root = part.root
      return true
    }
    guard root.takesSteps else {
      guard cursor.peek == nil else {
        throw PathFault(message: "Nothing can follow \(word).", offset: cursor.offset)
      }
      return true
    }
    guard let separator = cursor.next(), separator == "." || separator == "/",
      cursor.peek != nil, format != .csv
    else {
      throw PathFault(
        message: format == .csv
          ? "A row of CSV has no \(word)." : "\(word) wants a member: \(word).name.",
        offset: cursor.offset
      )
    }
    return false
  }
}
