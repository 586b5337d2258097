import DragomanGraph

/// A map of one entity, compiled for one format: what is left to do for a record is to walk it
/// once and to convert a value a slot.
///
/// A class, and its slots too, since every record passes several of them: a copy of such a large
/// value counts dozens of references up and down.
///
/// Large because each word of an entity's map is a property, compiled.
final class EntityPlan: Sendable {
  /// One attribute that the map feeds.
  final class Slot: Sendable {
    let attribute: Attribute
    let converter: ValueConverter
    /// The closure that runs in place of the converter.
    let code: SlotCode?
    /// The paths, in the order in which they are tried.
    let paths: [Candidate]
    /// Whether some of the paths are not in the tree.
    let hasOwnPaths: Bool
    let isKey: Bool
    let policies: ResolvedPolicies
    let position: MapPosition?

    init(
      attribute: Attribute,
      converter: ValueConverter,
      code: SlotCode? = nil,
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
      var policies = ResolvedPolicies(levels)
      if attribute.defaultValue == nil {
        // A default that there is not is null, which a required attribute refuses as it does `clear`.
        if policies.onMissing == .default { policies.onMissing = .clear }
        if policies.onNull == .default { policies.onNull = .clear }
        if policies.onInvalid == .default { policies.onInvalid = .clear }
      }
      if attribute.isRequired { policies.isSilent = false }
      self.policies = policies
    }

    /// Whether repeated XML elements make a list: JSON can hold one.
    var takesRepeated: Bool { attribute.type == .json && converter.isTextual }
  }

  /// One path of a slot.
  struct Candidate: Sendable {
    let path: ForeignPath
    /// Whether the walk over the record follows it; else it has wildcards, or starts elsewhere.
    let isInTree: Bool
  }

  /// A value of the record that decides what becomes of it.
  struct Criterion: Sendable {
    /// The walker's slot behind those of the attributes.
    let slot: Int
    /// The paths, in the order in which they are tried.
    let paths: [Candidate]
    /// Whether some of the paths are not in the tree.
    let hasOwnPaths: Bool
    /// Whether a sensitive attribute stands there.
    let isSensitive: Bool
    /// Whether records may lack it.
    let leadsToMembers: Bool

    init(slot: Int, paths: [Candidate], isSensitive: Bool) {
      self.slot = slot
      self.paths = paths
      self.isSensitive = isSensitive
      leadsToMembers = paths.allSatisfy(\.path.leadsToMembers)
      hasOwnPaths = paths.contains { !$0.isInTree }
    }
  }

  /// Which records delete their object: those whose value, spelled as in the source, is this one.
  struct Tombstone: Sendable {
    let criterion: Criterion
    let equals: [UInt8]
  }

  /// Which records become sub-entities: by the value, spelled as in the source.
  struct Discriminator: Sendable {
    let criterion: Criterion
    /// The plans by the words: indexes of `ImportPlan.entities`.
    let plans: [(word: [UInt8], plan: Int)]
  }

  let name: String
  /// The entity with all that it inherits, as the store knows it.
  let layout: EntityLayout
  let slots: [Slot]
  /// The relationships that the map feeds.
  let links: [LinkPlan]
  let discriminator: Discriminator?
  /// How many slots the walk over a record needs.
  let walkerSlotCount: Int
  let tree: PathTree
  /// All paths, of whatever is read by them.
  let paths: [ForeignPath]
  /// How its paths spell names.
  let spelling: NameSpelling
  /// The slot of the attribute that tells newer records from older ones.
  let version: Int?
  /// Which records delete their object.
  let tombstone: Tombstone?
  /// What of a tombstone is read: by slot, the key and the version; and the to-ones that are a part of
  /// the key.
  let tombstoneSlots: [Bool]
  let tombstoneLinks: [Int]
  /// Whether some path is the record itself, so that a record may be of any kind.
  let takesWhole: Bool
  /// Whether some path begins with an element, so that a record may be an array.
  let takesArrays: Bool
  /// What the paths in a record are for; empty where unknown keys are refused, so that no path can be
  /// wrong without a word.
  let pathUses: [PathUse]
  let overwritesExisting: Bool
  /// Whether a record is refused that has a key which no path begins with.
  let rejectsUnknownKeys: Bool
  let position: MapPosition?

