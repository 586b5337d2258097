import DragomanGraph

/// A type that declares its own mapper.
///
///     struct Person: Mappable {
///       static var maps: [MapperPart] {
///         Map("ticket_number", to: "ticketNumber")
///         Map("dob", to: "dateOfBirth", dates: ["yyyy-MM-dd"])
///       }
///       static var ignoreNullValueOverwrites: Bool { true }
///     }
///     try registry.register(Person.self)
///
/// Everything but the maps has the default that `Mapper` has.
public protocol Mappable {
  /// The entity's name; the type's name by default.
  static var entityName: String { get }
  /// The attributes that find a record's object; nil, the default, is the model's key.
  static var uniqueKey: [String]? { get }
  /// The maps, one a line.
  @MapBuilder static var maps: [MapperPart] { get }
  /// Whether records change objects that exist; true by default.
  static var overwriteExisting: Bool { get }
  /// Whether stored values stay where a record has none; false by default.
  static var ignoreNullValueOverwrites: Bool { get }
  /// Whether invalid values of optional attributes are left out of the report; false by default.
  static var ignoreOptionalNullValues: Bool { get }
  /// Runs after each record that was applied; nil, the default: none.
  static var postImport: PostImportHook? { get }
  /// Runs after each object that was exported; nil, the default: none.
  static var postExport: PostExportHook? { get }
}

extension Mappable {
  /// The type's name.
  public static var entityName: String { String(describing: Self.self) }
  /// The model's key.
  public static var uniqueKey: [String]? { nil }
  /// True.
  public static var overwriteExisting: Bool { true }
  /// False.
  public static var ignoreNullValueOverwrites: Bool { false }
  /// False.
  public static var ignoreOptionalNullValues: Bool { false }
  /// None.
  public static var postImport: PostImportHook? { nil }
  /// None.
  public static var postExport: PostExportHook? { nil }
}

extension Mapper {
  /// Makes the mapper that a type declares.
  ///
  /// - Throws: All faults together, as `init(for:in:…)` does.
  public init<Type: Mappable>(_ type: Type.Type, in model: Model) throws(MapFaults) {
    try self.init(
      for: type.entityName,
      in: model,
      uniqueKey: type.uniqueKey,
      overwriteExisting: type.overwriteExisting,
      ignoreNullValueOverwrites: type.ignoreNullValueOverwrites,
      policies: ValuePolicies(ignoreOptionalNullValues: type.ignoreOptionalNullValues)
    ) {
      type.maps
    }
    postImport = type.postImport
    postExport = type.postExport
  }
}
