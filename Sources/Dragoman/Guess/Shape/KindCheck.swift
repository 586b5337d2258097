/// Whether a sample has records of the same kind as those before it, told by their members.
struct KindCheck {
  /// How often each member of a list's elements was there.
  private var counts: [ObjectIdentifier: Int] = [:]
  private var lists: [FeedShape] = []

  private static let maximumDepth = 3

  /// Remembers what there is before a sample is read.
  init(_ root: FeedShape) {
    find(root, depth: 0)
    for member in lists.flatMap(\.members) {
      counts[ObjectIdentifier(member)] = member.presence.owners
    }
  }

  private mutating func find(_ shape: FeedShape, depth: Int) {
    if let element = shape.element, !element.members.isEmpty { lists.append(element) }
    guard depth < Self.maximumDepth else { return }
    for member in shape.members { find(member, depth: depth + 1) }
  }

  /// Refuses a sample whose records hardly have a member of those before.
  func check(_ sample: FeedSample, _ input: String) throws(ReadError) {
    for list in lists {
      let known = list.members.filter { counts[ObjectIdentifier($0)] != nil }
      let met = known.count { $0.presence.owners > counts[ObjectIdentifier($0)] ?? 0 }
      let added = list.members.count - known.count
      guard added > met, 2 * met < known.count else { continue }
      throw ReadError(
        .format,
        "The records of \(input) have other members than those of \(sample.name): they are of another"
          + " kind.",
        at: Origin(file: input, line: 1, column: 1, byte: 0),
        help: "guess a map for each kind, and put their entities and sources into one"
      )
    }
  }
}