  /// Compiles the map of one entity, with the closures that belong to it.
  ///
  /// - Parameters:
  ///   - map: The entity's map.
  ///   - layout: The entity in the layout of the store's model.
  ///   - model: That layout.
  ///   - spellings: The whole map, and the format that is read.
  ///   - code: The closures, and how unknown keys are treated.
  ///   - planOf: The plan of another entity, by its name: an index of `ImportPlan.entities`.
  /// - Throws: `FormatFault` for a format that cannot be used.
  init(
    _ map: EntityMap,
    layout: EntityLayout,
    of model: ModelLayout,
    in spellings: NameSpellings,
    code: EntityCode = EntityCode(),
    planOf: @escaping (String) -> Int?
  ) throws(FormatFault) {
    let (file, format) = (spellings.map, spellings.format)
    name = map.name
    self.layout = layout
    position = map.position
    overwritesExisting = map.overwriteExisting ?? true
    rejectsUnknownKeys = code.rejectsUnknownKeys
    let lineage = file.lineage(of: map)
    let keys = layout.uniqueKeys.first?.map(\.name) ?? []
    let spelling = spellings.names(of: map)
    self.spelling = spelling
    let compiler = LinkCompiler(
      file: file,
      format: format,
      layout: model,
      spelling: spelling,
      planOf: planOf
    )
    var builder = PathTree.Builder()
    let slots = try Self.slots(of: lineage, layout, compiler, code, &builder)
    self.slots = slots
    let recordPaths = slots.flatMap(\.paths).map(\.path).filter { $0.root == .record }
    takesWhole = recordPaths.contains(where: \.steps.isEmpty)
    takesArrays = takesWhole || recordPaths.contains { $0.steps.first?.isForArrays == true }
    version = lineage.lazy.compactMap(\.version).first.flatMap { name in
      slots.firstIndex { $0.attribute.name.utf8.elementsEqual(name.utf8) }
    }
    var next = slots.count + 1
    tombstone = lineage.lazy.compactMap(\.deleteWhen).first.map { rule in
      Tombstone(
        criterion: Self.criterion(rule.from, of: map, in: file, &builder, slots.count, format),
        equals: Array(rule.equals.utf8)
      )
    }
    let links = try compiler.compile(
      lineage,
      of: layout,
      slots: slots,
      builder: &builder,
      next: &next
    )
    self.links = links
    tombstoneLinks = links.indices.filter { index in
      keys.contains { $0.utf8.elementsEqual(links[index].name.utf8) }
    }
    let parts = tombstoneLinks.flatMap { links[$0].ownSlots }
    let versions = version.map { [$0] } ?? []
    tombstoneSlots = slots.indices.map { slots[$0].isKey || (versions + parts).contains($0) }
    discriminator = map.discriminator.map { rule in
      let plans = rule.values.sorted { $0.key < $1.key }.compactMap { word, name in
        planOf(name).map { (Array(word.utf8), $0) }
      }
      return Discriminator(
        criterion: Self.criterion(rule.from, of: map, in: file, &builder, next, format),
        plans: plans
      )
    }
    walkerSlotCount = next + 1
    var candidates = slots.flatMap(\.paths)
    candidates += links.flatMap(\.findings).flatMap(\.paths)
    candidates += tombstone?.criterion.paths ?? []
    candidates += discriminator?.criterion.paths ?? []
    paths = candidates.map(\.path)
    if rejectsUnknownKeys {
      for path in paths where path.root == .record {
        if let step = path.steps.first { builder.addKnown(step) }
      }
    }
    tree = builder.build()
    pathUses =
      rejectsUnknownKeys
      ? [] : Self.pathUses(slots, links, tombstone, discriminator, lineage)
  }

