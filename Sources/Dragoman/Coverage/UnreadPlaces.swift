/// The places of a feed that a map does not read, each told once, with how often it is there.
struct UnreadPlaces {
  private let places: ReadPlaces
  private let separator: String
  private(set) var all: [FeedCoverage.UnreadPlace] = []
  private var numbers: [Key: Int] = [:]

  private struct Key: Hashable {
    let entity: String?
    let path: [UInt8]
  }

  /// - Parameters:
  ///   - places: What the map reads.
  ///   - sample: What the feed has.
  init(_ places: ReadPlaces, _ sample: FeedSample) {
    self.places = places
    separator = sample.format == .xml ? "/" : "."
    walk(sample.root, path: "", entity: nil)
  }

  private mutating func walk(_ shape: FeedShape, path: String, entity: String?) {
    guard !places.readsWhole(shape) else { return }
    for member in shape.members {
      let name = (member.isAttribute ? "@" : "") + ForeignText.shortened(member.nameText)
      look(member, path: joined(path, name, entity), entity, member.presence.owners)
    }
    if let others = shape.others {
      look(others, path: joined(path, "…", entity), entity, others.presence.owners)
    }
    if let element = shape.element {
      look(element, path: path + "[*]", entity, element.kinds.total)
    }
  }

  private mutating func look(_ shape: FeedShape, path: String, _ entity: String?, _ count: Int) {
    if let record = places.records[ObjectIdentifier(shape)] {
      walk(shape, path: "", entity: record)
    } else if places.touches(shape) {
      walk(shape, path: path, entity: entity)
    } else {
      add(shape, path, entity, count)
    }
  }

  private func joined(_ path: String, _ name: String, _ entity: String?) -> String {
    if entity == nil { return path + "/" + name }
    return path.isEmpty ? name : path + separator + name
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
