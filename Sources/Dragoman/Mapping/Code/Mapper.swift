import DragomanGraph

/// How records become objects of one entity, in code: an ordered list of maps, checked against the
/// model when it is made.
///
///     let mapper = try Mapper(for: "Person", in: model, ignoreNullValueOverwrites: true) {
///       Map("ticket_number", to: "ticketNumber")
///       Map("ss_num", to: "socialSecurityNumber")
///       Map("salary", to: "salary", numbers: NumberFormat(locale: "en_US"))
///       Map("dob", to: "dateOfBirth", dates: ["yyyy-MM-dd"])
///     }
///
/// A mapper compiles to the same plan as a map file. Its policies are not those of map files:
/// missing and null clear the attribute, and an invalid value is treated as null, but counted and
/// reported; with `ignoreNullValueOverwrites` all three leave what is stored.
public struct Mapper: Sendable, Adjustable {
  /// The entity's name.
  public let name: String
  /// The model, in which the entity has the mapper's unique key.
  public let model: Model
  /// The map that the mapper compiles to.
  public let entityMap: EntityMap
  /// The closures, and how unknown keys are treated.
  private(set) var code: EntityCode

  /// The attributes whose values together find the object of a record; empty: every record makes a
  /// new one.
  public var uniqueKey: [String] { entityMap.uniqueKeys.first ?? [] }

  /// Whether records change objects that exist.
  public var overwriteExisting: Bool { entityMap.overwriteExisting ?? true }

  /// Whether a record is rejected that has a key which no map begins with; false by default.
  public var rejectsUnknownKeys: Bool {
    get { code.rejectsUnknownKeys }
    set { code.rejectsUnknownKeys = newValue }
  }

  /// Runs after each record that was applied, with the record and its object; nil, the default: none.
  public var postImport: PostImportHook? {
    get { code.postImport }
    set { code.postImport = newValue }
  }

  /// Runs after each record that was written of an object, nested ones too, with both; nil, the default: none.
  public var postExport: PostExportHook? {
    get { code.postExport }
    set { code.postExport = newValue }
  }

  /// Makes a mapper.
  ///
  /// - Parameters:
  ///   - name: The entity's name.
  ///   - model: The model that has the entity; attributes of its ancestors can be mapped, too.
  ///   - uniqueKey: The attributes whose values together find a record's object; nil is the model's
  ///     key. The model's key cannot be replaced by another; where the model has none, this becomes
  ///     it, and the store gets an index of it.
  ///   - overwriteExisting: false leaves an object that exists untouched.
  ///   - ignoreNullValueOverwrites: true keeps stored values where the record has none, null or an
  ///     invalid one.
  ///   - policies: What wins over it, for all maps that do not say more themselves.
  ///   - maps: The maps, in the order in which values are exported.
  /// - Throws: All faults together: attributes that the entity does not have, with the nearest name;
  ///   attributes mapped twice; a unique key that no map feeds; paths, formats and words that cannot
  ///   be used.
  public init(
    for name: String,
    in model: Model,
    uniqueKey: [String]? = nil,
    overwriteExisting: Bool = true,
    ignoreNullValueOverwrites: Bool = false,
    policies: ValuePolicies = ValuePolicies(),
    @MapBuilder maps: () -> [MapperPart]
  ) throws(MapFaults) {
    let byNull: ValuePolicy = ignoreNullValueOverwrites ? .keep : .clear
    let parts = maps()
    var builder = try MapperBuilder(entity: name, model: model)
    builder.setKey(uniqueKey)
    for part in parts { builder.add(part) }
    builder.map.overwriteExisting = overwriteExisting
    builder.map.policies = ValuePolicies(
      onMissing: policies.onMissing ?? policies.byShorthand ?? byNull,
      onNull: policies.onNull ?? policies.byShorthand ?? byNull,
      onInvalid: policies.onInvalid ?? byNull,
      ignoreOptionalNullValues: policies.ignoreOptionalNullValues
    )
    var code = EntityCode()
    code.parts = parts.compactMap { part in
      guard case .attribute(let map) = part, map.convert != nil || map.export != nil else {
        return nil
      }
      return EntityCode.Part(name: map.local, importing: map.convert, exporting: map.export)
    }
    try self.init(builder, code)
  }

