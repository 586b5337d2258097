import DragomanGraph

/// Which places of a feed a map reads, and which attributes it reads there.
final class ReadPlaces {
  private struct Visit: Hashable {
    let plan: Int
    let shape: ObjectIdentifier
  }

  /// What a relationship is read from.
  struct Link {
    let entity: String
    let name: String
    let values: [Value]
    /// Whether XML has what the targets would stand in, without any: an empty list.
    let hasEmptyList: Bool
  }

  /// Where values of an attribute or a relationship stand.
  struct Value {
    let shape: FeedShape
    /// Which of the values that stand there; nil: all.
    var part: Part?
  }

  /// Some of the values of a place: their path tells elements apart that are one place.
  struct Part {
    /// The place before the first of them.
    let start: FeedShape
    /// The path from there.
    let rest: ForeignPath
  }

  private let plan: ImportPlan
  private let sample: FeedSample
  private var read: Set<ObjectIdentifier> = []
  /// What is read with all that is in it.
  private var whole: Set<ObjectIdentifier> = []
  /// The lists of which all elements are read.
  private var lists: Set<ObjectIdentifier> = []
  /// The numbers of the elements that are read one by one, by their lists.
  private var elements: [ObjectIdentifier: Set<Int>] = [:]
  private var visits: Set<Visit> = []
  /// The records, and their entities.
  private(set) var records: [ObjectIdentifier: String] = [:]
  /// The places of the values of each attribute, in the order of the map.
  private(set) var attributes: [(entity: String, slot: EntityPlan.Slot, values: [Value])] = []
  /// The places of what each relationship is read from, in the order of the map.
  private(set) var links: [Link] = []
  /// What is read as objects, records and those nested in them, and their entities.
  private(set) var owners: [ObjectIdentifier: String] = [:]
  /// The entities of which there are objects.
  private var present: Set<String> = []

  /// - Parameters:
  ///   - plan: The map, compiled for the sample's format.
  ///   - sample: What the feed has.
  init(_ plan: ImportPlan, _ sample: FeedSample) {
    self.plan = plan
    self.sample = sample
    for source in plan.sources {
      let shapes = recordShapes(source.map)
      let name = plan.entities[source.plan].name
      for shape in shapes {
        records[ObjectIdentifier(shape)] = records[ObjectIdentifier(shape)] ?? name
      }
      visit(source.plan, shapes, in: documents)
    }
  }

  /// Whether anything at the place or inside of it is read.
  func touches(_ shape: FeedShape) -> Bool {
    let id = ObjectIdentifier(shape)
    return read.contains(id) || whole.contains(id) || records[id] != nil
      || shape.members.contains(where: touches) || shape.others.map(touches) == true
      || shape.element.map(touches) == true
  }

  /// Whether all that is in the place is read.
  func readsWhole(_ shape: FeedShape) -> Bool { whole.contains(ObjectIdentifier(shape)) }

  /// The elements of a list that nothing reads, where others are read by their numbers.
  ///
  /// - Parameter list: The list.
  /// - Returns: Their places as messages have them, `[1]`, and `[4…]` for all from the fifth on; in how
  ///   many lists each of them is.
  func unreadElements(of list: FeedShape) -> [(place: String, count: Int)] {
    let id = ObjectIdentifier(list)
    guard let read = elements[id], let last = read.max(), !lists.contains(id) else { return [] }
    let between = (0..<last).lazy.filter { !read.contains($0) }.prefix(Self.maximumGapCount)
    var places: [(place: String, count: Int)] = between.map {
      ("[\($0)]", list.arrayCount(withElement: $0))
    }
    if last < .max {
      places.append(("[\(last + 1)…]", list.arrayCount(withElement: last + 1)))
    }
    return places.filter { $0.count > 0 }
  }

  /// So many elements that are passed over are told.
  private static let maximumGapCount = 16

  /// Whether the sample has objects that may be of an entity: an empty list says nothing of their keys.
  func hasObjects(of entity: String) -> Bool { present.contains(entity) }

  // MARK: - The map

  /// Where paths of `$root` begin.
  private var documents: [FeedShape] { [sample.root] + sample.root.members }

  /// Where the records of a source stand.
  private func recordShapes(_ source: SourceMap) -> [FeedShape] {
    let root = sample.root
    switch sample.format {
    case .ndjson, .csv: return [root.element].compactMap { $0 }
    case .xml:
      return source.records.map { find($0.steps, from: [root]) } ?? root.members.flatMap(\.members)
    case .json:
      let found = source.records.map { find($0.steps, from: [root]) } ?? [root]
      return found.map { $0.kinds.arrays > 0 ? $0.element ?? $0 : $0 }
    }
  }