  /// Compiles the attributes of an entity and of those that it inherits from, theirs first.
  private static func slots(
    of lineage: [EntityMap],
    _ layout: EntityLayout,
    _ compiler: LinkCompiler,
    _ code: EntityCode,
    _ builder: inout PathTree.Builder
  ) throws(FormatFault) -> [Slot] {
    let (file, format) = (compiler.file, compiler.format)
    let keys = layout.uniqueKeys.first?.map(\.name) ?? []
    var slots: [Slot] = []
    for (depth, owner) in lineage.enumerated().reversed() {
      // The sub-entity's own word first, then that of the entity that has the attribute.
      let levels = lineage[...depth].map(\.policies)
      for map in owner.attributes {
        guard let place = layout.attributeSlot(named: map.name) else { continue }
        let attribute = layout.attributes[place]
        let slotCode = code.slotCode(for: map, attribute)
        if map.compute != nil && slotCode == nil { continue }
        var candidates: [Candidate] = []
        let own = [compiler.spelling.path(ofElement: map.name)]
        for path in map.compute == nil ? map.from?.paths(in: format) ?? own : [] {
          candidates += add(path, to: &builder, slot: slots.count, from: candidates.count, format)
        }
        slots.append(
          Slot(
            attribute: attribute,
            converter: try ValueConverter(
              map,
              defaults: file.defaults,
              format: format,
              readsEpochText: !code.isBestEffort
            ),
            code: slotCode,
            paths: candidates,
            isKey: keys.contains { $0.utf8.elementsEqual(attribute.name.utf8) },
            policies: [map.policies] + levels + [file.defaults.policies],
            position: map.position
          )
        )
      }
    }
    return slots
  }

  /// Whether all that an object has comes from members of its record, and nothing of it is a key.
  var hasOnlyPaths: Bool {
    layout.uniqueKeys.isEmpty && !layout.attributes.contains { $0.defaultValue != nil }
      && slots.indices.allSatisfy { slot in pathUses.contains { $0.slot == slot } }
  }

  private static func criterion(
    _ from: ForeignPaths,
    of entity: EntityMap,
    in file: ImportMap,
    _ builder: inout PathTree.Builder,
    _ slot: Int,
    _ format: ForeignFormat
  ) -> Criterion {
    var candidates: [Candidate] = []
    for path in from.paths(in: format) {
      candidates += add(path, to: &builder, slot: slot, from: candidates.count, format)
    }
    let isSensitive = file.hidesPlace(of: from, in: entity)
    return Criterion(slot: slot, paths: candidates, isSensitive: isSensitive)
  }

  /// The slots of the identity, in its order, where more than the identity is required of an
  /// object: a nested record that gives no more can only be a reference.
  var bareKey: [Int] {
    guard let identity = layout.uniqueKeys.first else { return [] }
    let names = Set(identity.map(\.name))
    let needsMore = layout.attributes.contains {
      $0.isRequired && $0.defaultValue == nil && !names.contains($0.name)
    }
    let found = identity.compactMap { part in
      slots.firstIndex { $0.attribute.name.utf8.elementsEqual(part.name.utf8) }
    }
    return needsMore && found.count == identity.count ? found : []
  }

  /// Adds a path to the tree, or keeps it aside where the walk cannot follow it.
  static func add(
    _ path: ForeignPath,
    to builder: inout PathTree.Builder,
    slot: Int,
    from candidate: Int,
    _ format: ForeignFormat
  ) -> [Candidate] {
    guard PathTree.Builder.takes(path) else { return [Candidate(path: path, isInTree: false)] }
    var candidates: [Candidate] = []
    // A flat record names its members by whole paths: those come first (docs/maps.md).
    if format != .xml, path.steps.count > 1, !path.text.hasPrefix("/") {
      let steps = [ForeignPath.Step.member(path.text, namespace: nil)]
      let flat = ForeignPath(steps: steps, text: path.text)
      candidates.append(
        Candidate(path: flat, isInTree: builder.add(flat, slot: slot, candidate: candidate))
      )
    }
    let place = candidate + candidates.count
    let isInTree = builder.add(path, slot: slot, candidate: place)
    return candidates + [Candidate(path: path, isInTree: isInTree)]
  }
}

extension ForeignPaths {
  /// The paths that hold in a format.
  func paths(in format: ForeignFormat) -> [ForeignPath] {
    switch format {
    case .json, .ndjson: json
    case .xml: xml
    case .csv: csv
    }
  }
}
