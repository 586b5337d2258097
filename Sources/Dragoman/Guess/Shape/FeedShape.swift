/// What samples have at one place: how often, of which kinds, with which values, and what is below.
///
/// The places of all records of a list are one: `people[*].name` is one shape, whatever their number.
///
/// Large because it counts what samples have at one place: each property is one thing that a guess may ask for.
final class FeedShape {
  /// How often a place had values of each kind.
  struct Kinds {
    var nulls = 0
    var booleans = 0
    var numbers = 0
    var texts = 0
    var arrays = 0
    /// Objects, and XML elements with attributes or child elements.
    var objects = 0
    /// XML elements with others or attributes in them that have a text besides: they count as both.
    var mixed = 0

    var total: Int { nulls + scalars + arrays + objects - mixed }
    var scalars: Int { booleans + numbers + texts }

    mutating func add(_ other: Kinds) {
      nulls += other.nulls
      booleans += other.booleans
      numbers += other.numbers
      texts += other.texts
      arrays += other.arrays
      objects += other.objects
      mixed += other.mixed
    }
  }

  /// In how many of the objects around it the place is, and how often in one of them.
  struct Presence {
    var owners = 0
    var lastOwner = 0
    var run = 0
    var longestRun = 0
  }

  /// The name of the member or element, or of the attribute without its `@`.
  let name: [UInt8]
  /// The number of the name's namespace among those of all samples; 0: none.
  let space: Int
  let isAttribute: Bool
  @exclusivity(unchecked) var kinds = Kinds()
  @exclusivity(unchecked) var presence = Presence()
  /// Members, XML attributes and child elements, in the order in which they came first.
  @exclusivity(unchecked) private(set) var members: [FeedShape] = []
  /// All members beyond the first `maximumMemberCount`, as one place.
  @exclusivity(unchecked) private(set) var others: FeedShape?
  /// The elements of arrays.
  @exclusivity(unchecked) private(set) var element: FeedShape?
  /// The shortest and the longest array.
  @exclusivity(unchecked) var lengths = 0...0
  /// How many arrays there are of each length; the last number is of those that are longer, too.
  @exclusivity(unchecked) private var lengthCounts: [Int] = []
  /// What its texts and numbers are.
  @exclusivity(unchecked) private(set) var values = ValueProfile()
  /// The records of which this is one, and the place of a value among those of its record.
  @exclusivity(unchecked) var rows: RowTable?
  @exclusivity(unchecked) var column: RowTable.Column?
  /// Whether nested objects of one id are the same.
  @exclusivity(unchecked) var identity: IdentityProof?
  /// The kinds of the records, where a word in them tells one.
  @exclusivity(unchecked) var recordKinds: RecordKinds?
  /// What its values are tried on, where a sample is read again for that.
  @exclusivity(unchecked) var trials: [ValueTrial] = []

  /// Objects of more members are dictionaries, or too wide for a table.
  static let maximumMemberCount = 500
  /// Longer arrays are not told apart.
  private static let maximumLength = 16

  init(name: [UInt8] = [], space: Int = 0, isAttribute: Bool = false) {
    self.name = name
    self.space = space
    self.isAttribute = isAttribute
  }

  /// How many values there are, also while they are of several kinds.
  var recordCount: Int { kinds.total + (recordKinds?.otherCount ?? 0) }

  /// The name as text.
  var nameText: String { String(decoding: name, as: UTF8.self) }

  /// Whether several stand in one XML element.
  var isRepeated: Bool { presence.longestRun > 1 }