  init(_ builder: MapperBuilder, _ code: EntityCode) throws(MapFaults) {
    entityMap = try builder.checked()
    name = entityMap.name
    model = builder.model
    self.code = code
  }

  private init(name: String, model: Model, entityMap: EntityMap, code: EntityCode) {
    self.name = name
    self.model = model
    self.entityMap = entityMap
    self.code = code
  }

  /// The same maps for a sub-entity, which has all that its ancestor has.
  func applied(to entity: Entity) -> Mapper {
    var map = entityMap
    map.name = entity.name
    map.parent = entity.parent
    map.table = entity.parent == nil ? entity.table : nil
    return Mapper(name: entity.name, model: model, entityMap: map, code: code)
  }
}

// MARK: - Imports

extension Mapper {
  /// The mapper as a map: its entity, the targets of its relationships by their default mappers,
  /// and one JSON source that serves NDJSON and dictionaries as well.
  public var importMap: ImportMap { importMap { _ in nil } }

  /// The mapper as a map, with the mappers of its relationships' targets; nil: their default ones.
  func importMap(_ mapper: (String) -> Mapper?) -> ImportMap {
    ImportMap(
      name: "mapper of \(name)",
      entities: withTargets(mapper).map(\.entityMap),
      sources: [SourceMap(name: name, format: .json, entity: name)]
    )
  }

  /// What the map cannot hold.
  var importCode: ImportCode { importCode { _ in nil } }

  func importCode(_ mapper: (String) -> Mapper?) -> ImportCode {
    var code = ImportCode(model: model)
    for mapper in withTargets(mapper) { code.entities[Array(mapper.name.utf8)] = mapper.code }
    return code
  }

  /// The mapper, and those of everything that its relationships lead to.
  private func withTargets(_ mapper: (String) -> Mapper?) -> [Mapper] {
    var found = [self]
    var next = 0
    while next < found.count {
      for relationship in found[next].entityMap.relationships {
        let target = relationship.entity
        guard !found.contains(where: { $0.name.utf8.elementsEqual(target.utf8) }),
          let entity = model.entity(named: target)
        else { continue }
        found.append(mapper(target) ?? .default(for: entity, in: model))
      }
      next += 1
    }
    return found
  }

  private static func `default`(for entity: Entity, in model: Model) -> Mapper {
    Mapper(
      name: entity.name,
      model: model,
      entityMap: DefaultMaps.map(of: entity, in: model),
      code: DefaultMaps.code
    )
  }
}

// MARK: - The default mapper

extension Mapper {
  /// The mapper of an entity that has none of its own.
  ///
  /// Foreign names equal attribute names. Only the keys that a record has are applied: missing leaves
  /// alone, null clears, and what is invalid is cleared and reported. A key that is no attribute
  /// rejects the record, naming the nearest attribute. Besides the values of JSON are taken:
  ///
  /// - numbers in strings, in plain notation (`"-12.5e3"`): by numeric attributes;
  /// - `iso8601`, `iso8601-date` (midnight) and `rfc2822` in strings, and Unix seconds in numbers:
  ///   by timestamp attributes, in UTC where the text has no zone;
  /// - `iso8601-date` and `iso8601` in strings: by date attributes, the date as written;
  /// - `HH:mm[:ss[.ffffff]]` and `iso8601` in strings: by time attributes.
  ///
  /// Throws that the model does not have the entity, with the nearest name.
  public static func `default`(for name: String, in model: Model) throws(MapFaults) -> Mapper {
    .default(for: try MapperBuilder.find(name, in: model), in: model)
  }
}
