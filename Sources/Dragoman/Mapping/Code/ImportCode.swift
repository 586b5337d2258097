import DragomanGraph

/// What belongs to a map and cannot be written to its file: the closures of one entity.
struct EntityCode: Sendable {
  /// The closures of one attribute.
  struct Part: Sendable {
    let name: String
    let importing: ImportClosure?
    let exporting: ExportClosure?
  }

  /// The attributes that have closures.
  var parts: [Part] = []
  /// The closures that `compute` may name.
  var computes: [String: ComputeClosure] = [:]
  /// Whether a record is refused that has a key which no path begins with.
  var rejectsUnknownKeys = false
  /// Whether formats were not declared but chosen by type: then a string of digits is no date.
  var isBestEffort = false
  /// Runs after each record that was applied.
  var postImport: PostImportHook?
  /// Runs after each object that was exported.
  var postExport: PostExportHook?

  /// The closure that runs in place of an attribute's conversion; nil where there is none.
  func slotCode(for map: AttributeMap, _ attribute: Attribute) -> SlotCode? {
    if let name = map.compute {
      return computes[name].map { SlotCode(.record($0), for: attribute) }
    }
    let part = parts.first { $0.name.utf8.elementsEqual(map.name.utf8) }
    return part?.importing.map { SlotCode(.value($0), for: attribute) }
  }
}

/// What belongs to a map and cannot be written to its file.
struct ImportCode: Sendable {
  /// The model that the store is to have, where it is more than the map describes.
  var model: Model?
  /// The closures by the names of their entities, as bytes.
  var entities: [[UInt8]: EntityCode] = [:]
  /// The closures that `compute` may name, for all entities.
  var computes: [String: ComputeClosure] = [:]

  /// What belongs to an entity.
  func entity(_ name: String) -> EntityCode {
    var code = entities[Array(name.utf8)] ?? EntityCode()
    code.computes = computes
    return code
  }
}

/// Closures that map files name.
///
///     var closures = ClosureRegistry()
///     closures.compute("displayName") { record in
///       .text("\(record["first"]?.string ?? "") \(record["last"]?.string ?? "")")
///     }
///     let importer = Importer(map: map, closures: closures, store: store)
///
/// Names that a map has and no program registered are left out of the import, which says so.
public struct ClosureRegistry: Sendable {
  private(set) var computes: [String: ComputeClosure] = [:]

  /// Makes an empty registry.
  public init() {}

  /// Registers the closure that attributes with `compute: name` get their values from; it replaces
  /// an earlier one of that name.
  public mutating func compute(_ name: String, _ closure: @escaping ComputeClosure) {
    computes[name] = closure
  }

  /// The names that `compute` may use, sorted.
  public var computeNames: [String] { computes.keys.sorted() }
}
