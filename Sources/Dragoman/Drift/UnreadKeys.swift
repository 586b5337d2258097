/// The keys of one sample that nothing reads, each by the object that it stands in.
struct UnreadKeys {
  /// A key that nothing reads.
  struct Key {
    let entity: String
    /// Its path in the object, as messages have it.
    let name: String
    /// The same as the file has it: with the namespaces that are not the usual ones.
    let path: String
    /// The names on the path, without namespaces.
    let words: String
    /// Its path as a map spells it; nil where it cannot be the value of an attribute.
    let spelled: String?
    /// Why it cannot.
    let obstacle: FeedDrift.Obstacle?
    let shape: FeedShape
    let count: Int
  }

  /// Of an entity that has more such keys, further ones are not told apart from those that were there.
  static let maximumCount = 1_000
  /// Of one sample.
  private static let maximumSampleCount = 20_000
  private static let maximumPathByteCount = 500

  private let places: ReadPlaces
  private let isXML: Bool
  private let spelling: ForeignPathSpelling
  private let namespaces: [String]
  /// The keys, in the order of the sample.
  private(set) var all: [Key] = []
  /// How many there are by entity.
  private var counts: [String: Int] = [:]

  /// - Parameters:
  ///   - places: What the map reads.
  ///   - sample: What the feed has.
  ///   - spelling: How its paths are spelled.
  init(_ places: ReadPlaces, _ sample: FeedSample, _ spelling: ForeignPathSpelling) {
    self.places = places
    self.spelling = spelling
    namespaces = sample.namespaces
    isXML = sample.format == .xml
    look(sample.root, Place(), count: 1)
  }

  /// A place in an object.
  private struct Place {
    var entity: String?
    /// The namespace of the object's element.
    var space = 0
    /// The members that lead to it.
    var members: [FeedShape] = []
    var name = ""
    var path = ""
    /// Why no attribute of the object can read what stands there.
    var obstacle: FeedDrift.Obstacle?
  }

  private mutating func look(_ shape: FeedShape, _ place: Place, count: Int) {
    if let entity = places.owners[ObjectIdentifier(shape)] {
      walk(shape, Place(entity: entity, space: shape.space))
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
      add(spelling.name(of: member, in: place.space), identity(of: member, place), to: &next)
      next.members.append(member)
      if place.members.last?.isRepeated == true, place.obstacle == nil {
        next.obstacle = isXML ? .list : .repeated
      }
      look(member, next, count: member.presence.owners)
    }
    if let others = shape.others {
      var next = place
      add("…", "…", to: &next)
      next.obstacle = place.obstacle ?? .manyKeys
      look(others, next, count: others.presence.owners)
    }
    if let element = shape.element {
      var next = place
      next.name += "[*]"
      next.path += "[*]"
      next.obstacle = place.obstacle ?? .list
      look(element, next, count: element.kinds.total)
      for (number, count) in places.unreadElements(of: shape) {
        next.name = place.name + number
        next.path = place.path + number
        add(element, next, count)
      }
    }
  }

  private func add(_ name: String, _ identity: String, to place: inout Place) {
    let separator = place.path.isEmpty ? "" : isXML ? "/" : "."
    place.name += separator + name
    place.path += separator + identity
  }

  /// The name of a member, with its namespace where that is not the usual one: prefixes differ from feed to feed.
  private func identity(of member: FeedShape, _ place: Place) -> String {
    let isUsual = member.space == ForeignPathSpelling.usualSpace(of: member, in: place.space)
    let space = isUsual ? "" : "{\(namespaces[member.space])}"
    return (member.isAttribute ? "@" : "") + space + member.nameText
  }

  private mutating func add(_ shape: FeedShape, _ place: Place, _ count: Int) {
    guard let entity = place.entity, counts[entity, default: 0] < Self.maximumSampleCount else {
      return
    }
    counts[entity, default: 0] += 1
    // JSON can hold the elements of one name, and a member once.
    let isTwice = !isXML && place.members.last?.isRepeated == true
    let obstacle = place.obstacle ?? (isTwice ? .repeated : nil)
    let spelled = obstacle == nil ? spelling.path(place.members.map { .member($0) }) : nil
    all.append(
      Key(
        entity: entity,
        name: Self.bounded(place.name),
        path: Self.bounded(place.path),
        words: place.members.map(\.nameText).joined(separator: "/"),
        spelled: spelled,
        obstacle: spelled == nil ? obstacle ?? .name : nil,
        shape: shape,
        count: count
      )
    )
  }

  private static func bounded(_ path: String) -> String {
    guard path.utf8.count > maximumPathByteCount else { return path }
    return "\(ForeignText.shortened(path)) \(FeedHash.text(path))"
  }
}

extension ForeignPathSpelling {
  /// The namespace that the name of a member has as a rule: that of the object's element, and of an attribute none.
  static func usualSpace(of member: FeedShape, in space: Int) -> Int {
    member.isAttribute ? 0 : space
  }

  /// The name of a member as messages have it: with a prefix where its namespace is not the usual one.
  ///
  /// - Parameters:
  ///   - member: The member.
  ///   - space: The number of the namespace of the object's element.
  /// - Returns: `fax`, `@id`, `q:fax`.
  func name(of member: FeedShape, in space: Int) -> String {
    let isUsual = member.space == Self.usualSpace(of: member, in: space)
    let prefix = isUsual || member.space == 0 ? "" : prefixes[member.space] + ":"
    return (member.isAttribute ? "@" : "") + prefix + member.nameText
  }
}
