import DragomanGraph

/// A map of one entity, compiled for one format: what is left to do for a record is to walk it
/// once and to convert a value a slot.
struct EntityPlan: Sendable {
  /// One attribute that the map feeds.
  struct Slot: Sendable {
    let attribute: Attribute
    let converter: ValueConverter
    /// The closure that runs in place of the converter.
    let code: SlotCode?
    /// The paths, in the order in which they are tried.
    let paths: [Candidate]
    /// Whether some of the paths are not in the tree.
    let hasOwnPaths: Bool
    let isKey: Bool
    let onMissing: ValuePolicy
    let onNull: ValuePolicy
    let onInvalid: ValuePolicy
    /// Whether invalid values that do not refuse the record are left out of the report.
    let isSilent: Bool
    let position: MapPosition?

    /// Whether repeated XML elements make a list: JSON can hold one.
    var takesRepeated: Bool { attribute.type == .json && converter.isTextual }
  }

  /// One path of a slot.
  struct Candidate: Sendable {
    let path: ForeignPath
    /// Whether the walk over the record follows it; else it has wildcards, or starts elsewhere.
    let isInTree: Bool
  }

  /// Which records delete their object: those whose value, spelled as in the source, is this one.
  struct Tombstone: Sendable {
    /// The walker's slot behind those of the attributes.
    let slot: Int
    let equals: [UInt8]
  }

  let name: String
  /// The entity as the map describes it.
  let entity: Entity
  let slots: [Slot]
  let tree: PathTree
  /// The slot of the attribute that tells newer records from older ones.
  let version: Int?
  /// Which records delete their object.
  let tombstone: Tombstone?
  /// Whether some path is the record itself, so that records may be scalars.
  let takesScalars: Bool
  let overwritesExisting: Bool
  /// Whether a record is refused that has a key which no path begins with.
  let rejectsUnknownKeys: Bool
  let position: MapPosition?

  /// Compiles the map of one entity, with the closures that belong to it.
  ///
  /// - Throws: `FormatFault` for a format that cannot be used.
  init(
    _ map: EntityMap,
    entity: Entity,
    in file: ImportMap,
    format: ForeignFormat,
    code: EntityCode = EntityCode()
  ) throws(FormatFault) {
    name = map.name
    self.entity = entity
    position = map.position
    overwritesExisting = map.overwriteExisting ?? true
    rejectsUnknownKeys = code.rejectsUnknownKeys
    var slots: [Slot] = []
    var builder = PathTree.Builder()
    var takesScalars = false
    for attributeMap in map.attributes {
      guard let attribute = entity.attribute(named: attributeMap.name) else { continue }
      let slotCode = code.slotCode(for: attributeMap, attribute)
      if attributeMap.compute != nil && slotCode == nil { continue }
      let paths =
        attributeMap.compute == nil ? Self.paths(of: attributeMap, format: format) : []
      var candidates: [Candidate] = []
      for path in paths {
        let first = candidates.count
        candidates += Self.add(path, to: &builder, slot: slots.count, from: first, format)
        if rejectsUnknownKeys, path.root == .record, let step = path.steps.first {
          builder.addKnown(step)
        }
        if path.root == .record && path.steps.isEmpty { takesScalars = true }
      }
      slots.append(
        Slot(
          attribute: attribute,
          converter: try ValueConverter(
            attributeMap,
            defaults: file.defaults,
            format: format,
            readsEpochText: !code.isBestEffort
          ),
          code: slotCode,
          paths: candidates,
          isKey: entity.identity?.contains(attribute.name) ?? false,
          policies: [attributeMap.policies, map.policies, file.defaults.policies],
          position: attributeMap.position
        )
      )
    }
    self.slots = slots
    self.takesScalars = takesScalars
    version = map.version.flatMap { name in
      slots.firstIndex { $0.attribute.name.utf8.elementsEqual(name.utf8) }
    }
    tombstone = map.deleteWhen.map { rule in
      for (candidate, path) in rule.from.paths(in: format).enumerated() {
        builder.add(path, slot: slots.count, candidate: candidate)
      }
      return Tombstone(slot: slots.count, equals: Array(rule.equals.utf8))
    }
    tree = builder.build()
  }

  /// The paths of an attribute; without `from` its own name is a member, or a child element.
  private static func paths(of map: AttributeMap, format: ForeignFormat) -> [ForeignPath] {
    let own = ForeignPath(steps: [.member(map.name, namespace: nil)], text: map.name)
    return map.from?.paths(in: format) ?? [own]
  }

  /// Adds a path to the tree, or keeps it aside where the walk cannot follow it.
  private static func add(
    _ path: ForeignPath,
    to builder: inout PathTree.Builder,
    slot: Int,
    from candidate: Int,
    _ format: ForeignFormat
  ) -> [Candidate] {
    let tokens = path.steps.count { if case .index = $0 { true } else { false } }
    let isManyWays = path.isPointer && tokens > PathTree.Builder.maximumTokenCount
    guard path.root == .record, !path.hasWildcard, !isManyWays else {
      return [Candidate(path: path, isInTree: false)]
    }
    var candidates: [Candidate] = []
    // A flat record names its members by whole paths: those come first (docs/maps.md).
    if format != .xml, path.steps.count > 1, !path.text.hasPrefix("/") {
      let steps = [ForeignPath.Step.member(path.text, namespace: nil)]
      let flat = ForeignPath(steps: steps, text: path.text)
      builder.add(flat, slot: slot, candidate: candidate)
      candidates.append(Candidate(path: flat, isInTree: true))
    }
    builder.add(path, slot: slot, candidate: candidate + candidates.count)
    return candidates + [Candidate(path: path, isInTree: true)]
  }
}

extension EntityPlan.Slot {
  /// Resolves the policies: the innermost level that says something wins; on one level a policy
  /// wins over the shorthand.
  init(
    attribute: Attribute,
    converter: ValueConverter,
    code: SlotCode?,
    paths: [EntityPlan.Candidate],
    isKey: Bool,
    policies levels: [ValuePolicies],
    position: MapPosition?
  ) {
    self.attribute = attribute
    self.converter = converter
    self.code = code
    self.paths = paths
    hasOwnPaths = paths.contains { !$0.isInTree }
    self.isKey = isKey
    self.position = position
    let shorthand = { (level: ValuePolicies) -> ValuePolicy? in
      level.ignoreNullValueOverwrites.map { $0 ? .keep : .clear }
    }
    onMissing = levels.lazy.compactMap { $0.onMissing ?? shorthand($0) }.first ?? .keep
    onNull = levels.lazy.compactMap { $0.onNull ?? shorthand($0) }.first ?? .clear
    onInvalid = levels.lazy.compactMap(\.onInvalid).first ?? .reject
    let ignores = levels.lazy.compactMap(\.ignoreOptionalNullValues).first ?? false
    isSilent = ignores && !attribute.isRequired
  }
}

extension ForeignPaths {
  /// The paths that hold in a format.
  fileprivate func paths(in format: ForeignFormat) -> [ForeignPath] {
    switch format {
    case .json, .ndjson: json
    case .xml: xml
    case .csv: csv
    }
  }
}
