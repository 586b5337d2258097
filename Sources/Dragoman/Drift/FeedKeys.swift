import DragomanGraph
import Foundation

/// What the inputs of an import have: what the map reads of them, of which kinds, and what nothing reads.
///
/// They are read as `MapGuess` reads samples, before a record is imported.
struct FeedKeys {
  /// An attribute or a relationship that the map reads.
  struct Property {
    let name: String
    var kinds: [FeedDrift.ValueKind: Int] = [:]
    /// The same without the values that look otherwise than before and were tried: the attribute takes them.
    var openKinds: [FeedDrift.ValueKind: Int] = [:]
    var isPresent = false
  }

  /// A key that nothing reads.
  struct UnreadKey {
    /// Its path, as messages have it.
    let name: String
    /// Its path with namespaces, by which it is known again.
    let path: String
    /// The names on the path, without namespaces.
    let words: String
    let spelled: String?
    /// Why it cannot be the value of an attribute.
    var obstacle: FeedDrift.Obstacle?
    /// The namespaces that the spelled path names.
    let namespaces: [(prefix: String, uri: String)]
    let shape: FeedShape
    let conventions: Conventions
    var count: Int
  }

  /// An entity in inputs of one format.
  struct Entity {
    let format: ForeignFormat
    let name: String
    var properties: [Property] = []
    var unread: [UnreadKey] = []
  }

  /// What was counted of a place of the sample at hand.
  private struct CountedValue: Hashable {
    let entity: String
    let property: String
    let shape: ObjectIdentifier
    /// The path to a part of the values.
    let rest: ForeignPath?
  }

  /// Values that are tried on their attribute since they look otherwise than those of earlier feeds.
  private struct Doubt {
    let entity: Int
    let property: Int
    /// Lists and objects, which are not tried; nil: the trial counts those of a part of the values.
    let containers: FeedShape.Kinds?
    let textKind: FeedDrift.ValueKind?
    let trial: ValueTrial
  }

  private(set) var entities: [Entity] = []
  private let map: ImportMap
  private let before: SeenKeys?
  private var doubts: [Doubt] = []
  private var counted: Set<CountedValue> = []

  /// Reads the inputs, one by one, and those again that have values of kinds which earlier feeds did not
  /// have.
  ///
  /// - Parameters:
  ///   - request: The import.
  ///   - map: Its map, which has a contract.
  ///   - code: Its closures.
  ///   - before: What earlier feeds had; nil: there are none.
  ///   - cancellation: Ends it.
  /// - Throws: `ReadError` where an input cannot be read, or not twice; `ImportError` and `MapFaults` as the
  ///   import would.
  init(
    of request: ImportRequest,
    by map: ImportMap,
    _ code: ImportCode,
    since before: SeenKeys?,
    _ cancellation: Cancellation
  ) throws {
    self.map = map
    self.before = before
    let model = code.model ?? map.model()
    for input in request.inputs where !cancellation.isCancelled {
      if case .records = input { continue }
      guard input.isReadTwice else {
        throw ReadError(
          .unsupported,
          "\(input.name) cannot be read twice, as the contract of a map wants.",
          help: "write it to a file first"
        )
      }
      let sources = InputSources.candidates(of: map, request, for: input.name)
      // An input that no source is for is told by the import.
      if sources.isEmpty, !map.sources.isEmpty { continue }
      // Names and kinds of values only: no values are kept to tell whether they are different.
      let recorder = try ShapeRecorder(recordLimit: .max, budget: HashBudget(free: 0))
      var reader = SampleReader(recorder, of: request, by: map, sources, cancellation)
      do {
        try reader.read(input)
      } catch {
        // It may have ended because it was stopped.
        if cancellation.isCancelled { return }
        // What has no records says nothing of their keys.
        if (error as? ReadError)?.code == .noRecords { continue }
        throw error
      }
      guard let sample = reader.sample, !cancellation.isCancelled else { continue }
      // All records of a list are one place: which entity each is, the map tells and not the guess.
      sample.root.settleKinds()
      let plan = try ImportPlan(
        map,
        format: sample.format,
        names: sources.map(\.name),
        model: model,
        code: code
      )
      add(ReadPlaces(plan, sample), sample)
      guard !doubts.isEmpty else { continue }
      do {
        try reader.read(input)
      } catch {
        if cancellation.isCancelled { return }
        throw error
      }
      settleDoubts()
    }
  }

