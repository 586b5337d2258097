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
  }

  private(set) var entities: [Entity] = []
  private let map: ImportMap
  private var counted: Set<CountedValue> = []

  /// Reads the inputs, one by one.
  ///
  /// - Throws: `ReadError` where an input cannot be read, or not twice; `ImportError` and `MapFaults` as the
  ///   import would.
  init(
    of request: ImportRequest,
    by map: ImportMap,
    _ code: ImportCode,
    _ cancellation: Cancellation
  ) throws {
    self.map = map
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
    }
  }

  private mutating func add(_ places: ReadPlaces, _ sample: FeedSample) {
    counted = []
    let format: ForeignFormat = sample.format == .ndjson ? .json : sample.format
    let isTextual = format == .xml || format == .csv
    func owner(of property: String, in name: String) -> String {
      guard let entity = map.entity(named: name) else { return name }
      let declaring = map.lineage(of: entity).first { entity in
        entity.attribute(named: property) != nil
          || entity.relationships.contains { hasSameBytes($0.name, property) }
      }
      return declaring?.name ?? name
    }
    for (name, attribute, shapes) in places.attributes where places.hasObjects(of: name) {
      add(attribute.name, of: owner(of: attribute.name, in: name), format, shapes) {
        $0.valueKinds(as: attribute.type, isTextual: isTextual)
      }
    }
    for (name, link, shapes) in places.links where places.hasObjects(of: name) {
      add(link, of: owner(of: link, in: name), format, shapes) {
        $0.valueKinds(as: .string, isTextual: isTextual)
      }
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
      } else {
        entities[place].unread.append(
          UnreadKey(
            name: key.name,
            path: key.path,
            words: key.words,
            spelled: key.spelled,
            namespaces: key.spelled.map { spelling.namespaces(in: $0) } ?? [],
            shape: key.shape,
            conventions: conventions,
            count: key.count
          )
        )
      }
    }
  }

  private mutating func add(
    _ property: String,
    of entity: String,
    _ format: ForeignFormat,
    _ shapes: [FeedShape],
    kinds: (FeedShape) -> [FeedDrift.ValueKind: Int]
  ) {
    let place = self.place(of: entity, format)
    let found = entities[place].properties.firstIndex { hasSameBytes($0.name, property) }
    let number = found ?? entities[place].properties.count
    if found == nil { entities[place].properties.append(Property(name: property)) }
    for shape in shapes where shape.kinds.total > 0 {
      entities[place].properties[number].isPresent = true
      // Sub-entities inherit it: each of them reads the same values.
      let value = CountedValue(entity: entity, property: property, shape: ObjectIdentifier(shape))
      guard counted.insert(value).inserted else { continue }
      entities[place].properties[number].kinds.merge(kinds(shape)) { $0 + $1 }
    }
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
    var found: [FeedDrift.ValueKind: Int] = [:]
    func add(_ kind: FeedDrift.ValueKind, _ count: Int) {
      if count > 0 { found[kind, default: 0] += count }
    }
    add(.boolean, kinds.booleans)
    add(.number, kinds.numbers)
    add(.list, kinds.arrays)
    add(.object, kinds.objects)
    let isPlain = [.string, .enum, .json, .uuid, .url, .data, .duration].contains(type)
    if isPlain || values.isPlainText {
      add(.text, values.textCount)
    } else if !values.forms.isEmpty {
      let forms = values.forms.keys
      let look: FeedDrift.ValueKind =
        isTextual && forms.allSatisfy(\.isNumber)
        ? .number : forms.allSatisfy(\.isDate) ? .date : .text
      add(look, values.textCount)
    }
    return found
  }
}
