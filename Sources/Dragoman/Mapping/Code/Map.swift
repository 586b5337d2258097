import DragomanGraph

/// Joins one place in a foreign record to one attribute, in code: one line of a `Mapper`.
///
///     Map("ticket_number", to: "ticketNumber")
///     Map("salary", to: "salary", numbers: NumberFormat(locale: "en_US"))
///     Map("dob", to: "dateOfBirth", dates: ["dd.MM.yyyy"])
///     Map("address.city", to: "city")
///     Map("name", to: "name") { value in .text((value.string ?? "").uppercased()) }
///     Map("sex", to: "gender", format: ValueFormat(values: ["m": "male", "f": "female"]))
///
/// The options mean what the keys of the same names mean in a map file (docs/maps.md). The types
/// come from the model.
public struct Map: Sendable, Adjustable {
  /// Where the value stands, as written: the first path that is present wins.
  public var foreign: [String]
  /// The attribute's name.
  public var local: String
  /// How values are written: dates without formats as the type says, without `numbers` strings are no
  /// numbers.
  public var format: ValueFormat
  /// Whether the attribute is exported; true by default.
  public var isExported = true
  /// What happens to missing, null and invalid values, where it is not the mapper's.
  public var policies = ValuePolicies()
  /// Runs in place of the conversion by type.
  public var convert: ImportClosure?
  /// Runs in place of the conversion by type when the attribute is exported.
  public var export: ExportClosure?

  /// Makes a map of one path, in the language of docs/maps.md.
  ///
  /// - Parameters:
  ///   - foreign: The path.
  ///   - local: The attribute's name.
  ///   - dates: The date formats, in place of those of `format`.
  ///   - numbers: How numbers are written in strings, in place of what `format` says.
  ///   - format: How values are written.
  ///   - convert: Gives the stored value of a foreign value that is neither missing nor null; what it
  ///     throws makes the value invalid.
  ///   - export: Gives the value of an output record of a stored value that is not null.
  public init(
    _ foreign: String,
    to local: String,
    dates: [String]? = nil,
    numbers: NumberFormat? = nil,
    format: ValueFormat = ValueFormat(),
    convert: ImportClosure? = nil,
    export: ExportClosure? = nil
  ) {
    self.foreign = [foreign]
    self.local = local
    self.format = format
    self.format.dates = dates ?? format.dates
    self.format.numbers = numbers ?? format.numbers
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