  private mutating func add(_ places: ReadPlaces, _ sample: FeedSample) {
    counted = []
    let format: ForeignFormat = sample.format == .ndjson ? .json : sample.format
    func owner(of property: String, in name: String) -> String {
      guard let entity = map.entity(named: name) else { return name }
      let declaring = map.lineage(of: entity).first { entity in
        entity.attribute(named: property) != nil
          || entity.relationships.contains { hasSameBytes($0.name, property) }
      }
      return declaring?.name ?? name
    }
    for (name, slot, values) in places.attributes where places.hasObjects(of: name) {
      let name = owner(of: slot.attribute.name, in: name)
      add(slot.attribute.name, slot, of: name, format, values)
    }
    for link in places.links where places.hasObjects(of: link.entity) {
      let owner = owner(of: link.name, in: link.entity)
      add(link.name, of: owner, format, link.values, isPresent: link.hasEmptyList)
    }
    let spelling = ForeignPathSpelling(
      sample.format,
      namespaces: sample.namespaces,
      beside: map.sources
    )
    let conventions = Conventions(sample.format, sample.root)
    for key in UnreadKeys(places, sample, spelling).all where places.hasObjects(of: key.entity) {
      let place = self.place(of: key.entity, format)
      let known = entities[place].unread.firstIndex { hasSameBytes($0.path, key.path) }
      if let known {
        entities[place].unread[known].count += key.count
        entities[place].unread[known].shape.merge(key.shape)
        if let obstacle = key.obstacle { entities[place].unread[known].obstacle = obstacle }
      } else {
        entities[place].unread.append(
          UnreadKey(
            name: key.name,
            path: key.path,
            words: key.words,
            spelled: key.spelled,
            obstacle: key.obstacle,
            namespaces: key.spelled.map { spelling.namespaces(in: $0) } ?? [],
            // Where the input is read again, its places are counted again.
            shape: doubts.isEmpty ? key.shape : key.shape.copy(),
            conventions: conventions,
            count: key.count
          )
        )
      }
    }
  }

  private mutating func add(
    _ property: String,
    _ slot: EntityPlan.Slot? = nil,
    of entity: String,
    _ format: ForeignFormat,
    _ values: [ReadPlaces.Value],
    isPresent: Bool = false
  ) {
    let type = slot?.attribute.type ?? .string
    let isTextual = format == .xml || format == .csv
    let place = self.place(of: entity, format)
    let found = entities[place].properties.firstIndex { hasSameBytes($0.name, property) }
    let number = found ?? entities[place].properties.count
    if found == nil { entities[place].properties.append(Property(name: property)) }
    if isPresent { entities[place].properties[number].isPresent = true }
    for value in values where value.shape.kinds.total > 0 {
      let shape = value.shape
      entities[place].properties[number].isPresent = true
      // Sub-entities inherit it: each of them reads the same values.
      let count = CountedValue(
        entity: entity,
        property: property,
        shape: ObjectIdentifier(shape),
        rest: value.part?.rest
      )
      guard counted.insert(count).inserted else { continue }
      let kinds = shape.valueKinds(as: type, isTextual: isTextual)
      entities[place].properties[number].kinds.merge(kinds) { $0 + $1 }
      guard let slot, mayTake(kinds, slot, of: entity, format) else {
        // Of which kinds a part of the values is, only a trial tells.
        if value.part == nil {
          entities[place].properties[number].openKinds.merge(kinds) { $0 + $1 }
        }
        continue
      }
      let trial = ValueTrial(slot.converter, at: value.part?.rest)
      (value.part?.start ?? shape).trials.append(trial)
      doubts.append(
        Doubt(
          entity: place,
          property: number,
          containers: value.part == nil ? shape.kinds : nil,
          textKind: shape.textKind(as: type, isTextual: isTextual),
          trial: trial
        )
      )
    }
  }

