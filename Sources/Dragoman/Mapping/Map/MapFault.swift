/// One thing that is wrong with a map, or one warning about it.
public struct MapFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable name for the kind of fault.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The name, a heading of docs/errors.md.
    public let rawValue: String

    /// Makes a code; the ones maps use are static members.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The file cannot be read.
    public static let file = Code(rawValue: "map.file")
    /// The file may not be read.
    public static let permission = Code(rawValue: "map.permission")
    /// The text is not UTF-8.
    public static let encoding = Code(rawValue: "map.encoding")
    /// The text is not well-formed YAML or JSON.
    public static let syntax = Code(rawValue: "map.syntax")
    /// A limit on size, depth or alias expansion was reached.
    public static let limit = Code(rawValue: "map.limit")
    /// A mapping has the same key twice.
    public static let duplicateKey = Code(rawValue: "map.duplicate")
    /// A key that the grammar does not have.
    public static let unknownKey = Code(rawValue: "map.key")
    /// A key that the grammar wants is not there.
    public static let missingKey = Code(rawValue: "map.missing")
    /// A list where a word was wanted, and the like.
    public static let shape = Code(rawValue: "map.shape")
    /// A word or number that the key does not admit.
    public static let value = Code(rawValue: "map.value")
    /// The text of a path is no path.
    public static let path = Code(rawValue: "map.path")
    /// A name that is reserved, empty or malformed.
    public static let name = Code(rawValue: "map.name")
    /// Two names that are one to SQLite.
    public static let clash = Code(rawValue: "map.clash")
    /// A name that refers to nothing.
    public static let reference = Code(rawValue: "map.reference")
    /// A unique key that no map feeds.
    public static let unique = Code(rawValue: "map.unique")
    /// A policy that cannot be carried out.
    public static let policy = Code(rawValue: "map.policy")
    /// A default, minimum or maximum that does not fit its type.
    public static let literal = Code(rawValue: "map.literal")
    /// A rule that does not belong to the attribute's type or the source's format.
    public static let misplaced = Code(rawValue: "map.misplaced")
    /// A date format, number format or time zone that does not compile.
    public static let format = Code(rawValue: "map.format")
    /// A regular expression that does not compile or is not bounded.
    public static let pattern = Code(rawValue: "map.pattern")
    /// An output path that leaves the map's folder.
    public static let outputPath = Code(rawValue: "map.output")
    /// Something the grammar has and this version does not carry out.
    public static let unsupported = Code(rawValue: "map.unsupported")

    /// Warning: a key of a source's format has no path.
    public static let unmappedKey = Code(rawValue: "lint.unmapped")
    /// Warning: an inverse that the target does not declare.
    public static let inverse = Code(rawValue: "lint.inverse")
    /// Warning: a pattern letter that is seldom meant.
    public static let patternLetter = Code(rawValue: "lint.letter")
    /// Warning: no time zone is declared.
    public static let zone = Code(rawValue: "lint.zone")
    /// Warning: a prefix is declared and not used.
    public static let prefix = Code(rawValue: "lint.prefix")
    /// Warning: a JSON path on an XML source.
    public static let jsonPath = Code(rawValue: "lint.path")
    /// Warning: a policy `default` over attributes that have none.
    public static let noDefault = Code(rawValue: "lint.default")
    /// Warning: records may take the version of an object away.
    public static let version = Code(rawValue: "lint.version")
    /// Warning: a policy `clear` for a list that is only added to.
    public static let union = Code(rawValue: "lint.union")
  }

  /// The kind of fault.
  public var code: Code
  /// What is wrong, a full sentence.
  public var message: String
  /// Where in the map's structure: `entities.Person.attributes.id.type`; empty is the whole.
  public var place: String
  /// The map's file as the user named it; nil for maps built in code.
  public var file: String?
  /// Where in the file; nil for maps built in code.
  public var position: MapPosition?
  /// The nearest valid word: "did you mean".
  public var suggestion: String?
  /// The rule that is broken, or what to do.
  public var rule: String?

  /// Makes a fault.
  public init(
    _ code: Code,
    _ message: String,
    place: String = "",
    file: String? = nil,
    position: MapPosition? = nil,
    suggestion: String? = nil,
    rule: String? = nil
  ) {
    self.code = code
    self.message = message
    self.place = place
    self.file = file
    self.position = position
    self.suggestion = suggestion
    self.rule = rule
  }

  /// `people.map.yaml:12:7`, as far as it is known.
  public var origin: String {
    guard let position else { return file ?? "map" }
    return "\(file ?? "map"):\(position.line):\(position.column)"
  }

  /// The fault in the shape of the tool's errors, several lines.
  public var description: String { text(label: "error") }

  /// The fault in the shape of the tool's errors, with `error` or `warning` in front.
  public func text(label: String) -> String {
    var text = "\(label)[\(code.rawValue)]: \(origin): \(place.isEmpty ? "" : "\(place): ")"
    text += printable(message)
    if let suggestion { text += "\n      help     did you mean \"\(printable(suggestion))\"?" }
    if let rule { text += "\n      rule     \(rule)" }
    return text
  }
}

/// Every fault of one map, in the order of the file.
public struct MapFaults: Error, Sendable, Hashable, CustomStringConvertible {
  /// How many faults a description spells out.
  public static let maximumPrintedCount = 50

  /// The faults, at least one.
  public let faults: [MapFault]

  /// Sorts the faults by their place; those without one come first.
  public init(_ faults: [MapFault]) {
    self.faults = MapFaults.sorted(faults)
  }

  /// The first 50 faults in the shape of the tool's errors, then a count.
  public var description: String {
    var text = faults.prefix(Self.maximumPrintedCount).map(\.description)
    if faults.count > Self.maximumPrintedCount {
      text.append("… and \(faults.count - Self.maximumPrintedCount) more faults")
    }
    return text.joined(separator: "\n")
  }

  /// The faults by line and column; equal places keep their order.
  static func sorted(_ faults: [MapFault]) -> [MapFault] {
    func key(_ index: Int) -> (Int, Int, Int) {
      let position = faults[index].position
      return (position?.line ?? 0, position?.column ?? 0, index)
    }
    return faults.indices.sorted { key($0) < key($1) }.map { faults[$0] }
  }
}

/// The text without control characters and no longer than a message should be.
func printable(_ text: String) -> String {
  let safe = text.unicodeScalars.prefix(200).map { scalar in
    scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
      ? "\u{FFFD}" : String(scalar)
  }
  return safe.joined() + (text.unicodeScalars.count > 200 ? "…" : "")
}
