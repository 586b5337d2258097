/// The keys of one sample that nothing reads, each by the object that it stands in.
struct UnreadKeys {
  /// A key that nothing reads.
  struct Key {
    let entity: String
    /// Its path in the object, as messages and the file have it.
    let path: String
    /// Its path as a map spells it; nil where it cannot be the value of an attribute.
    let spelled: String?
    let shape: FeedShape
    let count: Int
  }

  /// Of an entity that has more such keys, further ones are not told apart from those that were there.
  static let maximumCount = 1_000
  /// Of one sample.
  private static let maximumSampleCount = 20_000
  private static let maximumPathByteCount = 500

  private let places: ReadPlaces
  private let separator: String
  private let spelling: PathSpelling
  /// The keys, in the order of the sample.
  private(set) var all: [Key] = []
  /// How many there are by entity.
  private var counts: [String: Int] = [:]

  /// - Parameters:
  ///   - places: What the map reads.
  ///   - sample: What the feed has.
  ///   - spelling: How its paths are spelled.
  init(_ places: ReadPlaces, _ sample: FeedSample, _ spelling: PathSpelling) {
    self.places = places
    self.spelling = spelling
    separator = sample.format == .xml ? "/" : "."
    look(sample.root, Place(), count: 1)
  }

  /// A place in an object.
  private struct Place {
    var entity: String?
    /// The members that lead to it.
    var members: [FeedShape] = []
    var path = ""
    /// Whether several values of one object may stand there.
    var isMany = false
  }

  private mutating func look(_ shape: FeedShape, _ place: Place, count: Int) {
    if let entity = places.owners[ObjectIdentifier(shape)] {
      walk(shape, Place(entity: entity))
    } else if place.entity == nil || places.touches(shape) {
      walk(shape, place)
    } else {
      add(shape, place, count)
    }
  }

  private mutating func walk(_ shape: FeedShape, _ place: Place) {
    guard !places.readsWhole(shape) else { return }
    for member in shape.members {
      var next = place
      let name = (member.isAttribute ? "@" : "") + member.nameText
      next.path += (next.path.isEmpty ? "" : separator) + name
      next.members.append(member)
      next.isMany = place.isMany || member.isRepeated
      look(member, next, count: member.presence.owners)
    }
    if let others = shape.others {
      var next = place
      next.path += (next.path.isEmpty ? "" : separator) + "…"
      next.isMany = true
      look(others, next, count: others.presence.owners)
    }
    if let element = shape.element {
      var next = place
      next.path += "[*]"
      next.isMany = true
      look(element, next, count: element.kinds.total)
    }
  }

  private mutating func add(_ shape: FeedShape, _ place: Place, _ count: Int) {
    guard let entity = place.entity, counts[entity, default: 0] < Self.maximumSampleCount else {
      return
    }
    counts[entity, default: 0] += 1
    var path = place.path
    if path.utf8.count > Self.maximumPathByteCount {
      path = "\(ForeignText.shortened(path)) \(FeedHash.text(path))"
    }
    let spelled = place.isMany ? nil : spelling.path(place.members.map { .member($0) })
    all.append(Key(entity: entity, path: path, spelled: spelled, shape: shape, count: count))
  }
}