  /// Whether an attribute has to be asked which values it takes: some look otherwise than those of earlier
  /// feeds, and it matters.
  private func mayTake(
    _ kinds: [FeedDrift.ValueKind: Int],
    _ slot: EntityPlan.Slot,
    of entity: String,
    _ format: ForeignFormat
  ) -> Bool {
    let name = slot.attribute.name
    // JSON takes all, and its kind is what is told of it.
    guard slot.code == nil, slot.attribute.type != .json,
      let known = before?.entity(named: entity, in: format)?.property(named: name)?.values,
      !known.isEmpty, kinds.keys.contains(where: { !known.contains($0) }),
      let entity = map.entity(named: entity)
    else { return false }
    return map.contract(of: name, in: entity).changedTypes != nil
  }

  /// Counts the values that were tried and are not taken.
  private mutating func settleDoubts() {
    for doubt in doubts {
      var refused = FeedShape.Kinds()
      refused.numbers = doubt.trial.numbers
      refused.booleans = doubt.trial.booleans
      refused.arrays = doubt.containers?.arrays ?? doubt.trial.arrays
      // No type but JSON takes an object; an element may be a text with attributes.
      let isXML = entities[doubt.entity].format == .xml
      refused.objects =
        isXML ? doubt.trial.elements : doubt.containers?.objects ?? doubt.trial.objects
      let kinds = refused.valueKinds(texts: doubt.trial.texts, doubt.textKind)
      entities[doubt.entity].properties[doubt.property].openKinds.merge(kinds) { $0 + $1 }
    }
    doubts = []
  }

  private mutating func place(of entity: String, _ format: ForeignFormat) -> Int {
    let known = entities.firstIndex { $0.format == format && hasSameBytes($0.name, entity) }
    if let known { return known }
    entities.append(Entity(format: format, name: entity))
    return entities.count - 1
  }
}

extension FeedShape {
  /// What the values of a place are, nulls aside.
  ///
  /// Where a format has texts alone, and where dates are meant, texts are told by their look: an attribute
  /// that is no text takes some of them and others not.
  func valueKinds(
    as type: AttributeType,
    isTextual: Bool
  ) -> [FeedDrift.ValueKind: Int] {
    // An element with a text and others in it is one value: JSON has all of it, other types its text.
    var kinds = kinds
    let isWhole = type == .json
    if !isWhole { kinds.objects -= kinds.mixed }
    let texts = values.textCount - (isWhole ? kinds.mixed : 0)
    return kinds.valueKinds(texts: texts, textKind(as: type, isTextual: isTextual))
  }

  /// What the texts of a place look like; nil: there are none.
  fileprivate func textKind(as type: AttributeType, isTextual: Bool) -> FeedDrift.ValueKind? {
    let isPlain = [.string, .enum, .json, .uuid, .url, .data, .duration].contains(type)
    if isPlain || values.isPlainText { return .text }
    guard !values.forms.isEmpty else { return nil }
    let forms = values.forms.keys
    if isTextual, forms.allSatisfy(\.isNumber) { return .number }
    return forms.allSatisfy(\.isDate) ? .date : .text
  }
}

extension FeedShape.Kinds {
  /// The kinds with their numbers, with that of texts.
  fileprivate func valueKinds(
    texts: Int,
    _ textKind: FeedDrift.ValueKind?
  ) -> [FeedDrift.ValueKind: Int] {
    var found: [FeedDrift.ValueKind: Int] = [:]
    func add(_ kind: FeedDrift.ValueKind, _ count: Int) {
      if count > 0 { found[kind, default: 0] += count }
    }
    add(.boolean, booleans)
    add(.number, numbers)
    add(.list, arrays)
    add(.object, objects)
    if let textKind { add(textKind, texts) }
    return found
  }
}
