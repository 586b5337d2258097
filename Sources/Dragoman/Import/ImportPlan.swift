import DragomanGraph

/// Which sources of a map an input feeds, compiled for the input's format.
struct ImportPlan: Sendable {
  /// One source that takes part.
  struct Source: Sendable {
    let name: String
    let map: SourceMap
    let entity: EntityPlan
  }

  let sources: [Source]
  /// Whether some path starts at `$root`.
  let usesDocument: Bool
  /// What the tool cannot run: closures that no program registered.
  let notices: [String]

  /// Compiles the sources of a map that take part in reading one format.
  ///
  /// - Parameters:
  ///   - map: The map.
  ///   - format: The format that is read.
  ///   - names: The sources chosen; empty: all of the format.
  ///   - model: The model of the store, which may know more than the map.
  ///   - code: The closures of the map.
  /// - Throws: `MapFaults`, or `ImportError` where the map has no source for the format.
  init(
    _ map: ImportMap,
    format: ForeignFormat,
    names: [String],
    model: Model,
    code: ImportCode = ImportCode()
  ) throws {
    let chosen = try Self.sources(of: map, format: format, names: names)
    var faults: [MapFault] = []
    var plans: [Source] = []
    for source in chosen {
      guard let entityMap = map.entity(named: source.entity),
        let entity = model.entity(named: source.entity)
      else {
        throw ImportError(.request, "The map has no entity \(source.entity).")
      }
      do {
        let plan = try EntityPlan(
          entityMap,
          entity: entity,
          in: map,
          format: format,
          code: code.entity(entityMap.name)
        )
        plans.append(Source(name: source.name, map: source, entity: plan))
      } catch {
        faults.append(
          MapFault(
            .format,
            error.description,
            place: "entities.\(entityMap.name)",
            file: map.file,
            position: entityMap.position
          )
        )
      }
    }
    guard faults.isEmpty else { throw MapFaults(faults) }
    sources = plans
    usesDocument = plans.contains { source in
      source.entity.slots.contains { slot in
        slot.paths.contains { $0.path.root == .document }
      }
    }
    notices = Self.notices(of: chosen.compactMap { map.entity(named: $0.entity) }, code)
  }

  /// The sources of a format; without any, a map of one entity is its own source.
  private static func sources(
    of map: ImportMap,
    format: ForeignFormat,
    names: [String]
  ) throws(ImportError) -> [SourceMap] {
    for name in names where !map.sources.contains(where: { $0.name == name }) {
      let near = nearest(to: name, in: map.sources.map(\.name))
      throw ImportError(
        .request,
        "The map has no source \(name).",
        help: near.map { "did you mean \($0)?" }
          ?? "it has \(map.sources.map(\.name).joined(separator: ", "))"
      )
    }
    let named = map.sources.filter { names.isEmpty || names.contains($0.name) }
    // A line of NDJSON has the paths of a JSON record: a JSON source serves, where it is the only
    // one.
    let formats: [ForeignFormat] = format == .ndjson ? [.ndjson, .json] : [format]
    for format in formats {
      let sources = named.filter { $0.format == format }
      if !sources.isEmpty { return sources }
    }
    if map.sources.isEmpty, map.entities.count == 1, format != .xml {
      return [SourceMap(name: format.rawValue, format: format, entity: map.entities[0].name)]
    }
    throw ImportError(
      .request,
      "The map has no source for \(format.rawValue.uppercased()) input.",
      help: map.sources.isEmpty
        ? "add one under `sources:` that names the format, the entity and where its records stand"
        : "its sources are "
          + map.sources.map { "\($0.name) (\($0.format.rawValue))" }.joined(separator: ", ")
    )
  }

  private static func notices(of entities: [EntityMap], _ code: ImportCode) -> [String] {
    entities.flatMap { entity in
      let hooks = entity.hooks
      let skipped = hooks.beforeRecord + hooks.afterRecord + hooks.afterImport
      let computed = entity.attributes.filter { attribute in
        attribute.compute.map { code.computes[$0] == nil } ?? false
      }.map(\.name)
      return [
        skipped.isEmpty
          ? nil : "\(entity.name): hooks skipped, no program registered them: \(list(skipped))",
        computed.isEmpty
          ? nil : "\(entity.name): computed attributes skipped: \(list(computed))",
      ].compactMap { $0 }
    }
  }

  private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}
