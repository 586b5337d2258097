import DragomanGraph

/// Which sources of a map an input feeds, compiled for the input's format.
struct ImportPlan: Sendable {
  /// One source that takes part.
  struct Source: Sendable {
    let name: String
    let map: SourceMap
    /// The plan of its records: an index of `entities`.
    let plan: Int
    let entity: EntityPlan
  }

  /// The format that is read.
  let format: ForeignFormat
  let sources: [Source]
  /// The plans of all entities that records may become, nested ones and sub-entities included.
  let entities: [EntityPlan]
  /// The layout of the store's model.
  let model: ModelLayout
  /// What `$root` paths ask for.
  let documentMembers: DocumentMembers
  /// The same, as deep as a rejects file keeps it.
  let documentParts: DocumentParts
  /// The relationships, by their numbers in the model, whose targets records name by another key than the first one.
  let relationshipsByOtherKeys: Set<Int>
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
    let layout = ModelLayout(model)
    let compiler = PlanCompiler(
      map.markingSensitive(by: layout),
      format: format,
      model: layout,
      code: code
    )
    var plans: [(source: SourceMap, plan: Int)] = []
    for source in chosen {
      guard let plan = compiler.plan(of: source.entity) else {
        throw ImportError(.request, "The map has no entity \(source.entity).")
      }
      plans.append((source, plan))
    }
    let entities = try compiler.compile()
    self.entities = entities
    self.format = format
    self.model = compiler.model
    sources = plans.map {
      Source(name: $0.source.name, map: $0.source, plan: $0.plan, entity: entities[$0.plan])
    }
    documentMembers = DocumentMembers(of: entities.flatMap(\.paths))
    documentParts = DocumentParts(of: entities.flatMap(\.paths))
    relationshipsByOtherKeys = Set(
      entities.flatMap(\.links).filter { $0.namesByOtherKey(in: compiler.model) }.map(\.layout.id)
    )
    notices = Self.notices(of: entities.compactMap { map.entity(named: $0.name) }, code)
  }

  /// The sources of a format; without any, a map of one entity is its own source.
  private static func sources(
    of map: ImportMap,
    format: ForeignFormat,
    names: [String]
  ) throws(ImportError) -> [SourceMap] {
    let named = try names.isEmpty ? map.sources : map.sources(named: names)
    // A line of NDJSON has the paths of a JSON record: a JSON source serves (`InputSources`).
    let formats: [ForeignFormat] = format == .ndjson ? [.ndjson, .json] : [format]
    let sources = named.filter { formats.contains($0.format) }
    if !sources.isEmpty { return sources }
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

/// Compiles the entities of a map as they are asked for: those of sources, of nested records, and
/// sub-entities.
private final class PlanCompiler {
  private let map: ImportMap
  private let format: ForeignFormat
  let model: ModelLayout
  private let code: ImportCode
  private var names: [String] = []

  init(_ map: ImportMap, format: ForeignFormat, model: ModelLayout, code: ImportCode) {
    self.code = code
    self.map = map
    self.format = format
    self.model = model
  }

  /// The index of an entity's plan; nil where the map or the model has no such entity.
  func plan(of name: String) -> Int? {
    if let known = names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) { return known }
    guard map.entity(named: name) != nil, model.entity(named: name) != nil else { return nil }
    names.append(name)
    return names.count - 1
  }

  /// Compiles everything that was asked for, and what that asks for.
  func compile() throws(MapFaults) -> [EntityPlan] {
    let spellings = NameSpellings(map, format: format)
    var plans: [EntityPlan] = []
    var faults: [MapFault] = []
    var done = 0
    while done < names.count {
      defer { done += 1 }
      guard let entity = map.entity(named: names[done]),
        let layout = model.entity(named: names[done])
      else { continue }
      do throws(FormatFault) {
        let plan = try EntityPlan(
          entity,
          layout: layout,
          of: model,
          in: spellings,
          code: code.entity(entity.name),
          planOf: plan(of:)
        )
        plans.append(plan)
      } catch {
        faults.append(
          MapFault(
            .format,
            error.description,
            place: "entities.\(entity.name)",
            file: map.file,
            position: entity.position
          )
        )
      }
    }
    guard faults.isEmpty else { throw MapFaults(faults) }
    return plans
  }
}

extension ImportMap {
  /// The sources of these names, in the map's order; throws that there is none of a name.
  func sources(named names: [String]) throws(ImportError) -> [SourceMap] {
    for name in names where !sources.contains(where: { hasSameBytes($0.name, name) }) {
      let near = nearest(to: name, in: sources.map(\.name))
      throw ImportError(
        .request,
        "The map has no source \(name).",
        help: near.map { "did you mean \($0)?" }
          ?? "it has \(sources.map(\.name).joined(separator: ", "))"
      )
    }
    return sources.filter { source in names.contains { hasSameBytes($0, source.name) } }
  }
}