  /// The member of a name, made where there is none.
  ///
  /// - Parameters:
  ///   - name: The bytes of the name.
  ///   - space: The number of its namespace.
  ///   - isAttribute: Whether it is an XML attribute.
  ///   - place: Where it is looked for first; moved behind it.
  /// - Returns: The member; of an object that has too many, the place of all others.
  func member(
    _ name: UnsafeRawBufferPointer,
    space: Int,
    isAttribute: Bool,
    at place: inout Int
  ) -> FeedShape {
    func fits(_ shape: FeedShape) -> Bool {
      shape.name.count == name.count && shape.space == space && shape.isAttribute == isAttribute
        && name.has(shape.name, at: 0)
    }
    if place < members.count, fits(members[place]) {
      place += 1
      return members[place - 1]
    }
    if let found = members.firstIndex(where: fits) {
      place = found + 1
      return members[found]
    }
    guard members.count < Self.maximumMemberCount else {
      let rest = others ?? FeedShape()
      others = rest
      return rest
    }
    let new = FeedShape(name: Array(name), space: space, isAttribute: isAttribute)
    members.append(new)
    place = members.count
    return new
  }

  /// Counts an array.
  func countArray(length: Int) {
    if lengthCounts.isEmpty {
      lengthCounts = Array(repeating: 0, count: Self.maximumLength + 1)
    }
    lengthCounts[min(length, Self.maximumLength)] += 1
  }

  /// How many arrays have an element of a number, from 0; at most, where they may be longer than is told apart.
  func arrayCount(withElement number: Int) -> Int {
    guard number < lengths.upperBound else { return 0 }
    return lengthCounts.dropFirst(min(number + 1, Self.maximumLength)).reduce(0, +)
  }

  /// The shape of the elements of arrays, made where there is none.
  func madeElement() -> FeedShape {
    let shape = element ?? FeedShape()
    element = shape
    return shape
  }

  /// Tells the kinds of all records below apart, when everything has been read.
  func settleKinds() {
    recordKinds?.settle(self)
    for member in members { member.settleKinds() }
    element?.settleKinds()
  }

  /// Takes all that was found here to a place of its own.
  func split() -> FeedShape {
    let part = FeedShape(name: name, space: space, isAttribute: isAttribute)
    swap(&part.kinds, &kinds)
    swap(&part.members, &members)
    swap(&part.others, &others)
    swap(&part.element, &element)
    swap(&part.lengths, &lengths)
    swap(&part.lengthCounts, &lengthCounts)
    swap(&part.values, &values)
    swap(&part.identity, &identity)
    part.rows = rows
    rows = rows.map { _ in RowTable() }
    return part
  }

  /// What was found here so far, as a place of its own.
  func copy() -> FeedShape {
    let copy = FeedShape(name: name, space: space, isAttribute: isAttribute)
    copy.merge(self)
    return copy
  }

  /// Adds what another place has: members of a dictionary are one place.
  func merge(_ other: FeedShape) {
    recordKinds?.unite(self)
    other.recordKinds?.unite(other)
    let isNew = kinds.total == 0
    if isNew, other.rows != nil, rows == nil { rows = RowTable() }
    mergeIdentity(of: other)
    mergeLengths(of: other)
    kinds.add(other.kinds)
    presence.owners += other.presence.owners
    presence.longestRun = max(presence.longestRun, other.presence.longestRun)
    values.merge(other.values)
    var place = 0
    for member in other.members {
      let own = member.name.withUnsafeBytes {
        self.member($0, space: member.space, isAttribute: member.isAttribute, at: &place)
      }
      own.merge(member)
    }
    if let element = other.element { madeElement().merge(element) }
    if let rest = other.others {
      let own = others ?? FeedShape()
      others = own
      own.merge(rest)
    }
    if let added = other.rows { rows?.append(added, of: other, as: self) }
  }

  private func mergeLengths(of other: FeedShape) {
    guard other.kinds.arrays > 0 else { return }
    lengths =
      kinds.arrays == 0
      ? other.lengths
      : min(
        lengths.lowerBound,
        other.lengths.lowerBound
      )...max(
        lengths.upperBound,
        other.lengths.upperBound
      )
    lengthCounts =
      lengthCounts.isEmpty
      ? other.lengthCounts : zip(lengthCounts, other.lengthCounts).map { $0 + $1 }
  }

  private func mergeIdentity(of other: FeedShape) {
    guard other.kinds.objects > 0 else { return }
    if kinds.objects == 0 {
      identity = other.identity
    } else if let theirs = other.identity {
      identity?.merge(theirs)
    } else {
      identity = nil
    }
  }
}
