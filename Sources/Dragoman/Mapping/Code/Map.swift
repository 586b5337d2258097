import DragomanGraph

/// Joins one place in a foreign record to one attribute, in code: one line of a `Mapper`.
///
///     Map("ticket_number", to: "ticketNumber")
///     Map("salary", to: "salary", numbers: NumberFormat(locale: "en_US"))
///     Map("dob", to: "dateOfBirth", dates: ["dd.MM.yyyy"])
///     Map("address.city", to: "city")
///     Map("name", to: "name") { value in .text((value.string ?? "").uppercased()) }
///
/// The options mean what the keys of the same names mean in a map file (docs/maps.md). The types
/// come from the model.
public struct Map: Sendable {
  /// Where the value stands, as written: the first path that is present wins.
  public var foreign: [String]
  /// The attribute's name.
  public var local: String
  /// The date formats, tried in order; nil is the type's own.
  public var dates: [String]?
  /// The zone of dates and times that carry none, an IANA name; nil is UTC.
  public var timeZone: String?
  /// How numbers are written in strings; nil: strings are no numbers.
  public var numbers: NumberFormat?
  /// How strings are cleaned.
  public var strings: StringFormat
  /// A table of foreign words to local raw values.
  public var values: [AttributeMap.ValuePair]
  /// The local raw value of words that `values` does not have; nil: they are invalid.
  public var unknown: String?
  /// Words that mean true.
  public var trueValues: [String]
  /// Words that mean false.
  public var falseValues: [String]
  /// Whether numbers and booleans are taken by a string attribute, spelled as in the source.
  public var coerce: Bool
  /// Whether the attribute is exported.
  public var isExported: Bool
  /// What happens to missing, null and invalid values, where it is not the mapper's.
  public var policies: ValuePolicies
  /// Runs in place of the conversion by type.
  public var convert: ImportClosure?
  /// Runs in place of the conversion by type when the attribute is exported.
  public var export: ExportClosure?

  /// Makes a map of one path, in the language of docs/maps.md.
  ///
  /// See the properties for what the options mean. `convert` gives the stored value of a foreign
  /// value that is neither missing nor null, and what it throws makes the value invalid; `export`
  /// gives the value of an output record.
  public init(
    _ foreign: String,
    to local: String,
    dates: [String]? = nil,
    timeZone: String? = nil,
    numbers: NumberFormat? = nil,
    strings: StringFormat = StringFormat(),
    values: KeyValuePairs<String, String> = [:],
    unknown: String? = nil,
    trueValues: [String] = [],
    falseValues: [String] = [],
    coerce: Bool = false,
    isExported: Bool = true,
    policies: ValuePolicies = ValuePolicies(),
    convert: ImportClosure? = nil,
    export: ExportClosure? = nil
  ) {
    self.foreign = [foreign]
    self.local = local
    self.dates = dates
    self.timeZone = timeZone
    self.numbers = numbers
    self.strings = strings
    self.values = values.map { AttributeMap.ValuePair(foreign: $0.key, local: $0.value) }
    self.unknown = unknown
    self.trueValues = trueValues
    self.falseValues = falseValues
    self.coerce = coerce
    self.isExported = isExported
    self.policies = policies
    self.convert = convert
    self.export = export
  }

  /// The same map with further paths, which are tried where the earlier ones are missing.
  public func or(_ paths: String...) -> Map {
    var map = self
    map.foreign += paths
    return map
  }
}

/// One line of a mapper.
public enum MapperPart: Sendable {
  /// An attribute.
  case attribute(Map)
  /// A relationship: nested records, or keys of the targets.
  case relationship(RelationshipMap)
}

/// Collects the lines of a mapper, in their order.
@resultBuilder
public enum MapBuilder {
  /// Takes an attribute's map.
  public static func buildExpression(_ map: Map) -> [MapperPart] { [.attribute(map)] }
  /// Takes a relationship's map.
  public static func buildExpression(_ map: RelationshipMap) -> [MapperPart] {
    [.relationship(map)]
  }
  /// Takes lines that were collected elsewhere.
  public static func buildExpression(_ parts: [MapperPart]) -> [MapperPart] { parts }
  /// Takes maps that were made elsewhere.
  public static func buildExpression(_ maps: [Map]) -> [MapperPart] { maps.map { .attribute($0) } }
  /// Joins lines.
  public static func buildBlock(_ parts: [MapperPart]...) -> [MapperPart] { parts.flatMap { $0 } }
  /// Takes the lines of an `if` without `else`.
  public static func buildOptional(_ parts: [MapperPart]?) -> [MapperPart] { parts ?? [] }
  /// Takes the lines of an `if`.
  public static func buildEither(first parts: [MapperPart]) -> [MapperPart] { parts }
  /// Takes the lines of an `else`.
  public static func buildEither(second parts: [MapperPart]) -> [MapperPart] { parts }
  /// Takes the lines of a loop.
  public static func buildArray(_ parts: [[MapperPart]]) -> [MapperPart] { parts.flatMap { $0 } }
}