  private func visit(_ index: Int, _ shapes: [FeedShape], in around: [FeedShape]) {
    let shapes = shapes.filter {
      visits.insert(Visit(plan: index, shape: ObjectIdentifier($0))).inserted
    }
    guard !shapes.isEmpty else { return }
    let entity = plan.entities[index]
    if shapes.contains(where: \.hasRecords) { present.insert(entity.name) }
    for shape in shapes {
      read.insert(ObjectIdentifier(shape))
      owners[ObjectIdentifier(shape)] = owners[ObjectIdentifier(shape)] ?? entity.name
    }
    for slot in entity.slots {
      let isWhole = slot.attribute.type == .json || slot.code != nil
      let found = slot.paths.flatMap { self.values(of: $0.path, shapes, around) }
      mark(found.map(\.shape), isWhole: isWhole)
      // The record itself has no values.
      let values = found.filter { value in isWhole || !shapes.contains { $0 === value.shape } }
      attributes.append((entity.name, slot, values))
    }
    for criterion in [entity.discriminator?.criterion, entity.tombstone?.criterion] {
      mark(criterion?.paths.flatMap { find($0.path, shapes, around) } ?? [])
    }
    for link in entity.links {
      let found = link.findings.flatMap { finding in
        finding.paths.flatMap { values(of: $0.path, shapes, around) }
      }
      let wrappers = link.findings.flatMap { finding in
        finding.wrappers.flatMap { find($0.path, shapes, around) }
      }
      mark(wrappers)
      links.append(
        Link(
          entity: entity.name,
          name: link.name,
          values: found,
          hasEmptyList: wrappers.contains { $0.members.allSatisfy(\.isAttribute) }
        )
      )
      visit(link, shapes, in: around)
    }
    for (_, plan) in entity.discriminator?.plans ?? [] { visit(plan, shapes, in: around) }
  }

  private func visit(_ link: LinkPlan, _ shapes: [FeedShape], in around: [FeedShape]) {
    guard case .nested(let plan, let finding) = link.origin else {
      for finding in link.findings {
        mark(finding.paths.flatMap { find($0.path, shapes, around) })
      }
      return
    }
    var targets: [FeedShape] = finding.isRecord ? shapes : []
    for (path, walksMembers) in zip(finding.paths, finding.walksMembers) {
      let found = find(path.path, shapes, around)
      mark(found)
      for shape in found {
        if walksMembers {
          targets += shape.members.filter { !$0.isAttribute }
          continue
        }
        if let element = shape.element { targets.append(element) }
        if shape.element == nil || shape.kinds.objects > 0 { targets.append(shape) }
      }
    }
    visit(plan, targets, in: shapes)
  }

  private func mark(_ shapes: [FeedShape], isWhole: Bool = false) {
    for shape in shapes {
      read.insert(ObjectIdentifier(shape))
      // The elements of a list are what is read of it.
      if let element = shape.element {
        read.insert(ObjectIdentifier(element))
        lists.insert(ObjectIdentifier(shape))
      }
      if isWhole { whole.insert(ObjectIdentifier(shape)) }
    }
  }

  // MARK: - Paths

  private func values(
    of path: ForeignPath,
    _ shapes: [FeedShape],
    _ around: [FeedShape]
  ) -> [Value] {
    guard let index = path.steps.firstIndex(where: \.isOfPart) else {
      return find(path, shapes, around).map { Value(shape: $0) }
    }
    var (start, rest) = (path, path)
    start.steps = Array(path.steps[..<index])
    rest.steps = Array(path.steps[index...])
    return find(start, shapes, around).flatMap { place in
      find(rest.steps, from: [place]).map {
        Value(shape: $0, part: Part(start: place, rest: rest))
      }
    }
  }

  private func find(
    _ path: ForeignPath,
    _ shapes: [FeedShape],
    _ around: [FeedShape]
  ) -> [FeedShape] {
    switch path.root {
    case .record: find(path.steps, from: shapes)
    case .parent: find(path.steps, from: around)
    case .document: find(path.steps, from: documents)
    default: []
    }
  }

  private func find(_ steps: [ForeignPath.Step], from start: [FeedShape]) -> [FeedShape] {
    var shapes = start
    for step in steps {
      shapes = shapes.flatMap { next(step, from: $0) }
      if shapes.isEmpty { break }
    }
    return shapes
  }

  private func next(_ step: ForeignPath.Step, from shape: FeedShape) -> [FeedShape] {
    func named(_ name: String, _ namespace: String?, isAttribute: Bool) -> [FeedShape] {
      shape.members.filter { member in
        member.isAttribute == isAttribute && member.name.elementsEqual(name.utf8)
          // Without a prefix a name in no namespace is meant, as the import reads it.
          && hasSameBytes(sample.namespaces[member.space], namespace ?? "")
      }
    }
    switch step {
    // In XML several elements of one name are one place.
    case .member(let name, let namespace): return named(name, namespace, isAttribute: false)
    case .attribute(let name, let namespace): return named(name, namespace, isAttribute: true)
    case .index, .all:
      guard sample.format != .xml else { return [shape] }
      guard let element = shape.element else { return [] }
      if case .index(let number) = step {
        elements[ObjectIdentifier(shape), default: []].insert(number)
      } else {
        lists.insert(ObjectIdentifier(shape))
      }
      return [element]
    case .anyMember:
      return shape.members.filter { !$0.isAttribute } + [shape.others].compactMap { $0 }
    case .text: return [shape]
    case .having(let test):
      mark(named(test.name, test.namespace, isAttribute: true))
      return [shape]
    }
  }
}

extension ForeignPath.Step {
  /// Whether it leads to some of the values of a place.
  fileprivate var isOfPart: Bool {
    switch self {
    case .index, .having: true
    default: false
    }
  }
}

extension FeedShape {
  /// Whether records may stand there: not where there is nothing but empty lists and elements, and nulls in place of
  /// lists.
  fileprivate var hasRecords: Bool {
    element != nil || kinds.total > kinds.arrays + kinds.nulls + values.emptyCount
  }
}
