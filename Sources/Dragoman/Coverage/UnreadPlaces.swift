/// The places of a feed that a map does not read, each told once, with how often it is there.
struct UnreadPlaces {
  private let places: ReadPlaces
  private let separator: String
  private let spelling: ForeignPathSpelling
  private(set) var all: [FeedCoverage.UnreadPlace] = []
  private var numbers: [Key: Int] = [:]

  private struct Key: Hashable {
    let entity: String?
    let path: [UInt8]
  }

  /// - Parameters:
  ///   - places: What the map reads.
  ///   - sample: What the feed has.
  ///   - sources: The sources of the map: their prefixes keep their meaning.
  init(_ places: ReadPlaces, _ sample: FeedSample, beside sources: [SourceMap]) {
    self.places = places
    separator = sample.format == .xml ? "/" : "."
    spelling = ForeignPathSpelling(
      sample.format,
      namespaces: sample.namespaces,
      own: sample.prefixes,
      beside: sources
    )
    walk(sample.root, Place(space: sample.root.members.first?.space ?? 0))
  }

  /// A place in a record, or outside of all.
  private struct Place {
    var entity: String?
    /// The namespace of the record's element, or of the root.
    var space: Int
    var path = ""
  }

  private mutating func walk(_ shape: FeedShape, _ place: Place) {
    guard !places.readsWhole(shape) else { return }
    for member in shape.members {
      let name = ForeignText.shortened(spelling.name(of: member, in: place.space))
      look(member, joined(place, name), member.presence.owners)
    }
    if let others = shape.others {
      look(others, joined(place, "…"), others.presence.owners)
    }
    if let element = shape.element {
      var next = place
      next.path += "[*]"
      look(element, next, element.kinds.total)
      for (number, count) in places.unreadElements(of: shape) {
        add(element, place.path + number, place.entity, count)
      }
    }
  }

  private mutating func look(_ shape: FeedShape, _ place: Place, _ count: Int) {
    if let record = places.records[ObjectIdentifier(shape)] {
      walk(shape, Place(entity: record, space: shape.space))
    } else if places.touches(shape) {
      walk(shape, place)
    } else {
      add(shape, place.path, place.entity, count)
    }
  }

  private func joined(_ place: Place, _ name: String) -> Place {
    var next = place
    let isFirst = place.path.isEmpty && place.entity != nil
    next.path += (isFirst ? "" : place.entity == nil ? "/" : separator) + name
    return next
  }

  private mutating func add(_ shape: FeedShape, _ path: String, _ entity: String?, _ count: Int) {
    let key = Key(entity: entity, path: Array(path.utf8))
    if let known = numbers[key] {
      all[known].count += count
      if all[known].kind != shape.kind { all[known].kind = .mixed }
      return
    }
    guard all.count < FeedCoverage.maximumUnreadCount else { return }
    numbers[key] = all.count
    all.append(
      FeedCoverage.UnreadPlace(entity: entity, path: path, count: count, kind: shape.kind)
    )
  }
}

extension FeedShape {
  /// What stands there, nulls aside.
  fileprivate var kind: FeedCoverage.UnreadPlace.Kind {
    let counts: [(Int, FeedCoverage.UnreadPlace.Kind)] = [
      (kinds.texts, .text), (kinds.numbers, .number), (kinds.booleans, .boolean),
      (kinds.arrays, .list), (kinds.objects, .object),
    ]
    let found = counts.filter { $0.0 > 0 }
    if found.count > 1 { return kinds.mixed > 0 ? .object : .mixed }
    return found.first?.1 ?? .null
  }
}
